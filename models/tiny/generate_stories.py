#!/usr/bin/env python3
"""Writes a corpus of short children's stories from the grammar in grammar/.

A story is an opening, a plot (problem, attempt, resolution) and an ending or
moral. Plots are text templates: `[a|b]` chooses, `<phrase A B>` calls a shared
phrase, `{A.he}` fills in a character or thing that stays the same through the
story, a line with a leading `?` is left out half of the time. The same seed
always gives the same stories; the held-out split has its own seed and drops
every story that the training split holds. Not for anything but training data.
"""
import argparse
import pathlib
import random
import re

GRAMMAR = pathlib.Path(__file__).parent / "grammar"
PRONOUNS = {
    "he": {"he": "he", "him": "him", "his": "his", "self": "himself"},
    "she": {"he": "she", "him": "her", "his": "her", "self": "herself"},
}


def lines(name):
    """The lines of a grammar file without comments and surrounding blanks."""
    text = (GRAMMAR / name).read_text(encoding="utf-8")
    return [s.strip() for s in text.splitlines() if s.strip() and s[0] != "#"]


def readWords():
    """{class: [(word, second field or "")]}."""
    words = {}
    for line in lines("words.txt"):
        name, entries = line.split(":", 1)
        pairs = (entry.strip().partition("/") for entry in entries.split(","))
        words[name] = [(word, extra) for word, _, extra in pairs]
    return words


def readPhrases():
    """{phrase name: [variant, ...]}."""
    phrases, name = {}, None
    for line in lines("phrases.txt"):
        if re.fullmatch(r"[a-z]+:", line):
            name = line[:-1]
            phrases[name] = []
        else:
            phrases[name].append(line)
    return phrases


def readPlots():
    """[{name, body: [line], moral: [variant]}] from every plots-*.txt."""
    plots = []
    for path in sorted(GRAMMAR.glob("plots-*.txt")):
        for line in lines(path.name):
            if line.startswith("== "):
                plots.append({"name": line[3:], "body": [], "moral": []})
            elif line.startswith("moral: "):
                plots[-1]["moral"] += line[7:].split(" | ")
            else:
                plots[-1]["body"].append(line)
    return plots


WORDS, PHRASES, PLOTS = readWords(), readPhrases(), readPlots()


class Story:
    """One story in the making: its random source, cast and things so far."""

    def __init__(self, rng):
        self.rng = rng
        self.things = {}
        self.taken = set()
        animals = rng.random() < 0.45
        self.cast = {"A": self.animal() if animals else self.child()}
        pet = not animals and rng.random() < 0.2
        friend = self.animal(pet) if animals or pet else self.child()
        self.cast["B"] = friend
        self.cast["C"] = self.elder("family", "")
        self.cast["W"] = self.elder("wise", "the ")

    def pick(self, name):
        """A random entry of a word class that this story has not used yet."""
        left = [e for e in WORDS[name] if e[0] not in self.taken]
        entry = self.rng.choice(left)
        self.taken.add(entry[0])
        return entry

    def child(self):
        gender = self.rng.choice(["he", "she"])
        kind = "boy" if gender == "he" else "girl"
        home = self.rng.choice(WORDS["child-home"])[0]
        return self.person(self.pick(kind)[0], kind, gender, home, "child")

    def animal(self, pet=False):
        kind, home = self.pick("pet" if pet else "animal")
        gender = self.rng.choice(["he", "she"])
        name = self.pick(gender + "-animal")[0]
        return self.person(name, kind, gender, home, "animal")

    def person(self, name, kind, gender, home, group):
        look = self.rng.choice(WORDS[group + "-look"])[0]
        named = self.rng.choice(["named", "named", "called"])
        short = f"a {look} {kind}"
        return dict(PRONOUNS[gender], name=name, kind=kind, home=home,
                    short=short, intro=f"{short} {named} {name}")

    def elder(self, group, article):
        name, gender = self.pick(group)
        return dict(PRONOUNS[gender], name=article + name, kind=name,
                    intro="a " + name if article else name)

    def thing(self, slot):
        """The thing bound to a slot such as `toy` or `toy2`, bound once."""
        if slot not in self.things:
            name = slot.rstrip("23")
            word, extra = self.pick(name)
            colour = self.rng.choice(WORDS["colour"])[0]
            short = name in ("toy", "clothes", "flower")
            full = f"{colour} {word}" if short else word
            self.things[slot] = {
                "name": word, "a": f"a {full}", "full": full, "ing": extra,
                "in": f"{extra} the {word}", "to": f"to the {word}",
                "the": f"the {word}"}
        return self.things[slot]

    def fill(self, match):
        """The text of one {slot} or {slot.form}; a capital form capitalises."""
        slot, _, form = match.group(1).partition(".")
        holder = self.cast.get(slot) or self.thing(slot)
        if form and form not in holder:
            text = holder[form.lower()]
            return text[0].upper() + text[1:]
        return holder[form or "name"]

    def call(self, match):
        """A random variant of a phrase with its parameters put in place."""
        name, *names = match.group(1).split()
        text = self.rng.choice(PHRASES[name])
        for parameter, actual in zip("XY", names):
            text = re.sub(r"\{%s\b" % parameter, "{" + actual, text)
            text = re.sub(r"(<[^>]*)\b%s\b" % parameter, r"\1" + actual, text)
        return text

    def expand(self, text):
        """Chooses, calls and fills until plain text is left."""
        while "[" in text or "<" in text:
            text = re.sub(r"\[([^\[\]]*)\]",
                          lambda m: self.rng.choice(m.group(1).split("|")),
                          text)
            text = re.sub(r"<([^<>]*)>", self.call, text)
        return re.sub(r"\{([^{}]*)\}", self.fill, text)

    def moral(self, plot):
        """The lesson, in one of the frames of the phrase `learn`."""
        frame = self.expand("<learn>")
        lesson = self.expand(self.rng.choice(plot["moral"]))
        if frame.endswith('"'):
            return frame + lesson + '."'
        return frame + " " + lesson + "."

    def tell(self, plot):
        """The whole story: paragraphs of sentences, capitals and articles."""
        body = [s.lstrip("? ") for s in plot["body"]
                if s[0] != "?" or self.rng.random() < 0.5]
        body = [self.expand(s) for s in ["<open>"] + body]
        if plot["moral"] and self.rng.random() < 0.6:
            body.append(self.moral(plot))
        gaps = [self.rng.choice("  \n") for _ in body]
        return polish("".join(s + gap for s, gap in zip(body, gaps)))


def polish(text):
    """Squeezes blanks, puts `an` before vowels, capitalises sentences."""
    text = re.sub(r" +", " ", text).replace(" \n", "\n").strip()
    text = re.sub(r" ([.,!?])", r"\1", text)
    text = re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)
    return re.sub(r'(^"?|[.!?] "?|\."? "?|\n"?)([a-z])',
                  lambda m: m.group(1) + m.group(2).upper(), text)


def stories(seed, count, known=()):
    """`count` different stories of one seed, none of them in `known`."""
    rng = random.Random(seed)
    seen, out = set(known), []
    while len(out) < count:
        text = Story(rng).tell(rng.choice(PLOTS))
        if text not in seen:
            seen.add(text)
            out.append(text)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path, help="folder to write to")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--train", type=int, default=50000, help="stories")
    parser.add_argument("--heldout", type=int, default=500, help="stories")
    args = parser.parse_args()
    train = stories(args.seed, args.train)
    heldout = stories(args.seed + 1_000_003, args.heldout, train)
    args.out.mkdir(parents=True, exist_ok=True)
    for name, texts in (("train", train), ("heldout", heldout)):
        # One blank line separates stories; none has a blank line inside.
        path = args.out / f"{name}.txt"
        path.write_text("\n\n".join(texts) + "\n", encoding="utf-8")
        print(f"{path.name}: {len(texts)} stories, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()

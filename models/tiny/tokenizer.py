"""A SentencePiece-style BPE vocabulary: training, encoding, decoding.

Ids: 0 <unk>, 1 <s>, 2 </s>, 3..258 the bytes <0x00>..<0xFF>, then the merged
pieces in the order they were learned (score 0, -1, -2 ...), then the single
characters. Encoding joins, again and again, the adjacent pair whose joined
text has the highest score (leftmost first on a tie): the merge rule of GGUF's
tokenizer.ggml.model = llama. Characters without a piece become byte tokens.
"""
import collections
import re

SPACE = "\u2581"
UNK, BOS, EOS, BYTE0, PIECE0 = 0, 1, 2, 3, 259
# A piece is a word, a part of one, or punctuation; never a mix of both.
PIECE = re.compile(f"{SPACE}?([A-Za-z]+|[^A-Za-z{SPACE}]+)|{SPACE}")


def words(text):
    """The text with its leading space, cut before every space and newline."""
    marked = SPACE + text.replace(" ", SPACE)
    return re.findall(f"\n|{SPACE}?[^{SPACE}\n]+|{SPACE}", marked)


def train(texts, size):
    """The pieces (merges, then characters) of a vocabulary of `size` ids."""
    counts = collections.Counter(w for t in texts for w in words(t))
    del counts["\n"]  # stays a byte token
    chars = sorted({c for w in counts for c in w})
    split = {w: list(w) for w in counts}
    merges = []
    while PIECE0 + len(merges) + len(chars) < size:
        pairs = collections.Counter()
        for word, parts in split.items():
            for pair in zip(parts, parts[1:]):
                pairs[pair] += counts[word]
        pairs = {p: n for p, n in pairs.items() if PIECE.fullmatch("".join(p))}
        best = max(pairs, key=lambda p: (pairs[p], p))
        merges.append("".join(best))
        for word, parts in split.items():
            if merges[-1] in word:
                split[word] = joinPair(parts, merges[-1])
    return merges + chars


def joinPair(parts, joined):
    """`parts` with every adjacent pair that spells `joined` made one."""
    out = []
    for part in parts:
        if out and out[-1] + part == joined:
            out[-1] = joined
        else:
            out.append(part)
    return out


class Tokenizer:
    """Encodes and decodes with the pieces that `train` returned."""

    def __init__(self, pieces):
        special = ["<unk>", "<s>", "</s>"]
        self.tokens = special + [f"<0x{b:02X}>" for b in range(256)] + pieces
        self.scores = [0.0] * PIECE0 + [-float(i) for i in range(len(pieces))]
        self.ids = {piece: PIECE0 + i for i, piece in enumerate(pieces)}
        self.cache = {}

    def encodeWord(self, word):
        """The ids of one word by greedy merging; pieces never cross words."""
        parts = list(word)
        while True:
            joined = (a + b for a, b in zip(parts, parts[1:]))
            known = [(self.ids[p], i) for i, p in enumerate(joined)
                     if p in self.ids]
            if not known:
                break
            _, i = min(known)
            parts[i:i + 2] = [parts[i] + parts[i + 1]]
        out = []
        for part in parts:
            if part in self.ids:
                out.append(self.ids[part])
            else:
                out += [BYTE0 + b for b in part.encode()]
        return out

    def encode(self, text):
        """<s> and the ids of the text, which gets a space in front."""
        out = [BOS]
        for word in words(text):
            if word not in self.cache:
                self.cache[word] = self.encodeWord(word)
            out += self.cache[word]
        return out

    def decode(self, ids):
        """The text of the ids without control tokens and the leading space."""
        raw = b"".join(bytes([i - BYTE0]) if BYTE0 <= i < PIECE0 else
                       self.tokens[i].encode() for i in ids if i >= BYTE0)
        text = raw.decode(errors="replace").replace(SPACE, " ")
        return text.removeprefix(" ")

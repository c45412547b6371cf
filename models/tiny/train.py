#!/usr/bin/env python3
"""Trains the tokenizer and the model on the corpus of generate_stories.py.

Everything it makes lies in the folder --work: the corpus, vocab.json, the
checkpoint (it resumes from there), log.txt. Export is export_gguf.py.
Needs PyTorch (written for 1.13 on CPUs).
"""
import argparse
import dataclasses
import json
import math
import pathlib
import time

import torch
from torch.nn import functional

import tokenizer
from model import Llama, Shape

BATCH_TOKENS = 1536  # per step, in rows of 256 and, towards the end, 512


def readStories(path):
    return path.read_text(encoding="utf-8").strip().split("\n\n")


def loadTokenizer(work, texts, size):
    """The vocabulary in `work`, trained on `texts` the first time."""
    path = work / "vocab.json"
    if not path.exists():
        pieces = tokenizer.train(texts[:8000], size)
        path.write_text(json.dumps(pieces, ensure_ascii=False, indent=0),
                        encoding="utf-8")
    return tokenizer.Tokenizer(json.loads(path.read_text(encoding="utf-8")))


def documents(tok, texts):
    """One stream `<s> story </s> <s> story </s> ...` and where they start."""
    stream, starts = [], []
    for text in texts:
        starts.append(len(stream))
        stream += tok.encode(text) + [tokenizer.EOS]
    return torch.tensor(stream), torch.tensor(starts)


def batches(stream, starts, length, order):
    """Rows [rows, length + 1] that start at stories, in the given order."""
    starts = starts[starts + length < len(stream)]
    while True:
        picked = starts[torch.randint(len(starts), (BATCH_TOKENS // length,),
                                      generator=order)]
        yield torch.stack([stream[s:s + length + 1] for s in picked])


def loss(model, rows):
    """Mean cross-entropy in nats per token."""
    logits = model(rows[:, :-1])
    return functional.cross_entropy(logits.flatten(0, 1),
                                    rows[:, 1:].flatten())


@torch.no_grad()
def heldoutLoss(model, tok, texts):
    """Nats per token and per character, each story read by itself.

    The end of the story </s> counts as one token and no character.
    """
    nats = tokens = characters = 0
    for text in texts:
        ids = (tok.encode(text) + [tokenizer.EOS])[:model.shape.context + 1]
        nats += loss(model, torch.tensor([ids])).item() * (len(ids) - 1)
        tokens += len(ids) - 1
        characters += len(tok.decode(ids))
    return nats / tokens, nats / characters


def learningRate(step, steps, peak):
    """Linear warm-up over 100 steps, then a cosine down to a twentieth."""
    warm = min(1.0, (step + 1) / 100)
    cosine = 0.5 * (1 + math.cos(math.pi * step / steps))
    return peak * warm * (0.05 + 0.95 * cosine)


def adamW(model, peak):
    """AdamW that decays matrices, not norms."""
    matrices = [w for w in model.parameters() if w.dim() == 2]
    norms = [w for w in model.parameters() if w.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.1},
              {"params": norms, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=peak, betas=(0.9, 0.95))


class Log:
    """Prints and keeps what is said."""

    def __init__(self, path):
        self.path = path

    def __call__(self, text):
        print(text, flush=True)
        with self.path.open("a") as out:
            out.write(text + "\n")


def save(path, model, optimizer, step, seconds):
    """Writes the checkpoint beside, then renames: always a whole file."""
    part = path.with_suffix(".part")
    torch.save({"shape": dataclasses.asdict(model.shape),
                "model": model.state_dict(), "step": step, "seconds": seconds,
                "optimizer": optimizer.state_dict()}, part)
    part.rename(path)


def fit(model, data, tok, heldout, args, log):
    """Trains to args.steps, from the checkpoint if there is one."""
    optimizer = adamW(model, args.rate)
    path, step, before = args.work / "checkpoint.pt", 0, 0.0  # before: seconds
    if path.exists():
        state = torch.load(path)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step, before = state["step"], state["seconds"]
    order = torch.Generator().manual_seed(args.seed + step)
    feeds = {n: batches(*data, n, order) for n in (256, 512)}
    start, mean, seconds = time.monotonic(), None, before
    while step < args.steps:
        rows = next(feeds[256 if step < 0.9 * args.steps else 512])
        for group in optimizer.param_groups:
            group["lr"] = learningRate(step, args.steps, args.rate)
        value = loss(model, rows)
        optimizer.zero_grad(set_to_none=True)
        value.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        now = value.item()
        mean = now if mean is None else 0.95 * mean + 0.05 * now
        seconds = before + time.monotonic() - start
        if step % 20 == 0:
            log(f"step {step} loss {mean:.4f} {seconds:.0f} s")
        if step % 100 == 0 or step == args.steps:
            nats, _ = heldoutLoss(model, tok, heldout[:40])
            log(f"step {step} held-out loss {nats:.4f} (40 stories)")
            save(path, model, optimizer, step, seconds)
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--rate", type=float, default=4e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    log = Log(args.work / "log.txt")
    texts = readStories(args.work / "train.txt")
    heldout = readStories(args.work / "heldout.txt")
    model = Llama(Shape())
    tok = loadTokenizer(args.work, texts, model.shape.vocab)
    data = documents(tok, texts)
    log(f"{len(texts)} stories, {len(data[0])} tokens, "
        f"{sum(w.numel() for w in model.parameters())} parameters")
    seconds = fit(model, data, tok, heldout, args, log)
    perToken, perCharacter = heldoutLoss(model, tok, heldout)
    log(f"held-out ({len(heldout)} stories): perplexity "
        f"{math.exp(perToken):.4f} per token, {math.exp(perCharacter):.4f} "
        f"per character; {args.steps} steps in {seconds:.0f} s")


if __name__ == "__main__":
    main()

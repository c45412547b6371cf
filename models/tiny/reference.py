#!/usr/bin/env python3
"""A float64 NumPy reference: reads a GGUF file, generates, writes golden.json.

It shares nothing with train.py but the tokenizer's merge rule: the file is
read back byte by byte, so that a mistake of the export shows. Knows F32 and
Q8_0 only; plain and slow, not an inference engine.
"""
import argparse
import json
import math
import pathlib
import struct

import numpy

import tokenizer

HERE = pathlib.Path(__file__).parent
SCALARS = {4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q"}
STRING, ARRAY = 8, 9


class Reader:
    """A cursor over the bytes of a GGUF file."""

    def __init__(self, raw):
        self.raw, self.at = raw, 0

    def take(self, fmt):
        value, = struct.unpack_from(fmt, self.raw, self.at)
        self.at += struct.calcsize(fmt)
        return value

    def string(self):
        count = self.take("<Q")
        self.at += count
        return self.raw[self.at - count:self.at].decode()

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            inner, count = self.take("<I"), self.take("<Q")
            return [self.value(inner) for _ in range(count)]
        return self.take(SCALARS[kind])


def dequantized(raw, kind, ne):
    """Tensor bytes to float64 of shape reversed(ne)."""
    count = math.prod(ne)
    if kind == 0:
        flat = numpy.frombuffer(raw, "<f4", count).astype(float)
    else:
        assert kind == 8, f"tensor type {kind} is neither F32 nor Q8_0"
        block = numpy.dtype([("d", "<f2"), ("q", "i1", 32)])
        blocks = numpy.frombuffer(raw, block, count // 32)
        flat = blocks["d"].astype(float)[:, None] * blocks["q"]
    return flat.reshape(ne[::-1])


def read(path):
    """The metadata and the tensors of a GGUF v3 file, as two dictionaries."""
    reader = Reader(path.read_bytes())
    assert reader.take("<I") == 0x46554747 and reader.take("<I") == 3
    tensorCount, entryCount = reader.take("<Q"), reader.take("<Q")
    meta, infos, weights = {}, [], {}
    for _ in range(entryCount):
        key = reader.string()
        meta[key] = reader.value(reader.take("<I"))
    for _ in range(tensorCount):
        name, dims = reader.string(), reader.take("<I")
        ne = [reader.take("<Q") for _ in range(dims)]
        infos.append((name, ne, reader.take("<I"), reader.take("<Q")))
    align = meta.get("general.alignment", 32)
    start = -(-reader.at // align) * align
    for name, ne, kind, offset in infos:
        weights[name] = dequantized(reader.raw[start + offset:], kind, ne)
    return meta, weights


class Reference:
    """Llama in float64, one token at a time with a KV cache."""

    def __init__(self, path):
        self.meta, self.weights = read(path)
        get = lambda key: self.meta["llama." + key]
        self.layers = get("block_count")
        self.heads = get("attention.head_count")
        self.kvHeads = get("attention.head_count_kv")
        self.eps = get("attention.layer_norm_rms_epsilon")
        self.ropeBase = get("rope.freq_base")
        self.tok = tokenizer.Tokenizer(
            self.meta["tokenizer.ggml.tokens"][tokenizer.PIECE0:])
        self.reset()

    def reset(self):
        """Forgets all tokens so far."""
        self.keys = [[] for _ in range(self.layers)]
        self.values = [[] for _ in range(self.layers)]

    def norm(self, x, name):
        scale = 1 / numpy.sqrt(numpy.mean(x * x) + self.eps)
        return x * scale * self.weights[name]

    def rotate(self, x, position):
        """Turns adjacent pairs of x [heads, headDim]."""
        dim = x.shape[1]
        angle = position * self.ropeBase ** -(numpy.arange(0, dim, 2) / dim)
        even, odd = x[:, 0::2], x[:, 1::2]
        cos, sin = numpy.cos(angle), numpy.sin(angle)
        out = numpy.empty_like(x)
        out[:, 0::2] = even * cos - odd * sin
        out[:, 1::2] = even * sin + odd * cos
        return out

    def attend(self, x, layer):
        w = lambda name: self.weights[f"blk.{layer}.attn_{name}.weight"]
        position = len(self.keys[layer])
        q = self.rotate((w("q") @ x).reshape(self.heads, -1), position)
        k = self.rotate((w("k") @ x).reshape(self.kvHeads, -1), position)
        self.keys[layer].append(k)
        self.values[layer].append((w("v") @ x).reshape(self.kvHeads, -1))
        keys = numpy.array(self.keys[layer])  # [position, kvHeads, headDim]
        values = numpy.array(self.values[layer])
        out = []
        for head in range(self.heads):
            shared = head // (self.heads // self.kvHeads)
            scores = keys[:, shared] @ q[head] / math.sqrt(q.shape[1])
            weights = numpy.exp(scores - scores.max())
            out.append(weights / weights.sum() @ values[:, shared])
        return w("output") @ numpy.concatenate(out)

    def step(self, token):
        """The logits [vocab] after reading one more token."""
        x = self.weights["token_embd.weight"][token]
        for layer in range(self.layers):
            name = f"blk.{layer}.ffn_"
            x = x + self.attend(self.norm(x, f"blk.{layer}.attn_norm.weight"),
                                layer)
            y = self.norm(x, name + "norm.weight")
            gate = self.weights[name + "gate.weight"] @ y
            up = self.weights[name + "up.weight"] @ y
            x = x + self.weights[name + "down.weight"] @ (
                gate / (1 + numpy.exp(-gate)) * up)
        x = self.norm(x, "output_norm.weight")
        return self.weights["token_embd.weight"] @ x

    def greedy(self, ids, count):
        """Up to `count` ids after the prompt, </s> last if it came, and the
        smallest gap between the best and the second best logit."""
        self.reset()
        for token in ids:
            logits = self.step(token)
        out, gap = [], math.inf
        while len(out) < count:
            second, first = numpy.sort(logits)[-2:]
            gap = min(gap, first - second)
            out.append(int(numpy.argmax(logits)))
            if out[-1] == tokenizer.EOS:
                break
            logits = self.step(out[-1])
        return out, float(gap)

    def nats(self, ids):
        """The summed cross-entropy of ids[1:]."""
        self.reset()
        total = 0.0
        for token, following in zip(ids, ids[1:]):
            logits = self.step(token)
            top = logits.max()
            total += top + math.log(numpy.exp(logits - top).sum())
            total -= logits[following]
        return total


def perplexity(model, texts):
    """Per token and per character; each story alone, </s> included."""
    nats = tokens = characters = 0
    context = model.meta["llama.context_length"]
    for text in texts:
        ids = (model.tok.encode(text) + [tokenizer.EOS])[:context + 1]
        nats += model.nats(ids)
        tokens += len(ids) - 1
        characters += len(model.tok.decode(ids))
    return math.exp(nats / tokens), math.exp(nats / characters)


def golden(model, args):
    """The content of golden.json; the corpus seed is the one in `args`."""
    prompt = model.tok.encode(args.prompt)
    ids, gap = model.greedy(prompt, 128)
    text = (args.work / "heldout.txt").read_text(encoding="utf-8")
    texts = text.strip().split("\n\n")[:args.stories]
    perToken, perCharacter = perplexity(model, texts)
    return {
        "model": args.model.name,
        "prompt": args.prompt,
        "prompt_ids": prompt,
        "greedy_ids": ids,
        "smallest_logit_gap": gap,
        "text": model.tok.decode(prompt + ids),
        "corpus_seed": args.seed,
        "held_out_stories": len(texts),
        "held_out_perplexity": perToken,
        "held_out_perplexity_per_character": perCharacter,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=pathlib.Path,
                        default=HERE / "orrery-tiny-Q8_0.gguf")
    parser.add_argument("--prompt", default="Once upon a time")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--golden", action="store_true",
                        help="write golden.json; needs --work and --seed")
    parser.add_argument("--work", type=pathlib.Path, help="has heldout.txt")
    parser.add_argument("--seed", type=int, help="seed of that corpus")
    parser.add_argument("--stories", type=int, default=500,
                        help="how many held-out stories the perplexity reads")
    args = parser.parse_args()
    model = Reference(args.model)
    if args.golden:
        content = golden(model, args)
        (HERE / "golden.json").write_text(json.dumps(content, indent=1) + "\n")
        print(content["text"], content["held_out_perplexity"], sep="\n")
    else:
        ids = model.tok.encode(args.prompt)
        ids += model.greedy(ids, args.tokens)[0]
        print(model.tok.decode(ids))


if __name__ == "__main__":
    main()

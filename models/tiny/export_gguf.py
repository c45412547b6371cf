#!/usr/bin/env python3
"""Writes a checkpoint of train.py as a GGUF v3 file, matrices in Q8_0.

Q8_0: blocks of 32 along a row, each a float16 d = amax / 127 and 32 int8
q = round(x / d), halves away from zero. Norms stay float32.
"""
import argparse
import json
import pathlib
import struct

import numpy
import torch

import tokenizer

U32, F32, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5
FORMATS = {U32: "<I", F32: "<f", BOOL: "<?", I32: "<i"}
TENSOR_F32, TENSOR_Q8_0 = 0, 8
ALIGNMENT = 32  # bytes


def string(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def scalar(kind, value):
    if kind == STRING:
        return string(value)
    return struct.pack(FORMATS[kind], value)


def entry(key, kind, value):
    """One metadata entry; a list becomes an array of `kind`."""
    if isinstance(value, list):
        items = b"".join(scalar(kind, v) for v in value)
        head = struct.pack("<IIQ", ARRAY, kind, len(value))
        return string(key) + head + items
    return string(key) + struct.pack("<I", kind) + scalar(kind, value)


def q8_0(weights):
    """float32 [rows, cols], cols a multiple of 32, to Q8_0 bytes."""
    x = weights.reshape(-1, 32)
    d = numpy.abs(x).max(1, keepdims=True) / numpy.float32(127)
    inverse = numpy.divide(1, d, out=numpy.zeros_like(d), where=d != 0)
    scaled = (x * inverse).astype(float)  # float32 would round x + 0.5 up
    rounded = numpy.copysign(numpy.floor(numpy.abs(scaled) + 0.5), scaled)
    blocks = numpy.empty(len(x), [("d", "<f2"), ("q", "i1", 32)])
    blocks["d"], blocks["q"] = d[:, 0], rounded
    return blocks.tobytes()


def metadata(shape, tok):
    """The metadata entries in file order."""
    kinds = [2, 3, 3] + [6] * 256  # unknown, control, byte; then normal
    kinds += [1] * (len(tok.tokens) - len(kinds))
    return [
        ("general.architecture", STRING, "llama"),
        ("general.name", STRING, "Orrery Tiny"),
        ("general.license", STRING, "apache-2.0"),
        ("general.alignment", U32, ALIGNMENT),
        ("general.file_type", U32, 7),  # mostly Q8_0
        ("general.quantization_version", U32, 2),
        ("llama.block_count", U32, shape["layers"]),
        ("llama.context_length", U32, shape["context"]),
        ("llama.embedding_length", U32, shape["hidden"]),
        ("llama.feed_forward_length", U32, shape["ffn"]),
        ("llama.attention.head_count", U32, shape["heads"]),
        ("llama.attention.head_count_kv", U32, shape["kvHeads"]),
        ("llama.attention.layer_norm_rms_epsilon", F32, shape["eps"]),
        ("llama.rope.dimension_count", U32, shape["headDim"]),
        ("llama.rope.freq_base", F32, shape["ropeBase"]),
        ("llama.vocab_size", U32, shape["vocab"]),
        ("tokenizer.ggml.model", STRING, "llama"),
        ("tokenizer.ggml.pre", STRING, "default"),
        ("tokenizer.ggml.tokens", STRING, tok.tokens),
        ("tokenizer.ggml.scores", F32, tok.scores),
        ("tokenizer.ggml.token_type", I32, kinds),
        ("tokenizer.ggml.bos_token_id", U32, tokenizer.BOS),
        ("tokenizer.ggml.eos_token_id", U32, tokenizer.EOS),
        ("tokenizer.ggml.unknown_token_id", U32, tokenizer.UNK),
        ("tokenizer.ggml.add_bos_token", BOOL, True),
        ("tokenizer.ggml.add_eos_token", BOOL, False),
        ("tokenizer.ggml.add_space_prefix", BOOL, True),
    ]


def tensors(weights):
    """[(name, ne, type, bytes)]; ne[0] counts the columns, reduced over."""
    out = []
    for name, weight in weights.items():
        array = weight.numpy().astype("<f4")
        ne = array.shape[::-1]
        if array.ndim == 2:
            out.append((name, ne, TENSOR_Q8_0, q8_0(array)))
        else:
            out.append((name, ne, TENSOR_F32, array.tobytes()))
    return out


def pad(raw):
    return raw + bytes(-len(raw) % ALIGNMENT)


def write(path, entries, parts):
    """Header, metadata, tensor infos, then the aligned tensor data."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(parts), len(entries))
    head += b"".join(entry(*e) for e in entries)
    data = b""
    for name, ne, kind, raw in parts:
        head += string(name) + struct.pack("<I", len(ne))
        head += struct.pack(f"<{len(ne)}Q", *ne)
        head += struct.pack("<IQ", kind, len(data))
        data += pad(raw)
    path.write_bytes(pad(head) + data)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(
        __file__).parent / "orrery-tiny-Q8_0.gguf")
    args = parser.parse_args()
    state = torch.load(args.work / "checkpoint.pt", map_location="cpu")
    pieces = json.loads((args.work / "vocab.json").read_text(encoding="utf-8"))
    entries = metadata(state["shape"], tokenizer.Tokenizer(pieces))
    write(args.out, entries, tensors(state["model"]))
    print(f"{args.out.name}: step {state['step']}, "
          f"{args.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()

"""The Llama architecture in PyTorch, for training only.

Weights are [out, in] row-major and rotary pairs are the adjacent rows (2i,
2i + 1) of each head, as GGUF's architecture `llama` stores them, so export
copies them as they are.
"""
import dataclasses

import torch
from torch import nn
from torch.nn import functional


@dataclasses.dataclass
class Shape:
    """The sizes of one model."""
    vocab: int = 1024
    context: int = 512
    hidden: int = 192
    layers: int = 4
    heads: int = 6
    kvHeads: int = 2
    headDim: int = 32
    ffn: int = 512
    eps: float = 1e-5
    ropeBase: float = 10000.0


class RmsNorm(nn.Module):
    """x / rms(x) * weight over the last dimension."""

    def __init__(self, shape):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(shape.hidden))
        self.eps = shape.eps

    def forward(self, x):
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
        return x * scale * self.weight


def rotate(x, turns):
    """Turns the adjacent pairs of x [b, heads, t, headDim], each taken as a
    complex number, by the unit complex `turns` [t, headDim / 2]."""
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * turns).flatten(-2)


class Block(nn.Module):
    """Attention with shared KV heads, then SwiGLU, each with a residual."""

    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        query, kv = shape.heads * shape.headDim, shape.kvHeads * shape.headDim
        linear = lambda rows, cols: nn.Linear(cols, rows, bias=False)
        self.attn_norm, self.ffn_norm = RmsNorm(shape), RmsNorm(shape)
        self.attn_q = linear(query, shape.hidden)
        self.attn_k = linear(kv, shape.hidden)
        self.attn_v = linear(kv, shape.hidden)
        self.attn_output = linear(shape.hidden, query)
        self.ffn_gate = linear(shape.ffn, shape.hidden)
        self.ffn_up = linear(shape.ffn, shape.hidden)
        self.ffn_down = linear(shape.hidden, shape.ffn)

    def attend(self, x, turns, mask):
        batch, length, _ = x.shape
        s = self.shape
        group = s.heads // s.kvHeads
        split = lambda y, n: y.view(batch, length, n, s.headDim).transpose(1, 2)
        q = rotate(split(self.attn_q(x) * s.headDim ** -0.5, s.heads), turns)
        k = rotate(split(self.attn_k(x), s.kvHeads), turns)
        v = split(self.attn_v(x), s.kvHeads)
        # The query heads of one KV head stand one below the other: one product.
        q = q.reshape(batch, s.kvHeads, group * length, s.headDim)
        scores = q @ k.transpose(-1, -2)
        scores = scores.view(batch, s.kvHeads, group, length, length) + mask
        weights = scores.softmax(-1).view(batch, s.kvHeads, -1, length)
        mixed = (weights @ v).view(batch, s.heads, length, s.headDim)
        return self.attn_output(mixed.transpose(1, 2).flatten(2))

    def forward(self, x, turns, mask):
        x = x + self.attend(self.attn_norm(x), turns, mask)
        y = self.ffn_norm(x)
        gated = functional.silu(self.ffn_gate(y)) * self.ffn_up(y)
        return x + self.ffn_down(gated)


class Llama(nn.Module):
    """Token ids [b, t] to logits [b, t, vocab]; embeddings are tied."""

    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.token_embd = nn.Embedding(shape.vocab, shape.hidden)
        self.blk = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.output_norm = RmsNorm(shape)
        half = torch.arange(0, shape.headDim, 2).double() / shape.headDim
        angle = torch.outer(torch.arange(shape.context).double(),
                            shape.ropeBase ** -half)
        turns = torch.polar(torch.ones_like(angle), angle).cfloat()
        self.register_buffer("turns", turns, persistent=False)
        mask = torch.full((shape.context, shape.context), float("-inf")).triu(1)
        self.register_buffer("mask", mask, persistent=False)
        self.initialise()

    def initialise(self):
        """Normal with deviation 1 / sqrt(columns), less for what adds to the
        residual; and the last layer but one starts as a copier.

        The embeddings must start apart (with 0.02 the names stayed alike), and
        a copier must be there for the model to learn, within a few million
        tokens, to repeat a name from earlier in the story: the output of each
        head there is the transpose of its V, so that what a head attends to
        becomes likelier to come next.
        """
        adding = (2 * self.shape.layers) ** -0.5
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                adds = "attn_output" in name or "ffn_down" in name
                scale = adding if adds else 1.0
                nn.init.normal_(weight, std=scale * weight.shape[1] ** -0.5)
        copier, s = self.blk[-2], self.shape
        values = copier.attn_v.weight.detach().view(s.kvHeads, s.headDim, -1)
        perQuery = values.repeat_interleave(s.heads // s.kvHeads, dim=0)
        with torch.no_grad():
            copier.attn_output.weight.copy_(adding * perQuery.flatten(0, 1).T)

    def forward(self, ids):
        length = ids.shape[1]
        turns, mask = self.turns[:length], self.mask[:length, :length]
        x = self.token_embd(ids)
        for block in self.blk:
            x = block(x, turns, mask)
        return self.output_norm(x) @ self.token_embd.weight.T

"""The network: llama's layers (RMSNorm, RoPE on neighbouring pairs, SwiGLU, tied embedding)."""

import dataclasses

import torch
import torch.nn.functional as F
from torch import nn


@dataclasses.dataclass
class Shape:
    vocabulary: int
    width: int = 192
    layers: int = 6
    heads: int = 3
    feed_forward: int = 512
    context: int = 512
    rope_base: float = 10000.0
    norm_epsilon: float = 1e-5


class Norm(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(shape.width))
        self.epsilon = shape.norm_epsilon

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight, self.epsilon)


def rotations(shape, positions):
    """cos and sin of each position and pair: [positions, head width / 2]."""
    half = shape.width // shape.heads // 2
    rates = shape.rope_base ** (-torch.arange(half, dtype=torch.float64) / half)
    angles = torch.outer(positions.double(), rates)
    return angles.cos().float(), angles.sin().float()


def rotated(x, turns):
    """x: [batch, heads, length, head width]; pairs are neighbours, as in GGUF's llama."""
    cos, sin = turns
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)


def causal(q, k, v):
    """Attention to the past, spelled out: on short rows faster than PyTorch's fused one in bf16."""
    length = q.shape[2]
    future = torch.full((length, length), float("-inf")).triu(1)
    scores = (q @ k.transpose(-1, -2)).float() * q.shape[-1] ** -0.5 + future
    return scores.softmax(-1).to(v.dtype) @ v


class Layer(nn.Module):
    def __init__(self, shape):
        super().__init__()
        width, inner = shape.width, shape.feed_forward
        self.heads = shape.heads
        self.attention_norm = Norm(shape)
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, width, bias=False)
        self.o = nn.Linear(width, width, bias=False)
        self.feed_forward_norm = Norm(shape)
        self.gate = nn.Linear(width, inner, bias=False)
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def split(self, x):
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def forward(self, x, turns, past=None):
        """`past`: (keys, values, bias) of earlier positions; returns x and this call's own."""
        normed = self.attention_norm(x)
        q = rotated(self.split(self.q(normed)), turns)
        k = rotated(self.split(self.k(normed)), turns)
        v = self.split(self.v(normed))
        if past is None:
            mixed = causal(q, k, v)
        else:
            keys, values, bias = past
            mixed = F.scaled_dot_product_attention(q, torch.cat((keys, k), 2),
                                                   torch.cat((values, v), 2), attn_mask=bias)
        x = x + self.o(mixed.transpose(1, 2).flatten(2))
        normed = self.feed_forward_norm(x)
        return x + self.down(F.silu(self.gate(normed)) * self.up(normed)), k, v


class Model(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = Norm(shape)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                nn.init.normal_(weight, std=0.02)
            if name.endswith(("o.weight", "down.weight")):
                nn.init.zeros_(weight)

    def hidden(self, ids):
        """States after the final norm: [batch, length, width]."""
        turns = rotations(self.shape, torch.arange(ids.shape[1]))
        x = self.embedding(ids)
        for layer in self.layers:
            x, _, _ = layer(x, turns)
        return self.norm(x)

    def logits(self, states):
        return states @ self.embedding.weight.T

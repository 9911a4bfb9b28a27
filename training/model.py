"""A small Llama model, written for speed on the CPU: plain bmm and softmax under torch.compile."""

from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 6144
    dim: int = 576
    n_layers: int = 8
    n_heads: int = 9
    n_kv_heads: int = 3
    head_dim: int = 64
    ffn_dim: int = 768
    context_length: int = 1024
    rope_theta: float = 100_000.0
    rms_eps: float = 1e-5


class RmsNorm(nn.Module):
    def __init__(self, dim: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        x = x.float()
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


class Block(nn.Module):
    """Pre-norm attention with rotary positions and grouped K/V heads, followed by SwiGLU."""

    def __init__(self, config: Config):
        super().__init__()
        c = self.config = config
        self.attn_norm = RmsNorm(c.dim, c.rms_eps)
        self.attn_q = nn.Linear(c.dim, c.n_heads * c.head_dim, bias=False)
        self.attn_k = nn.Linear(c.dim, c.n_kv_heads * c.head_dim, bias=False)
        self.attn_v = nn.Linear(c.dim, c.n_kv_heads * c.head_dim, bias=False)
        self.attn_output = nn.Linear(c.n_heads * c.head_dim, c.dim, bias=False)
        self.ffn_norm = RmsNorm(c.dim, c.rms_eps)
        self.ffn_gate = nn.Linear(c.dim, c.ffn_dim, bias=False)
        self.ffn_up = nn.Linear(c.dim, c.ffn_dim, bias=False)
        self.ffn_down = nn.Linear(c.ffn_dim, c.dim, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor, cache: dict | None = None) -> Tensor:
        """Takes x [batch, length, dim] and cos, sin [length, head_dim / 2]. The mask (0 or -inf) broadcasts to [batch * n_heads, length,
        total]. `cache` keeps k and v of earlier calls, so total >= length."""
        c = self.config
        batch, length, _ = x.shape
        group = c.n_heads // c.n_kv_heads
        h = self.attn_norm(x)
        q = rotate(self.attn_q(h).view(batch, length, c.n_heads, c.head_dim), cos, sin)
        k = rotate(self.attn_k(h).view(batch, length, c.n_kv_heads, c.head_dim), cos, sin)
        v = self.attn_v(h).view(batch, length, c.n_kv_heads, c.head_dim)
        if cache is not None:
            if cache:
                k, v = torch.cat((cache["k"], k), 1), torch.cat((cache["v"], v), 1)
            cache.update(k=k, v=v)
        k, v = k.repeat_interleave(group, 2), v.repeat_interleave(group, 2)
        q, k, v = (t.transpose(1, 2).reshape(batch * c.n_heads, -1, c.head_dim).to(v.dtype) for t in (q, k, v))
        weights = torch.softmax(torch.bmm(q, k.transpose(1, 2)).float() * c.head_dim**-0.5 + mask, -1)
        mixed = torch.bmm(weights.to(v.dtype), v).view(batch, c.n_heads, length, c.head_dim)
        x = x + self.attn_output(mixed.transpose(1, 2).reshape(batch, length, c.n_heads * c.head_dim))
        h = self.ffn_norm(x)
        return x + self.ffn_down(F.silu(self.ffn_gate(h)) * self.ffn_up(h))


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Applies NEOX rotary positions to x [batch, length, heads, head_dim]: the pairs are (i, i + head_dim / 2)."""
    a, b = x.chunk(2, -1)
    cos, sin = cos[:, None, :], sin[:, None, :]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


class Model(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.token_embd = nn.Embedding(config.vocab_size, config.dim)
        self.blk = nn.ModuleList(Block(config) for _ in range(config.n_layers))
        self.output_norm = RmsNorm(config.dim, config.rms_eps)
        angles = torch.outer(
            torch.arange(config.context_length).float(),
            config.rope_theta ** (-torch.arange(0, config.head_dim, 2).float() / config.head_dim),
        )
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        mask = torch.full((config.context_length, config.context_length), float("-inf")).triu(1)
        self.register_buffer("mask", mask, persistent=False)
        self.apply(self._initialise)
        for block in self.blk:
            nn.init.zeros_(block.attn_output.weight)
            nn.init.zeros_(block.ffn_down.weight)

    @staticmethod
    def _initialise(module: nn.Module):
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features**-0.5)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        """Returns the final hidden states [batch, length, dim] of tokens [batch, length]."""
        length = tokens.shape[1]
        x = self.token_embd(tokens)
        cos, sin, mask = self.cos[:length], self.sin[:length], self.mask[:length, :length].contiguous()
        for block in self.blk:
            x = block(x, cos, sin, mask)
        return self.output_norm(x)

    def logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self.token_embd.weight)

    def loss(self, tokens: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
        """Returns the weighted cross-entropy of `targets`, divided by the number of targets with weight 1. All inputs are [batch,
        length]."""
        return self.cross_entropy(self(tokens), targets, weights)

    def cross_entropy(self, hidden: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
        """Returns the loss of the final hidden states [batch, length, dim]."""
        losses = F.cross_entropy(self.logits(hidden).flatten(0, 1).float(), targets.flatten(), reduction="none")
        return (losses * weights.flatten()).sum() / (weights == 1).sum()


def load_trained(path: Path) -> tuple[Model, dict]:
    """Loads the model from the file `model.pt` that `train.py` wrote, and its training summary."""
    saved = torch.load(path, map_location="cpu", weights_only=False)
    model = Model(Config(**saved["config"]))
    model.load_state_dict(saved["model"])
    return model.eval(), saved["summary"]

#!/usr/bin/env python3
"""Writes architectures.json next to this file: float64 results of the random models of tests/models/mod.rs.

    python3 tests/golden/architectures.py        (needs numpy; takes seconds)

Weights, shapes and tokens are the same as in tests/models/mod.rs. The transformer follows the definitions and shares no code with the Rust
engines. Run this again when the models there change.
"""
import hashlib
import json
import pathlib
from dataclasses import dataclass

import numpy as np

VOCAB, DIM, FFN, LAYERS = 97, 256, 512, 2
# Larger than in real models, so that tests notice if it is ignored. Rounded to float32, as in the file.
NORM_EPSILON = float(np.float32(0.001))
TOKENS = np.array([(5 * t**3 + 11 * t + 3) % VOCAB for t in range(72)])
# (start, length, share) of the tokens that move toward the end token by that share. All are passes of one job.
EDITS = [(40, 9, 1.0), (0, 3, 1.0), (20, 11, 0.25)]
# Ranges whose attention weights are summed.
RANGES = [(0, 10), (10, 40), (40, 71)]
END_TOKEN = 2
# Properties of the architectures, from their authors' code: pairs of values that rotate together, biases of q, k and v, norms of heads.
TURNS_NEIGHBORS = {"llama"}
HAS_BIASES = {"qwen2"}
NORMALIZES_HEADS = {"qwen3"}


@dataclass(frozen=True)
class Shape:
    name: str
    architecture: str
    heads: int
    kv_heads: int
    head_dim: int
    tied: bool
    rope_base: float
    rope_factors: bool = False
    layers: int = LAYERS
    norm_epsilon: float = NORM_EPSILON


SHAPES = [
    Shape("llama", "llama", 4, 2, 64, False, 1e4),
    Shape("llama, tied", "llama", 8, 2, 32, True, 1e4),
    Shape("llama, rope factors", "llama", 4, 1, 64, True, 5e5, rope_factors=True),
    Shape("qwen2", "qwen2", 4, 2, 64, False, 1e6),
    Shape("qwen2, tied", "qwen2", 8, 2, 32, True, 1e6),
    Shape("qwen3", "qwen3", 6, 3, 40, False, 1e6),
    Shape("qwen3, tied", "qwen3", 4, 2, 48, True, 1e4),
]


class Random:
    """splitmix64, as float32 in [-1, 1)."""

    def __init__(self, seed):
        self.state = np.uint64(seed)

    def words(self, count):
        step = np.uint64(0x9E37_79B9_7F4A_7C15)
        z = self.state + step * np.arange(1, count + 1, dtype=np.uint64)
        self.state = z[-1]
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
        return z ^ (z >> np.uint64(31))

    def next(self, count):
        z = self.words(count) >> np.uint64(40)
        return z.astype(np.float32) / np.float32(1 << 23) - np.float32(1)


def tensor(random, name, dims):
    """All operations are in float32, as in Rust."""
    if name == "rope_freqs.weight":
        return np.array([1 + max(i - 3, 0) / 4 for i in range(dims[0])], np.float32)
    values = random.next(int(np.prod(dims))).reshape(dims)
    if name.endswith("ssm_a"):
        return (values - np.float32(1)) / np.float32(8)
    if name.endswith("norm.weight"):
        return np.float32(1) + np.float32(0.3) * values
    return values * np.sqrt(np.float32(6) / np.float32(dims[-1]))


def dimensions(shape):
    """Shapes of all tensors by name, in the order in which their numbers are generated."""
    q, kv = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
    dims = {"token_embd.weight": (VOCAB, DIM), "output_norm.weight": (DIM,)}
    if not shape.tied:
        dims["output.weight"] = (VOCAB, DIM)
    if shape.rope_factors:
        dims["rope_freqs.weight"] = (shape.head_dim // 2,)
    for i in range(LAYERS):
        blk = f"blk.{i}."
        dims[blk + "attn_norm.weight"] = dims[blk + "ffn_norm.weight"] = (DIM,)
        for part, rows in [("attn_q", q), ("attn_k", kv), ("attn_v", kv)]:
            dims[f"{blk}{part}.weight"] = (rows, DIM)
            if shape.architecture in HAS_BIASES:
                dims[f"{blk}{part}.bias"] = (rows,)
        if shape.architecture in NORMALIZES_HEADS:
            dims[blk + "attn_q_norm.weight"] = dims[blk + "attn_k_norm.weight"] = (shape.head_dim,)
        dims[blk + "attn_output.weight"] = (DIM, q)
        dims[blk + "ffn_gate.weight"] = dims[blk + "ffn_up.weight"] = (FFN, DIM)
        dims[blk + "ffn_down.weight"] = (DIM, FFN)
    return dims


def tensors(shape):
    """Name -> float32 tensor."""
    random = Random(7)
    return {name: tensor(random, name, d) for name, d in dimensions(shape).items()}


def halves(blocks, at):
    """The f16 number at byte `at` of each block, made subnormal in place: `[blocks, 1]`."""
    blocks[:, at + 1] &= 0x83
    return blocks[:, at : at + 2].copy().view("<f2").astype(np.float64)


def q8_0(blocks):
    return halves(blocks, 0) * blocks[:, 2:].view(np.int8)


def q4_k(blocks):
    """dequantize_row_q4_K of ggml-quants.c: 8 groups of 32 values, each with a scale and a minimum of 6 bits."""
    d, smallest = halves(blocks, 0), halves(blocks, 2)
    packed = blocks[:, 4:16]
    low, mins, high = packed[:, :4], packed[:, 4:8], packed[:, 8:]
    scales = np.concatenate([low & 63, (high & 15) | (low >> 6 << 4)], axis=1)
    minima = np.concatenate([mins & 63, (high >> 4) | (mins >> 6 << 4)], axis=1)
    quants = blocks[:, 16:].reshape(-1, 4, 32)
    quants = np.stack([quants & 15, quants >> 4], axis=2).reshape(-1, 8, 32)
    return ((d * scales)[:, :, None] * quants - (smallest * minima)[:, :, None]).reshape(len(blocks), 256)


def q6_k(blocks):
    """dequantize_row_q6_K of ggml-quants.c: 16 groups of 16 values, each with a scale of 8 bits."""
    d = halves(blocks, 208)
    low, high = blocks[:, :128].reshape(-1, 2, 2, 32), blocks[:, 128:192].reshape(-1, 2, 1, 32)
    low = np.concatenate([low & 15, low >> 4], axis=2)
    high = np.concatenate([(high >> shift) & 3 for shift in (0, 2, 4, 6)], axis=2)
    quants = (low | high << 4).reshape(-1, 16, 16).astype(np.float64) - 32
    scales = blocks[:, 192:208].view(np.int8)
    return ((d * scales)[:, :, None] * quants).reshape(len(blocks), 256)


# Bytes of a block, values in it, and its decoder: the types that the matrices of a model with subnormal scales use in turn.
SUBNORMAL_TYPES = [(34, 32, q8_0), (144, 256, q4_k), (210, 256, q6_k)]


def subnormal_tensors(shape):
    """Name -> float64 tensor, and the SHA-256 of all bytes. Matrices are random blocks with subnormal f16 numbers. Norms are larger to
    compensate for the small weights.
    """
    random, digest, weights, matrices = Random(7), hashlib.sha256(), {}, 0
    for name, dims in dimensions(shape).items():
        if len(dims) == 1:
            weights[name] = np.float32(8) * tensor(random, name, dims)
            digest.update(weights[name].astype("<f4").tobytes())
            continue
        size, values, decode = SUBNORMAL_TYPES[matrices % len(SUBNORMAL_TYPES)]
        matrices += 1
        count, words = int(np.prod(dims)) // values, -(-size // 8)
        blocks = random.words(count * words).astype("<u8").view(np.uint8).reshape(count, 8 * words)[:, :size].copy()
        weights[name] = decode(blocks).reshape(dims)
        digest.update(blocks.tobytes())
    return {name: weight.astype(np.float64) for name, weight in weights.items()}, digest.hexdigest()


def sha256(weights):
    """SHA-256 of all values as little-endian float32, tensor by tensor."""
    assert all(weight.dtype == np.float32 for weight in weights.values())
    return hashlib.sha256(b"".join(weight.astype("<f4").tobytes() for weight in weights.values())).hexdigest()


def rms_norm(shape, x, weight):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + shape.norm_epsilon) * weight


def rotate(shape, weights, head):
    """Rotates one head at all positions, `[tokens, head_dim]`: each pair of values like a complex number."""
    half = shape.head_dim // 2
    angle = shape.rope_base ** (-np.arange(half) / half)
    if shape.rope_factors:
        angle = angle / weights["rope_freqs.weight"]
    angle = np.outer(np.arange(len(head)), angle)
    rotated = np.empty_like(head)
    a, b = (np.s_[:, 0::2], np.s_[:, 1::2]) if shape.architecture in TURNS_NEIGHBORS else (np.s_[:, :half], np.s_[:, half:])
    rotated[a] = head[a] * np.cos(angle) - head[b] * np.sin(angle)
    rotated[b] = head[a] * np.sin(angle) + head[b] * np.cos(angle)
    return rotated


def softmax(x):
    e = np.exp(x - x.real.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(shape, weights, blk, x, maps, flows):
    """`[tokens, dim]` -> `[tokens, dim]`. Appends each head's weights, `[tokens, tokens]`, to `maps`, and the layer's flow from each range,
    `[tokens, ranges]`, to `flows`.
    """

    def project(part):
        bias = weights[f"{blk}{part}.bias"] if shape.architecture in HAS_BIASES else 0
        return x @ weights[f"{blk}{part}.weight"].T + bias

    def head(part, i):
        values = projected[part][:, i * shape.head_dim : (i + 1) * shape.head_dim]
        if shape.architecture in NORMALIZES_HEADS and part != "attn_v":
            values = rms_norm(shape, values, weights[f"{blk}{part}_norm.weight"])
        return values if part == "attn_v" else rotate(shape, weights, values)

    projected = {part: project(part) for part in ("attn_q", "attn_k", "attn_v")}
    future = np.triu(np.full((len(x), len(x)), -np.inf), k=1)
    mixed, parts = [], []
    for i in range(shape.heads):
        shared = i // (shape.heads // shape.kv_heads)
        scores = head("attn_q", i) @ head("attn_k", shared).T / np.sqrt(shape.head_dim)
        maps.append(softmax(scores + future))
        mixed.append(maps[-1] @ head("attn_v", shared))
        # Contribution of each range to the head's output, `[ranges, tokens, head_dim]`.
        parts.append(np.stack([maps[-1][:, start:end] @ head("attn_v", shared)[start:end] for start, end in RANGES]))
    flows.append(flow(mixed, parts))
    return np.concatenate(mixed, axis=1) @ weights[blk + "attn_output.weight"].T


def flow(outputs, parts):
    """Squares of each range's positive share of the outputs of all heads, `[tokens, ranges]`. Shares are projections on the output."""
    whole = sum((output**2).sum(axis=1) for output in outputs)
    shares = [(part * output).sum(axis=2) / whole for output, part in zip(outputs, parts)]
    return sum(np.maximum(share.real, 0) ** 2 for share in shares).T


def feed_forward(weights, blk, x):
    gate, up = x @ weights[blk + "ffn_gate.weight"].T, x @ weights[blk + "ffn_up.weight"].T
    return (gate / (1 + np.exp(-gate)) * up) @ weights[blk + "ffn_down.weight"].T


def embed(weights, shares):
    """Embeddings of the text, each moved by its share toward that of the end token: `[tokens, dim]`."""
    table = weights["token_embd.weight"]
    return table[TOKENS] + shares[:, None] * (table[END_TOKEN] - table[TOKENS])


def log_distributions(shape, weights, x):
    """Returns ln p of every token of the vocabulary after embeddings `x[: t + 1]`, `[tokens, vocabulary]`. Also returns the sums over all
    heads and layers of attention weights, `[tokens, tokens]`, and of flow from each range, `[tokens, ranges]`.
    """
    maps, flows = [], []
    for i in range(shape.layers):
        blk = f"blk.{i}."
        x = x + attention(shape, weights, blk, rms_norm(shape, x, weights[blk + "attn_norm.weight"]), maps, flows)
        x = x + feed_forward(weights, blk, rms_norm(shape, x, weights[blk + "ffn_norm.weight"]))
    output = weights["token_embd.weight" if shape.tied else "output.weight"]
    logits = rms_norm(shape, x, weights["output_norm.weight"]) @ output.T
    logits = logits - logits.real.max(axis=1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)), sum(maps), sum(flows)


def log_probs(log_p):
    """ln p of the original tokens after the first: `[tokens - 1]`."""
    return log_p[np.arange(len(TOKENS) - 1), TOKENS[1:]]


def rounded(values):
    return [round(float(value), 9) for value in values]


def edited(distributions, base, start, length, share):
    """Results after position `start`, where the model reads other tokens: ln p of the original tokens, and KL(base || edited)."""
    shares = np.zeros(len(TOKENS))
    shares[start : start + length] = share
    perturbed, _, _ = distributions(shares)
    divergences = (np.exp(base) * (base - perturbed)).sum(axis=1)[:-1]
    return {
        "edit": {"start": start, "length": length, "share": share},
        "log_probs": rounded(log_probs(perturbed)[start:]),
        "divergences": rounded(divergences[start:]),
    }


def figures(shape):
    float32 = tensors(shape)
    return answers(shape, {name: weight.astype(np.float64) for name, weight in float32.items()}, sha256(float32))


def answers(shape, weights, digest):
    return figures_of(shape.name, digest, lambda shares: log_distributions(shape, weights, embed(weights, shares)))


def figures_of(name, digest, distributions):
    """`distributions` returns the results of a model for given shares of the end token."""
    base, attended, flowing = distributions(np.zeros(len(TOKENS)))
    return {
        "name": name,
        "sha256": digest,
        "log_probs": rounded(log_probs(base)),
        # Values of every token after the first, from the row that predicts it, summed over all heads and layers.
        "attention": [rounded(row[start:end].sum() for start, end in RANGES) for row in attended[:-1]],
        "flow": [rounded(row) for row in flowing[:-1]],
        "perturbed": [edited(distributions, base, *edit) for edit in EDITS],
    }


def main():
    golden = {"tokens": TOKENS.tolist(), "end_token": END_TOKEN, "ranges": RANGES, "shapes": [figures(shape) for shape in SHAPES]}
    golden["subnormal"] = answers(SHAPES[0], *subnormal_tensors(SHAPES[0]))
    text = json.dumps(golden).replace('{"name"', '\n{"name"').replace('{"edit"', '\n  {"edit"')
    pathlib.Path(__file__).with_name("architectures.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

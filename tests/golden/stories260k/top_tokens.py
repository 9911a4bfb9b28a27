#!/usr/bin/env python3
"""Writes top_tokens.json: the six most likely tokens at each position of the greedy text, with their log-probabilities in float64.

    python3 tests/golden/stories260k/top_tokens.py      (needs gguf 0.19.0 and numpy)

The transformer of ../architectures.py computes them from stories260k-f32.gguf. It shares no code with our engines.
"""
import json
import pathlib
import sys

import numpy as np
from gguf import GGUFReader

HERE = pathlib.Path(__file__).parent
sys.path.append(str(HERE.parent))
from architectures import Shape, log_distributions, rounded  # noqa: E402

N_TOP_TOKENS = 6
MODEL = HERE / "stories260k-f32.gguf"
# Of the model, as in make.py.
HEADS, KV_HEADS, LAYERS, DIM, NORM_EPSILON = 8, 4, 5, 64, 1e-5


def main():
    figures = json.loads((HERE / "figures.json").read_text(encoding="utf-8"))
    ids = figures["prompt_ids"] + figures["greedy_ids"]
    weights = {tensor.name: np.array(tensor.data, dtype=np.float64) for tensor in GGUFReader(MODEL).tensors}
    epsilon = float(np.float32(NORM_EPSILON))
    shape = Shape("", "llama", HEADS, KV_HEADS, DIM // HEADS, False, 1e4, layers=LAYERS, norm_epsilon=epsilon)
    log_p = log_distributions(shape, weights, weights["token_embd.weight"][ids])[0][:-1]
    chosen = log_p[np.arange(len(ids) - 1), ids[1:]]
    assert np.abs(chosen - figures["log_probs"][MODEL.name]).max() < 1e-6, "the figures are of another model"
    order = np.argsort(-log_p, axis=1, kind="stable")[:, :N_TOP_TOKENS]
    found = {"ids": ids, "tokens": order.tolist(), "log_probs": [rounded(row) for row in np.take_along_axis(log_p, order, axis=1)]}
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items())
    (HERE / "top_tokens.json").write_text("{\n" + lines + "\n}\n", encoding="utf-8")


main()

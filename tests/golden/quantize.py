#!/usr/bin/env python3
"""Writes quantize.json next to this file: values, and their blocks in each tensor type according to gguf-py. The tests of gguf-py compare
its blocks with those of ggml, bit for bit.

    python3 tests/golden/quantize.py        (needs gguf 0.19.0)
"""
import json
import pathlib

import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf.quants import quantize

TYPES = [Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0]
BLOCK = 32


def rows(random):
    """Blocks of usual weights, and of unusual ones."""
    usual = random.normal(0, 0.05, (24, BLOCK))
    steps = np.arange(BLOCK) - 16.0
    unusual = [
        np.zeros(BLOCK),
        np.full(BLOCK, 0.3),
        # Halves of a step, which rounding decides.
        steps / 2,
        steps / 16,
        # The largest magnitude occurs with both signs.
        np.where(np.arange(BLOCK) % 2 == 0, 1.0, -1.0),
        # A scale that is subnormal in f16, and one that is zero.
        random.normal(0, 1e-6, BLOCK),
        random.normal(0, 1e-10, BLOCK),
    ]
    return np.concatenate([usual, np.array(unusual)]).astype(np.float32)


def main():
    values = rows(np.random.default_rng(1))
    golden = {"columns": BLOCK, "values": values.tobytes().hex()}
    golden |= {kind.name.lower(): quantize(values, kind).tobytes().hex() for kind in TYPES}
    text = json.dumps(golden, indent=0)
    pathlib.Path(__file__).with_name("quantize.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

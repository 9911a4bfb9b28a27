#!/usr/bin/env python3
"""Writes iq4.json next to this file: random blocks of IQ4_NL and IQ4_XS, and their values according to gguf-py.

    python3 tests/golden/iq4.py        (needs gguf 0.19.0)
"""
import json
import pathlib

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

# Scales of blocks as f16: positive, negative, subnormal.
SCALES = [0.01, -0.25, 3e-6, 1.5]


def main():
    random, golden = np.random.default_rng(1), {}
    for quant in (GGMLQuantizationType.IQ4_NL, GGMLQuantizationType.IQ4_XS):
        _, size = GGML_QUANT_SIZES[quant]
        blocks = random.integers(0, 256, (len(SCALES), size), np.uint8)
        blocks[:, :2] = np.array(SCALES, np.float16).view(np.uint8).reshape(-1, 2)
        values = dequantize(blocks, quant).reshape(-1)
        golden[quant.name] = {"blocks": blocks.reshape(-1).tolist(), "values": [float(str(value)) for value in values]}
    text = json.dumps(golden).replace('"IQ4', '\n"IQ4').replace('"values"', '\n"values"')
    pathlib.Path(__file__).with_name("iq4.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

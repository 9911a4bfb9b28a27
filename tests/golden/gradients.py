#!/usr/bin/env python3
"""Writes gradients.json next to this file: integrated gradients of random models, with exact derivatives in float64.

    python3 tests/golden/gradients.py        (needs numpy; takes a minute)

The transformer is that of architectures.py. Derivatives use a complex step (Squire and Trapp, 1998): the imaginary part of f(x + ih) is h
f'(x) to the last digit, so there are no finite differences. Steps and path are those of crates/attribution/src/gradients.rs.
"""
import json
import pathlib

import numpy as np
from architectures import SHAPES, TOKENS, embed, log_distributions, log_probs, rounded, tensors

SENTENCES = [(2, 11), (11, 30), (30, 44), (44, 60), (60, 72)]  # the last two are generated
GENERATION = 44
STEPS = 20
TINY = 1e-30


def moved(place, sentence, further):
    """Shares of the end token if all sentences are at `place` of their path and `sentence` is `further` along."""
    shares = np.zeros(len(TOKENS), complex)
    for start, end in SENTENCES:
        shares[start:end] = 1 - place
    shares[slice(*sentence)] -= further
    return shares


def slopes(shape, weights, place, sentence):
    """Derivatives of ln p of the generated tokens along the path of one sentence: `[generated tokens]`."""
    log_p, _, _ = log_distributions(shape, weights, embed(weights, moved(place, sentence, 1j * TINY)))
    return log_probs(log_p)[GENERATION - 1 :].imag / TINY


def integrated(shape, weights, sentence, steps):
    """Mean over the midpoints of `steps` steps: `[generated tokens]`."""
    return np.mean([slopes(shape, weights, (step + 0.5) / steps, sentence) for step in range(steps)], axis=0)


def figures(shape):
    weights = {name: weight.astype(np.float64) for name, weight in tensors(shape).items()}
    return {"name": shape.name, "integrated": [rounded(integrated(shape, weights, s, STEPS)) for s in SENTENCES[:-1]]}


def main():
    shapes = [shape for shape in SHAPES if shape.name in ("llama", "qwen2", "qwen3, tied")]
    golden = {"sentences": SENTENCES, "generation": GENERATION, "shapes": [figures(shape) for shape in shapes]}
    text = json.dumps(golden).replace('{"name"', '\n{"name"')
    pathlib.Path(__file__).with_name("gradients.json").write_text(text + "\n", encoding="utf-8")


main()

#!/usr/bin/env python3
"""Writes contrast.json next to this file: contrasts of stories260K in float64.

    python3 tests/golden/contrast.py        (needs gguf 0.19.0 and numpy; takes seconds)

The transformer is that of architectures.py, which shares no code with our engines. The ids of the texts are those of llama.cpp's rules,
which the tests of the tokenizer check.
"""
import json
import pathlib
import sys

import numpy as np
from gguf import GGUFReader, dequantize

HERE = pathlib.Path(__file__).parent
sys.path.append(str(HERE))
from architectures import Shape, log_distributions  # noqa: E402

MODEL = HERE / "stories260k" / "stories260k-f32.gguf"
END_TOKEN = 2
PROMPT = "Once upon a time, there was a girl named Lily. She had a red ball. Her dog was sad."
ANSWER = " Lily was happy. She played with the ball."
# Ids of prompt and answer, and the ids of each sentence before the last one.
IDS = [
    *[1, 403, 407, 261, 378, 432, 383, 286, 261, 298, 315, 421, 395, 317, 426],
    *[338, 381, 261, 352, 266, 268, 388, 426],
    *[320, 285, 400, 428, 286, 296, 418, 426],
    *[317, 286, 393, 426],
    *[338, 337, 266, 335, 265, 268, 388, 426],
]
SENTENCES = [(1, 15), (15, 23), (23, 31), (31, 35)]
# Marked text, alternative, place of the marked tokens, ids of the alternative, number of sentences before the mark.
CONTRASTS = [
    ("ball", "dog", (40, 42), [400, 428], 4),
    ("happy", "very sad", (33, 34), [399, 296, 418], 3),
    ("Lily was", "The dog was", (31, 33), [291, 400, 428, 286], 3),
]


def model():
    """Shape of the model, and its weights in float64."""
    reader = GGUFReader(MODEL)
    weights = {tensor.name: dequantize(tensor.data, tensor.tensor_type).astype(np.float64) for tensor in reader.tensors}
    number = lambda name: reader.fields[f"llama.{name}"].contents()
    heads = number("attention.head_count")
    head_dim = number("embedding_length") // heads
    epsilon = float(np.float32(number("attention.layer_norm_rms_epsilon")))
    kv_heads, layers = number("attention.head_count_kv"), number("block_count")
    return Shape("", "llama", heads, kv_heads, head_dim, False, 1e4, layers=layers, norm_epsilon=epsilon), weights


def log_probability(shape, weights, prefix, continuation):
    """ln p(continuation | prefix) in nats."""
    ids = prefix + continuation
    log_p = log_distributions(shape, weights, weights["token_embd.weight"][ids])[0]
    return sum(log_p[len(prefix) + k - 1, token] for k, token in enumerate(continuation))


def contrast(shape, weights, mark, alternative, place, other, sentences):
    """Both log-probabilities, and the change of their difference without each sentence before the mark."""
    prefix, part = IDS[: place[0]], IDS[slice(*place)]
    both = lambda prefix: [log_probability(shape, weights, prefix, continuation) for continuation in (part, other)]
    blanked = lambda start, end: prefix[:start] + [END_TOKEN] * (end - start) + prefix[end:]
    difference = lambda pair: pair[0] - pair[1]
    base = both(prefix)
    effects = [difference(base) - difference(both(blanked(*span))) for span in SENTENCES[:sentences]]
    numbers = {"log_probabilities": [round(float(x), 7) for x in base], "effects": [round(float(x), 7) for x in effects]}
    return {"mark": mark, "alternative": alternative, **numbers}


shape, weights = model()
found = [contrast(shape, weights, *each) for each in CONTRASTS]
golden = {"prompt": PROMPT, "answer": ANSWER, "contrasts": found}
(HERE / "contrast.json").write_text(json.dumps(golden, indent=1) + "\n", encoding="utf-8")

#!/usr/bin/env python3
"""Writes stories-pert.json and stories-clp.json: measurements of `glasscage.explain` with stories260k, torch and transformers."""

import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "src")]

from gguf_models import STORIES, load

import glasscage

PROMPT = "Once upon a time, there was a little girl named Lily. She had a big red ball. One day, Tom came to the park. He was sad."

model, tokenizer = load(STORIES)
for method in ("pert", "clp"):
    glasscage.explain(model, tokenizer, PROMPT, method=method, max_tokens=60).write(HERE / f"stories-{method}.json")

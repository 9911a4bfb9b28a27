#!/usr/bin/env python3
"""Writes stories-pert.json, stories-clp.json and stories-passages.json: measurements of `glasscage.explain` with stories260k, torch
and transformers."""

import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "src")]

from gguf_models import STORIES, load

import glasscage

PROMPT = "Once upon a time, there was a little girl named Lily. She had a big red ball. One day, Tom came to the park. He was sad."
PASSAGES = "[1] Lily had a big cat. The cat was black.\n[2] Ben had a red ball.\n\nOne day"

model, tokenizer = load(STORIES)
for method in ("pert", "clp"):
    glasscage.explain(model, tokenizer, PROMPT, method=method, max_tokens=60).write(HERE / f"stories-{method}.json")
glasscage.explain(model, tokenizer, PASSAGES, max_tokens=60).write(HERE / "stories-passages.json")

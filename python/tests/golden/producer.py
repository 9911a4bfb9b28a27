#!/usr/bin/env python3
"""Writes stories-pert.json, stories-clp.json, stories-passages.json, demo-conversation.json and demo-explained.json: measurements of
`glasscage.explain` with torch and transformers, on stories260k and the small built-in model."""

import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "src")]

from gguf_models import DEMO, STORIES, load

import glasscage

PROMPT = "Once upon a time, there was a little girl named Lily. She had a big red ball. One day, Tom came to the park. He was sad."
PASSAGES = "[1] Lily had a big cat. The cat was black.\n[2] Ben had a red ball.\n\nOne day"

model, tokenizer = load(STORIES)
for method in ("pert", "clp"):
    glasscage.explain(model, tokenizer, PROMPT, method=method, max_tokens=60).write(HERE / f"stories-{method}.json")
glasscage.explain(model, tokenizer, PASSAGES, max_tokens=60).write(HERE / "stories-passages.json")

CONVERSATION = [
    {"role": "system", "content": "Be brief. Say numbers."},
    {"role": "user", "content": "Tom has 5 figs. Ann has 3 nuts."},
    {"role": "assistant", "content": "Tom has 5. Ann has 3."},
    {"role": "user", "content": "Tom eats 2 figs. How many figs does Tom have?"},
]

model, tokenizer = load(DEMO)
for earlier_answers, name in (("given", "demo-conversation"), ("explained", "demo-explained")):
    found = glasscage.explain(model, tokenizer, conversation=CONVERSATION, earlier_answers=earlier_answers, max_tokens=60)
    found.write(HERE / f"{name}.json")

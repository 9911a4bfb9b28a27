"""Selects the example prompts of the page. They are handwritten problems in `data/examples.json`. The model answers all but one of them
right."""

import json
from collections.abc import Callable
from pathlib import Path

from scoring import gives_answer, sentences_of

PATH = Path(__file__).parent / "data" / "examples.json"


def page_examples(answers: Callable[[list[str]], list[str]]) -> list[dict]:
    """Returns the examples whose answers are as `examples.json` expects: {"title", "task", "prompt", "relevant"}. An example of a mistake
    also has "right", the answer that the model should have given. `answers` returns the model's answers to prompts."""
    examples = json.loads(PATH.read_text())
    texts = answers([example["prompt"] for example in examples])
    shown = []
    for example, text in zip(examples, texts, strict=True):
        if example["task"] == "facts":
            shown.append(_listing(example, text))
        elif gives_answer(example["answer"], text) != example.get("is_wrong", False):
            right = {"right": example["answer"]} if example.get("is_wrong") else {}
            shown.append({key: example[key] for key in ("title", "task", "prompt", "relevant")} | right)
        else:
            print(f"the example {example['title']!r} is left out: {text}")
    return shown


def _listing(example: dict, text: str) -> dict:
    """Returns the example with its relevant sentences: the facts that the model lists, and the request."""
    prompt, listed = sentences_of(example["prompt"]), sentences_of(text)
    relevant = [i for i, sentence in enumerate(prompt) if sentence in listed] + [len(prompt) - 1]
    return {"title": example["title"], "task": example["task"], "prompt": example["prompt"], "relevant": relevant}

"""Captum: `LLMAttributionResult`."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..document import Document
from .scores import require_numbers, to_array, token_scores


def from_captum(
    result: Any,
    *,
    generation: str,
    prompt: str | None = None,
    method: str = "attribution",
    unit: str = "nats",
    model: str = "",
    output: Sequence[int] | None = None,
) -> Document:
    """The explanation of what `LLMAttribution.attribute(...)` or `LLMGradientAttribution.attribute(...)` returns.

    `generation` is the answer, since Captum leaves out the spaces of its tokens; `method` is the name of the method inside, such as
    `feature ablation`, which the result does not say. `prompt` is needed where the features are values of a template: what stands between
    them is not measured. Captum scores prompt features only: what earlier generated sentences do is unknown.
    Without scores of single tokens, an answer of one sentence can be explained.
    """
    inputs, outputs = list(map(str, result.input_tokens)), _without_overlap(list(map(str, result.output_tokens)))
    if prompt is None and _may_be_values(inputs):
        raise ValueError("the features may be the values of a template, which do not tell the prompt: give it as `prompt=`")
    scores = [to_array(result.seq_attr)] * len(outputs) if result.token_attr is None else to_array(result.token_attr)
    document = token_scores(
        inputs,
        outputs,
        require_numbers(np.array(scores), outputs),
        method=f"Captum {method}",
        unit=unit,
        tool="captum",
        prompt=prompt,
        generation=generation,
        model=model,
        output=output,
    )
    if result.token_attr is None and len(document.table) > 1:
        raise ValueError("the result scores the answer as a whole, which has several sentences; attribute with per-token scores")
    return document


def _without_overlap(tokens: list[str]) -> list[str]:
    """Captum marks a token that covers a part of a character that the token before covers, too: "Ü", "Ü [OVERLAP]"."""
    found: list[str] = []
    for token in tokens:
        own = token.removesuffix(" [OVERLAP]")
        covered = "".join(found) if own != token else ""
        length = next((n for n in range(len(own), 0, -1) if covered.endswith(own[:n])), 0)
        found.append(own[length:])
    return found


def _may_be_values(tokens: list[str]) -> bool:
    """Whether words follow each other without white space around them, or a tokenizer's mark of it."""
    has_space = any(token != token.strip() or re.search("[\u0120\u010a\u2581]", token) for token in tokens)
    return not has_space and any(token[:1].isalnum() for token in tokens[1:])

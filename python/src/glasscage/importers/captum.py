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
    """Converts a result of `LLMAttribution.attribute(...)` or `LLMGradientAttribution.attribute(...)`.

    `generation` is the answer, because Captum omits the spaces of its tokens. `method` is the name of the method, such as `feature
    ablation`, which the result does not contain. `prompt` is required if the features are values of a template; the text between them is
    not measured. Captum only scores prompt features, so the effect of earlier generated sentences is unknown. Without scores of single
    tokens, only an answer of one sentence can be explained.
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
    """Removes Captum's mark of tokens that share a character with the token before: "Ü", "Ü [OVERLAP]"."""
    found: list[str] = []
    for token in tokens:
        own = token.removesuffix(" [OVERLAP]")
        covered = "".join(found) if own != token else ""
        length = next((n for n in range(len(own), 0, -1) if covered.endswith(own[:n])), 0)
        found.append(own[length:])
    return found


def _may_be_values(tokens: list[str]) -> bool:
    """Whether words follow each other without white space or a tokenizer's mark of white space."""
    has_space = any(token != token.strip() or re.search("[\u0120\u010a\u2581]", token) for token in tokens)
    return not has_space and any(token[:1].isalnum() for token in tokens[1:])

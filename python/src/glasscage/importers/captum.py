"""Captum: `LLMAttributionResult`."""

from collections.abc import Sequence
from typing import Any

from ..document import Document
from .scores import to_array, token_scores


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
    `feature ablation`, which the result does not say. Captum scores prompt features only: what earlier generated sentences do is unknown.
    Without scores of single tokens, an answer of one sentence can be explained.
    """
    scores = result.token_attr
    if scores is None:
        scores = [to_array(result.seq_attr)] * len(result.output_tokens)
    document = token_scores(
        list(map(str, result.input_tokens)),
        list(map(str, result.output_tokens)),
        scores,
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

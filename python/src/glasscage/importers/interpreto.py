"""Interpreto: `AttributionOutput` of a generation."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..document import Document
from .scores import require_numbers, to_array, token_scores


def from_interpreto(
    result: Any,
    *,
    method: str = "attribution",
    prompt: str | None = None,
    generation: str | None = None,
    unit: str = "logits",
    model: str = "",
    output: Sequence[int] | None = None,
) -> Document:
    """Converts one result of an explainer of a causal model. `method` is the name of the method, such as `Occlusion`.

    Elements may be tokens, words or sentences. If rows are generated tokens, the elements must be tokens, too.
    """
    if isinstance(result, (list, tuple)):
        if len(result) != 1:
            raise ValueError("these are the results of several texts: give one of them")
        result = result[0]
    scores = to_array(result.attributions)
    elements = list(map(str, result.elements))
    n_generated = len(scores)
    n_prompt = len(elements) - n_generated
    if scores.shape != (n_generated, len(elements)) or n_prompt < 1:
        raise ValueError("this is not the result for generated tokens by tokens: ask for the granularity of tokens")
    # Interpreto writes 0 at the explained token and after it.
    is_before = np.arange(len(elements))[None, :] < n_prompt + np.arange(n_generated)[:, None]
    scores = np.where(is_before, require_numbers(scores, elements[n_prompt:], is_before), np.nan)
    return token_scores(
        elements[:n_prompt],
        elements[n_prompt:],
        scores,
        method=f"Interpreto {method}",
        unit=unit,
        tool="interpreto",
        prompt=prompt,
        generation=generation,
        model=model,
        output=output,
    )

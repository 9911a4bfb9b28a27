"""The reference code of CAGE (github.com/chasewalker26/LLM-Attribution-Graphs, `llm_attr.py`): `LLMAttributionResult`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..document import Document
from .scores import require_numbers, to_array, token_scores


def from_cage(
    result: Any,
    *,
    method: str = "CAGE reference",
    unit: str = "score",
    prompt: str | None = None,
    generation: str | None = None,
    end_token: str | None = None,
    model: str = "",
    output: Sequence[int] | None = None,
) -> Document:
    """Converts a result. Its matrix has a row for each generated token, and NaN for tokens that cannot influence it.

    `end_token` is the text of the end token, by default that of the result's tokenizer. The reference code treats it as a last sentence; we
    leave it out. Punkt splits the sentences, while the reference code uses spaCy.
    """
    tokens = list(map(str, result.generation_tokens))
    end_token = end_token if end_token is not None else getattr(getattr(result, "tokenizer", None), "eos_token", None)
    n = len(tokens) - bool(end_token and tokens and tokens[-1].strip() == end_token)
    scores = to_array(result.attribution_matrix)
    n_prompt = len(result.prompt_tokens)
    if scores.shape != (len(tokens), n_prompt + len(tokens)):
        raise ValueError("the matrix has not a row for each generated token and a column for each token")
    is_before = np.arange(n_prompt + n)[None, :] < n_prompt + np.arange(n)[:, None]
    return token_scores(
        list(map(str, result.prompt_tokens)),
        tokens[:n],
        require_numbers(np.array(scores[:n, : n_prompt + n]), tokens, is_before),
        method=method,
        unit=unit,
        prompt=prompt,
        generation=generation,
        model=model,
        output=output,
    )

"""FlashTrace: `TraceResult`, or its JSON."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..document import Document
from ..spans import first_visible
from .pieces import located, texts_of
from .scores import require_numbers, to_array, token_scores


def from_flashtrace(
    result: Any, *, prompt: str | None = None, generation: str | None = None, model: str = "", output: Sequence[int] | None = None
) -> Document:
    """Converts a trace. It has one score per prompt token for a whole span of output tokens, through everything in between.

    The scores become the row of the sentence in which the span ends. The other rows, and the effects of generated sentences, are unknown.
    """
    data = result if isinstance(result, dict) else result.to_dict()
    prompt_tokens, tokens = data["prompt_tokens"], data["generation_tokens"]
    n_generated = len(tokens)
    (_, _), (text, spans) = texts_of(prompt_tokens, tokens, prompt, generation)
    _, _, inside = located(text, spans, generation)
    last = data.get("output_span")
    end = min(inside[-1], int(last[1]) if last else n_generated - 1)
    # The tokens of the sentence in which the span ends are not known yet, so assign the scores to the last visible token of the span.
    while end > 0 and not text[first_visible(text, spans[end]) : spans[end][1]].strip():
        end -= 1
    scores = np.full((n_generated, len(prompt_tokens)), np.nan)
    scores[end] = require_numbers(to_array([data["scores"]]), tokens[end : end + 1])[0]
    found = token_scores(
        prompt_tokens,
        tokens,
        scores,
        method=f"FlashTrace {data.get('method', '')}".strip(),
        unit="share",
        tool="flashtrace",
        prompt=prompt,
        generation=generation,
        model=model,
        output=output,
    )
    measured = np.flatnonzero(~np.isnan(found.table).all(axis=1))
    return found if output is not None else Document(found.data | {"output": measured.tolist()})

"""ContextCite: a `ContextCiter`, called for the attributions of each generated sentence."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..document import Document
from ..punkt import sentences
from ..spans import Span
from .scores import require_numbers, span_scores, to_array


def from_context_cite(citer: Any, *, end_token: str = "", model: str = "", output: Sequence[int] | None = None) -> Document:
    """Converts a citer's response. The prompt is its context, a blank line, and its query.

    The effects of the query and of earlier generated sentences are not measured. `end_token` is removed from the end of the response.
    """
    response = citer.response.removesuffix(end_token) if end_token else citer.response
    context, query = citer.partitioner.context, str(getattr(citer, "query", "") or "")
    sources = list(_places(context, citer.sources))
    spans = sentences(response)
    scores = np.full((len(spans), len(sources)), np.nan)
    for i, (start, end) in enumerate(spans):
        scores[i] = to_array(citer.get_attributions(start_idx=start, end_idx=end, verbose=False))
    require_numbers(scores, [response[start:end] for start, end in spans])
    return span_scores(
        f"{context}\n\n{query}" if query.strip() else context,
        sources,
        response,
        spans,
        scores,
        method="ContextCite",
        unit="log-odds",
        tool="context-cite",
        model=model,
        output=output,
    )


def _places(text: str, parts: Sequence[str]) -> list[Span]:
    """Finds the spans of the parts in the text, in order."""
    places, at = [], 0
    for part in parts:
        found = text.find(part.strip(), at)
        if found < 0:
            raise ValueError(f"the context does not contain its source {part!r}")
        at = found + len(part.strip())
        places.append((found, at))
    return places

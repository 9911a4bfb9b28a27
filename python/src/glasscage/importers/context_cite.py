"""ContextCite: a `ContextCiter`, asked for the attributions of each generated sentence."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..document import Document
from ..punkt import sentences
from ..spans import Span
from .scores import require_numbers, span_scores, to_array


def from_context_cite(citer: Any, *, end_token: str = "", model: str = "", output: Sequence[int] | None = None) -> Document:
    """The explanation of a citer's response. The prompt is its context, and after a blank line its query, whose effect it does not measure;
    neither does it measure what earlier generated sentences do. `end_token` is cut off the response's end.
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
    """Where the parts stand, one after the other."""
    places, at = [], 0
    for part in parts:
        found = text.find(part.strip(), at)
        if found < 0:
            raise ValueError(f"the context does not contain its source {part!r}")
        at = found + len(part.strip())
        places.append((found, at))
    return places

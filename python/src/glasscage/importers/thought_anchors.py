"""Thought anchors: `step_importance.json` and `chunks_labeled.json` of github.com/interp-reasoning/thought-anchors."""

from typing import Any

import numpy as np

from ..document import Document
from ..spans import Span
from .scores import require_numbers, span_scores


def from_thought_anchors(
    prompt: str,
    chunks: list[dict[str, Any]],
    steps: list[dict[str, Any]] | None = None,
    *,
    importance: str = "counterfactual_importance_kl",
    model: str = "",
) -> Document:
    """Converts a chain of thought. `chunks` are from `chunks_labeled.json`, `steps` from `step_importance.json`.

    `steps` has the importance of each chunk for each later chunk. Without `steps`, each chunk has one `importance` for the final answer,
    which goes to the row of the last sentence. The effects of prompt sentences are not measured.
    """
    ordered = sorted(chunks, key=lambda chunk: int(chunk["chunk_idx"]))
    text, spans = _joined([str(chunk["chunk"]).strip() for chunk in ordered])
    number = {int(chunk["chunk_idx"]): i for i, chunk in enumerate(ordered)}
    scores = np.full((len(spans), 1 + len(spans)), np.nan)
    if steps is None:
        for i, chunk in enumerate(ordered[:-1]):
            scores[-1, 1 + i] = np.nan if chunk.get(importance) is None else _number(chunk[importance], chunk)
    for step in steps or []:
        source = number[int(step["source_chunk_idx"])]
        for impact in step["target_impacts"]:
            target = number.get(int(impact["target_chunk_idx"]))
            if target is not None and target > source and impact["importance_score"] is not None:
                scores[target, 1 + source] = _number(impact["importance_score"], ordered[target])
    return span_scores(
        prompt,
        [(0, len(prompt))],
        text,
        spans,
        scores,
        method="thought anchors" if steps is not None else f"thought anchors {importance}",
        unit="importance",
        tool="thought-anchors",
        model=model,
    )


def _number(score: float, chunk: dict[str, Any]) -> float:
    return float(require_numbers(np.array([[score]], dtype=np.float64), [str(chunk["chunk"])])[0, 0])


def _joined(parts: list[str]) -> tuple[str, list[Span]]:
    """Joins the parts with spaces. Also returns the span of each part."""
    spans, at = [], 0
    for part in parts:
        spans.append((at, at + len(part)))
        at += len(part) + 1
    return " ".join(parts), spans

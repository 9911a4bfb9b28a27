"""Inseq: `FeatureAttributionOutput`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..document import Document
from .scores import require_numbers, to_array, token_scores


def from_inseq(
    attribution: Any,
    *,
    number: int = 0,
    prompt: str | None = None,
    generation: str | None = None,
    unit: str = "attribution score",
    output: Sequence[int] | None = None,
) -> Document:
    """Converts one sequence of a result of `model.attribute(...)`, or that sequence itself, from decoder-only or encoder-decoder models.

    Scores with several dimensions are aggregated like Inseq's default.
    """
    info = dict(getattr(attribution, "info", {}))
    sequences = getattr(attribution, "sequence_attributions", None)
    sequence = attribution if sequences is None else sequences[number]
    scores = sequence.target_attributions if sequence.source_attributions is None else sequence.source_attributions
    if to_array(scores).ndim > 2:
        sequence = sequence.aggregate()
    start, end = sequence.attr_pos_start, sequence.attr_pos_end or len(sequence.target)
    targets = [token.token for token in sequence.target]
    if sequence.source_attributions is None:
        sources = targets[:start]
        matrix = to_array(sequence.target_attributions)[:end].T
    else:
        sources = [token.token for token in sequence.source]
        matrix = to_array(sequence.source_attributions).T
        if sequence.target_attributions is not None:
            matrix = np.hstack([matrix, to_array(sequence.target_attributions)[start:end].T])
    # A token has scores for the tokens before it.
    is_before = np.arange(matrix.shape[1])[None, :] < len(sources) + np.arange(len(matrix))[:, None]
    return token_scores(
        sources,
        targets[start:end],
        require_numbers(matrix, targets[start:end], is_before),
        method=f"Inseq {info.get('attribution_method', 'attribution')}",
        unit=unit,
        tool="inseq",
        prompt=prompt,
        generation=generation,
        model=str(info.get("model_name", "")),
        output=output,
    )

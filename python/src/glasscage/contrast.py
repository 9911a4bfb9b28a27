"""Comparisons of a part of an answer with another text in its place. As in `crates/core/src/explanation/contrast.rs`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .graph import Array, signed_shares


@dataclass(frozen=True, eq=False)
class Contrast:
    """Why the answer has `part`, and not `alternative`. `span` is the half-open span of the part in code points.

    `log_probabilities` are those of part and alternative after the text before them, in nats. `effects` has the effect of each sentence
    before the sentence of the part, in nats: above 0 it speaks for the part, below 0 for the alternative. `shares` has the shares
    [for, against] of each prompt sentence, n x 2.
    """

    part: str
    alternative: str
    span: tuple[int, int]
    log_probabilities: tuple[float, float]
    effects: Array
    shares: Array

    @classmethod
    def from_json(cls, data: Mapping[str, Any], text: str, adjacency: Array) -> "Contrast":
        """Reads a contrast of the generation `text` in a graph with these edges."""
        (start, end), (part, alternative) = data["span"], data["log_probabilities"]
        effects = np.array(data["effects"], dtype=np.float64)
        shares = signed_shares(adjacency, effects)
        return cls(text[start:end], data["alternative"], (start, end), (float(part), float(alternative)), effects, shares)

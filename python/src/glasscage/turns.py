"""Turns of a conversation before its last answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Turn:
    """A turn: the role of its speaker (`system`, `user`, or `assistant`), and its sentences as 0-based sources. The sentences of an
    explained turn, an earlier answer, have rows of the table."""

    role: str
    sentences: range
    explained: bool = False


def turns_of(data: Sequence[Mapping[str, Any]], n_prompt: int) -> list[Turn]:
    """Reads the turns of a document with this number of prompt sentences."""
    turns, ends = [], [0, n_prompt]
    for turn in data:
        explained = bool(turn.get("explained", False))
        start = ends[explained]
        ends[explained] += turn["sentences"]
        turns.append(Turn(turn["role"], range(start, ends[explained]), explained))
    return turns


def order_of(turns: Sequence[Turn], n_prompt: int, n_sources: int) -> list[int]:
    """Returns the sources in the order of the text. Explained turns are between sentences of the prompt."""
    if not turns:
        return list(range(n_sources))
    last_answer = n_prompt + sum(len(turn.sentences) for turn in turns if turn.explained)
    return [*(j for turn in turns for j in turn.sentences), *range(last_answer, n_sources)]


def mask_in_text(order: Sequence[int], n_prompt: int) -> NDArray[np.bool_]:
    """Returns a mask of the cells of the table whose source comes before the generated sentence in the text, for sources in this order."""
    places = np.argsort(order)
    mask: NDArray[np.bool_] = places[None, :] < places[n_prompt:, None]
    return mask

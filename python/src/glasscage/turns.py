"""Turns of a prompt that is a conversation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Turn:
    """A turn: the role of its speaker (`system`, `user`, or `assistant`), and its sentences as 0-based sources."""

    role: str
    sentences: range


def turns_of(data: Sequence[Mapping[str, Any]]) -> list[Turn]:
    """Reads the turns of a document."""
    turns, end = [], 0
    for turn in data:
        start, end = end, end + turn["sentences"]
        turns.append(Turn(turn["role"], range(start, end)))
    return turns

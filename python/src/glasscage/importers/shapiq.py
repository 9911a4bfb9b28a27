"""shapiq: `InteractionValues` of the parts of a prompt."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..document import Document
from ..graph import Array
from .scores import sentence_scores

# Indices whose scores of single parts already are values of these parts.
_OF_PARTS = frozenset(("SV", "BV", "SII", "BII", "SGV", "BGV", "CHII", "CHGV", "kADD-SHAP"))
# Indices that divide a value between parts and groups of parts. Equal shares of the groups make Shapley values of the parts again.
_SHAPLEY = frozenset(("k-SII", "STII", "FSII", "Moebius"))
# The same for Banzhaf values, where a group of n parts counts 2^(1 - n) times for each.
_BANZHAF = frozenset(("FBII",))


def from_shapiq(
    values: Any,
    players: Sequence[str],
    *,
    prompt: str,
    generation: str,
    unit: str = "score",
    model: str = "",
    output: Sequence[int] | None = None,
) -> Document:
    """Converts the values of games whose `players` are parts of the prompt, in order: sentences, words, or tokens.

    A game has one number, such as the log-probability of the answer, in the `unit`. So `values` is a list with one `InteractionValues` for
    each sentence of `generation`, or `None` for a sentence without a game. A single one explains an answer of one sentence.

    Interactions are divided between their players. This gives the Shapley values for `k-SII`, `STII`, `FSII` and `Moebius`, and the Banzhaf
    values for `FBII`. Interactions of other indices are left out if the index has a value of each player, and refused if not. The effect of
    earlier generated sentences is unknown.
    """
    found = list(values) if isinstance(values, (list, tuple)) else [values]
    indices = sorted({str(each.index) for each in found if each is not None})
    rows = [None if each is None else _of_players(each, len(players)) for each in found]
    return sentence_scores(
        [list(map(str, players))] * len(rows),
        rows,
        prompt=prompt,
        generation=generation,
        method=f"shapiq {', '.join(indices)}".strip(),
        unit=unit,
        tool="shapiq",
        model=model,
        output=output,
    )


def _of_players(values: Any, n_players: int) -> Array:
    """Returns a score of each player. An interaction that is missing is 0, as in shapiq."""
    if values.n_players != n_players:
        raise ValueError(f"the values are of {values.n_players} players, not of {n_players}")
    index, is_single = str(values.index), values.max_order == 1
    if values.min_order > 1 or not (is_single or index in _OF_PARTS | _SHAPLEY | _BANZHAF):
        raise ValueError(f"{index} of the orders {values.min_order} to {values.max_order} has no score of single players")
    scores = np.zeros(n_players)
    for players, value in values.dict_values.items():
        size = len(players)
        if size == 1 or (size and index in _SHAPLEY):
            scores[list(players)] += value / size
        elif size and index in _BANZHAF:
            scores[list(players)] += value / 2 ** (size - 1)
    return scores

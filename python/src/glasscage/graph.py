"""T -> A -> Y, and the attributions computed from them: the equations of `crates/core/src/graph` on arrays of m x (n + m).

`n` is the number of prompt sentences, `m` that of generated sentences. Row i has a cell for each of the n + i sentences before it. The
other cells are NaN in T, and 0 in A and Y. Unmeasured cells of T are also NaN, and count as 0 in A.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
NORMALIZATIONS = ("full", "nonnegative", "none")
COMPRESSIONS = ("none", "log", "bounded", "hyperbolic")
AGGREGATIONS = ("mean", "sum")


def causal_mask(n_prompt: int, n_generated: int) -> NDArray[np.bool_]:
    """Returns a mask of the existing cells."""
    return np.arange(n_prompt + n_generated)[None, :] < (n_prompt + np.arange(n_generated))[:, None]


def normalize(table: Array, normalization: str = "full") -> Array:
    """Computes **A** (`eq:normalize`). `full` clips negative scores to 0 and divides each row by its sum; `nonnegative` only clips; `none`
    returns T with 0 for cells that were not measured.

    Rows without a positive score stay zero.
    """
    _check_word("normalization", normalization, NORMALIZATIONS)
    scores: Array = np.where(np.isnan(table), 0.0, table).astype(np.float64)
    if normalization == "none":
        return scores
    positive: Array = np.maximum(scores, 0.0)
    if normalization == "nonnegative":
        return positive
    # Divide by the largest score first, so that the sum of huge scores stays finite.
    largest = positive.max(axis=1, keepdims=True, initial=0.0)
    scaled = np.divide(positive, largest, out=np.zeros_like(positive), where=largest > 0)
    total = scaled.sum(axis=1, keepdims=True)
    weights: Array = np.divide(scaled, total, out=scaled, where=total > 0)
    return weights


def total_influence(adjacency: Array) -> Array:
    """Computes **Y** = A (I - A)^-1 (`eq:all_at_once`) by forward substitution: Y[i] = A[i] + sum over k of A[i][k] Y[k]."""
    influence = adjacency.copy()
    n_generated = len(adjacency)
    n_prompt = adjacency.shape[1] - n_generated
    for i in range(n_generated):
        influence[i] += adjacency[i, n_prompt : n_prompt + i] @ influence[:i]
    return influence


def context_attribution(adjacency: Array, output: Sequence[int]) -> Array:
    """Returns the prompt columns of the sum of Y's rows in `output` (`eq:context_attribution`)."""
    return _prompt_columns(total_influence(adjacency), output)


def row_attribution(adjacency: Array, output: Sequence[int]) -> Array:
    """Returns the baseline: the prompt columns of the sum of A's rows in `output`."""
    return _prompt_columns(adjacency, output)


def signed_shares(adjacency: Array, effects: Array) -> Array:
    """Returns the shares [for, against] of each prompt sentence in a contrast, n x 2. `effects` are those of the first n + k sources.

    The effects, divided by the sum of their magnitudes, are a row of the graph of their own, the only signed one. Its positive and its
    negative part are passed back to the prompt separately, so that nothing cancels. The shares sum to 1 if no row on the way is zero.
    """
    n_prompt = adjacency.shape[1] - len(adjacency)
    largest = np.abs(effects).max(initial=0.0)
    # Divide by the largest effect first, so that the sum of huge effects stays finite.
    scaled = effects / largest if largest > 0.0 else np.zeros_like(effects)
    row = scaled / max(np.abs(scaled).sum(), 1.0)
    steps = total_influence(adjacency)[: len(effects) - n_prompt, :n_prompt]
    parts = [np.maximum(row, 0.0), np.maximum(-row, 0.0)]
    shares: Array = np.stack([part[:n_prompt] + part[n_prompt:] @ steps for part in parts], axis=1)
    return shares


def _prompt_columns(rows: Array, output: Sequence[int]) -> Array:
    n_prompt = rows.shape[1] - len(rows)
    total: Array = rows[list(output), :n_prompt].sum(axis=0)
    return total


def compress(table: Array, compression: str, target_tokens: Array) -> Array:
    """Compresses mean scores. x is the loss of the target sentence in nats: log is ln(1 + x/2), bounded is 1 - exp(-x/10), hyperbolic is
    x/(x + 2), and none changes nothing.
    """
    _check_word("compression", compression, COMPRESSIONS)
    nats = np.abs(table) * target_tokens[:, None]
    if compression == "log":
        return np.copysign(np.log1p(nats / 2.0), table)
    if compression == "bounded":
        return np.copysign(-np.expm1(-nats / 10.0), table)
    if compression == "hyperbolic":
        return np.copysign(1.0 - 2.0 / (nats + 2.0), table)
    return table


def flow_weights(flow: Array) -> Array:
    """Returns the factors of scores that are weighted by information flow: (flow / largest flow of the row)^(2/3)."""
    positive = np.nan_to_num(np.maximum(flow, 0.0))
    largest = positive.max(axis=1, keepdims=True)
    weights: Array = np.divide(positive, largest, out=np.zeros_like(positive), where=largest > 0.0) ** (2.0 / 3.0)
    return weights


def aggregate(table: Array, aggregation: str, compression: str, tokens: Array) -> Array:
    """Derives the scores of the graph from mean scores. `sum` sums over the tokens of both sentences, `mean` does not."""
    _check_word("aggregation", aggregation, AGGREGATIONS)
    target_tokens = tokens[len(tokens) - len(table) :]
    scores = compress(table, compression, target_tokens)
    if aggregation == "sum":
        # Compressed scores are already sums over the target's tokens.
        scores = scores * (target_tokens[:, None] if compression == "none" else 1.0) * tokens[None, :]
    return scores


def _check_word(kind: str, word: str, allowed: Sequence[str]) -> None:
    if word not in allowed:
        raise ValueError(f"the {kind} {word!r} is none of {', '.join(allowed)}")

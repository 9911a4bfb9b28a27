"""Scores a text in which some tokens are replaced: log-probabilities and divergences of the generated tokens, in batches."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .graph import Array


class Scorer:
    """Predicts the tokens from `start` on, in a text and in variants of the same length."""

    def __init__(self, model: Any, ids: Sequence[int], start: int, name: Callable[[int], str] = str) -> None:
        """`name` returns the name of a generated token by index, for errors."""
        import torch

        self._torch = torch
        self._model = model
        self._ids = torch.tensor([list(ids)], device=model.device)
        self._start = start
        # Compute only these predictions, because those of all tokens may not fit into memory.
        self._reads_few = "logits_to_keep" in inspect.signature(model.forward).parameters
        self._name = name
        self._base = self._log_probs(self._ids)[0]
        self._require_numbers(self._of_targets(self._base))

    def effects(self, edits: Sequence[Sequence[int]], replacement: int, method: str, batch_size: int) -> Iterator[Array]:
        """Measures edits, which replace the tokens at some positions by `replacement`. Returns their effect on each generated token in
        nats.

        The effect is the drop of its log-probability (`pert`), or the divergence from the predictions for the unchanged text (`clp`).
        """
        for first in range(0, len(edits), batch_size):
            batch = edits[first : first + batch_size]
            rows = self._ids.repeat(len(batch), 1)
            for row, edit in zip(rows, batch, strict=True):
                row[list(edit)] = replacement
            for log_probs in self._log_probs(rows):
                effect = self._drop(log_probs) if method == "pert" else self._divergence(log_probs)
                self._require_numbers(effect)
                yield effect

    def predictions(self, most: int) -> tuple[Array, Any, Array]:
        """Returns ln p of each generated token in the unchanged text, [tokens], and at each token the `most` most likely tokens, [tokens,
        most], with their ln p. The most likely token comes first.
        """
        found = self._torch.topk(self._base, min(most, self._base.shape[-1]), dim=-1)
        log_probs: Array = np.asarray(found.values.double().cpu())
        return self._of_targets(self._base), found.indices.tolist(), log_probs

    def _require_numbers(self, values: Array) -> None:
        """Raises an error if a value is not a number, because later comparisons would treat it as no effect."""
        wrong = np.flatnonzero(~np.isfinite(values))
        if wrong.size:
            raise ValueError(
                f"the model's prediction of the token {self._name(int(wrong[0]))!r} is not a number: models may overflow in "
                f"{str(self._model.dtype).removeprefix('torch.')}; load it in float32 or bfloat16"
            )

    def _of_targets(self, log_probs: Any) -> Array:
        """Returns ln p of the generated tokens."""
        found: Array = np.asarray(log_probs.gather(-1, self._ids[0, self._start :, None])[:, 0].double().cpu())
        return found

    def _log_probs(self, rows: Any) -> Any:
        """Returns ln p over the vocabulary, [rows, generated tokens, vocabulary]."""
        torch, n = self._torch, rows.shape[1] - self._start
        few = {"logits_to_keep": n + 1} if self._reads_few else {}
        with torch.inference_mode():
            logits = self._model(input_ids=rows, attention_mask=torch.ones_like(rows), use_cache=False, **few).logits
            # The position before a token predicts it.
            return torch.log_softmax(logits[:, -n - 1 : -1].float(), dim=-1)

    def _drop(self, log_probs: Any) -> Array:
        return self._of_targets(self._base) - self._of_targets(log_probs)

    def _divergence(self, log_probs: Any) -> Array:
        p = self._base.exp()
        # Some models give nonexistent tokens a probability of 0, whose logarithm is infinite.
        terms = self._torch.where(p > 0, p * (self._base - log_probs), 0.0)
        divergence: Array = np.asarray(terms.sum(-1).double().cpu())
        return divergence

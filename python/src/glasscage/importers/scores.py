"""Converts scores of tokens, or of other spans of a text, to a document of sentences."""

import importlib.metadata
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..document import Document
from ..graph import Array
from ..manifest import manifest
from ..passage import Passage
from ..punkt import sentences
from ..spans import Span, check_ascending
from .pieces import located, texts_of

HALF_PRECISION = "in half precision some models overflow: load the model in float32 or bfloat16"


def token_scores(
    prompt_tokens: Sequence[str],
    generation_tokens: Sequence[str],
    scores: Any,
    *,
    method: str,
    unit: str = "score",
    tool: str = "",
    prompt: str | None = None,
    generation: str | None = None,
    model: str = "",
    output: Sequence[int] | None = None,
) -> Document:
    """Creates a document from scores of tokens. `scores` has a row for each generated token and a column for each prompt token.

    It also has columns for the generated tokens if the tool measured them. NaN means not measured. `prompt` and `generation` select parts
    of the tokens' text if chat templates and end tokens surround them. `method` is the name of the method, `unit` the unit of its scores,
    `tool` the Python package that measured them.
    """
    matrix = wide(to_array(scores), len(prompt_tokens), len(generation_tokens))
    of_prompt, of_answer = texts_of(prompt_tokens, generation_tokens, prompt, generation)
    prompt_text, prompt_spans, columns = located(*of_prompt, prompt)
    answer, answer_spans, rows = located(*of_answer, generation)
    kept = [*columns, *(len(prompt_tokens) + row for row in rows)]
    return span_scores(
        prompt_text,
        prompt_spans,
        answer,
        answer_spans,
        matrix[np.ix_(rows, kept)],
        method=method,
        unit=unit,
        tool=tool,
        model=model,
        output=output,
    )


def span_scores(
    prompt: str,
    prompt_spans: Sequence[Span],
    generation: str,
    generation_spans: Sequence[Span],
    scores: Any,
    *,
    method: str,
    unit: str = "score",
    tool: str = "",
    model: str = "",
    output: Sequence[int] | None = None,
) -> Document:
    """Like `token_scores`, for ascending spans of code points: tokens, words, or the tool's own sentences.

    A span belongs to the sentence of its first visible character. A sentence without a span is not measured. Raises `ValueError` if spans
    are out of order, inside each other, or outside their text.
    """
    check_ascending(prompt, prompt_spans, "prompt")
    check_ascending(generation, generation_spans, "generation")
    of_prompt, columns = Passage.from_tokens(prompt, prompt_spans)
    of_answer, rows = Passage.from_tokens(generation, generation_spans)
    matrix = wide(to_array(scores), len(prompt_spans), len(generation_spans))
    if matrix.size and np.isnan(matrix).all():
        raise ValueError(f"no score is a number; {HALF_PRECISION}")
    infinite = np.argwhere(np.isinf(matrix))
    if infinite.size:
        start, end = generation_spans[infinite[0][0]]
        raise ValueError(f"a score of the token {generation[start:end]!r} is infinite; {HALF_PRECISION}")
    sources = columns + [range(len(prompt_spans) + r.start, len(prompt_spans) + r.stop) for r in rows]
    table = [[_mean(matrix[row.start : row.stop, source.start : source.stop]) for source in sources] for row in rows]
    for i, cells in enumerate(table):
        cells[len(columns) + i :] = [np.nan] * (len(rows) - i)
    return Document.make(
        of_prompt,
        of_answer,
        table,
        method={"id": method, "unit": unit},
        manifest=manifest(model=model, producer=(tool, version_of(tool)) if tool else None),
        output=output,
    )


def sentence_scores(
    parts: Sequence[Sequence[str]],
    rows: Sequence[Any],
    *,
    prompt: str,
    generation: str,
    method: str,
    unit: str,
    tool: str,
    model: str = "",
    output: Sequence[int] | None = None,
) -> Document:
    """Creates a document from a row of scores for each generated sentence: its `parts` of the prompt, and a score of each part.

    A row is `None` if the sentence was not measured, and masked where a part was not. The effect of earlier generated sentences is unknown.
    """
    spans = sentences(generation)
    if len(rows) != len(spans):
        raise ValueError(f"the answer has {len(spans)} sentences, but {len(rows)} results explain it: give one for each sentence")
    places: list[Span] | None = None
    scores: list[Any] = []
    for (start, end), names, row in zip(spans, parts, rows, strict=True):
        if row is None:
            scores.append(None)
            continue
        of_prompt, _ = texts_of(names, [generation], prompt, generation)
        _, found, columns = located(*of_prompt, prompt)
        if places not in (None, found):
            raise ValueError("the results divide the prompt into different parts")
        places = found
        measured = require_numbers(to_array(row)[None], [generation[start:end]], ~np.ma.getmaskarray(row))
        scores.append(measured[0, columns])
    if places is None:
        raise ValueError("there is no result")
    unknown = np.full(len(places), np.nan)
    return span_scores(
        prompt,
        places,
        generation,
        spans,
        [unknown if row is None else row for row in scores],
        method=method,
        unit=unit,
        tool=tool,
        model=model,
        output=output,
    )


def wide(scores: Array, n_prompt: int, n_generation: int) -> Array:
    """Adds columns for the generated tokens if they are missing, with NaN."""
    if scores.shape == (n_generation, n_prompt):
        return np.hstack([scores, np.full((n_generation, n_generation), np.nan)])
    if scores.shape != (n_generation, n_prompt + n_generation):
        raise ValueError(f"scores of {scores.shape} are not those of {n_generation} generated and {n_prompt} prompt tokens")
    return scores


def require_numbers(scores: Array, tokens: Sequence[str], is_measured: Any = True) -> Array:
    """Returns the scores, or raises an error if a measured score is not a number. `tokens` are the tokens of the rows."""
    missing = np.argwhere(~np.isfinite(scores) & is_measured)
    if missing.size:
        raise ValueError(f"a score of the token {tokens[missing[0][0]]!r} is not a number; {HALF_PRECISION}")
    return scores


def to_array(values: Any) -> Array:
    """Converts values, which may be a tensor on any device, to an array. Masked values become NaN."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().float().numpy()
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    return np.asarray(values, dtype=np.float64)


def version_of(package: str) -> str:
    """Returns the installed version of a package, or an empty string if it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _mean(block: Array) -> float:
    """Returns the mean of the measured scores, or NaN if there are none."""
    measured = block[~np.isnan(block)]
    return float(measured.mean()) if measured.size else float("nan")

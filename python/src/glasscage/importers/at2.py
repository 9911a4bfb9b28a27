"""AT2: an `AT2Attributor` with its task."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..document import Document
from .scores import require_numbers, span_scores, to_array


def from_at2(attributor: Any, *, model: str = "", output: Sequence[int] | None = None) -> Document:
    """Converts the scores of an attributor for each token of its target: the answer, or what follows the thoughts.

    The sources are documents, sentences, words or tokens of the task's prompt, or thoughts, which are the first sentences of the answer. A
    source with several sentences gives its score to the first of them. The effect of what is no source is unknown.
    """
    task = attributor.task
    tokens = task.get_tokens()

    def place(start: int, end: int, origin: int) -> tuple[int, int]:
        return tokens.token_to_chars(start).start - origin, tokens.token_to_chars(end - 1).end - origin

    first, last = task.generation_token_start, task.generation_token_end
    prompt = task.prompt
    answer_at, _ = place(first, first + 1, 0)
    start, _ = task.prompt_range_to_token_range(0, len(prompt))
    prompt_at = task.text.find(prompt, place(start, start + 1, 0)[0])
    if not 0 <= prompt_at < answer_at:
        raise ValueError("the text of the task does not contain its prompt, because the chat template changes it")
    sources = sorted((tuple(source), number) for number, source in enumerate(task.source_token_ranges))
    of_prompt = [(start, end, number) for (start, end), number in sources if end <= first]
    spans = [place(token, token + 1, answer_at) for token in range(first, last)]
    scores = np.full((len(spans), len(of_prompt) + len(spans)), np.nan)
    target, _ = task.target_token_range
    names = [task.text[answer_at + start : answer_at + end] for start, end in spans]
    for i in range(len(task.target_ids)):
        measured = to_array(attributor.get_attribution_scores(token_start=i, token_end=i + 1))
        row = target - first + i
        require_numbers(measured[None], names[row : row + 1])
        scores[row, : len(of_prompt)] = measured[[number for *_, number in of_prompt]]
        for (start, _), number in sources[len(of_prompt) :]:
            # A thought is one source, so its score stands at its first token.
            scores[row, len(of_prompt) + start - first] = measured[number]
    return span_scores(
        prompt,
        [place(start, end, prompt_at) for start, end, _ in of_prompt],
        task.generation,
        spans,
        scores,
        method="AT2",
        unit="score",
        tool="at2",
        model=model,
        output=output,
    )

"""ICX360: the results of MExGen (`CLIME`, `LSHAP`) and `TokenHighlighter`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..document import Document
from .scores import sentence_scores, to_array


def from_icx360(
    results: Any,
    *,
    prompt: str,
    generation: str | None = None,
    score: str = "",
    method: str = "MExGen",
    unit: str = "score",
    model: str = "",
    output: Sequence[int] | None = None,
) -> Document:
    """Converts what `explain_instance(...)` returns, or a list with a result for each sentence of `generation`.

    ICX360 scores an output as a whole, so a single result explains an answer of one sentence. For a longer answer, explain each sentence by
    `output_orig=`, with the sentences before it as last units of the input, of the type `n`. For a single result, `generation` is its
    original output by default. `TokenHighlighter` scores its affirmation, so that is the `generation`. `prompt` is the part of the units
    that is meant. `score` is the name of the scores if a result has several. The effects of units of the type `n` and of earlier generated
    sentences are unknown. Contrastive explanations (`CELL`) have no scores.
    """
    found = list(results) if isinstance(results, (list, tuple)) else [results]
    if generation is None:
        outputs = [getattr(result.get("output_orig"), "output_text", None) for result in found if result is not None]
        if len(found) != 1 or not outputs or not outputs[0]:
            raise ValueError("the results do not tell the whole answer: give it as `generation=`")
        generation = str(outputs[0][0])
    units: list[list[str]] = []
    rows: list[Any] = []
    for result in found:
        if result is not None and "attributions" not in result:
            raise ValueError("a contrastive explanation has no scores of units")
        units.append([] if result is None else list(map(str, result["attributions"]["units"])))
        rows.append(None if result is None else _scores(result["attributions"], score))
    return sentence_scores(
        units,
        rows,
        prompt=prompt,
        generation=generation,
        method=f"ICX360 {method}",
        unit=unit,
        tool="icx360",
        model=model,
        output=output,
    )


def _scores(attributions: dict[str, Any], score: str) -> Any:
    """Returns the score of each unit. Units that were not to be changed have none."""
    names = [name for name in attributions if name not in ("units", "unit_types")]
    if score not in names and (score or len(names) != 1):
        raise ValueError(f"the scores are {', '.join(names)}: name one of them as `score=`")
    return np.ma.masked_array(to_array(attributions[score or names[0]]), mask=np.array(attributions["unit_types"]) == "n")

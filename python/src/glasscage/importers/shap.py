"""SHAP: `Explanation` of a text generation model."""

from collections.abc import Sequence
from typing import Any

from ..document import Document
from .scores import require_numbers, to_array, token_scores


def from_shap(
    explanation: Any,
    *,
    generation: str,
    number: int = 0,
    prompt: str | None = None,
    unit: str = "log-odds",
    model: str = "",
    output: Sequence[int] | None = None,
) -> Document:
    """Converts the explanation of one text by a `shap.Explainer` of a language model and its tokenizer, or one item of it.

    `generation` is the answer, because SHAP omits the spaces of its tokens. SHAP only scores prompt tokens, so the effect of earlier
    generated sentences is unknown.
    """
    names, data, values = explanation.output_names, explanation.data, explanation.values
    if len(names) and not isinstance(names[0], str):
        names = names[number]
    # One item of an explanation has the tokens directly.
    if len(data) and not isinstance(data[0], str):
        data, values = data[number], values[number]
    names = list(map(str, names))
    return token_scores(
        list(map(str, data)),
        names,
        require_numbers(to_array(values).T, names),
        method="SHAP",
        unit=unit,
        tool="shap",
        prompt=prompt,
        generation=generation,
        model=model,
        output=output,
    )

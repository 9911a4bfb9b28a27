"""SHAP: `Explanation` of a text generation model."""

from collections.abc import Sequence
from typing import Any

from ..document import Document
from .scores import to_array, token_scores


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
    """The explanation of one text of what a `shap.Explainer` of a language model and its tokenizer returns.

    `generation` is the answer, since SHAP leaves out the spaces of its tokens. It scores the tokens of the prompt only:
    what earlier generated sentences do is unknown.
    """
    names = explanation.output_names
    if names and not isinstance(names[0], str):
        names = names[number]
    return token_scores(
        list(map(str, explanation.data[number])),
        list(map(str, names)),
        to_array(explanation.values[number]).T,
        method="SHAP",
        unit=unit,
        tool="shap",
        prompt=prompt,
        generation=generation,
        model=model,
        output=output,
    )

"""What golden/importers/make.py recorded of the real packages, and the tables that follow from it."""

import json
from typing import Any

import numpy as np
from conftest import GOLDEN

from glasscage import Document, sentences


def recorded(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((GOLDEN / "importers" / f"{name}.json").read_text(encoding="utf-8"))
    return data


def array(values: Any) -> Any:
    return np.array(values, dtype=np.float64)


class Tensor:
    """A substitute for a torch tensor, with the methods that the importers use."""

    def __init__(self, values: Any) -> None:
        self.values = array(values)

    def detach(self) -> "Tensor":
        return self

    cpu = float = detach

    def numpy(self) -> Any:
        return self.values


def block_means(prompt_tokens: list[str], answer_tokens: list[str], scores: Any, prompt: str, answer: str) -> Any:
    """T by its definition, for ASCII texts: the mean over all pairs of tokens of two sentences."""
    columns = owners(prompt_tokens, prompt) + [owner and ("G", owner[1]) for owner in owners(answer_tokens, answer)]
    rows = owners(answer_tokens, answer)
    n, m = len(sentences(prompt)), len(sentences(answer))
    blocks: dict[tuple[int, int], list[float]] = {}
    for row, scores_of_row in zip(rows, scores, strict=True):
        for column, score in zip(columns, scores_of_row, strict=False):
            if row and column and score == score:
                j = column[1] + (n if column[0] == "G" else 0)
                if j < n + row[1]:
                    blocks.setdefault((row[1], j), []).append(score)
    return array([[np.mean(blocks.get((i, j), [np.nan])) for j in range(n + m)] for i in range(m)])


def owners(tokens: list[str], text: str) -> list[Any]:
    """The sentence of each token's first visible character, or of its first character. None outside of `text`."""
    plain = [token.replace("Ġ", " ").replace("Ċ", "\n") for token in tokens]
    place, found = -"".join(plain).index(text), []
    for piece in plain:
        blanks = len(piece) - len(piece.lstrip()) if piece.strip() else 0
        number = sum(place + blanks >= first for first, _ in sentences(text)[1:])
        found.append(("P", number) if 0 <= place + blanks < len(text) else None)
        place += len(piece)
    return found


def check(document: Document, expected: Any, data: dict[str, Any], tool: str) -> None:
    assert document.prompt.text == data["prompt"] and document.generation.text == data["answer"]
    assert document.data["manifest"]["producer"]["name"] == tool
    assert [text.strip() for text in document.generation.sentence_texts][-1] == "The answer is 8."
    np.testing.assert_allclose(document.table, expected, rtol=1e-9)
    assert Document.from_json(document.to_json()) == document
    assert Document.from_link(document.link()).is_complete == document.is_complete

"""A text and its sentences."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .punkt import sentences
from .spans import Span, tile, tokens_of_sentences

# White space, closing quotation marks and brackets, as in `crates/core/src/explanation/passage.rs`.
_CLOSING = re.compile("[\\s\"')\\]*_\u00bb\u2019\u201c\u201d\u300d\u300f\uff09]+$")


@dataclass(frozen=True)
class Passage:
    """A text, its sentences as spans of code points that tile it, and the number of tokens of each sentence."""

    text: str
    sentences: tuple[Span, ...]
    tokens: tuple[int, ...]

    @classmethod
    def from_tokens(cls, text: str, tokens: Sequence[Span], units: Sequence[Span] | None = None) -> tuple["Passage", list[range]]:
        """Splits a text into sentences with Punkt, or into other `units`. `tokens` are spans of the text. Also returns the token indices of
        each sentence.

        A token belongs to the sentence of its first visible character.
        """
        tiles = tile(text, sentences(text) if units is None else units)
        if not tiles:
            raise ValueError("the text has no sentence")
        ranges = tokens_of_sentences(text, tiles, tokens)
        return cls(text, tuple(tiles), tuple(map(len, ranges))), ranges

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Passage":
        return cls(data["text"], tuple((start, end) for start, end in data["sentences"]), tuple(data["tokens"]))

    def to_json(self) -> dict[str, Any]:
        return {"text": self.text, "sentences": [list(span) for span in self.sentences], "tokens": list(self.tokens)}

    @property
    def sentence_texts(self) -> list[str]:
        """The texts of the sentences, each with the white space after it."""
        return [self.text[start:end] for start, end in self.sentences]

    @property
    def statements(self) -> list[int]:
        """The sentences (0-based) that are not questions, according to their punctuation. All sentences if every one is a question."""
        questions = [_CLOSING.sub("", text).endswith(("?", "\u037e", "\u061f", "\uff1f")) for text in self.sentence_texts]
        return [i for i, is_question in enumerate(questions) if not is_question or all(questions)]

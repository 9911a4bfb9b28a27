"""Compares Punkt with NLTK and the command line."""

from typing import Any

import pytest
from conftest import ROOT, json_lines

from glasscage import punkt, sentence_texts, sentences
from glasscage.passage import Passage
from glasscage.spans import tile, tokens_of_sentences


def test_sentences_are_those_of_nltk() -> None:
    cases = json_lines(ROOT / "tests/golden/punkt/cases.jsonl")
    differing = [case["text"] for case in cases if [list(span) for span in sentences(case["text"])] != case["sentences"]]
    assert len(cases) == 1288 and differing == []


def test_sentences_are_those_of_the_command_line(glasscage: Any) -> None:
    golden = ROOT / "tests/golden/punkt"
    texts = [line["text"] for name in ("cases.jsonl", "languages.jsonl") for line in json_lines(golden / name)]
    texts += ["", " \n", "\u3000A. \u2028B.\x1cC. \x1e", "a...b... C", "x. ) ) y", 'He said "no." Then', "?!? a. b . . . C--d. --e"]
    for text, found in zip(texts, glasscage("split", [{"text": text} for text in texts]), strict=True):
        assert [list(span) for span in sentences(text)] == found["sentences"], text


def test_abbreviations_end_no_sentence() -> None:
    text = "Dr. Smith lives in the U.S. He likes it.\nSo do I."
    assert sentence_texts(text) == ["Dr. Smith lives in the U.S.", "He likes it.", "So do I."]


def test_tiles_cover_the_text() -> None:
    text = " \n One.  Two.\n\nThree"
    assert [text[start:end] for start, end in tile(text, sentences(text))] == [" \n One.  ", "Two.\n\n", "Three"]
    assert tile(" \n", sentences(" \n")) == []


def test_first_visible_character_assigns_token_to_sentence() -> None:
    text = "One. Two.\nThree."
    tokens = [(0, 3), (3, 4), (4, 8), (8, 10), (10, 16)]
    assert tokens_of_sentences(text, [(0, 5), (5, 10), (10, 16)], tokens) == [range(0, 2), range(2, 4), range(4, 5)]
    assert tokens_of_sentences("A.  B.", [(0, 4), (4, 6)], [(0, 2), (2, 4), (4, 6)]) == [range(0, 2), range(2, 3)]


@pytest.mark.parametrize("piece", ["a. ", ". ", "?", "a.", "(", ". . ", "-", "Dr. A "])
def test_the_cost_is_linear_in_hostile_texts(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the text takes about twice the search. With quadratic cost it would take four times as much."""
    read = [0]

    class Counting:
        """A pattern that counts the characters that it is given or matches."""

        def __init__(self, pattern: Any) -> None:
            self.pattern = pattern

        def finditer(self, text: str) -> Any:
            read[0] += len(text)
            return self.pattern.finditer(text)

        def match(self, text: str) -> Any:
            found = self.pattern.match(text)
            read[0] += found.end() if found else 1
            return found

    for name in ("_WORD", "_PERIOD_CONTEXT", "_CLOSING"):
        monkeypatch.setattr(punkt, name, Counting(getattr(punkt, name)))

    def cost(n: int) -> int:
        read[0] = 0
        sentences("A" + piece * n)
        return read[0]

    assert cost(2000) <= 2.5 * cost(1000) + 100


def test_statements_are_all_sentences_except_questions() -> None:
    def statements(text: str) -> list[int]:
        spans = tile(text, sentences(text))
        return Passage(text, tuple(spans), (1,) * len(spans)).statements

    assert statements("It rained. Why? The sun came out.") == [0, 2]
    assert statements('He asked: \u201cWhy?\u201d \u4e3a\u4ec0\u4e48\uff1f\nNo. (Why?) ') == [2]
    assert statements("Who wrote Faust? When?") == [0, 1]

"""Compares units with those of the engine, and explains by them without torch."""

from typing import Any

import pytest
from conftest import ROOT, json_lines
from test_producer import WordTokenizer

from glasscage import Document, explain
from glasscage.framing import frame, given_answer, split
from glasscage.passages import cut, passages
from glasscage.punkt import sentences
from glasscage.units import UNITS, of_answer, units, unmarked

CASES = json_lines(ROOT / "crates/text/tests/units.jsonl")


@pytest.mark.parametrize("case", [case for case in CASES if "word" in case], ids=lambda case: case["text"][:12])
def test_units_are_those_of_the_engine(case: dict[str, Any]) -> None:
    for unit in ("word", "line", "paragraph", "section"):
        assert [list(span) for span in units(case["text"], unit)] == case[unit]


@pytest.mark.parametrize("case", [case for case in CASES if "marked" in case], ids=lambda case: case["marked"][:12])
def test_brackets_are_those_of_the_engine(case: dict[str, Any]) -> None:
    if "error" in case:
        with pytest.raises(ValueError, match=r"\[\[|\]\]"):
            unmarked(case["marked"])
    else:
        text, found = unmarked(case["marked"])
        assert (text, [list(span) for span in found]) == (case["text"], case["bracket"])


@pytest.mark.parametrize("case", json_lines(ROOT / "crates/text/tests/passages.jsonl"), ids=lambda case: case["text"][:12])
def test_passages_are_those_of_the_engine(case: dict[str, Any]) -> None:
    named = passages(case["text"])
    assert [[passage.name, passage.mark[1], *passage.span] for passage in named] == case["passages"]
    for unit in ("sentence", "paragraph", "section"):
        assert [list(span) for span in cut(case["text"], units(case["text"], unit), named)] == case[unit]


def test_answer_is_split_by_lines_or_sentences() -> None:
    tokenizer = WordTokenizer()
    prompt, answer = "Ann has 3. Bob has 4.\n\nWho has more?", "Bob has 4. So\nBob does."
    framed = frame(tokenizer, prompt)
    found = given_answer(tokenizer, answer)
    texts = {unit: split(prompt, framed, found, unit) for unit in UNITS}
    counts = {unit: (len(text.prompt.sentences), len(text.generation.sentences)) for unit, text in texts.items()}
    assert counts == {"sentence": (3, 3), "word": (9, 6), "line": (2, 2), "paragraph": (2, 3), "section": (1, 3), "bracket": (3, 3)}
    assert all(text.before_answers[0].statements == texts["sentence"].sources[:2] for text in texts.values()), "statements are sentences"
    assert [of_answer(unit) for unit in UNITS] == ["sentence", "word", "line", "sentence", "sentence", "sentence"]
    marked, parts = unmarked(f"[[{prompt}]]")
    assert (marked, parts) == (prompt, [(0, len(prompt))]) and len(sentences(prompt)) == 3


def test_unknown_units_are_refused() -> None:
    with pytest.raises(ValueError, match="'turn' is none of sentence, word, line"):
        explain(None, WordTokenizer(), "A.", unit="turn")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="after it"):
        explain(None, WordTokenizer(), "[[A.", unit="bracket")


def test_documents_of_new_units_have_version_3() -> None:
    text = (ROOT / "crates/core/tests/golden/paragraphs.json").read_text(encoding="utf-8")
    document = Document.from_json(text)
    assert document.to_json() == text.strip() and document.unit == "paragraph" and document.data["version"] == 3
    versions = {unit: Document(document.data | {"unit": unit, "tokens": []}).data["version"] for unit in UNITS}
    assert versions == {unit: 2 if unit in ("sentence", "word") else 3 for unit in UNITS}
    linked = Document.from_link(document.link())
    assert linked.unit == "paragraph" and linked.data["version"] == 3

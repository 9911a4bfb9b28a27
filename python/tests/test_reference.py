"""Parts of the documentation are current: the reference from the docstrings, the picture of an explanation, the shares in lessons."""

import importlib.util
import json
import os
import re
from pathlib import Path

import pytest
from conftest import ROOT

from glasscage import Document

SCRIPT = Path(__file__).parents[1] / "reference.py"


def test_reference_is_current() -> None:
    spec = importlib.util.spec_from_file_location("reference", SCRIPT)
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    assert reference.PAGE.read_text(encoding="utf-8") == reference.reference(), "python python/reference.py writes it again"


def test_picture_is_current() -> None:
    if "GLASSCAGE_BIN" not in os.environ:
        pytest.skip("cargo xtask test")
    drawn = Document.read(ROOT / "public/gallery/01-equal-groups.json").to_svg(None, "--width", "720")
    picture = ROOT / "docs/figures/explanation.svg"
    command = f"glasscage export public/gallery/01-equal-groups.json --width 720 --to {picture.relative_to(ROOT)}"
    assert without_document(picture.read_text(encoding="utf-8")) == without_document(drawn), f"write it again: {command}"


def without_document(svg: str) -> str:
    """The picture without the document in it, whose keys have another order in some builds of the command line."""
    return re.sub("<metadata.*?</metadata>", "", svg, flags=re.DOTALL)


def test_notes_for_teachers_have_the_shares_of_the_lessons() -> None:
    sections = (ROOT / "docs/teaching.md").read_text(encoding="utf-8").split("\n### ")
    gallery = ROOT / "public/gallery"
    for entry in json.loads((gallery / "index.json").read_text(encoding="utf-8"))["lessons"]:
        notes = next(section for section in sections if section.startswith(entry["title"] + " ("))
        lesson = json.loads((gallery / entry["file"]).read_text(encoding="utf-8"))
        for step in lesson["steps"]:
            question = step.get("question", {}).get("mark")
            if question is None:
                continue
            document = Document.from_json(json.dumps(lesson["explanations"][step["explanation"]]))
            shares = sorted(document.context_attribution(step["output"]) / len(step["output"]), reverse=True)
            for share in shares[: question["count"]]:
                assert f"{100 * share:.0f} %" in notes, (entry["title"], question["ask"], share)


def test_start_describes_the_first_explanation() -> None:
    text = " ".join((ROOT / "docs/start.md").read_text(encoding="utf-8").split())
    document = Document.read(ROOT / "public/gallery/welcome.json")
    sentences = document.prompt.sentence_texts
    answer = document.generation.sentence_texts
    assert "The last sentence of its answer (G2) is explained" in text and len(answer) == 2
    assert "*direct* gives most to G1" in text and document.adjacency[-1, len(sentences)] > 0.5
    # The last sentence of the prompt is the question.
    statements = zip(document.context_attribution(), sentences[:-1])
    strongest = [sentence for _, sentence in sorted(statements, reverse=True)[:2]]
    assert "the crust and the minutes" in text and "crust" in strongest[0] and "minutes" in strongest[1]
    assert "No sentence has a temperature" in text and "\u00b0" in answer[1] and not any("\u00b0" in sentence for sentence in sentences)

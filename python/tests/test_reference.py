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
    assert "The last sentence (G3) is explained" in text and len(document.generation.sentence_texts) == 3
    assert "gives nearly everything to G2" in text and document.adjacency[-1, len(sentences) + 1] > 0.95
    shares = document.context_attribution()
    assert "the three sentences of the prompt that they used" in text and sum(shares > 0.05) == 3
    assert "The shop and the weather have less than 1 %" in text
    assert [share < 0.01 for sentence, share in zip(sentences, shares) if "shop" in sentence or "rained" in sentence] == [True, True]

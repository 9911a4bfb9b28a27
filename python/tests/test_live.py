"""Compares the producer, with torch and transformers, with the command line on the same weights.

`cargo xtask test --all` runs them. By hand:

pip install 'glasscage[explain]' accelerate gguf pytest
GLASSCAGE_LIVE=1 GLASSCAGE_BIN=target/release/glasscage GLASSCAGE_SMOLLM2=MODEL.gguf pytest python/tests/test_live.py
"""

import os
import pathlib
import subprocess
from typing import Any

import numpy as np
import pytest
from conftest import assert_same_tokens

import glasscage
from glasscage import Document

if not os.environ.get("GLASSCAGE_LIVE"):
    pytest.skip("GLASSCAGE_LIVE=1 pytest", allow_module_level=True)

ARITHMETIC = "Tom had 4 boxes. Each box had 18 lamps. It rained. Tom gave away half of the lamps. How many lamps did Tom have in the end?"
TOWER = (
    "The Eiffel Tower is in Paris. It was built by the company of Gustave Eiffel. The tower was finished in 1889. Many tourists visit it "
    "every year. In which city is the Eiffel Tower, and when was it finished?"
)
BLANKS = "  Zoë has 5 figs.\n\nShe eats 2.  How many figs does Zoë have now? \n"
# The tokenizer that transformers creates from a GGUF file adds no space before a text that begins with one, unlike llama.cpp and ours.
STORY = "Lily had a cat. The cat was big.\nOne day"


@pytest.mark.parametrize("method", ["pert", "clp"])
@pytest.mark.parametrize(("model", "prompt"), [("DEMO", ARITHMETIC), ("DEMO", BLANKS), ("STORIES", STORY), ("STORIES", BLANKS.lstrip())])
def test_the_table_is_that_of_the_engine(model: str, prompt: str, method: str, tmp_path: pathlib.Path) -> None:
    import gguf_models

    file = getattr(gguf_models, model)
    found = glasscage.explain(*gguf_models.load(file), prompt, method=method, max_tokens=60, batch_size=3, progress=False)
    expected = by_the_engine(file, found, method, tmp_path / "explanation.json")
    assert (found.prompt, found.generation, found.output) == (expected.prompt, expected.generation, expected.output)
    assert found.data["method"] == expected.data["method"]
    for field in ("template", "answer", "precision"):
        assert found.data["manifest"][field] == expected.data["manifest"][field]
    np.testing.assert_allclose(found.table, expected.table, atol=1e-4, rtol=0)
    assert found.support is not None and expected.support is not None
    np.testing.assert_allclose(found.support, expected.support, atol=1e-4, rtol=0)
    assert_same_tokens(found, expected)


def test_smollm2_is_explained_as_by_the_engine(tmp_path: pathlib.Path) -> None:
    import gguf_models

    file = pathlib.Path(os.environ["GLASSCAGE_SMOLLM2"])
    found = glasscage.explain(*gguf_models.load(file), TOWER, max_tokens=60, progress=False)
    expected = by_the_engine(file, found, "pert", tmp_path / "explanation.json")
    assert (found.prompt, found.generation, found.output) == (expected.prompt, expected.generation, expected.output)
    np.testing.assert_allclose(found.table, expected.table, atol=1e-4, rtol=0)
    assert found.support is not None and expected.support is not None
    np.testing.assert_allclose(found.support, expected.support, atol=1e-4, rtol=0)
    assert_same_tokens(found, expected)
    np.testing.assert_allclose(found.context_attribution(), expected.context_attribution(), atol=1e-3, rtol=0)


def test_a_given_answer_is_explained(tmp_path: pathlib.Path) -> None:
    import gguf_models

    answer = tmp_path / "answer.txt"
    answer.write_text("There were 4 boxes. The answer is 36.")
    found = glasscage.explain(*gguf_models.load(gguf_models.DEMO), ARITHMETIC, answer=answer.read_text(), progress=False)
    expected = by_the_engine(gguf_models.DEMO, found, "pert", tmp_path / "explanation.json", "--answer-file", str(answer))
    assert (found.prompt, found.generation) == (expected.prompt, expected.generation)
    np.testing.assert_allclose(found.table, expected.table, atol=1e-4, rtol=0)


def test_answer_ends_where_context_ends() -> None:
    import gguf_models

    model, tokenizer = gguf_models.load(gguf_models.DEMO)
    document = glasscage.explain(model, tokenizer, ARITHMETIC, max_tokens=60, progress=False)
    assert (document.data["manifest"]["model"]["name"], document.unsupported) == ("Glasscage demo", [])
    model.config.max_position_embeddings = sum(document.data["prompt"]["tokens"]) + 20
    shorter = glasscage.explain(model, tokenizer, ARITHMETIC, max_tokens=60, progress=False)
    assert shorter.data["manifest"]["answer"]["generated"]["stop"] == "length"
    assert document.generation.text.startswith(shorter.generation.text)


def by_the_engine(file: Any, document: Document, method: str, target: pathlib.Path, *more: str) -> Document:
    asked = ["--prompt", document.prompt.text, "--method", method, "--max-tokens", "60", "--json", str(target), *more]
    subprocess.run([os.environ["GLASSCAGE_BIN"], "explain", "--model", str(file), *asked], check=True, capture_output=True)
    return Document.read(target)

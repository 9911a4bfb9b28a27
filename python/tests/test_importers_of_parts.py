"""Converts results of tools that score parts of a prompt for a part of the answer: AT2, ICX360 and shapiq."""

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from recordings import array, block_means, check, recorded

from glasscage import importers


def test_at2() -> None:
    data = recorded("at2")
    document = importers.from_at2(attributor_of(data))
    assert np.isnan(document.table[:, 3:]).all(), "neither the query nor earlier sentences are sources"
    tokens = [data["text"][start:end] for start, end in data["chars"]]
    first, last = data["generation_tokens"]
    scores = np.full((last - first, last), np.nan)
    scores[:, [start for start, _ in data["sources"]]] = data["scores"]
    check(document, block_means(tokens[:first], tokens[first:last], scores, data["prompt"], data["answer"]), data, "at2")
    with pytest.raises(ValueError, match="template"):
        importers.from_at2(attributor_of(data | {"prompt": data["prompt"] + " "}))


def test_at2_of_thoughts() -> None:
    # A task of two thoughts and one answer. Its sources are out of order and lie in the prompt and in the thoughts.
    texts = ["<user>", "Help", " Tom", ".", "<model>", "He", " has", " 2", ".", " Yes", ".", "</think>\n\n", "2", "."]
    edges = [0, *itertools.accumulate(map(len, texts))]
    data = {
        "prompt": "Help Tom.",
        "answer": "".join(texts[5:]),
        "text": "".join(texts),
        "chars": list(itertools.pairwise(edges)),
        "prompt_tokens": [1, 4],
        "sources": [(9, 11), (5, 9), (1, 4)],
        "generation_tokens": [5, 14],
        "target_tokens": [12, 14],
        "scores": [[1.0, 2.0, 3.0], [3.0, 4.0, 7.0]],
    }
    document = importers.from_at2(attributor_of(data))
    assert document.generation.sentence_texts == ["He has 2. ", "Yes.</think>\n\n", "2."]
    nan = np.nan
    np.testing.assert_array_equal(document.table, [[nan] * 4, [nan] * 4, [5.0, 3.0, 2.0, nan]])


def attributor_of(data: dict[str, Any]) -> SimpleNamespace:
    """What the importer reads of an `AT2Attributor`."""
    tokens = SimpleNamespace(token_to_chars=lambda token: SimpleNamespace(start=data["chars"][token][0], end=data["chars"][token][1]))
    target = data["target_tokens"]
    task = SimpleNamespace(
        prompt=data["prompt"],
        text=data["text"],
        generation=data["answer"],
        generation_token_start=data["generation_tokens"][0],
        generation_token_end=data["generation_tokens"][1],
        target_token_range=target,
        target_ids=range(*target),
        source_token_ranges=data["sources"],
        get_tokens=lambda: tokens,
        prompt_range_to_token_range=lambda start, end: data["prompt_tokens"],
    )

    def scores(token_start: int, token_end: int) -> Any:
        return array(data["scores"][token_start:token_end]).mean(axis=0)

    return SimpleNamespace(task=task, get_attribution_scores=scores)


def values_of(data: dict[str, Any]) -> SimpleNamespace:
    """`shapiq.InteractionValues`, as recorded."""
    return SimpleNamespace(**data | {"dict_values": {tuple(players): value for players, value in data["dict_values"]}})


def test_shapiq() -> None:
    data = recorded("shapiq")
    games = {index: [values_of(each) for each in values] for index, values in data["values"].items()}
    texts = {"prompt": data["prompt"], "generation": data["answer"]}
    tables = {}
    for index in ("SV", "k-SII", "STII", "SII", "BV", "FBII"):
        document = importers.from_shapiq(games[index], data["players"], **texts, unit="nats")
        assert document.data["method"].items() >= {"id": f"shapiq {index}", "unit": "nats"}.items()
        tables[index] = document.table
    single = [[values.dict_values[(player,)] for player in range(4)] for values in games["SV"]]
    check(importers.from_shapiq(games["SV"], data["players"], **texts), np.hstack([single, np.full((3, 3), np.nan)]), data, "shapiq")
    # Recorded scores have five digits.
    for index in ("k-SII", "STII", "SII"):
        np.testing.assert_allclose(tables[index], tables["SV"], atol=2e-3, err_msg=f"{index} has Shapley values")
    np.testing.assert_allclose(tables["FBII"], tables["BV"], atol=2e-3)
    with pytest.raises(ValueError, match="IGV of the orders"):
        importers.from_shapiq(games["IGV"], data["players"], **texts)
    with pytest.raises(ValueError, match="not of 2"):
        importers.from_shapiq(games["SV"], ["Tom", "has"], **texts)


def test_shapiq_of_words_and_tokens() -> None:
    values = SimpleNamespace(index="SV", n_players=3, min_order=0, max_order=1, dict_values={(): 9.0, (0,): 1.0, (2,): 5.0})
    for players in (["Tom", "has", "2"], ["▁Tom", "▁has", "▁2."], ["Tom", "Ġhas", "Ġ2"]):
        document = importers.from_shapiq(values, players, prompt="Tom has 2.", generation="Yes.")
        assert document.table.tolist()[0][0] == 2.0, "a player without a score has 0"
    document = importers.from_shapiq([None, values], ["Tom", "has", "2"], prompt="Tom has 2.", generation="Yes. He has.")
    np.testing.assert_array_equal(document.table, [[np.nan, np.nan, np.nan], [2.0, np.nan, np.nan]])
    with pytest.raises(ValueError, match="2 sentences, but 1 result"):
        importers.from_shapiq(values, ["Tom", "has", "2"], prompt="Tom has 2.", generation="Yes. He has.")
    with pytest.raises(ValueError, match="no result"):
        importers.from_shapiq([None], ["Tom"], prompt="Tom has 2.", generation="Yes.")


def test_icx360() -> None:
    data = recorded("icx360")
    document = importers.from_icx360(data["results"], prompt=data["prompt"], generation=data["answer"], method="L-SHAP")
    assert document.data["method"]["id"] == "ICX360 L-SHAP"
    scores = array([result["attributions"]["prob"][:4] for result in data["results"]])
    check(document, np.hstack([scores, np.full((3, 3), np.nan)]), data, "icx360")
    single = data["single"]
    output = SimpleNamespace(**single["output_orig"])
    document = importers.from_icx360(single | {"output_orig": output}, prompt=data["prompt"])
    assert document.generation.text == "Tom has 5 figs."
    np.testing.assert_array_equal(document.table, [[*single["attributions"]["prob"], np.nan]])
    document = importers.from_icx360(data["highlighter"], prompt=data["prompt"], generation="Sure, I'd like to help you with this.")
    np.testing.assert_array_equal(document.table[0, :4], data["highlighter"]["attributions"]["scores"])


def test_icx360_says_what_is_missing() -> None:
    attributions = {"bleu": [1.0, 2.0], "rouge": [3.0, 4.0], "units": ["Context: ", "Tom."], "unit_types": ["n", "s"]}
    texts = {"prompt": "Context: Tom.", "generation": "Yes."}
    document = importers.from_icx360({"attributions": attributions}, **texts, score="rouge")
    assert document.table[0, 0] == 4.0, "a unit of the type n has no score"
    with pytest.raises(ValueError, match="bleu, rouge"):
        importers.from_icx360({"attributions": attributions}, **texts)
    with pytest.raises(ValueError, match="generation="):
        importers.from_icx360({"attributions": attributions}, prompt="Tom.", score="bleu")
    with pytest.raises(ValueError, match="contrastive"):
        importers.from_icx360({"prompt_cell": "Tom?", "response_cell": "No."}, **texts)
    other = attributions | {"units": ["Context: Tom", "."], "unit_types": ["s", "s"]}
    results = [{"attributions": each} for each in (attributions, other)]
    with pytest.raises(ValueError, match="different parts"):
        importers.from_icx360(results, prompt="Context: Tom.", generation="Yes. No.", score="bleu")


NAN = float("nan")
TEXTS = {"prompt": "A.", "generation": "B."}


@pytest.mark.parametrize(
    "make",
    [
        lambda: importers.from_shapiq(
            SimpleNamespace(index="SV", n_players=1, min_order=0, max_order=1, dict_values={(0,): NAN}), ["A."], **TEXTS
        ),
        lambda: importers.from_icx360({"attributions": {"prob": [NAN], "units": ["A."], "unit_types": ["s"]}}, **TEXTS),
        lambda: importers.from_at2(
            attributor_of(
                {
                    "prompt": "A.",
                    "answer": "B.",
                    "text": "A.B.",
                    "chars": [(0, 2), (2, 4)],
                    "prompt_tokens": [0, 1],
                    "sources": [(0, 1)],
                    "generation_tokens": [1, 2],
                    "target_tokens": [1, 2],
                    "scores": [[NAN]],
                }
            )
        ),
    ],
    ids=("shapiq", "icx360", "at2"),
)
def test_nan_score_is_an_error(make: Any) -> None:
    with pytest.raises(ValueError, match="half precision"):
        make()

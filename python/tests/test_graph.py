"""Compares A, Y and the attributions with the command line."""

from typing import Any

import numpy as np
import pytest
from conftest import GOLDEN, json_lines
from tables import tables

from glasscage import graph


def check(asked: dict[str, Any], answer: dict[str, Any]) -> None:
    adjacency = graph.normalize(np.array(asked["table"], dtype=float), asked["normalization"])
    found = {
        "adjacency": adjacency,
        "influence": graph.total_influence(adjacency),
        "context_attribution": graph.context_attribution(adjacency, asked["output"]),
        "row_attribution": graph.row_attribution(adjacency, asked["output"]),
    }
    for name, array in found.items():
        np.testing.assert_allclose(array, np.array(answer[name]).reshape(array.shape), rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("line", json_lines(GOLDEN / "graph.jsonl"))
def test_arrays_are_those_of_the_command_line(line: dict[str, Any]) -> None:
    check(line["asked"], line["answer"])


def test_arrays_are_those_of_the_command_line_today(glasscage: Any) -> None:
    asked = tables(200, seed=19)
    for question, answer in zip(asked, glasscage("graph", asked), strict=True):
        check(question, answer)


def test_prompt_influence_sums_to_one_without_zero_rows() -> None:
    table = np.where(graph.causal_mask(3, 4), np.random.default_rng(1).random((4, 7)), np.nan)
    influence = graph.total_influence(graph.normalize(table))
    np.testing.assert_allclose(influence[:, :3].sum(axis=1), 1.0)
    # eq:all_at_once, with the generated block as a square matrix.
    adjacency = graph.normalize(table)
    block = adjacency[:, 3:]
    np.testing.assert_allclose(influence, np.linalg.solve(np.eye(4) - block, adjacency), atol=1e-14)


def test_a_row_without_positive_score_stays_zero() -> None:
    assert graph.normalize(np.array([[-1.0, 0.0, np.nan]])).tolist() == [[0.0, 0.0, 0.0]]


def test_unknown_words_name_allowed_words() -> None:
    table, tokens = np.zeros((1, 2)), np.ones(2)
    with pytest.raises(ValueError, match="normalization 'ful' is none of full, nonnegative, none"):
        graph.normalize(table, "ful")
    with pytest.raises(ValueError, match="compression 'ln' is none of none, log, bounded, hyperbolic"):
        graph.compress(table, "ln", tokens[1:])
    with pytest.raises(ValueError, match="aggregation 'max' is none of mean, sum"):
        graph.aggregate(table, "max", "none", tokens)


def test_huge_scores_have_finite_weights() -> None:
    assert graph.normalize(np.array([[1.7e308, 1.7e308, np.nan]])).tolist() == [[0.5, 0.5, 0.0]]


def test_scores_are_summed_and_compressed_as_in_rust() -> None:
    # The values of `explanation::document` and `explanation::method` in crates/core.
    mean, tokens = np.array([[0.5, 1.25, np.nan]]), np.array([6.0, 5.0, 7.0])
    assert graph.aggregate(mean, "sum", "none", tokens)[0, :2].tolist() == [0.5 * 7 * 6, 1.25 * 7 * 5]
    mean, tokens = np.array([[0.5, -0.5, np.nan]]), np.array([6.0, 1.0, 4.0])
    assert graph.aggregate(mean, "sum", "log", tokens)[0, :2].tolist() == [6 * np.log(2), -np.log(2)]
    assert graph.aggregate(np.array([[2.5, np.nan]]), "mean", "bounded", np.array([6.0, 4.0]))[0, 0] == pytest.approx(1 - np.exp(-1))
    assert graph.aggregate(np.array([[0.5, np.nan]]), "mean", "hyperbolic", np.array([6.0, 4.0]))[0, 0] == 0.5
    weights = graph.flow_weights(np.array([[0.08, 0.01, np.nan], [0.0, 0.125, 1.0], [0.0, 0.0, 0.0]]))
    assert weights == pytest.approx(np.array([[1, 0.25, 0], [0, 0.25, 1], [0, 0, 0]]))

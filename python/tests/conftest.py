"""Shared parts of the tests: the repository's folder, and its command line if it is built."""

import itertools
import json
import os
import pathlib
import subprocess
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from glasscage import Document

ROOT = pathlib.Path(__file__).parents[2]
GOLDEN = pathlib.Path(__file__).parent / "golden"


def json_lines(path: pathlib.Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def assert_same_tokens(found: Document, expected: Document) -> None:
    """Probabilities differ by at most 1e-4, and alternatives are the same, unless two of them are almost equally likely."""
    assert [len(tokens) for tokens in found.tokens] == [len(tokens) for tokens in expected.tokens] and any(found.tokens)
    tokens = [itertools.chain.from_iterable(document.tokens) for document in (found, expected)]
    for ours, theirs in zip(*tokens, strict=True):
        assert (ours.text, ours.span) == (theirs.text, theirs.span)
        ranked = [[token.probability, *(other.probability for other in token.alternatives)] for token in (ours, theirs)]
        np.testing.assert_allclose(*ranked, atol=1e-4, rtol=0)
        logs = [other.log_probability for other in theirs.alternatives]
        if all(before - after > 1e-3 for before, after in itertools.pairwise(logs)):
            assert [other.text for other in ours.alternatives] == [other.text for other in theirs.alternatives]


@pytest.fixture
def glasscage() -> Callable[..., list[Any]]:
    """Runs a filter of the command line, such as `graph`, on JSON values."""
    program = os.environ.get("GLASSCAGE_BIN")
    if not program:
        pytest.skip("cargo xtask test")

    def run(command: str, values: Iterable[Any], **reading: Any) -> list[Any]:
        lines = "".join(json.dumps(value) + "\n" for value in values)
        done = subprocess.run([program, command], input=lines, capture_output=True, text=True, check=True)
        return [json.loads(line, **reading) for line in done.stdout.splitlines()]

    return run

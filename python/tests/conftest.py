"""Shared parts of the tests: the repository's folder, and its command line if it is built."""

import json
import os
import pathlib
import subprocess
from collections.abc import Callable, Iterable
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).parents[2]
GOLDEN = pathlib.Path(__file__).parent / "golden"


def json_lines(path: pathlib.Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


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

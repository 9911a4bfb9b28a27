"""The reference in the documentation is that of the docstrings."""

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "reference.py"


def test_reference_is_current() -> None:
    spec = importlib.util.spec_from_file_location("reference", SCRIPT)
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    assert reference.PAGE.read_text(encoding="utf-8") == reference.reference(), "python python/reference.py writes it again"

"""The origin of an explanation: model, settings, and program."""

from typing import Any

# Version of the documents' producer and format.
GLASSCAGE = "0.1.0"


def manifest(
    *,
    model: str = "",
    architecture: str = "",
    parameters: int = 0,
    precision: str = "",
    backend: str = "",
    template: str = "none",
    answer: dict[str, Any] | None = None,
    producer: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """Creates a manifest. Unknown fields stay empty. `producer` is name and version of the program that measured."""
    found: dict[str, Any] = {
        "model": {
            "name": model,
            "architecture": architecture,
            "quantization": "",
            "parameters": parameters,
            "bytes": 0,
            "sha256": "",
        },
        "template": template,
        "answer": {"given": {}} if answer is None else answer,
        "backend": backend,
        "precision": precision,
        "table_precision": "f64",
        "glasscage": GLASSCAGE,
    }
    if producer:
        found["producer"] = {"name": producer[0], "version": producer[1]}
    return found

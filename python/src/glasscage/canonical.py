"""Documents in the form that the page writes: keys in the order of the schema, scores as floats, no fields with default values."""

from typing import Any

from .schema import schema
from .version import smallest_version

_DEFAULTS: dict[str, Any] = {
    "compression": "none",
    "weighting": "none",
    "sentence_rule": "punkt",
    "language": "en",
    "joint": [],
    "support": [],
    "turns": [],
    "tokens": [],
    "contrasts": [],
    "groups": [],
    "branches": [],
    "sections": [],
    "explained": False,
    "run": 1,
}
_FLOATS = {"table", "alone", "flow", "support", "log_probability", "log_probabilities", "effects", "amount", "temperature", "top_p"}


def canonical(data: dict[str, Any]) -> dict[str, Any]:
    """Returns a copy of the document in this form, with the smallest version that has all of its fields."""
    found: dict[str, Any] = _canonical(data, schema())
    # A method has a field of this name without a default.
    if found.get("unit") == "sentence":
        del found["unit"]
    return found | {"version": smallest_version(found)}


def _canonical(value: Any, rules: dict[str, Any]) -> Any:
    if "$ref" in rules:
        rules = schema()["$defs"][rules["$ref"].rpartition("/")[2]] if "$defs" in rules["$ref"] else {}
    if isinstance(value, list):
        return [_canonical(item, rules.get("items", {})) for item in value]
    if not isinstance(value, dict):
        return value
    known: dict[str, Any] = next((choice for choice in rules.get("oneOf", [rules]) if set(value) <= set(choice.get("properties", {}))), {})
    properties = known.get("properties", {})
    ordered = [key for key in properties if key in value and not _is_default(key, value[key])]
    return {key: _floats(value[key]) if key in _FLOATS else _canonical(value[key], properties[key]) for key in ordered}


def _is_default(key: str, value: Any) -> bool:
    return key in _DEFAULTS and bool(value == _DEFAULTS[key])


def _floats(value: Any) -> Any:
    if isinstance(value, list):
        return [_floats(item) for item in value]
    return float(value) if isinstance(value, int) else value

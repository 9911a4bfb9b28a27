"""Checks values against the published JSON schema, `public/schema/explanation-3.json`. The package contains a copy of it.

Supports only the JSON Schema keywords of this schema, and rejects a schema with others, so that nothing remains unchecked.
"""

import functools
import json
import math
import re
from collections.abc import Iterator
from typing import Any

from .resources import shared

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "null": (type(None),),
    "boolean": (bool,),
}
_NOTES = {"$schema", "$defs", "title", "description"}


@functools.cache
def schema() -> dict[str, Any]:
    """The schema of explanation documents."""
    found: dict[str, Any] = json.loads(shared("explanation-3.json").read_text(encoding="utf-8"))
    return found


def problems(value: Any) -> Iterator[str]:
    """Lists all violations of the schema in `value`, with their places: `manifest.model: bytes is missing`."""
    return _problems(value, schema(), "document")


def _problems(value: Any, rules: dict[str, Any], place: str) -> Iterator[str]:
    for keyword, rule in rules.items():
        if keyword in _NOTES or keyword in ("properties", "additionalProperties", "items"):
            continue
        if keyword == "$ref":
            yield from _problems(value, _resolve(rule), place)
        elif keyword == "oneOf":
            if sum(not any(_problems(value, choice, place)) for choice in rule) != 1:
                yield f"{place}: it does not match exactly one of the allowed forms"
        else:
            problem = _CHECKS[keyword](value, rule)
            if problem:
                yield f"{place}: {problem}"
    if isinstance(value, dict):
        known = rules.get("properties", {})
        for key, inner in value.items():
            if key in known:
                yield from _problems(inner, known[key], f"{place}.{key}")
            elif rules.get("additionalProperties") is False:
                yield f"{place}: {key} is not known"
    if isinstance(value, list) and "items" in rules:
        for i, item in enumerate(value):
            yield from _problems(item, rules["items"], f"{place}[{i}]")


def _resolve(reference: str) -> dict[str, Any]:
    found: Any = schema()
    for key in reference.removeprefix("#/").split("/"):
        found = found[key]
    return dict(found)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _type(value: Any, names: Any) -> str | None:
    allowed = [names] if isinstance(names, str) else names
    # Python counts True and False as integers.
    fits = any(isinstance(value, _TYPES[name]) and isinstance(value, bool) == (name == "boolean") for name in allowed)
    if fits and isinstance(value, float) and not math.isfinite(value):
        return "it is not finite"
    return None if fits else f"it is not {' or '.join(allowed)}"


def _missing(value: Any, names: Any) -> str | None:
    missing = [name for name in names if name not in value] if isinstance(value, dict) else []
    return f"{', '.join(missing)} is missing" if missing else None


# Each check returns a problem or `None`.
_CHECKS: dict[str, Any] = {
    "type": _type,
    "required": _missing,
    "const": lambda value, only: None if value == only else f"it is not {only!r}",
    "enum": lambda value, values: None if value in values and not isinstance(value, bool) else f"it is none of {values}",
    "maximum": lambda value, most: f"it is above {most}" if _is_number(value) and value > most else None,
    "minimum": lambda value, least: f"it is below {least}" if _is_number(value) and value < least else None,
    "pattern": lambda value, form: f"it is not {form}" if isinstance(value, str) and not re.search(form, value) else None,
    "minItems": lambda value, n: f"it has fewer than {n} items" if isinstance(value, list) and len(value) < n else None,
    "maxItems": lambda value, n: f"it has more than {n} items" if isinstance(value, list) and len(value) > n else None,
    "uniqueItems": lambda value, _: "it has duplicates" if isinstance(value, list) and len(set(map(repr, value))) < len(value) else None,
}

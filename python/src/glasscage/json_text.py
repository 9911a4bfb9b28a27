"""Writes JSON byte for byte like serde_json, so that Python and the page write identical files. Reads JSON equally strictly."""

import json
import math
from typing import Any

from .problems import DocumentError


def read(text: str) -> Any:
    """Parses `text`. Rejects NaN, infinities, repeated keys and lone surrogates, as the page does."""
    try:
        value = json.loads(text, parse_constant=_refuse, object_pairs_hook=_object)
        text.encode()
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as error:
        raise DocumentError("this is not an explanation document: it is nested too deeply") from error
    except ValueError as error:
        raise DocumentError(f"this is not an explanation document: {error}") from error
    return value


def compact(value: Any) -> str:
    """Writes a value without white space, with sorted keys."""
    return _write(value, None, "")


def pretty(value: Any) -> str:
    """Writes a value with indentation of two spaces. Keys keep their order."""
    return _write(value, "  ", "\n")


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not a number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a duplicate key")
    return found


def _write(value: Any, indent: str | None, line: str) -> str:
    if isinstance(value, float):
        return number(value)
    if isinstance(value, (dict, list)):
        inner, colon = ("", ":") if indent is None else (line + indent, ": ")
        if isinstance(value, dict):
            keys = sorted(value) if indent is None else value
            parts = [_string(key) + colon + _write(value[key], indent, inner) for key in keys]
            opening, closing = "{", "}"
        else:
            parts = [_write(item, indent, inner) for item in value]
            opening, closing = "[", "]"
        return opening + inner + ("," + inner).join(parts) + line + closing if parts else opening + closing
    return _string(value) if isinstance(value, str) else json.dumps(value)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def number(value: float) -> str:
    """Returns the shortest digits that parse to `value`, in the notation of Rust's serde_json: `0.00001`, `1e-6`, `1e+16`."""
    if not math.isfinite(value):
        return "null"
    sign, digits, exponent = _digits(repr(value))
    point = len(digits) + exponent
    if exponent >= 0 and point <= 16:
        return f"{sign}{digits}{'0' * exponent}.0"
    if 0 < point <= 16:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -5 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{point - 1:+d}"


def _digits(text: str) -> tuple[str, str, int]:
    """Returns sign, digits and exponent: the number is digits * 10 ** exponent."""
    mantissa, _, exponent = text.partition("e")
    sign, mantissa = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    whole, _, fraction = mantissa.partition(".")
    fraction = fraction.rstrip("0")
    digits = (whole + fraction).lstrip("0")
    shift = int(exponent or 0) - len(fraction)
    kept = digits.rstrip("0")
    return (sign, kept, shift + len(digits) - len(kept)) if kept else (sign, "0", 0)

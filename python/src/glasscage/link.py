"""The link codec of `crates/core/src/explanation/link.rs`: `g3.` and the packed bytes of a document, with 16 bits per table cell.

Python and the page create identical links.
"""

import copy
import math
import struct
from typing import Any

from . import json_text, packed
from .version import smallest_version

_SCHEME = "g3."
_READERS = {"g3.": packed.inflate, "g2.": packed.inflate_zlib, "g1.": packed.inflate_without_checksum}
_UNMEASURED = -(1 << 15)
_FULL_SCALE = (1 << 15) - 1
_MAX_F32 = 3.4028234663852886e38
_MIN_F32 = 2.0**-149
_TABLES = ("table", "alone", "flow")


class LinkError(ValueError):
    """The text is not a link to an explanation."""


def to_fragment(data: dict[str, Any]) -> str:
    """Encodes a document as the part of an address after `#`."""
    return _SCHEME + packed.pack(to_bytes(data))


def from_fragment(fragment: str) -> Any:
    """Decodes the JSON of the document in a fragment, with or without `#`. Does not check the document."""
    fragment = fragment.removeprefix("#")
    if len(fragment) > packed.MAX_PACKED:
        raise LinkError("this link is too large")
    if fragment[:1] != "g" or fragment[1:2] not in set("0123456789"):
        raise LinkError("this link does not contain an explanation")
    reader = _READERS.get(fragment[:3])
    if reader is None:
        raise LinkError("this link was made by a newer version" if len(fragment) > 2 else _DAMAGED)
    data = packed.unpack(fragment[3:], reader)
    if data is None:
        raise LinkError(_DAMAGED)
    return from_bytes(data)


_DAMAGED = "this link is damaged; it may have been cut off where it was copied"


def to_bytes(data: dict[str, Any]) -> bytes:
    """Encodes a document, little endian: the length of the JSON, the JSON without tables, then the tables."""
    head = copy.deepcopy(data)
    head["manifest"]["table_precision"] = "16-bit"
    head.pop("tokens", None)
    head["version"] = smallest_version(head)
    for effect in head.get("joint", []):
        effect["amount"] = _at_least_one_step(effect["amount"], _round(effect["amount"] * 1e4)) / 1e4
    if "support" in head:
        head["support"] = [_round(drop * 1e4) / 1e4 for drop in head["support"]]
    for group in head.get("groups", []):
        if "effects" in group:
            group["effects"] = [_round(effect * 1e4) / 1e4 + 0.0 for effect in group["effects"]]
    for contrast in head.get("contrasts", []):
        contrast["log_probabilities"] = [_round(number * 1e4) / 1e4 for number in contrast["log_probabilities"]]
        contrast["effects"] = [_at_least_one_step(effect, _round(effect * 1e4)) / 1e4 for effect in contrast["effects"]]
    tables = [head[name] for name in _TABLES if head.get(name) is not None]
    head.update({name: None for name in _TABLES if head.get(name) is not None})
    text = json_text.compact(head).encode()
    n_prompt = len(data["prompt"]["sentences"])
    rows = (_row_to_bytes(row[: n_prompt + i]) for table in tables for i, row in enumerate(table))
    return struct.pack("<I", len(text)) + text + b"".join(rows)


def from_bytes(data: bytes) -> Any:
    """Decodes the output of `to_bytes`."""
    try:
        length = struct.unpack_from("<I", data)[0]
        text, tables = data[4 : 4 + length], data[4 + length :]
        if len(text) < length:
            raise LinkError(_DAMAGED)
        head = json_text.read(text.decode())
        n, m = (len(head[passage]["sentences"]) for passage in ("prompt", "generation"))
        at = 0
        for name in _TABLES:
            if name in head:
                head[name], at = _table_from_bytes(tables, at, n, m)
        if at != len(tables) or m == 0:
            raise LinkError(_DAMAGED)
    except (struct.error, TypeError, KeyError, AttributeError, UnicodeDecodeError) as error:
        raise LinkError(_DAMAGED) from error
    return head


def _row_to_bytes(row: list[float | None]) -> bytes:
    """Encodes a row: two `f32` scales, for positive and negative scores, and an `i16` per cell."""
    measured = [score for score in row if score is not None]
    largest = [max([0.0, *(sign * score for score in measured)]) for sign in (1.0, -1.0)]
    scales = [max(min(score, _MAX_F32), _MIN_F32) if score > 0.0 else 0.0 for score in largest]
    packed_scales = struct.pack("<2f", *scales)
    scales = list(struct.unpack("<2f", packed_scales))
    cells = [_UNMEASURED if score is None else _cell(score, scales[score < 0.0]) for score in row]
    return packed_scales + struct.pack(f"<{len(cells)}h", *cells)


def _cell(score: float, scale: float) -> int:
    steps = max(-_FULL_SCALE, min(_FULL_SCALE, int(_round(score / scale * _FULL_SCALE)))) if scale > 0.0 else 0
    return int(_at_least_one_step(score, steps))


def _at_least_one_step(number: float, rounded: float) -> float:
    """Returns `rounded`, but at least one step if `number` is not 0, because 0 would mean no effect."""
    return math.copysign(1.0, number) if rounded == 0.0 != number else rounded


def _round(value: float) -> float:
    """Rounds to the nearest integer, halves away from zero, like Rust. The added constant is the largest number below one half."""
    return float(math.trunc(value + math.copysign(0.49999999999999994, value)))


def _table_from_bytes(data: bytes, at: int, n: int, m: int) -> tuple[list[list[float | None]], int]:
    table: list[list[float | None]] = []
    for i in range(m):
        positive, negative, *cells = struct.unpack_from(f"<2f{n + i}h", data, at)
        at += 8 + 2 * (n + i)
        scores = [None if cell == _UNMEASURED else cell / _FULL_SCALE * (negative if cell < 0 else positive) for cell in cells]
        finite = [score if score is None or math.isfinite(score) else None for score in scores]
        table.append(finite + [None] * (m - i))
    return table, at

"""Tokens as tools print them, and the text that they stand for."""

import codecs
import functools
import itertools
import re
from collections.abc import Callable, Sequence

from ..spans import WHITE_SPACE, Span

_SPACE = "\u2581"
_BYTE = re.compile("<0x([0-9A-F]{2})>")


def text_of(tokens: Sequence[str]) -> tuple[str, list[Span]]:
    """The text of tokens as a tokenizer names them (`Ġhas`, `▁has`, `<0x0A>`) or as plain pieces, and the span of each.

    A character that several tokens make together belongs to the last of them.
    """
    pieces = list(map(_decoder(tokens), tokens))
    whole = b"".join(pieces)
    text = whole.decode(errors="replace")
    # For each number of bytes, how many characters are whole by then.
    ends = _whole_characters(whole)
    spans, length, start = [], 0, 0
    for piece in pieces:
        length += len(piece)
        end = min(ends[length], len(text))
        spans.append((start, end))
        start = end
    return text, spans


def located(text: str, spans: Sequence[Span], part: str | None) -> tuple[str, list[Span], list[int]]:
    """Of tokens that cover `text`, those that cover `part` of it, such as the prompt inside of its chat frame: `part`, the spans in it, and
    the numbers of these tokens. Without `part`, all. White space is not compared: some tools leave it out of their tokens.
    """
    if part is None:
        return text, list(spans), list(range(len(spans)))
    places = [at for at, c in enumerate(part) if c not in WHITE_SPACE]
    # How many visible characters stand before each place of the text.
    visible = [0, *itertools.accumulate(c not in WHITE_SPACE for c in text)]
    start = "".join(_visible(text)).find("".join(_visible(part)))
    if not places or start < 0:
        raise ValueError("the tokens do not contain this text")
    ranges = [(visible[a] - start, visible[b] - start) for a, b in spans]
    inside = [i for i, (a, b) in enumerate(ranges) if a < b and a < len(places) and b > 0]
    found, end = [], 0
    for a, b in ranges[inside[0] : inside[-1] + 1]:
        # Nothing but white space, or a part of a character, stands where the token before it ends.
        begin = places[max(a, 0)] if a < b else end
        end = places[min(b, len(places)) - 1] + 1 if a < b else end
        found.append((begin, end))
    return part, found, list(range(inside[0], inside[-1] + 1))


def _visible(text: str) -> list[str]:
    return [c for c in text if c not in WHITE_SPACE]


def _decoder(tokens: Sequence[str]) -> Callable[[str], bytes]:
    if any("\u0120" in token or "\u010a" in token for token in tokens):
        return _byte_level
    if any(_SPACE in token for token in tokens):
        return _sentence_piece
    return str.encode


def _byte_level(token: str) -> bytes:
    """As GPT-2 prints bytes."""
    table = _byte_of_character()
    return bytes(table[c] for c in token) if all(c in table for c in token) else token.encode()


def _sentence_piece(token: str) -> bytes:
    byte = _BYTE.fullmatch(token)
    return bytes([int(byte[1], 16)]) if byte else token.replace(_SPACE, " ").encode()


@functools.cache
def _byte_of_character() -> dict[str, int]:
    """GPT-2's names of bytes: printable ones are themselves, the others follow from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


def _whole_characters(data: bytes) -> list[int]:
    """After each number of bytes, how many characters are whole; broken ones become one of their own."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    counts = [0]
    for byte in data:
        counts.append(counts[-1] + len(decoder.decode(bytes([byte]))))
    return counts

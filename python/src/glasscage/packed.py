"""Encodes bytes as link-safe text: base64url(deflate(bytes) + CRC-32, little endian), as in `crates/core/src/packed.rs`."""

import base64
import zlib
from collections.abc import Callable

from .deflate import deflate
from .link_repair import digits, without_hyphenation

MAX_INFLATED = 8 << 20
MAX_PACKED = 2 << 20
# zlib deflates larger data. It finds other matches, so the link differs from the page's, but the page can read both. Few documents are as
# large.
_MOST_IN_PYTHON = 32 << 10
_RAW_DEFLATE = -15
_ZLIB = 15


def pack(data: bytes) -> str:
    """Encodes bytes as text."""
    body = deflate(data) if len(data) <= _MOST_IN_PYTHON else _deflate_with_zlib(data)
    return _encode(body + zlib.crc32(data).to_bytes(4, "little"))


def unpack(text: str, read: Callable[[bytes], bytes | None]) -> bytes | None:
    """Decodes the base64url digits at the start of `text` and inflates them with `read`. If that fails, assumes that a program hyphenated
    the lines.
    """
    for spelling in (text, without_hyphenation(text)):
        body = decode(spelling)
        data = None if body is None else read(body)
        if data is not None:
            return data
    return None


def decode(text: str) -> bytes | None:
    """Decodes the base64url digits at the start of `text`. The result may end with bytes from the words after a link."""
    found = digits(text)
    # A single digit does not encode a byte. It comes from the words after the link, or the link is damaged.
    found = found[:-1] if len(found) % 4 == 1 else found
    try:
        return base64.urlsafe_b64decode(found + "=" * (-len(found) % 4))
    except ValueError:
        return None


def inflate(body: bytes) -> bytes | None:
    """Inflates the data and checks its checksum. Ignores bytes after it. Returns `None` if the data is damaged or too large."""
    found = _inflate(body, _RAW_DEFLATE)
    if found is None:
        return None
    data, rest = found
    return data if zlib.crc32(data).to_bytes(4, "little") == rest[:4] else None


def inflate_without_checksum(body: bytes) -> bytes | None:
    """Inflates a link of version 1."""
    found = _inflate(body, _RAW_DEFLATE)
    return found[0] if found else None


def inflate_zlib(body: bytes) -> bytes | None:
    """Inflates a link of version 2."""
    found = _inflate(body, _ZLIB)
    return found[0] if found else None


def _inflate(body: bytes, form: int) -> tuple[bytes, bytes] | None:
    """Returns the inflated data and the bytes after it."""
    inflater = zlib.decompressobj(form)
    try:
        data = inflater.decompress(body, MAX_INFLATED + 1)
    except zlib.error:
        return None
    return (data, inflater.unused_data) if inflater.eof and len(data) <= MAX_INFLATED else None


def _deflate_with_zlib(data: bytes) -> bytes:
    deflater = zlib.compressobj(9, zlib.DEFLATED, _RAW_DEFLATE, 9)
    return deflater.compress(data) + deflater.flush()


def _encode(body: bytes) -> str:
    return base64.urlsafe_b64encode(body).decode().rstrip("=")

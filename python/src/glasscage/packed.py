"""Bytes as text that survives in a link: base64url(deflate(bytes) + CRC-32, little endian), as in `crates/core/src/packed.rs`."""

import base64
import zlib

from .deflate import deflate
from .mailed import digits

MAX_INFLATED = 8 << 20
MAX_PACKED = 2 << 20
# What is larger than this is deflated by zlib, which finds other matches: the page reads both, but the links differ. Few are as large.
_MOST_IN_PYTHON = 32 << 10
_RAW_DEFLATE = -15
_ZLIB = 15


def pack(data: bytes) -> str:
    """The bytes as text."""
    body = deflate(data) if len(data) <= _MOST_IN_PYTHON else _deflate_with_zlib(data)
    return _encode(body + zlib.crc32(data).to_bytes(4, "little"))


def decode(text: str) -> bytes | None:
    """The bytes that `text` carries, and what the words after a link happen to decode to."""
    found = digits(text)
    # A digit alone is no byte: it is of the words after the link, or of a damaged one.
    found = found[:-1] if len(found) % 4 == 1 else found
    try:
        return base64.urlsafe_b64decode(found + "=" * (-len(found) % 4))
    except ValueError:
        return None


def inflate(body: bytes) -> bytes | None:
    """What is inside, if its checksum is right and it is not too large. More may follow the checksum."""
    found = _inflate(body, _RAW_DEFLATE)
    if found is None:
        return None
    data, rest = found
    return data if zlib.crc32(data).to_bytes(4, "little") == rest[:4] else None


def inflate_without_checksum(body: bytes) -> bytes | None:
    """What is inside of a link of version 1."""
    found = _inflate(body, _RAW_DEFLATE)
    return found[0] if found else None


def inflate_zlib(body: bytes) -> bytes | None:
    """What is inside of a link of version 2."""
    found = _inflate(body, _ZLIB)
    return found[0] if found else None


def _inflate(body: bytes, form: int) -> tuple[bytes, bytes] | None:
    """The data, and what follows it."""
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

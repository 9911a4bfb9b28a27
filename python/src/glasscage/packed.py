"""Bytes as text that survives in a link: base64url(deflate(bytes) + CRC-32, little endian), as in `crates/core/src/packed.rs`."""

import base64
import re
import zlib

from .deflate import deflate

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
    """The bytes that `text` carries. What follows its last character is the punctuation of the text that it was copied from."""
    digits = re.match("[A-Za-z0-9_-]*", text)
    found = digits.group() if digits else ""
    try:
        body = base64.urlsafe_b64decode(found + "=" * (-len(found) % 4))
    except ValueError:
        return None
    return body if _encode(body) == found else None


def inflate(body: bytes) -> bytes | None:
    """What is inside, if its checksum is right and it is not too large."""
    if len(body) < 4:
        return None
    data = _inflate(body[:-4], _RAW_DEFLATE)
    return data if data is not None and zlib.crc32(data).to_bytes(4, "little") == body[-4:] else None


def inflate_without_checksum(body: bytes) -> bytes | None:
    """What is inside of a link of version 1."""
    return _inflate(body, _RAW_DEFLATE)


def inflate_zlib(body: bytes) -> bytes | None:
    """What is inside of a link of version 2."""
    return _inflate(body, _ZLIB)


def _inflate(body: bytes, form: int) -> bytes | None:
    inflater = zlib.decompressobj(form)
    try:
        data = inflater.decompress(body, MAX_INFLATED + 1)
    except zlib.error:
        return None
    return data if inflater.eof and len(data) <= MAX_INFLATED else None


def _deflate_with_zlib(data: bytes) -> bytes:
    deflater = zlib.compressobj(9, zlib.DEFLATED, _RAW_DEFLATE, 9)
    return deflater.compress(data) + deflater.flush()


def _encode(body: bytes) -> str:
    return base64.urlsafe_b64encode(body).decode().rstrip("=")

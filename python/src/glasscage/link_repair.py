"""Links as mail and chat programs change them: wrapped, quoted, escaped, surrounded by text. Same as `crates/core/src/link_repair.rs`."""

import re

from .spans import WHITE_SPACE

_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_LINK = re.compile(r"(?:#|%(?:25)?23|&#35;|&#x23;|&num;|\uff03|%EF%BC%83)([gl][0-9]+\..*)", re.DOTALL)
_HASH = re.compile(r"[#\uff03]")
# A hyphen at the end of a line. The white space between them stays.
_LINE_END = re.compile(rf"[-\u2010\u2011](?=[{WHITE_SPACE}]*\n)")
# Base64 digits, other hyphens, characters to skip, and percent-encoded bytes.
_PIECE = re.compile(
    rf"(?P<digits>[A-Za-z0-9_-]+)|(?P<hyphen>[\u2010\u2011\u2212])"
    rf"|[{WHITE_SPACE}{_INVISIBLE}]|(?<=\n)[{WHITE_SPACE}>|]+|=(?=[\r\n])|\\(?=[-_])|<w?br[^>]*(?:>|\Z)"
    rf"|%(?:25)*(?P<byte>[89A-Fa-f][0-9A-Fa-f]|09|0[AaCcDd]|20|2[Dd]|5[Ff])"
)


def fragment_in(text: str) -> str:
    """Returns the fragment of the first Glasscage link in a text, with the text after it. Without a link, the text after the first `#`."""
    found = _LINK.search(text)
    return found[1] if found else _HASH.split(text, maxsplit=1)[-1] or text


def without_hyphenation(text: str) -> str:
    """Returns a text without the hyphen at the end of each line. A hyphen is also a base64 digit, so only the checksum of the link tells
    whether a program added it.
    """
    return _LINE_END.sub("", text)


def digits(text: str) -> str:
    """Returns the base64 digits at the start of `text`, without line breaks, mail quotation marks, escapes and invisible characters. Words
    after a link may be among the digits.
    """
    found, at = [], 0
    while piece := _PIECE.match(text, at):
        byte = chr(int(piece["byte"], 16)) if piece["byte"] else ""
        found.append(piece["digits"] or ("-" if piece["hyphen"] else byte if byte in "-_" else ""))
        at = piece.end()
    return "".join(found)

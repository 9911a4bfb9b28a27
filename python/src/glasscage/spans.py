"""Spans of code points: sentences that tile a text, and the tokens of each sentence."""

import itertools
from collections.abc import Sequence

Span = tuple[int, int]
# `char::is_whitespace` of Rust: the White_Space property of Unicode.
WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)


def tile(text: str, found: Sequence[Span]) -> list[Span]:
    """Extends sentences so that they tile the text. White space goes to the sentence before it, at the start of the text to the first."""
    if not found:
        return []
    edges = [0, *(start for start, _ in found[1:]), len(text)]
    return list(itertools.pairwise(edges))


def tokens_of_sentences(text: str, tiles: Sequence[Span], tokens: Sequence[Span]) -> list[range]:
    """Returns the token indices of each sentence. A token belongs to the sentence of its first visible character.

    `tokens` are ascending spans of `text`. Tokens after the last character belong to the last sentence.
    """
    ranges, next_token = [], 0
    for number, (_, end) in enumerate(tiles):
        start = next_token
        is_last = number == len(tiles) - 1
        while next_token < len(tokens) and (is_last or first_visible(text, tokens[next_token]) < end):
            next_token += 1
        ranges.append(range(start, next_token))
    return ranges


def check_ascending(text: str, spans: Sequence[Span], name: str) -> None:
    """Raises `ValueError` unless all spans are in the text, with ascending starts and ends.

    Neighbors may overlap, because tokens that are parts of one character have the same span. `name` is that of the text.
    """
    before = (0, 0)
    for start, end in spans:
        if not 0 <= start <= end <= len(text):
            raise ValueError(f"the span ({start}, {end}) is outside the {name}, which has {len(text)} characters")
        if start < before[0]:
            raise ValueError(
                f"the spans of the {name} are not ascending: ({start}, {end}) comes after ({before[0]}, {before[1]}); "
                "sort them together with their scores"
            )
        if end < before[1]:
            raise ValueError(f"the spans of the {name} overlap: ({start}, {end}) is inside ({before[0]}, {before[1]})")
        before = (start, end)


def first_visible(text: str, token: Span) -> int:
    """Returns the position of the token's first character that is not white space, or its start if there is none."""
    start, end = token
    return next((at for at in range(start, end) if text[at] not in WHITE_SPACE), start)


def trim_end(text: str) -> str:
    """`str.rstrip` of Python, which also takes the separators \\x1c to \\x1f."""
    return text.rstrip(WHITE_SPACE + "\x1c\x1d\x1e\x1f")

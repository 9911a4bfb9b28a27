"""Finds named passages in a prompt, like `crates/text/src/passages.rs`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .spans import WHITE_SPACE, Span
from .units import is_alphanumeric, open_after, paragraphs

_MAX_NAME = 80
MAX_PASSAGES = 100
_NUMBER = re.compile(r"[0-9]{1,4}")
_BRACKETED = re.compile(r"\[([^\[\]]*)\](:?)")
_LABELED = re.compile(r"((?:source|document|passage) [0-9]{1,4}):", re.IGNORECASE | re.ASCII)
_OF_CODE = set("=+*/%&|<>,;.?)}")
_NOT_IN_NAMES = set(',;="`\\|<>{}*')


@dataclass(frozen=True)
class NamedPassage:
    """A passage with a name of its own. `span` has name and text, in code points; `mark` is the name with its brackets or colon, where
    `span` starts.
    """

    name: str
    mark: Span
    span: Span


def passages(text: str) -> list[NamedPassage]:
    """Returns the named passages of a text, in order: texts after `[1]`, `[notes.md]`, `[Any title]` or `Source 1:` at a line's start.

    None if there are fewer than two or more than 100, or if two have the same name. The last one ends before the last paragraph, which is
    the question.
    """
    marks, found = _marks(text), []
    for number, (name, mark) in enumerate(marks):
        end = marks[number + 1][1][0] if number + 1 < len(marks) else _end_of_last(text, mark[1])
        if _has_words(text[mark[1] : end]):
            found.append(NamedPassage(name, mark, (mark[0], mark[0] + len(text[mark[0] : end].rstrip(WHITE_SPACE)))))
    names = {passage.name.lower() for passage in found}
    return found if 2 <= len(found) <= MAX_PASSAGES and len(names) == len(found) else []


def cut(text: str, units: Sequence[Span], named: Sequence[NamedPassage]) -> list[Span]:
    """Cuts units where a passage starts or ends. Pieces have no white space at the cuts, and blank pieces are left out."""
    pieces: list[Span] = []
    for unit in units:
        start = unit[0]
        edges = [edge for passage in named for edge in passage.span if unit[0] <= edge < unit[1]]
        for end in [*edges, unit[1]]:
            piece = text[start:end]
            if piece.strip(WHITE_SPACE):
                first = start if start == unit[0] else end - len(piece.lstrip(WHITE_SPACE))
                pieces.append((first, start + len(piece.rstrip(WHITE_SPACE))))
            start = end
    return pieces


def _end_of_last(text: str, start: int) -> int:
    after = paragraphs(text[start:])
    question = start + after[-1][0] if after else len(text)
    return question if _has_words(text[start:question]) else len(text)


def _has_words(text: str) -> bool:
    return any(map(is_alphanumeric, text))


def _marks(text: str) -> list[tuple[str, Span]]:
    """The names at starts of lines, each with its span with brackets and colon."""
    found, fence, start = [], "", 0
    for line in text.split("\n"):
        was_open = bool(fence)
        fence = open_after(fence, line.strip(WHITE_SPACE))
        unindented = line.lstrip(" ")
        at = len(line) - len(unindented)
        mark = None if was_open or at >= 4 else _mark(unindented)
        if mark:
            found.append((mark[0], (start + at, start + at + mark[1])))
        start += len(line) + 1
    return found


def _mark(line: str) -> tuple[str, int] | None:
    """Returns the name at the start of a line, and its length with brackets and colon."""
    if match := _LABELED.match(line):
        return match[1], match.end()
    match = _BRACKETED.match(line)
    if not match or not _is_name(match[1]):
        return None
    text = line[match.end() :]
    is_separate = not text or text[0] in WHITE_SPACE
    visible = text.strip(WHITE_SPACE)
    first_word = re.split(f"[{WHITE_SPACE}]", visible)[0]
    is_code, is_target = visible[:1] in _OF_CODE and bool(visible), bool(match[2]) and "://" in first_word
    return None if not is_separate or is_code or is_target else (match[1], match.end())


def _is_name(name: str) -> bool:
    if name and all(character in "0123456789" for character in name):
        return _NUMBER.fullmatch(name) is not None
    is_title = name[:1] != "" and is_alphanumeric(name[0]) and name.rstrip(WHITE_SPACE) == name and any(map(str.isalpha, name))
    is_time = name[:1] in set("0123456789") and ":" in name
    return is_title and not is_time and len(name) <= _MAX_NAME and name not in ("x", "X") and _NOT_IN_NAMES.isdisjoint(name)

"""Splits texts into units other than sentences, like `crates/text`: words, lines, paragraphs, sections, and parts in double brackets."""

import re
from collections.abc import Callable
from typing import Literal

from .punkt import sentences
from .spans import WHITE_SPACE, Span

Unit = Literal["sentence", "word", "line", "paragraph", "section", "bracket"]
UNITS: tuple[Unit, ...] = ("sentence", "word", "line", "paragraph", "section", "bracket")

_WORD = re.compile(f"[^{WHITE_SPACE}]+")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|\Z)")
_FENCE = re.compile(r"(?:(`{3,})[^`]*|(~{3,})[^`]*)\Z", re.DOTALL)
_MARKED = re.compile(r"\[\[(.*?)(\]{2,})", re.DOTALL)


def of_answer(unit: Unit) -> Unit:
    """Returns the unit of an answer if `unit` is that of its prompt: only words and lines split both."""
    return unit if unit in ("word", "line") else "sentence"


def units(text: str, unit: Unit) -> list[Span]:
    """Returns the units of a text as spans of code points: in order, not empty, without white space at their ends. Brackets mark parts of
    prompts only (`unmarked`), so without a prompt they are sentences.
    """
    return _SPLITTERS[unit](text)


def words(text: str) -> list[Span]:
    """Text between white space."""
    return [match.span() for match in _WORD.finditer(text)]


def lines(text: str) -> list[Span]:
    """The lines that are not blank, with their indentation."""
    found, start = [], 0
    for line in text.split("\n"):
        length = len(line.rstrip(WHITE_SPACE))
        if length:
            found.append((start, start + length))
        start += len(line) + 1
    return found


def paragraphs(text: str) -> list[Span]:
    """The lines without a blank line between them."""
    found: list[Span] = []
    for start, end in lines(text):
        if found and text.count("\n", found[-1][1], start) == 1:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def sections(text: str) -> list[Span]:
    """Markdown headings, each with the text up to the next one. Text before the first heading is a section, too. A fenced code block has no
    headings.
    """
    found: list[Span] = []
    fence = ""
    for start, end in lines(text):
        line = text[start:end]
        is_heading = not fence and _HEADING.match(line) is not None
        fence = open_after(fence, line.lstrip(WHITE_SPACE))
        if found and not is_heading:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def open_after(fence: str, line: str) -> str:
    """Returns the fence that is open after a line. Empty if there is none."""
    match = _FENCE.match(line)
    here = (match[1] or match[2]) if match else ""
    if not fence:
        return here
    return "" if here == line and here.startswith(fence) else fence


def unmarked(prompt: str) -> tuple[str, list[Span]]:
    """Removes the marks `[[` and `]]`. Returns the prompt without them, and its units: the marked parts, and the sentences between them.

    Raises `ValueError` if the marks are not valid.
    """
    text, parts, at = "", [], 0
    for match in _MARKED.finditer(prompt):
        inside = match[1] + match[2][2:]
        if "[[" in inside:
            raise ValueError("the prompt has [[ between [[ and ]]")
        if not inside.strip(WHITE_SPACE):
            raise ValueError("the prompt has nothing between [[ and ]]")
        before = prompt[at : match.start()]
        if "]]" in before or "]]" in inside:
            raise ValueError("the prompt has ]] without [[ before it")
        text += before
        parts.append((len(text), len(text) + len(inside.rstrip(WHITE_SPACE))))
        text += inside
        at = match.end()
    rest = prompt[at:]
    if "[[" in rest:
        raise ValueError("the prompt has [[ without ]] after it")
    if "]]" in rest:
        raise ValueError("the prompt has ]] without [[ before it")
    text += rest
    found, start = [], 0
    for part in parts:
        found += [*_between(text, start, part[0]), part]
        start = part[1]
    return text, [*found, *_between(text, start, len(text))] if parts else sentences(text)


def _between(text: str, start: int, end: int) -> list[Span]:
    """Returns the sentences between two marked parts. Punctuation after a part, and text without letters and digits, belong to it."""
    attached = next((at for at in range(start, end) if text[at] in WHITE_SPACE), end)
    if start > 0 and not any(map(is_alphanumeric, text[start:attached])):
        start = next((at for at in range(attached, end) if text[at] not in WHITE_SPACE), end)
    if not any(map(is_alphanumeric, text[start:end])):
        return []
    return [(start + first, start + last) for first, last in sentences(text[start:end])]


def is_alphanumeric(character: str) -> bool:
    """`char::is_alphanumeric` of Rust: letters, and numbers of all kinds."""
    return character.isalpha() or character.isnumeric()


_SPLITTERS: dict[Unit, Callable[[str], list[Span]]] = {
    "sentence": sentences,
    "word": words,
    "line": lines,
    "paragraph": paragraphs,
    "section": sections,
    "bracket": sentences,
}

"""Named passages of a prompt, and the citations of an answer, as in `crates/core/src/explanation/groups.rs` and `citations.rs`."""

import re
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .graph import Array
from .spans import WHITE_SPACE, Span
from .units import is_alphanumeric

#: A passage supports a sentence if blanking it costs the sentence more than this, in nats per token.
MIN_EFFECT = 0.35
_MAX_INSIDE = 200
_SUPERSCRIPTS = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
_LABELED = re.compile(r"(?:source|document|passage) ([0-9]+)", re.IGNORECASE | re.ASCII)
_FILE = re.compile(r".+\.[0-9A-Za-z]{1,5}", re.DOTALL)


@dataclass(frozen=True, eq=False)
class Group:
    """A named passage. `sources` are its 0-based prompt sentences.

    `effects` has its effect on each generated sentence in nats per token: how much less likely the sentence becomes, citations left out,
    when end tokens replace the whole passage except its name. `None` if it was not measured.
    """

    name: str
    kind: str
    sources: range
    effects: Array | None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Group":
        """Reads a group of a document."""
        effects = np.array(data["effects"], dtype=np.float64) if "effects" in data else None
        return cls(data["name"], data["kind"], range(*data["sources"]), effects)


@dataclass(frozen=True)
class Citation:
    """A citation of a passage. `sentence` is the 0-based generated sentence, `span` that of the mark in the generation, `group` the index
    of the passage.

    `state` is `supported` if the sentence depends on the passage, `misplaced` if it depends more on another one that it does not cite, or
    only on another one, whose index is `depends_on`, `unsupported` if it depends on none, and `unmeasured` if the document does not say.
    """

    sentence: int
    span: tuple[int, int]
    group: int
    state: str
    depends_on: int | None = None


@dataclass(frozen=True)
class Mark:
    """A place in the answer that cites a passage."""

    span: Span
    group: int


def citations(
    groups: Sequence[Group],
    text: str,
    sentences: Sequence[Sequence[int]],
    starts: Collection[int] = (0,),
    mask: NDArray[np.bool_] | None = None,
) -> list[Citation]:
    """Returns the citations in the generation `text` with these sentences, in order. `starts` are the first sentences of its answers.

    `mask`, [sentences, sources], is true where a source comes before a sentence in the text. A passage after the sentence is not cited,
    because the model has not read it there. By default all passages come before the generation.
    """
    marks, places = citation_marks([group.name for group in groups], text), []
    mark_starts = [mark.span[0] for mark in marks]
    for i, (start, end) in enumerate(sentences):
        inside = marks[bisect_left(mark_starts, start) : bisect_left(mark_starts, end)]
        are_of_previous = _are_of_previous(text, start, end, inside)
        has_previous = i > 0 and i not in starts
        places += [(i - (is_of_previous and has_previous), mark) for mark, is_of_previous in zip(inside, are_of_previous, strict=True)]
    if mask is not None:
        places = [(i, mark) for i, mark in places if mask[i, groups[mark.group].sources.start]]
    cited: dict[int, set[int]] = {}
    for i, mark in places:
        cited.setdefault(i, set()).add(mark.group)
    states = {(i, own): _state(groups, i, own, cited[i]) for i in cited for own in cited[i]}
    return [Citation(i, mark.span, mark.group, *states[i, mark.group]) for i, mark in places]


def citation_marks(names: Sequence[str], answer: str) -> list[Mark]:
    """Returns the places where an answer cites one of the passages with these names: `[1]`, `(1)`, `[1, 2]`, a superscript number,
    `Source 1`, a name in brackets, or a file name. Marks of several passages occur several times.
    """
    marks, at, known = [], 0, _Names(names, answer)
    while names and at < len(answer):
        length, cited = _mark_at(known, answer, at) or (1, [])
        marks += [Mark((at, at + length), group) for group in cited]
        at += length
    return marks


class _Names:
    """The names of passages, prepared for the search in an answer."""

    def __init__(self, names: Sequence[str], answer: str) -> None:
        self._groups: dict[str, int] = {}
        self._numbers: dict[int, list[int]] = {}
        for group, name in enumerate(names):
            self._groups.setdefault(name.lower(), group)
            if (number := _number_of(name)) is not None:
                self._numbers.setdefault(number, []).append(group)
        self._files = _file_names(names, answer)

    def named(self, name: str) -> int | None:
        """Returns the only group that `name` can mean: the one with this name, or else the one with this number."""
        has_name = self._groups.get(name.lower())
        number = _number_of(name)
        return has_name if has_name is not None or number is None else self.numbered(number)

    def numbered(self, number: int) -> int | None:
        """Returns the only group with this number. `None` if there are several."""
        found = self._numbers.get(number, [])
        return found[0] if len(found) == 1 else None

    def file_name(self, at: int) -> tuple[int, list[int]] | None:
        """Returns the length and the group of the file name that starts at `at`."""
        found = self._files.get(at)
        return None if found is None else (found[0], [found[1]])


def _file_names(names: Sequence[str], answer: str) -> dict[int, tuple[int, int]]:
    """Returns the length and the group of the first name with an extension at each place of the answer that has one.

    A search for each name in the whole answer is faster than a comparison of all names at each place.
    """
    files = [(group, name) for group, name in enumerate(names) if _FILE.fullmatch(name)]
    text = _folded(answer) if files else ""
    # The place of each folded character: one may become two.
    places: Sequence[int] = range(len(text))
    if len(text) != len(answer):
        places = [at for at, character in enumerate(answer) for _ in _folded(character)]
    found: dict[int, tuple[int, int]] = {}
    for group, name in files:
        folded, lowercase, at = _folded(name), name.lower(), -1
        while (at := text.find(folded, at + 1)) >= 0:
            start, end = places[at], places[at] + len(name)
            is_word = not is_alphanumeric(answer[start - 1 : start] or " ") and not is_alphanumeric(answer[end : end + 1] or " ")
            if is_word and answer[start:end].lower() == lowercase:
                found.setdefault(start, (len(name), group))
    return found


def _folded(text: str) -> str:
    """Returns the text in lower case, where a final sigma is like another one. So every character is folded by itself."""
    return text.lower().replace("\u03c2", "\u03c3")


def _state(groups: Sequence[Group], sentence: int, own: int, cited: set[int]) -> tuple[str, int | None]:
    effects = [float(group.effects[sentence]) for group in groups if group.effects is not None]
    if len(effects) < len(groups):
        return "unmeasured", None
    # The last of equal ones, as in Rust.
    needed = sorted((g for g, effect in enumerate(effects) if effect > MIN_EFFECT), key=lambda g: (effects[g], g))
    not_cited = [g for g in needed if g not in cited][-1:]
    if not_cited and effects[not_cited[0]] > effects[own]:
        return "misplaced", not_cited[0]
    if effects[own] > MIN_EFFECT:
        return "supported", None
    return ("misplaced", needed[-1]) if needed else ("unsupported", None)


def _are_of_previous(text: str, start: int, end: int, marks: Sequence[Mark]) -> list[bool]:
    """Whether each of the marks in a sentence belongs to the sentence before it."""
    gaps = [
        text[first:last]
        for first, last in zip([start, *(mark.span[1] for mark in marks)], [*(mark.span[0] for mark in marks), end], strict=True)
    ]
    first = next((k for k, gap in enumerate(gaps) if any(map(is_alphanumeric, gap))), len(gaps))
    starts_line = start == 0 or text[start - 1] == "\n"
    # The first visible character after each mark, from the last mark to the first.
    visible, found = "", []
    for k in reversed(range(len(marks))):
        visible = gaps[k + 1].lstrip(WHITE_SPACE)[:1] or visible
        found.append(first > k and (first == len(gaps) or (not starts_line and visible.upper() == visible)))
    return found[::-1]


def _mark_at(names: _Names, answer: str, at: int) -> tuple[int, list[int]] | None:
    before, first = answer[max(0, at - 3) : at], answer[at]
    if first == "[":
        found = _enclosed(names, answer, at, "]")
        return None if found and answer.startswith("(", at + found[0]) else found
    if first == "(":
        found = _enclosed(names, answer, at, ")")
        counts = found and all(character in "0123456789" for character in answer[at + 1 : at + found[0] - 1])
        return None if counts and _starts_line(answer, at) else found
    if first in _SUPERSCRIPTS:
        return _superscript(names, before, answer, at)
    if before and is_alphanumeric(before[-1]):
        return None
    return _labeled(names, answer, at) or names.file_name(at)


def _starts_line(answer: str, at: int) -> bool:
    """Whether only white space is before `at` on its line."""
    while at > 0 and answer[at - 1] != "\n" and answer[at - 1] in WHITE_SPACE:
        at -= 1
    return at == 0 or answer[at - 1] == "\n"


def _enclosed(names: _Names, answer: str, at: int, closing: str) -> tuple[int, list[int]] | None:
    last = min(len(answer), at + 1 + _MAX_INSIDE)
    end = next((end for end in range(at + 1, last) if answer[end] in (answer[at], closing, "\n")), None)
    if end is None or answer[end] != closing:
        return None
    inside = answer[at + 1 : end]
    whole = names.named(inside)
    cited = [whole] if whole is not None else [names.named(name.strip(WHITE_SPACE)) for name in re.split("[,;]", inside)]
    known = [group for group in cited if group is not None]
    return (end + 1 - at, known) if len(known) == len(cited) else None


def _superscript(names: _Names, before: str, answer: str, at: int) -> tuple[int, list[int]] | None:
    digits = ""
    while len(digits) < 4 and at + len(digits) < len(answer) and (digit := _SUPERSCRIPTS.find(answer[at + len(digits)])) >= 0:
        digits += str(digit)
    word = next((k for k, character in enumerate(reversed(before)) if not is_alphanumeric(character)), len(before))
    is_power = word in (1, 2) or before[-1:].isnumeric()
    group = names.numbered(int(digits))
    return None if is_power or group is None else (len(digits), [group])


def _labeled(names: _Names, answer: str, at: int) -> tuple[int, list[int]] | None:
    match = _LABELED.match(answer, at)
    if not match or (match.end() < len(answer) and is_alphanumeric(answer[match.end()])):
        return None
    group = names.named(match[0])
    return None if group is None else (len(match[0]), [group])


def _number_of(name: str) -> int | None:
    match = _LABELED.fullmatch(name)
    digits = match[1] if match else name
    return int(digits) if 1 <= len(digits) <= 4 and all(digit in "0123456789" for digit in digits) else None

"""Splits texts into sentences: at newlines, then with Punkt (Kiss & Strunk 2006) and NLTK's English parameters, like `crates/text`.

Functions and expressions have the names of `nltk/tokenize/punkt.py`. The parameters are those of the page, reduced to those that can change
a decision. `crates/text/src/sentences/parameters/README.md` describes their origin.
"""

import functools
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass

from .resources import shared
from .spans import WHITE_SPACE, Span, trim_end

_S = "[" + WHITE_SPACE + "]"
_NOT_S = "[^" + WHITE_SPACE + "]"
_QUOTES = "‘’“”«»"
_NON_WORD = rf"""[)";}}\]*:@'({{\[?!{_QUOTES}]"""
_WORD_START = r"""[^("`{\[:;&#*@)}\]\-,]"""
_MULTI_CHAR = rf"(?:-{{2,}}|\.{{2,}}|(?:\.{_S}){{2,}}\.)"
_DELIMITER = rf"(?:{_S}|\Z|{_NON_WORD}|{_MULTI_CHAR})"
_WORD = re.compile(rf"{_MULTI_CHAR}|(?={_WORD_START}){_NOT_S}+?(?={_DELIMITER}|,{_DELIMITER})|{_NOT_S}")
_PERIOD_CONTEXT = re.compile(rf"[.?!](?=(?P<after_tok>{_NON_WORD}|{_S}+(?P<next_tok>{_NOT_S}+)))")
_CLOSING = re.compile(rf"""["')\]}}{_QUOTES}]+?(?P<space>{_S}+|(?=--)|\Z)""")
_ELLIPSIS = re.compile(r"\.\.+")
_NUMERIC = re.compile(r"-?[.,]?\d[\d,.-]*\.?")
_INITIAL = re.compile(r"[^\W\d]\.")


def sentences(text: str) -> list[Span]:
    """Returns the sentences of an English text as spans of code points: in order, not empty, without the white space between them."""
    found = []
    line_start = 0
    for line in text.split("\n"):
        found += [(line_start + start, line_start + end) for start, end in _span_tokenize(line)]
        line_start += len(line) + 1
    return found


def sentence_texts(text: str) -> list[str]:
    """The texts of the sentences."""
    return [text[start:end] for start, end in sentences(text)]


@dataclass(frozen=True)
class _Parameters:
    """Parameters that Punkt learned from English text."""

    abbrev_types: frozenset[str]
    collocations: frozenset[str]
    sent_starters: frozenset[str]
    mid_lc: frozenset[str]
    mid_lc_mid_uc: frozenset[str]
    beg_lc: frozenset[str]


@functools.cache
def _parameters() -> _Parameters:
    folder = shared("punkt")

    def lines(name: str) -> frozenset[str]:
        return frozenset(folder.joinpath(name).read_text(encoding="utf-8").split("\n")) - {""}

    names = ("ortho_mid_lc", "ortho_mid_lc_mid_uc", "ortho_beg_lc")
    ortho = (lines(f"{name}.txt") for name in names)
    return _Parameters(lines("abbrev_types.txt"), lines("collocations.tab"), lines("sent_starters.txt"), *ortho)


def _span_tokenize(line: str) -> list[Span]:
    return _realign_boundaries(line, list(_slices_from_text(line)))


def _slices_from_text(line: str) -> Iterator[Span]:
    """Splits the line at the potential sentence ends that are real. The last slice may be empty, or even end before its start."""
    last_break = 0
    for word_start, match in _match_potential_end_contexts(line):
        if _text_contains_sentbreak(line[word_start : match.end("after_tok")]):
            yield last_break, match.end()
            last_break = match.end() if match["next_tok"] is None else match.start("next_tok")
    yield last_break, len(trim_end(line))


def _match_potential_end_contexts(line: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Returns the potential sentence ends, each with the start of the word before it. A word has only its last one: `acting!!!`."""
    previous: re.Match[str] | None = None
    previous_word = (0, 0)
    for match in _PERIOD_CONTEXT.finditer(line):
        before = line[previous_word[1] : match.start()]
        space = max(before.rfind(c) for c in string.whitespace)
        word_start = previous_word[0] if space <= 0 else previous_word[1] + space + 1
        if previous is not None and previous_word[1] <= word_start:
            yield previous_word[0], previous
        previous_word = (word_start, match.start())
        previous = match
    if previous is not None:
        yield previous_word[0], previous


def _realign_boundaries(line: str, slices: list[Span]) -> list[Span]:
    """Moves closing punctuation from the start of a slice to the end of the one before: `(One. | ) Two.` becomes `(One.) | Two.`"""
    realigned, realign = [], 0
    for number, (start, end) in enumerate(slices):
        start += realign
        realign = 0
        next_start, next_end = slices[number + 1] if number + 1 < len(slices) else (0, 0)
        closing = _CLOSING.match(line[next_start:next_end])
        if closing:
            realigned.append((start, next_start + closing.start("space")))
            realign = closing.end()
        elif start < end:
            realigned.append((start, end))
    return realigned


class _Token:
    """A word with the decisions of the first pass, which depend only on its type."""

    def __init__(self, tok: str) -> None:
        self.tok = tok
        lower = tok.lower()
        self.type = "##number##" if _NUMERIC.fullmatch(tok) else lower
        is_abbr = False
        self.sentbreak = tok in (".", "?", "!")
        if lower.endswith(".") and not lower.endswith("..") and lower != ".":
            known = _parameters().abbrev_types
            is_abbr = lower[:-1] in known or lower[:-1].split("-")[-1] in known
            self.sentbreak = not is_abbr
        self.abbr_or_ellipsis = is_abbr or _ELLIPSIS.fullmatch(tok) is not None

    @property
    def type_no_period(self) -> str:
        return self.type[:-1] if len(self.type) > 1 and self.type.endswith(".") else self.type

    @property
    def type_no_sentperiod(self) -> str:
        return self.type_no_period if self.sentbreak else self.type


def _text_contains_sentbreak(text: str) -> bool:
    tokens = [_Token(match.group()) for match in _WORD.finditer(text)]
    return any(map(_second_pass, tokens, tokens[1:]))


def _second_pass(token: _Token, following: _Token) -> bool:
    """Whether a sentence ends after `token`. Section 4 of the paper."""
    if not token.tok.endswith("."):
        return token.sentbreak
    parameters = _parameters()
    typ, next_typ = token.type_no_period, following.type_no_sentperiod
    is_initial = _INITIAL.fullmatch(token.tok) is not None
    if f"{typ}\t{next_typ}" in parameters.collocations:
        return False
    is_sent_starter = _ortho_heuristic(following)
    next_is_upper = following.tok[0].isupper()
    if token.abbr_or_ellipsis and not is_initial and (is_sent_starter or (next_is_upper and next_typ in parameters.sent_starters)):
        return True
    if is_initial or typ == "##number##":
        lower_words = (parameters.mid_lc, parameters.mid_lc_mid_uc, parameters.beg_lc)
        never_lower = not any(next_typ in words for words in lower_words)
        if is_sent_starter is False or (is_sent_starter is None and is_initial and next_is_upper and never_lower):
            return False
    return token.sentbreak


def _ortho_heuristic(token: _Token) -> bool | None:
    """Whether the case of this word shows that it starts a sentence. Section 4.1.1 of the paper."""
    if token.tok in (";", ":", ",", ".", "!", "?"):
        return False
    parameters, typ = _parameters(), token.type_no_sentperiod
    if token.tok[0].isupper() and (typ in parameters.mid_lc or typ in parameters.beg_lc):
        return True
    if token.tok[0].islower() and typ not in parameters.beg_lc:
        return False
    return None

"""Decides whether an answer is right."""

import re

from problem import Problem

ANSWER = "The answer is "


def sentences_of(text: str) -> list[str]:
    """Splits an answer at full stops followed by a space."""
    return [part if part.endswith(".") else part + "." for part in text.split(". ")]


def is_right(problem: Problem, text: str) -> bool:
    """Returns whether an answer is right. Facts: the requested number of different exact copies. Otherwise: the right last sentence."""
    listed = sentences_of(text)
    if problem.task != "facts":
        return listed[-1] == problem.answer[-1]
    given = problem.sentences[:-1]
    return len(listed) == problem.steps == len(set(listed)) and all(sentence in given for sentence in listed)


def gives_answer(expected: str, text: str) -> bool:
    """Returns whether the last sentence of `text` gives the result `expected`: "12", "kitchen", or "apples, pears" in any order."""
    last = sentences_of(text.strip())[-1]
    if not last.startswith(ANSWER):
        return False
    given = last[len(ANSWER) :].rstrip(".")
    if expected.isdigit():
        return re.findall(r"\d+", given) == [expected]
    return _items(given) == _items(expected) or _is_with_its_noun(given, expected)


def _is_with_its_noun(given: str, expected: str) -> bool:
    """Returns whether the two name the same thing and `given` has one more word: "the bottom shelf" for "bottom", "the Ash class" for
    "Ash"."""
    (thing, *others), (wanted, *more) = sorted(_items(given)), sorted(_items(expected))
    words = thing.split()
    return not others and not more and wanted in (" ".join(words[:-1]), " ".join(words[1:]))


def _items(text: str) -> set[str]:
    """Splits a list of things: "the red box and Tom" -> {"red box", "tom"}."""
    parts = re.split(r", and |, | and ", text.lower().strip(" .\"'"))
    return {re.sub(r"^(the|a|an|in|on|at|my|his|her|in the|on the|at the|to the) ", "", part.strip()) for part in parts}

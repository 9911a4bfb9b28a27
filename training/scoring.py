"""When an answer counts as right."""

from problem import Problem


def sentences_of(text: str) -> list[str]:
    """Splits an answer at full stops followed by a space."""
    return [part if part.endswith(".") else part + "." for part in text.split(". ")]


def is_right(problem: Problem, text: str) -> bool:
    """Facts: the wanted number of exact, different copies. Otherwise: the right last sentence."""
    listed = sentences_of(text)
    if problem.task != "facts":
        return listed[-1] == problem.answer[-1]
    given = problem.sentences[:-1]
    return len(listed) == problem.steps == len(set(listed)) and all(sentence in given for sentence in listed)

"""The example prompts of the page: held-out problems that the shipped model gets right, and one that it does not."""

import re
from collections import Counter
from collections.abc import Callable

from evaluate import Texts
from problem import UNRELATED, Problem
from problems import held_out
from scoring import is_right, sentences_of

COMMON = 10  # a word in fewer held-out problems is probably invented

# title, condition, pattern in the prompt, fewest and most prompt sentences
SLOTS = [
    ("Equal groups", "arithmetic-1-4-steps-unrelated", r"(Each|Every) .* has|holds", (6, 7)),
    (
        "Three steps and an unrelated sentence",
        "arithmetic-1-4-steps-unrelated",
        r"^(?!.*Unrelated.*Unrelated).* (starts with|has) .*(in the end|now)\?",
        (6, 6),
    ),
    ("Who has how many", "arithmetic-1-4-steps-unrelated", r" fewer .* than ", (6, 7)),
    ("A quantity nobody asks for", "arithmetic-1-4-steps-rival", r" also has .*How many", (6, 7)),
    ("Five or six steps", "arithmetic-5-6-steps-unrelated", r"How many", (8, 9)),
    ("Change from a bank note", "everyday", r"(pays|paid) with", (3, 5)),
    ("Before and after", "everyday", r"have left\?|are left\?", (3, 5)),
    ("Two sentences to combine", "look-up-2-hops", r"In which room", (5, 7)),
    ("Three sentences to combine", "look-up-3-hops", r"Where does|What is the city", (7, 8)),
    ("Three facts out of five", "facts-of-5", r"List (three|3)", (6, 6)),
    ("Three facts out of nine", "facts-of-9", r"(three|3) of (these|the) facts", (10, 10)),
]
# What stands on the page for UNRELATED, where the model answers as before.
REMARKS = (
    "The shop opens at nine.",
    "It rained all morning.",
    "The bus was late.",
    "A cat slept on the sofa.",
    "The radio was on.",
    "The road was quiet.",
    "The soup was still hot.",
    "The museum is closed on Mondays.",
    "A dog barked outside.",
    "The window was open.",
)
FAILURE_SLOT = ("A mistake: a quantity nobody asks for", "arithmetic-1-4-steps-rival", r"", (5, 7))


def page_examples(problems: dict[str, list[Problem]], texts: Texts, answers: Callable[[list[str]], list[str]]) -> list[dict]:
    """The first problem that fits each slot, none twice, without invented words. The failure tells the "right" answer. `answers` gives
    the model's answers to prompts."""
    common = Counter(word for some in held_out().values() for problem in some for word in set(_words(problem.prompt)))
    examples = []
    for slot in [*SLOTS, FAILURE_SLOT]:
        title, condition, _, _ = slot
        fails = slot is FAILURE_SLOT
        taken = {example["prompt"] for example in examples}
        for problem, text in zip(problems[condition], texts[condition]):
            suits = _uses_rival(problem, text) if fails else is_right(problem, text)
            if suits and problem.prompt not in taken and _fits(slot, problem, common):
                examples.append(_example(title, problem, text) | ({"right": _result(problem)} if fails else {}))
                break
        else:
            print(f"no held-out problem fits the example {title!r}")
    return with_remarks(examples, answers)


def with_remarks(examples: list[dict], answers: Callable[[list[str]], list[str]]) -> list[dict]:
    """The examples with natural sentences for UNRELATED, each example with others, where the model answers the same to them."""
    changed, used = [], 0
    for example in examples:
        prompt = example["prompt"]
        while UNRELATED in prompt:
            prompt = prompt.replace(UNRELATED, REMARKS[used % len(REMARKS)], 1)
            used += 1
        changed.append(prompt)
    before, after = answers([example["prompt"] for example in examples]), answers(changed)
    return [example | {"prompt": prompt} if a == b else example for example, prompt, a, b in zip(examples, changed, before, after)]


def _fits(slot: tuple, problem: Problem, common: Counter) -> bool:
    _, _, pattern, (fewest, most) = slot
    return (
        fewest <= len(problem.sentences) <= most
        and re.search(pattern, problem.prompt) is not None
        and (problem.distractors != "unrelated" or UNRELATED in problem.sentences)
        and all(common[word] >= COMMON for word in _words(problem.prompt))
    )


def _uses_rival(problem: Problem, text: str) -> bool:
    """Whether a wrong answer goes on with a sentence that it does not need, all words well spelled."""
    goes_on = any(f"{problem.sentences[i][:-1]}, so" in text for i in problem.irrelevant)
    known = set(_words(problem.prompt + problem.answer_text))
    return goes_on and not is_right(problem, text) and known.issuperset(_words(text))


def _result(problem: Problem) -> str:
    """What the right answer ends with: "49"."""
    return problem.answer[-1].removeprefix("The answer is ").rstrip(".")


def _words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z]+", text)


def _example(title: str, problem: Problem, text: str) -> dict:
    relevant = problem.relevant
    if problem.task == "facts":  # the facts the model really lists, and the request
        listed = sentences_of(text)
        relevant = [i for i, sentence in enumerate(problem.sentences) if sentence in listed] + [len(problem.sentences) - 1]
    return {"title": title, "task": problem.task, "prompt": problem.prompt, "relevant": relevant}

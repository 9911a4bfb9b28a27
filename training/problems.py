"""The mix of training problems, and the conditions of the held-out problems.

Training never sees the reserved names and things (words.py), the reserved wordings (after "~", draw.py), the held-out prompts, and the
problems in visitors' words (tests/golden/demo/visitors-*.jsonl).
"""

import re
from zlib import crc32

from arithmetic import DISTRACTOR_MIX, arithmetic, bare_sum
from draw import Draw
from everyday import everyday
from facts import MAX_FACTS, MAX_WANTED, facts
from lookups import lookup
from problem import Problem
from stories import story
from surface import vary
from templates import from_templates

TASK_MIX = {"template": 0.62, "story": 0.12, "arithmetic": 0.09, "everyday": 0.03, "lookup": 0.05, "facts": 0.05, "sum": 0.04}
STEP_MIX = {1: 0.10, 2: 0.16, 3: 0.18, 4: 0.18, 5: 0.19, 6: 0.19}
STORY_STEP_MIX = {1: 0.25, 2: 0.3, 3: 0.25, 4: 0.2}
HOP_MIX = {1: 0.20, 2: 0.40, 3: 0.40}
VARIED_SHARE = 0.5  # share of templates and stories that `vary` changes; the older kinds have a smaller share


def training_problem(draw: Draw) -> Problem:
    """Draws a problem of the training mix."""
    task = draw.weighted(TASK_MIX)
    problem = _problem(draw, task)
    return vary(draw, problem) if draw.random() < (VARIED_SHARE if task in ("template", "story") else 0.15) else problem


def _problem(draw: Draw, task: str) -> Problem:
    if task == "template":
        return from_templates(draw)
    if task == "story":
        return story(draw, draw.weighted(STORY_STEP_MIX))
    if task == "arithmetic":
        return arithmetic(draw, draw.weighted(STEP_MIX), draw.weighted(DISTRACTOR_MIX))
    if task == "everyday":
        return everyday(draw, draw.weighted({"none": 0.75, "unrelated": 0.25}))
    if task == "lookup":
        return lookup(draw, draw.weighted(HOP_MIX), draw.weighted({"none": 0.6, "unrelated": 0.4}))
    if task == "facts":
        count = draw.randint(3, MAX_FACTS)
        return facts(draw, count, draw.randint(1, min(MAX_WANTED, count - 1)))
    return bare_sum(draw, draw.randint(1, 3))


def uses_reserved_numbers(problem: Problem) -> bool:
    """Returns whether the problem uses a number from 41 to 49, or one of a reserved sixteenth of all sums and differences. Held-out
    problems with sums or differences do. The first two models never saw such problems in training. The current model does."""
    if problem.task in ("lookup", "facts"):
        return False
    has_reserved_sum = any(crc32(text.encode()) % 16 == 0 for text in _sums(problem))
    return has_reserved_sum or re.search(r"\b4[1-9]\b", problem.prompt) is not None


def _sums(problem: Problem) -> list[str]:
    """Returns the sums and differences in the answer, such as "12 + 5"."""
    return re.findall(r"\d+ [+-] \d+(?= =)", problem.answer_text)


# ---------------------------------------------------------------- held out

HELD_OUT_SEED = 20_261_121
HELD_OUT_COUNT = 1000


# Condition -> function that makes one problem. All problems use reserved names, things and numbers. Those with "new wordings" also use
# reserved wordings.
CONDITIONS = {
    "arithmetic-1-4-steps": lambda draw: arithmetic(draw, draw.randint(1, 4), "none"),
    "arithmetic-5-6-steps": lambda draw: arithmetic(draw, draw.randint(5, 6), "none"),
    "arithmetic-1-4-steps-unrelated": lambda draw: arithmetic(draw, draw.randint(1, 4), "unrelated"),
    "arithmetic-5-6-steps-unrelated": lambda draw: arithmetic(draw, draw.randint(5, 6), "unrelated"),
    "arithmetic-1-4-steps-rival": lambda draw: arithmetic(draw, draw.randint(1, 4), draw.choice(("rival", "mixed"))),
    "arithmetic-5-6-steps-rival": lambda draw: arithmetic(draw, draw.randint(5, 6), draw.choice(("rival", "mixed"))),
    "look-up-1-hop": lambda draw: lookup(draw, 1, draw.choice(("none", "unrelated"))),
    "look-up-2-hops": lambda draw: lookup(draw, 2, draw.choice(("none", "unrelated"))),
    "look-up-3-hops": lambda draw: lookup(draw, 3, draw.choice(("none", "unrelated"))),
    "facts-of-5": lambda draw: facts(draw, 5, draw.randint(1, 4)),
    "facts-of-9": lambda draw: facts(draw, 9, draw.randint(1, 5)),
    "everyday": lambda draw: everyday(draw, draw.choice(("none", "unrelated"))),
    "sums": lambda draw: bare_sum(draw, draw.randint(1, 3)),
    "arithmetic-new-wordings": lambda draw: arithmetic(draw, draw.randint(1, 4), "none"),
    "look-up-new-wordings": lambda draw: lookup(draw, draw.randint(1, 3), "none"),
    "facts-new-wordings": lambda draw: facts(draw, 5, draw.randint(1, 4)),
    "everyday-new-wordings": lambda draw: everyday(draw, "none"),
}


def held_out(per_condition: int = HELD_OUT_COUNT) -> dict[str, list[Problem]]:
    """Returns the held-out problems. They are the same in every run, and all problems of a condition are different."""
    return {condition: _held_out(condition, per_condition) for condition in CONDITIONS}


def familiar(per_condition: int) -> dict[str, list[Problem]]:
    """Returns new problems of the same conditions, with names, things and numbers from training, for comparison."""
    familiar: dict[str, list[Problem]] = {}
    for condition in CONDITIONS:
        if "new-wordings" not in condition:
            draw = Draw(f"{HELD_OUT_SEED}/familiar/{condition}")
            some = familiar[condition] = []
            while len(some) < per_condition:
                problem = CONDITIONS[condition](draw)
                if not uses_reserved_numbers(problem):
                    some.append(problem)
    return familiar


def _held_out(condition: str, count: int) -> list[Problem]:
    draw = Draw(f"{HELD_OUT_SEED}/{condition}", held_out=True, new_wordings="new-wordings" in condition)
    problems: dict[str, Problem] = {}
    while len(problems) < count:
        problem = CONDITIONS[condition](draw)
        if (not _sums(problem) or uses_reserved_numbers(problem)) and draw.used_new_wording == draw.new_wordings:
            problems.setdefault(problem.prompt, problem)
    return list(problems.values())


if __name__ == "__main__":
    sample = Draw(1)
    for _ in range(12):
        shown = training_problem(sample)
        print(shown.task, shown.steps, shown.distractors, shown.relevant)
        print("  ", shown.prompt, "\n  ", shown.answer_text, "\n")

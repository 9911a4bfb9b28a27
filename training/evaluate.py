"""Scores the exported file on the held-out problems with our own engine."""

import re
from collections import defaultdict
from pathlib import Path

import engine
from problem import Problem
from problems import held_out
from scoring import is_right, sentences_of

FAMILIAR_PROBLEMS = 50  # per condition

Texts = dict[str, list[str]]  # condition -> answers to its first problems


def answer(command: str, gguf_path: Path, problems: dict[str, list[Problem]]) -> Texts:
    """Returns greedy answers to all problems. It calls the engine once."""
    texts = iter(engine.answers(command, gguf_path, [p.prompt for some in problems.values() for p in some]))
    return {condition: [next(texts) for _ in some] for condition, some in problems.items()}


def first(limit: int) -> dict[str, list[Problem]]:
    """Returns the first `limit` held-out problems of every condition."""
    return {condition: problems[:limit] for condition, problems in held_out().items()}


def share_right(problems: list[Problem], texts: list[str]) -> float:
    return sum(map(is_right, problems, texts)) / len(texts)


def share_exact(problems: list[Problem], texts: list[str]) -> float:
    """Returns the share of exact texts. For facts it is the share of listed sentences that are exact copies."""
    if problems[0].task == "facts":
        copies = [sentence in p.sentences for p, text in zip(problems, texts) for sentence in sentences_of(text)]
        return sum(copies) / len(copies)
    return sum(p.answer_text == text for p, text in zip(problems, texts)) / len(texts)


def wilson(share: float, n: int) -> tuple[float, float]:
    """Returns the 95 % confidence interval of a share (Wilson, 1927)."""
    z = 1.96
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5 / (1 + z * z / n)
    return middle - half, middle + half


# ---------------------------------------------------------------- tables of the model card


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def readable(condition: str) -> str:
    """ "arithmetic-1-4-steps-rival" -> "arithmetic 1-4 steps rival"."""
    return re.sub(r"(?<!\d)-|-(?!\d)", " ", condition).replace("look up", "look-up")


def score_table(problems: dict[str, list[Problem]], texts: Texts) -> str:
    rows = []
    for condition, some in problems.items():
        right, n = share_right(some, texts[condition]), len(some)
        low, high = wilson(right, n)
        exact = share_exact(some, texts[condition])
        rows.append([readable(condition), str(n), f"{right:.1%}", f"{low:.1%} to {high:.1%}", f"{exact:.1%}"])
    return table(["condition", "n", "right", "range", "exact"], rows)


def step_table(problems: dict[str, list[Problem]], texts: Texts) -> str:
    """Returns the arithmetic scores by distractors and number of steps."""
    cells: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for condition, some in problems.items():
        if some[0].task == "arithmetic" and "new" not in condition:
            for problem, text in zip(some, texts[condition]):
                cells[problem.distractors, problem.steps].append(is_right(problem, text))
    rows = [
        [distractors] + [f"{sum(cell) / len(cell):.1%} ({len(cell)})" for steps in range(1, 7) if (cell := cells[distractors, steps])]
        for distractors in ("none", "unrelated", "rival", "mixed")
    ]
    return table(["distractors (n)"] + [f"{n} steps" if n > 1 else "1 step" for n in range(1, 7)], rows)


def facts_table(problems: dict[str, list[Problem]], texts: Texts) -> str:
    """Counts the kinds of errors in lists of facts."""
    rows = []
    for condition, some in problems.items():
        if some[0].task == "facts":
            lists = [sentences_of(text) for text in texts[condition]]
            number = sum(len(listed) == p.steps for p, listed in zip(some, lists)) / len(some)
            different = sum(len(listed) == len(set(listed)) for listed in lists) / len(some)
            shares = [share_exact(some, texts[condition]), number, different]
            rows.append([readable(condition), *(f"{share:.1%}" for share in shares)])
    head = ["condition", "listed sentences that are exact copies", "lists of the right length", "lists without a repeat"]
    return table(head, rows)


def learning_curve(folder: Path) -> str:
    """Returns the learning curve of the unquantized model, which training recorded."""
    points = engine.json_lines((folder / "curve.jsonl").read_text())
    rows = []
    for point in points:
        shares = [point[kind][0] / point[kind][1] for kind in ("held out", "plain", "free")]
        rows.append([f"{point['tokens'] / 1e6:.0f} M", f"{point['loss']:.4f}", *(f"{share:.0%}" for share in shares)])
    names = {"held out": "held-out", "plain": "visitors' words, plain", "free": "free"}
    sizes = [f"{name} (n = {points[0][kind][1]})" for kind, name in names.items()]
    return table(["tokens", "training loss", *sizes], rows)

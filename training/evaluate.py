"""Scores of the exported file on the held-out problems, by our own engine."""

import json
import re
from collections import defaultdict
from pathlib import Path

import engine
from export import write_gguf
from model import load_trained
from problem import Problem
from problems import held_out
from scoring import is_right, sentences_of
from train import SNAPSHOTS

FAMILIAR_PROBLEMS = 150  # per condition
CURVE_PROBLEMS = 20  # per condition and snapshot
CURVE_SNAPSHOTS = (2, 4, 6)  # eighths of the run; the whole run is the file itself

Texts = dict[str, list[str]]  # condition -> answers to its first problems


def answer(command: str, gguf_path: Path, problems: dict[str, list[Problem]]) -> Texts:
    """Greedy answers to all problems, in one call of the engine."""
    texts = iter(engine.answers(command, gguf_path, [p.prompt for some in problems.values() for p in some]))
    return {condition: [next(texts) for _ in some] for condition, some in problems.items()}


def first(limit: int) -> dict[str, list[Problem]]:
    """The first `limit` held-out problems of every condition."""
    return {condition: problems[:limit] for condition, problems in held_out().items()}


def share_right(problems: list[Problem], texts: list[str]) -> float:
    return sum(map(is_right, problems, texts)) / len(texts)


def share_exact(problems: list[Problem], texts: list[str]) -> float:
    """Shares of exact texts; among facts, of exact listed sentences."""
    if problems[0].task == "facts":
        copies = [sentence in p.sentences for p, text in zip(problems, texts) for sentence in sentences_of(text)]
        return sum(copies) / len(copies)
    return sum(p.answer_text == text for p, text in zip(problems, texts)) / len(texts)


def wilson(share: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson, 1927)."""
    z = 1.96
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5 / (1 + z * z / n)
    return middle - half, middle + half


# ---------------------------------------------------------------- tables of the card


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
    """Arithmetic by distractors and number of steps."""
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
    """How lists of facts go wrong."""
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


CURVE_GROUPS = ("new-wordings", "1-4-steps", "5-6-steps", "look-up", "facts", "everyday", "sums")


def learning_curve(command: str, folder: Path, problems: dict[str, list[Problem]], texts: Texts) -> str:
    """Right answers of some snapshots and of the whole run. Snapshots are evaluated once and remembered in `folder`."""
    some = {condition: these[:CURVE_PROBLEMS] for condition, these in problems.items()}
    groups: dict[str, list[str]] = {group: [] for group in CURVE_GROUPS}
    for condition in some:
        groups[next(group for group in CURVE_GROUPS if group in condition)].append(condition)
    rows = []
    for path in [folder / f"snapshot-{i}-of-{SNAPSHOTS}.pt" for i in CURVE_SNAPSHOTS] + [folder / "model.pt"]:
        summary = load_trained(path)[1]
        answers = texts if path.name == "model.pt" else _snapshot_answers(command, path, some)
        row = [f"{summary['tokens'] / 1e6:.1f} M", f"{summary['loss']:.4f}"]
        for names in groups.values():
            share = sum(share_right(some[name], answers[name][:CURVE_PROBLEMS]) for name in names) / len(names)
            row.append(f"{share:.0%}")
        rows.append(row)
    sizes = [f"{readable(group)} (n = {CURVE_PROBLEMS * len(names)})" for group, names in groups.items()]
    return table(["tokens", "training loss"] + sizes, rows)


def _snapshot_answers(command: str, path: Path, problems: dict[str, list[Problem]]) -> Texts:
    remembered, gguf_path = path.with_suffix(".answers.json"), path.with_suffix(".gguf")
    if not remembered.exists():
        write_gguf(path, gguf_path)
        remembered.write_text(json.dumps(answer(command, gguf_path, problems)))
    return json.loads(remembered.read_text())

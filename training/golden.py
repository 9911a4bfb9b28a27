"""Writes the held-out problems to tests/golden/demo/CONDITION.jsonl, one problem per line."""

import json
from pathlib import Path

from problem import Problem
from problems import held_out

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden" / "demo"


def main():
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for condition, problems in held_out().items():
        lines = [json.dumps(record(problem), separators=(",", ":")) + "\n" for problem in problems]
        (GOLDEN / f"{condition}.jsonl").write_text("".join(lines))


def record(problem: Problem) -> dict:
    """Returns a problem as a record for tests. `relevant` has indices of prompt sentences."""
    return {
        "prompt": problem.prompt,
        "answer": problem.answer_text,
        "relevant": problem.relevant,
        "steps": problem.steps,
        "distractors": problem.distractors,
    }


if __name__ == "__main__":
    main()

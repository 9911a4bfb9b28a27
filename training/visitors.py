"""Problems in visitors' words, and the share that is answered right. They were written for this project, in several voices, without
knowledge of the generator. No visitor wrote them.

`python training/visitors.py [--half test] [--gguf FILE | --checkpoint FILE]` prints shares by kind and topic.
"""

import argparse
from collections import defaultdict
from pathlib import Path

import engine
from scoring import gives_answer

FOLDER = engine.ROOT / "tests" / "golden" / "demo"


def problems(half: str) -> list[dict]:
    """Returns the "dev" half, which may be inspected, or the "test" half, which is for the final measurement only."""
    return engine.json_lines((FOLDER / f"visitors-{half}.jsonl").read_text())


def shares(problems: list[dict], texts: list[str]) -> dict[str, tuple[int, int]]:
    """Returns (right, all) by kind, and by kind combined with topic, writer and number of steps."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for problem, text in zip(problems, texts):
        right = gives_answer(problem["answer"], text)
        kind = problem["kind"]
        for group in (kind, f"{kind} {problem['topic']}", f"{kind} by {problem['writer']}", f"{kind} of {problem['steps']} steps"):
            counts[group][0] += right
            counts[group][1] += 1
    return {group: (right, count) for group, (right, count) in sorted(counts.items())}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", default="dev", choices=("dev", "test"))
    parser.add_argument("--gguf", type=Path, default=engine.ROOT / "public/models/demo.gguf")
    parser.add_argument("--checkpoint", type=Path, help="a checkpoint of a run, answered by PyTorch, instead of a GGUF file")
    parser.add_argument("--engine", default=engine.DEFAULT_COMMAND)
    parser.add_argument("--wrong", action="store_true", help="print wrong answers")
    arguments = parser.parse_args()
    some = problems(arguments.half)
    prompts = [problem["prompt"] for problem in some]
    if arguments.checkpoint:
        from generate import answers_of

        texts = answers_of(arguments.checkpoint, prompts)
    else:
        texts = engine.answers(arguments.engine, arguments.gguf, prompts)
    for group, (right, count) in shares(some, texts).items():
        print(f"{group:32} {right:4} of {count:4}  {right / count:.0%}")
    if arguments.wrong:
        for problem, text in zip(some, texts):
            if not gives_answer(problem["answer"], text):
                print(f"\n[{problem['writer']}] {problem['prompt']}\n  expected {problem['answer']}\n  {text}")


if __name__ == "__main__":
    main()

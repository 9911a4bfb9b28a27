"""Makes a model of the kind of the built-in one: trains, exports and evaluates it, and writes the held-out problems, the model card and
the examples. Overwrites the built-in model unless `--models` names another folder."""

import argparse
import json
from pathlib import Path

import torch

import card
import engine
import evaluate
import golden
import problems as problem_sets
from examples import page_examples
from export import write_gguf
from model import load_trained
from train import add_arguments, train

MODELS = engine.ROOT / "public" / "models"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    parser.add_argument("--models", type=Path, default=MODELS, help="where demo.gguf, demo.md and demo-examples.json go")
    parser.add_argument("--engine", default=engine.DEFAULT_COMMAND, help="how to call glasscage")
    parser.add_argument("--limit", type=int, default=problem_sets.HELD_OUT_COUNT, help="held-out problems to answer per condition")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    folder, command = arguments.folder, arguments.engine
    golden.main()
    if not (folder / "model.pt").exists():
        train(folder, arguments.minutes, arguments.steps, arguments.seed, not arguments.no_compile, arguments.workers, arguments.muon_rate)
    arguments.models.mkdir(parents=True, exist_ok=True)
    gguf_path = arguments.models / "demo.gguf"
    write_gguf(folder / "model.pt", gguf_path)
    problems = evaluate.first(arguments.limit)
    texts = evaluate.answer(command, gguf_path, problems)
    (folder / "answers.json").write_text(json.dumps(texts, indent=1))
    familiar = problem_sets.familiar(evaluate.FAMILIAR_PROBLEMS)
    tables = {
        "scores": evaluate.score_table(problems, texts),
        "familiar": evaluate.score_table(familiar, evaluate.answer(command, gguf_path, familiar)),
        "steps": evaluate.step_table(problems, texts),
        "facts": evaluate.facts_table(problems, texts),
        "curve": evaluate.learning_curve(folder),
    }
    print(*tables.values(), sep="\n\n")
    some = f"the first {arguments.limit} of {problem_sets.HELD_OUT_COUNT} problems per condition"
    fraction = "all problems" if arguments.limit >= problem_sets.HELD_OUT_COUNT else some
    note = folder / "note.md"  # special circumstances of this run
    note = " " + note.read_text().strip() if note.exists() else ""
    text = card.markdown(*load_trained(folder / "model.pt"), gguf_path.stat().st_size, tables, fraction, note)
    gguf_path.with_suffix(".md").write_text(text)
    shown = page_examples(lambda prompts: engine.answers(command, gguf_path, prompts))
    examples = {"model": gguf_path.name, "examples": shown}
    (arguments.models / "demo-examples.json").write_text(json.dumps(examples, indent=2) + "\n")


if __name__ == "__main__":
    main()

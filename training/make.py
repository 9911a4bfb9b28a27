"""Makes the built-in model from nothing: trains, exports, evaluates, and writes card and example prompts."""

import argparse
from pathlib import Path

import torch

from evaluate import report
from export import write_gguf
from train import add_arguments, train

MODELS = Path(__file__).resolve().parent.parent / "public" / "models"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    parser.add_argument("--models", type=Path, default=MODELS, help="where demo.gguf, demo.md and demo-examples.json go")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if not (arguments.folder / "model.pt").exists():
        train(arguments.folder, arguments.minutes, arguments.steps, arguments.seed, not arguments.no_compile)
    arguments.models.mkdir(parents=True, exist_ok=True)
    gguf_path = arguments.models / "demo.gguf"
    write_gguf(arguments.folder, gguf_path)
    report(arguments.folder, gguf_path, gguf_path.with_suffix(".md"), arguments.models / "demo-examples.json")


if __name__ == "__main__":
    main()

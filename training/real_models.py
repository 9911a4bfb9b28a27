"""Measures explanations of our own models on held-out problems, and of real models on the paper's data sets. Writes
`docs/results/real-models.csv`, and prints the tables of `docs/results.md` and `docs/results-real.md`.

python training/real_models.py --data FOLDER [--limit 100] [--only smollm2-math]     (hours; it goes on where it was interrupted)

FOLDER has the data sets as in the paper's code: `math/math_mine.json`, `facts/500_facts_9_choose_3.json` and
`morehopqa/morehopqa_final_150samples.json`; our own models need none. `cargo xtask test --all` downloads the other models.
"""

import argparse
import csv
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import engine
from evaluate import table
from peers_table import METRICS, half_width, means, read
from results import BASELINES, RESULTS, write_csv

OURS = {
    "built-in": engine.ROOT / "public" / "models" / "demo.gguf",
    "standard": engine.ROOT / "public" / "models" / "standard" / "standard-00001-of-00003.gguf",
}
PROBLEMS = {"arithmetic": "arithmetic-1-4-steps-unrelated", "look-up": "look-up-2-hops", "everyday": "everyday"}
MODELS = {"smollm2": "SmolLM2-135M-Instruct.Q4_1.gguf", "gemma3": "gemma-3-270m-q4_k_m.gguf"}
DATA = {
    "math": "math/math_mine.json",
    "facts": "facts/500_facts_9_choose_3.json",
    "morehopqa": "morehopqa/morehopqa_final_150samples.json",
}
METHODS = {"pert": "Pert.", "clp": "CLP", "pairs": "Pairs", "attention": "Attention", "flow": "Flow"}
MAX_TOKENS = 96
TABLE = "real-models.csv"
COMPARED = ("rise", "mas", "ac")


@dataclass
class ProblemSet:
    """Problems, and the model that answers them."""

    model: Path
    task: str
    data: Path


def problem_sets(folder: Path) -> dict[str, ProblemSet]:
    """Returns all sets by name. The data sets of the paper are in `folder`."""
    golden, models = engine.ROOT / "tests" / "golden" / "demo", Path.home() / ".cache/glasscage/models"
    sets = {}
    for ours, gguf in OURS.items():
        sets |= {f"{ours}-{name}": ProblemSet(gguf, "demo", golden / f"{file}.jsonl") for name, file in PROBLEMS.items()}
    for model, gguf in MODELS.items():
        sets |= {f"{model}-{task}": ProblemSet(models / gguf, task, folder / file) for task, file in DATA.items()}
    return sets


def evaluated(command: str, problems: ProblemSet, limit: int, out: Path):
    """Explains the first problems of one set. Each core takes every n-th problem."""
    arguments = ["evaluate", "--model", problems.model, "--task", problems.task, "--data", problems.data]
    arguments += ["--methods", ",".join(METHODS), "--derivations", "default", "--limit", limit, "--max-tokens", MAX_TOKENS]
    count = os.cpu_count() or 1

    def shard(number: int):
        own = [*arguments, "--shard", f"{number}/{count}", "--out", out]
        engine.call(command, list(map(str, own)))

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(shard, range(1, count + 1)))
    shard(1)  # writes the tables once more, of all records
    print(f"{out.name}: done", flush=True)


def compared(folder: Path) -> str:
    """Returns a table of row attribution, CAGE, and their differences on the same problems, by method."""
    values = read(folder)
    rows = []
    for method, label in METHODS.items():
        row, cage = values[f"row, {method}"], values[f"CAGE, {method}"]
        cells = []
        for metric in COMPARED:
            if not cage[metric]:
                cells += ["", "", ""]
                continue
            differences = [cage[metric][item] - row[metric][item] for item in cage[metric]]
            cells += [f"{mean(some[metric].values()):.3f}" for some in (row, cage)]
            cells.append(f"{mean(differences):+.3f} ± {half_width(differences):.3f}")
        rows.append([label, *cells])
    for baseline in BASELINES:
        if baseline in values:
            figures = [f"{mean(some.values()):.3f}" if (some := values[baseline][metric]) else "" for metric in COMPARED]
            rows.append([baseline, *(cell for figure in figures for cell in ("", figure, ""))])
    head = [f"{metric.upper()}{of}" for metric in COMPARED for of in (", row", ", CAGE", ", difference")]
    return table(["method", *head], rows)


def written(name: str) -> list[list[str]]:
    """Returns the rows of a set from the table as it is, because its records may be on another machine."""
    with (RESULTS / TABLE).open() as file:
        return [row for row in csv.reader(file) if row[0] == name]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(), help="folder with the data sets of the paper")
    parser.add_argument("--engine", default=engine.DEFAULT_COMMAND, help="how to call glasscage")
    parser.add_argument("--limit", type=int, default=100, help="number of problems of each set")
    parser.add_argument("--only", nargs="*", help="sets to explain, such as smollm2-math; without names, only write the tables")
    parser.add_argument("--out", type=Path, default=Path.home() / ".cache/glasscage/real-models")
    arguments = parser.parse_args()
    sets = problem_sets(arguments.data.absolute())
    for name in sets if arguments.only is None else arguments.only:
        evaluated(arguments.engine, sets[name], arguments.limit, arguments.out.absolute() / name)
    folders = [folder for name in sets if ((folder := arguments.out / name) / "results.csv").exists()]
    head = [f"{metric}{ending}" for metric in METRICS[:5] for ending in ("", "_interval")]
    measured = {folder.name: means(folder) for folder in folders}
    rows = [row for name in sets for row in measured.get(name, written(name))]
    write_csv(TABLE, ["problems", "n", "attribution", *head, "cpu_seconds"], rows)
    for folder in folders:
        n = len(next(iter(read(folder).values()))["rise"])
        print(f"\n{folder.name}, {n} problems:\n\n{compared(folder)}")


if __name__ == "__main__":
    main()

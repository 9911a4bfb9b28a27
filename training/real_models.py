"""Measures explanations of real models on the paper's data sets. Writes `docs/results/real-models.csv`, and prints the tables of
`docs/results-real.md`.

python training/real_models.py --data FOLDER [--limit 100] [--only smollm2-math]     (hours; it goes on where it was interrupted)

FOLDER has the data sets as in the paper's code: `math/math_mine.json`, `facts/500_facts_9_choose_3.json` and
`morehopqa/morehopqa_final_150samples.json`. `cargo xtask test --all` downloads the models.
"""

import argparse
import os
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean

import engine
from evaluate import table
from peers_table import METRICS, half_width, means, read
from results import BASELINES, write_csv

MODELS = {"smollm2": "SmolLM2-135M-Instruct.Q4_1.gguf", "gemma3": "gemma-3-270m-q4_k_m.gguf"}
DATA = {
    "math": "math/math_mine.json",
    "facts": "facts/500_facts_9_choose_3.json",
    "morehopqa": "morehopqa/morehopqa_final_150samples.json",
}
METHODS = {"pert": "Pert.", "clp": "CLP", "pairs": "Pairs", "attention": "Attention", "flow": "Flow"}
MAX_TOKENS = 96
COMPARED = ("rise", "mas", "ac")


def evaluated(command: str, data: Path, limit: int, out: Path, name: str):
    """Explains the first problems of one set by one model. Each core takes every n-th problem."""
    model, task = name.split("-")
    gguf = Path.home() / ".cache/glasscage/models" / MODELS[model]
    arguments = ["evaluate", "--model", gguf, "--task", task, "--data", data / DATA[task]]
    arguments += ["--methods", ",".join(METHODS), "--derivations", "default", "--limit", limit, "--max-tokens", MAX_TOKENS]
    count = os.cpu_count() or 1

    def shard(number: int):
        own = [*arguments, "--shard", f"{number}/{count}", "--out", out / name]
        subprocess.run([*shlex.split(command), *map(str, own)], check=True, cwd=engine.ROOT, env=engine.ONE_THREAD, capture_output=True)

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(shard, range(1, count + 1)))
    shard(1)  # writes the tables once more, of all records
    print(f"{name}: done", flush=True)


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets")
    parser.add_argument("--engine", default=engine.DEFAULT_COMMAND, help="how to call glasscage")
    parser.add_argument("--limit", type=int, default=100, help="number of problems of each set")
    parser.add_argument("--only", nargs="*", help="sets to explain, such as smollm2-math; without names, only write the tables")
    parser.add_argument("--out", type=Path, default=Path.home() / ".cache/glasscage/real-models")
    arguments = parser.parse_args()
    names = [f"{model}-{task}" for model in MODELS for task in DATA]
    for name in names if arguments.only is None else arguments.only:
        evaluated(arguments.engine, arguments.data.absolute(), arguments.limit, arguments.out.absolute(), name)
    folders = [folder for name in names if ((folder := arguments.out / name) / "results.csv").exists()]
    head = [f"{metric}{ending}" for metric in METRICS[:5] for ending in ("", "_interval")]
    rows = [row for folder in folders for row in means(folder)]
    write_csv("real-models.csv", ["problems", "n", "attribution", *head, "cpu_seconds"], rows)
    for folder in folders:
        n = len(next(iter(read(folder).values()))["rise"])
        print(f"\n{folder.name}, {n} problems:\n\n{compared(folder)}")


if __name__ == "__main__":
    main()

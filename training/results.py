"""Measures the quality of explanations of the built-in model. Writes `docs/results/cage-and-row.csv`, and a summary in the model card.

python training/results.py --engine PATH        (40 CPU minutes for a model of 3.5 M parameters; it can be interrupted and resumed)
"""

import argparse
import csv
import hashlib
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean, stdev

import engine
from evaluate import table

ALL = "pert,clp,reagent,attention,ig,attn-ig"
# Condition, number of problems, methods.
RUNS = [
    ("arithmetic-1-4-steps-unrelated", 100, ALL),
    ("arithmetic-1-4-steps-rival", 50, ALL),
    ("look-up-2-hops", 60, ALL),
    ("facts-of-9", 40, ALL),
    ("everyday", 50, ALL),
    ("arithmetic-5-6-steps-unrelated", 100, "pert,clp"),
    ("look-up-3-hops", 100, "pert,clp"),
]
RESULTS = engine.ROOT / "docs" / "results"
HEADING = "**Explanations.**"
# Rows of the table in the model card. Each row combines related conditions.
GROUPS = {
    "arithmetic with unrelated sentences": ("arithmetic-1-4-steps-unrelated", "arithmetic-5-6-steps-unrelated"),
    "arithmetic with rivals": ("arithmetic-1-4-steps-rival",),
    "look-ups": ("look-up-2-hops", "look-up-3-hops"),
    "facts": ("facts-of-9",),
    "everyday": ("everyday",),
}
BASELINES = ("random order", "relevant first")
SUMMARY = ("ac", "on_relevant", "rise", "mas")
METRICS = ("ac", "on_relevant", "missed", "rise", "mas")
LOWER_IS_BETTER = ("missed", "rise", "mas")
CURVES = ("rise", "mas")  # meaningless if the answer is no less likely without the prompt
# What identifies a row of `results.csv`, in addition to the problem.
DERIVATION = ("aggregation", "compression", "weighting", "normalization")
KEY = ("method", *DERIVATION, "attribution")
# The derivation of the paper.
PAPER = ("mean", "none", "none", "full")
# Values of a metric by the number of the problem.
Values = dict[str, float]


def evaluated(command: str, model: Path, out: Path, run: tuple[str, int, str]) -> Path:
    """Evaluates one run and returns the folder with its records and tables."""
    name, limit, methods = run
    folder = out / f"{name}-{limit}-{methods.replace(',', '-')}"
    data = engine.ROOT / "tests" / "golden" / "demo" / f"{name}.jsonl"
    arguments = ["evaluate", "--model", model, "--task", "demo", "--data", data, "--methods", methods, "--limit", limit, "--out", folder]
    engine.call(command, list(map(str, arguments)))
    print(f"{name}: done", flush=True)
    return folder


def write_csv(name: str, head: list[str], rows: list[list[str]]):
    """Writes a table of `docs/results`."""
    with (RESULTS / name).open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])


def rows(problems: str, folder: Path) -> list[list[str]]:
    """Returns the rows of one set of problems: means, standard deviations, and for CAGE in how many of the problems in which it differs
    from row attribution it is better."""
    values: dict[tuple[str, ...], dict[str, Values]] = defaultdict(lambda: {metric: {} for metric in METRICS})
    items = set()
    for line in csv.DictReader((folder / "results.csv").open()):
        items.add(line["item"])
        for metric in METRICS:
            if counts(line, metric):
                values[tuple(line[name] for name in KEY)][metric][line["item"]] = float(line[metric])
    lines = []
    for key, metrics in values.items():
        figures = [figure for metric in METRICS for figure in mean_and_deviation(list(metrics[metric].values()))]
        row = values.get((*key[:-1], "row")) if key[-1] == "cage" else None
        wins = [count for metric in METRICS for count in (better(metric, metrics[metric], row[metric]) if row else ["", ""])]
        lines.append([problems, str(len(items)), *key, *figures, *wins])
    return lines


def counts(line: dict[str, str], metric: str) -> bool:
    """Whether a line of `results.csv` has a value of this metric that means something."""
    return bool(line[metric]) and not (metric in CURVES and line["rising"] == "true")


def mean_and_deviation(values: list[float]) -> list[str]:
    if not values:
        return ["", ""]
    return [f"{mean(values):.3f}", f"{stdev(values) if len(values) > 1 else 0:.3f}"]


def better(metric: str, cage: Values, row: Values) -> list[str]:
    """Returns in how many problems CAGE is better, and in how many the two differ."""
    differences = [cage[item] - row[item] for item in cage if item in row and cage[item] != row[item]]
    return [str(sum((difference < 0) == (metric in LOWER_IS_BETTER) for difference in differences)), str(len(differences))]


def summary(folders: dict[str, Path]) -> str:
    """Returns a table of Pert. (as in the paper) for each group: row, CAGE, random order, relevant sentences first."""
    rows = []
    for group, names in GROUPS.items():
        lines: dict[str, list[dict[str, str]]] = defaultdict(list)
        for name in names:
            for line in csv.DictReader((folders[name] / "results.csv").open()):
                is_baseline = line["attribution"] in BASELINES
                if is_baseline or (line["method"], *(line[name] for name in DERIVATION)) == ("pert", *PAPER):
                    lines[line["attribution"]].append(line)
        for attribution, words in (("row", "row"), ("cage", "CAGE"), *((name, name) for name in BASELINES)):
            # If an answer is not a list of given facts, its relevant sentences are unknown, so some values are empty.
            means = [mean(float(line[metric]) for line in lines[attribution] if counts(line, metric)) for metric in SUMMARY]
            count = f"{group} ({len(lines['cage'])})" if attribution == "row" else ""
            rows.append([count, words, *(f"{value:.3f}" for value in means)])
    return table(["problems (n)", "attribution", "AC", "on relevant", "RISE", "MAS"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default=engine.DEFAULT_COMMAND, help="how to call glasscage")
    parser.add_argument("--out", type=Path, default=Path.home() / ".cache/glasscage/results")
    arguments = parser.parse_args()
    model = engine.ROOT / "public" / "models" / "demo.gguf"
    out = arguments.out / hashlib.sha256(model.read_bytes()).hexdigest()[:12]
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda run: evaluated(arguments.engine, model, out, run), RUNS))
    folders = {name: folder for (name, _, _), folder in zip(RUNS, done)}
    head = [f"{metric}{ending}" for endings in (("", "_sd"), ("_wins", "_differing")) for metric in METRICS for ending in endings]
    write_csv("cage-and-row.csv", ["problems", "n", *KEY, *head], [row for name, folder in folders.items() for row in rows(name, folder)])
    card = model.with_suffix(".md")
    text = (
        "How well Pert. finds what the answers to held-out problems depend on (`docs/results.md` says how this is measured and what "
        "other methods find). AC and what relevant sentences get: higher is better; RISE and MAS: lower is better."
    )
    card.write_text(card.read_text().split(HEADING)[0].rstrip() + f"\n\n{HEADING} {text}\n\n{summary(folders)}\n")


if __name__ == "__main__":
    main()

"""Writes `docs/results/other-methods.csv` and `docs/results/by-answer.csv` from folders of `glasscage evaluate --attributions`, and prints
the differences from CAGE by Pairs and by Flow.

python training/peers_table.py FOLDER..     (one folder per set of problems; its name is the name of the row)
"""

import csv
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from statistics import mean, stdev

from evaluate import readable, table
from results import BASELINES, DERIVATION, PAPER, counts, write_csv

METRICS = ("missed", "ac", "on_relevant", "rise", "mas", "cpu_seconds")
BY_ANSWER = ("missed", "on_relevant")
DERIVATIONS = {"pairs": ("mean", "hyperbolic", "flow", "full")}  # `pairs` as derived on the page; the other methods as in the paper


def name_of(line: dict[str, str]) -> str | None:
    """Returns the name of the row: CAGE and row by our methods, the attributions of other methods, and the baselines. Returns None for
    other derivations."""
    method, attribution = line["method"], line["attribution"]
    if attribution == "external":
        return method
    if attribution in BASELINES:
        return attribution
    derivation = tuple(line[name] for name in DERIVATION)
    reading = {"cage": "CAGE", "row": "row"}[attribution]
    return f"{reading}, {method}" if derivation == DERIVATIONS.get(method, PAPER) else None


@cache
def read(folder: Path, right: str | None = None) -> dict[str, dict[str, dict[str, float]]]:
    """Returns name -> metric -> problem number -> value. `right` selects the problems that the model answered right ("true") or wrong
    ("false")."""
    values: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: {metric: {} for metric in METRICS})
    for line in csv.DictReader((folder / "results.csv").open()):
        if (name := name_of(line)) and right in (None, line["right"]):
            for metric in METRICS:
                if counts(line, metric):
                    values[name][metric][line["item"]] = float(line[metric])
    return values


def half_width(values: list[float]) -> float:
    """Returns half the width of the 95 % confidence interval of the mean."""
    return 1.96 * stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


def mean_and_interval(values: list[float]) -> list[str]:
    """Returns the mean and half of its 95 % interval. Without values, returns empty texts: not every data set says what is relevant."""
    return [f"{mean(values):.3f}", f"{half_width(values):.3f}"] if values else ["", ""]


def means(folder: Path) -> list[list[str]]:
    rows = []
    for name, metrics in read(folder).items():
        lists = {metric: list(some.values()) for metric, some in metrics.items()}
        figures = [figure for metric in METRICS[:5] for figure in mean_and_interval(lists[metric])]
        cost = f"{mean(lists['cpu_seconds']):.2f}" if lists["cpu_seconds"] else ""
        rows.append([folder.name, str(len(lists["rise"])), name, *figures, cost])
    return rows


def by_answer(folder: Path) -> list[list[str]]:
    """Splits the results by right and wrong answers. The relevant sentences are those of the right answer, so a wrong answer may depend
    on others."""
    rows = []
    for name in [name for name in read(folder) if name not in BASELINES and not name.startswith("row")]:
        for answer, right in (("right", "true"), ("wrong", "false")):
            metrics = read(folder, right)[name]
            figures = [f"{mean(some.values()):.3f}" if (some := metrics[metric]) else "" for metric in BY_ANSWER]
            rows.append([folder.name, str(len(metrics["missed"])), name, answer, *figures])
    return rows


def differences(folder: Path, base: str) -> list[list[str]]:
    """Returns the mean differences of the other attributions from `base` on the same problems."""
    values, rows = read(folder), []
    for name in values.keys() - {base, *BASELINES}:
        cells = []
        for metric in METRICS[:5]:
            ours, others = values[base][metric], values[name][metric]
            some = [others[item] - ours[item] for item in others if item in ours]
            cells.append(f"{mean(some):+.3f} ± {half_width(some):.3f}")
        rows.append([readable(folder.name), name, *cells])
    return sorted(rows)


def main():
    folders = [Path(folder) for folder in sys.argv[1:]]
    head = [f"{metric}{ending}" for metric in METRICS[:5] for ending in ("", "_interval")]
    rows = [row for folder in folders for row in means(folder)]
    write_csv("other-methods.csv", ["problems", "n", "attribution", *head, "cpu_seconds"], rows)
    rows = [row for folder in folders for row in by_answer(folder)]
    write_csv("by-answer.csv", ["problems", "n", "attribution", "answer", *BY_ANSWER], rows)
    for base in ("CAGE, pairs", "CAGE, flow"):
        rows = [row for folder in folders for row in differences(folder, base)]
        print(f"\nLess {base}:\n\n" + table(["problems", "attribution", *METRICS[:5]], rows))


if __name__ == "__main__":
    main()

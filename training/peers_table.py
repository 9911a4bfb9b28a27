"""Makes the tables of docs/research/other-methods.md from folders of `glasscage evaluate --attributions`.

python training/peers_table.py FOLDER..     (one folder per set of problems; its name is the name of the row)
"""

import csv
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from statistics import mean, stdev

from evaluate import readable, table
from results import BASELINES

METRICS = ("missed", "ac", "on_relevant", "rise", "mas", "cpu_seconds")
CURVES = ("rise", "mas")  # meaningless if the answer is no less likely without the prompt
PAPER = ("mean", "none", "none", "full")
DERIVATIONS = {"pairs": ("mean", "hyperbolic", "flow", "full")}  # `pairs` as derived on the page; the other methods as in the paper


def name_of(line: dict[str, str]) -> str | None:
    """Returns the name of the row: CAGE and row by our methods, the attributions of other methods, and the baselines. Returns None for
    other derivations."""
    method, attribution = line["method"], line["attribution"]
    if attribution == "external":
        return method
    if attribution in BASELINES:
        return attribution
    derivation = line["aggregation"], line["compression"], line["weighting"], line["normalization"]
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
                if line[metric] and not (metric in CURVES and line["rising"] == "true"):
                    values[name][metric][line["item"]] = float(line[metric])
    return values


def half_width(values: list[float]) -> float:
    """Returns half the width of the 95 % confidence interval of the mean."""
    return 1.96 * stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


def means(folder: Path) -> list[list[str]]:
    rows = []
    for name, metrics in read(folder).items():
        lists = {metric: list(some.values()) for metric, some in metrics.items()}
        missed = f"{100 * mean(lists['missed']):.1f} ± {100 * half_width(lists['missed']):.1f} %"
        cells = [f"{mean(lists[metric]):.3f} ± {half_width(lists[metric]):.3f}" for metric in METRICS[1:5]]
        cost = f"{mean(lists['cpu_seconds']):.2f}" if lists["cpu_seconds"] else ""
        count = f"{readable(folder.name)} ({len(lists['rise'])})" if not rows else ""
        rows.append([count, name, missed, *cells, cost])
    return rows


def by_answer(folder: Path) -> list[list[str]]:
    """Splits the results by right and wrong answers. The relevant sentences are those of the right answer, so a wrong answer may depend
    on others."""
    rows, answered = [], [read(folder, right) for right in ("true", "false")]
    for name in [name for name in read(folder) if name not in BASELINES and not name.startswith("row")]:
        counts, cells = [], []
        for missed, relevant in [(values[name]["missed"].values(), values[name]["on_relevant"].values()) for values in answered]:
            counts.append(str(len(missed)))
            cells += [f"{100 * mean(missed):.1f} %", f"{mean(relevant):.3f}"] if missed else ["–", "–"]
        rows.append([f"{readable(folder.name)} ({', '.join(counts)})" if not rows else "", name, *cells])
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
    head = ["problems (n)", "attribution", "missed ↓", "AC ↑", "on relevant ↑", "RISE ↓", "MAS ↓", "CPU-s"]
    print(table(head, [row for folder in folders for row in means(folder)]))
    answers = [f"{metric}, {answer}" for answer in ("right answers", "wrong answers") for metric in ("missed", "on relevant")]
    print("\n" + table(["problems (right, wrong)", "attribution", *answers], [row for folder in folders for row in by_answer(folder)]))
    for base in ("CAGE, pairs", "CAGE, flow"):
        print(f"\nLess {base}:\n\n" + table(head[:7], [row for folder in folders for row in differences(folder, base)]))


if __name__ == "__main__":
    main()

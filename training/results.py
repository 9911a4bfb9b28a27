"""Measures the quality of explanations of the built-in model. Writes `docs/research/results-tables.md` below its marker, and a summary in
the model card.

python training/results.py --engine PATH        (40 CPU minutes for a model of 3.5 M parameters; it can be interrupted and resumed)
"""

import argparse
import csv
import hashlib
import shlex
import subprocess
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean

import engine
from evaluate import readable, table

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
MARKER = "<!-- tables: training/results.py writes all below -->\n"
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
METRICS = ("ac", "on_relevant", "rise", "mas")


def evaluated(command: str, model: Path, out: Path, run: tuple[str, int, str]) -> Path:
    """Evaluates one run and returns the folder with its records and tables."""
    name, limit, methods = run
    folder = out / f"{name}-{limit}-{methods.replace(',', '-')}"
    data = engine.ROOT / "tests" / "golden" / "demo" / f"{name}.jsonl"
    arguments = ["evaluate", "--model", model, "--task", "demo", "--data", data, "--methods", methods, "--limit", limit, "--out", folder]
    subprocess.run([*shlex.split(command), *map(str, arguments)], check=True, cwd=engine.ROOT, env=engine.ONE_THREAD, capture_output=True)
    print(f"{name}: done", flush=True)
    return folder


def summary(folders: dict[str, Path]) -> str:
    """Returns a table of Pert. (as in the paper) for each group: row, CAGE, random order, relevant sentences first."""
    rows = []
    for group, names in GROUPS.items():
        lines: dict[str, list[dict[str, str]]] = defaultdict(list)
        for name in names:
            for line in csv.DictReader((folders[name] / "results.csv").open()):
                is_baseline = line["attribution"] in BASELINES
                if is_baseline or (line["method"], line["aggregation"], line["normalization"]) == ("pert", "mean", "full"):
                    lines[line["attribution"]].append(line)
        for attribution, words in (("row", "row"), ("cage", "CAGE"), *((name, name) for name in BASELINES)):
            # If an answer is not a list of given facts, its relevant sentences are unknown, so some values are empty.
            means = [mean(float(line[metric]) for line in lines[attribution] if line[metric]) for metric in METRICS]
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
    page = engine.ROOT / "docs" / "research" / "results-tables.md"
    written = page.read_text().split(MARKER)[0] + MARKER
    for name, limit, _ in RUNS:
        written += f"\n## {readable(name)}, the first {limit}\n\n{(folders[name] / 'results.md').read_text()}"
    page.write_text(written)
    card = model.with_suffix(".md")
    text = (
        "How well Pert. finds what the answers to held-out problems rest on (`docs/results.md` says how this is measured and what "
        "other methods find). AC and what relevant sentences get: higher is better; RISE and MAS: lower is better."
    )
    card.write_text(card.read_text().split(HEADING)[0].rstrip() + f"\n\n{HEADING} {text}\n\n{summary(folders)}\n")


if __name__ == "__main__":
    main()

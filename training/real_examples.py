"""Prints the examples of `docs/results-real.md`: the problems where CAGE and row attribution by Pert. differ most, and those where CAGE is
furthest behind deleting the relevant sentences first. Each is a link that opens in the page.

python training/real_examples.py FOLDER [--engine "glasscage"] [--count 5]     (FOLDER is that of one set, by training/real_models.py)
"""

import argparse
import json
import shlex
import subprocess
import tempfile
from pathlib import Path

import engine
from evaluate import table
from peers_table import read


def documents(folder: Path) -> dict[str, dict]:
    """Returns the explanations by Pert., by problem number."""
    found = {}
    for file in folder.glob("records-*.jsonl"):
        for record in map(json.loads, file.open()):
            if scored := record["outcome"].get("scored"):
                found[str(record["item"])] = next(document for document in scored["documents"] if document["method"]["id"] == "pert")
    return found


def link(command: str, document: dict) -> str:
    """Returns the part of a link to the page that contains the explanation."""
    with tempfile.TemporaryDirectory() as folder:
        explanation, out = Path(folder) / "explanation.json", Path(folder) / "link.txt"
        explanation.write_text(json.dumps(document))
        subprocess.run([*shlex.split(command), "export", explanation, "--to", out], check=True, cwd=engine.ROOT, capture_output=True)
        return out.read_text().strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine", default=engine.DEFAULT_COMMAND, help="how to call glasscage")
    parser.add_argument("--count", type=int, default=5, help="number of examples of each kind")
    arguments = parser.parse_args()
    values, explanations = read(arguments.folder), documents(arguments.folder)
    row, cage, best = (values[name] for name in ("row, pert", "CAGE, pert", "relevant first"))
    by_difference = sorted(cage["rise"], key=lambda item: cage["rise"][item] - row["rise"][item])
    by_gap = sorted(cage["rise"], key=lambda item: best["rise"][item] - cage["rise"][item])
    chosen = {title: order[: arguments.count] for title, order in (("CAGE and row differ most", by_difference), ("CAGE is wrong", by_gap))}
    for title, items in chosen.items():
        rows = []
        for item in items:
            figures = [f"{some['rise'][item]:.2f}" for some in (row, cage, best)]
            missed = [f"{some['missed'][item]:.0%}" for some in (row, cage)]
            rows.append([f"[{item}]", *figures, *missed])
        head = ["problem", "RISE, row", "CAGE", "relevant first", "missed, row", "CAGE"]
        print(f"\n{title}:\n\n{table(head, rows)}\n")
        for item in items:
            document = explanations[item]
            print(f"<!-- {item}: {document['prompt']['text']!r} -> {document['generation']['text']!r} -->")
    for item in sorted({item for items in chosen.values() for item in items}, key=int):
        print(f"[{item}]: ../{link(arguments.engine, explanations[item])}")


if __name__ == "__main__":
    main()

"""Compares our sentences of the answers in answers.jsonl with those of Punkt and pySBD, and counts where they differ.

`python3 compare.py GLASSCAGE` needs pysbd. The command line has Punkt as NLTK has it. Ours are read from the lines that were split by hand.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pysbd

answers = [json.loads(line) for line in Path(__file__).with_name("answers.jsonl").read_text().splitlines()]
answers = [answer for answer in answers if "sentences" in answer]
out = subprocess.run(
    [sys.argv[1], "split"], input="".join(json.dumps({"text": answer["text"]}) + "\n" for answer in answers),
    capture_output=True, text=True, check=True,
).stdout  # fmt: skip


def starts(text: str, parts: list[str]) -> set[int]:
    """Where parts start, each after the one before, without the first."""
    found, at = set(), 0
    for part in parts:
        start = text.index(part.strip(), at)
        at = start + len(part.strip())
        found.add(start)
    return found - {min(found, default=0)}


def cause(text: str, at: int) -> str:
    """What stands before a place where only one of two rules starts a sentence."""
    line = text.rfind("\n", 0, at) + 1
    before, after = text[line:at].strip(), text[at:].split("\n")[0]
    if not before:
        return "a line without a letter or digit" if not any(c.isalnum() for c in after) else "a line end"
    if not any(c.isalpha() for c in before) or len(before) <= 3:
        return "a label"
    return "within a line"


for name in ("Punkt", "pySBD"):
    causes = Counter()
    for answer, line in zip(answers, out.splitlines(), strict=True):
        text = answer["text"]
        if name == "Punkt":
            parts = [text[start:end] for start, end in json.loads(line)["sentences"]]
        else:
            parts = pysbd.Segmenter(language=answer["language"], clean=False).segment(text)
        theirs, ours = starts(text, [part for part in parts if part.strip()]), starts(text, answer["sentences"])
        causes.update(("only we", cause(text, at)) for at in ours - theirs)
        causes.update((f"only {name}", cause(text, at)) for at in theirs - ours)
        for at in sorted(ours ^ theirs):
            if cause(text, at) == "within a line":
                print(f"{'ours ' if at in ours else name}: {text[max(at - 40, 0) : at]!r} | {text[at : at + 30]!r}")
    print(name, dict(causes))

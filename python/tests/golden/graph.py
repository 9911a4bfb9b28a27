#!/usr/bin/env python3
"""Writes graph.jsonl: output of the command line for random tables. `GLASSCAGE_BIN=target/release/glasscage python3 graph.py`"""

import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from tables import tables

asked = [json.dumps(line) for line in tables(24)]
done = subprocess.run([os.environ["GLASSCAGE_BIN"], "graph"], input="\n".join(asked), capture_output=True, text=True, check=True)
answers = done.stdout.splitlines()
lines = [f'{{"asked":{question},"answer":{answer}}}\n' for question, answer in zip(asked, answers, strict=True)]
(HERE / "graph.jsonl").write_text("".join(lines))

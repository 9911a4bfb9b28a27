"""Calls our own engine through its command line. Input and output are JSON lines."""

import json
import os
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_COMMAND = "cargo run --quiet --release --"
ONE_THREAD = os.environ | {"RAYON_NUM_THREADS": "1"}


def answers(command: str, gguf_path: Path, prompts: list[str]) -> list[str]:
    """Returns greedy answers to `prompts`, in the chat format of the file."""
    lines = answer_lines(command, gguf_path, prompts)
    for prompt, line in zip(prompts, lines):
        if "answer" not in line:
            raise SystemExit(f"no answer to {prompt!r}: {line['problem']}")
    return [line["answer"] for line in lines]


def answer_lines(command: str, gguf_path: Path, prompts: list[str], *options: str) -> list[dict]:
    """Returns what `glasscage answer` prints for `prompts`. It starts one single-threaded process per core: for such small models this is
    several times as fast as one process with many threads."""
    count = os.cpu_count()
    records = [{"prompt": prompt} for prompt in prompts]
    with ThreadPoolExecutor() as pool:
        parts = list(pool.map(lambda i: run(command, ["answer", "--model", str(gguf_path), *options], records[i::count]), range(count)))
    return [parts[i % count][i // count] for i in range(len(prompts))]


def log_probs(command: str, gguf_path: Path, ids: list[list[int]]) -> list[list[float]]:
    """Returns ln p of every token after the first."""
    return [line["logprobs"] for line in run(command, ["score", "--model", str(gguf_path)], [{"ids": i} for i in ids])]


def token_ids(command: str, gguf_path: Path, texts: list[str]) -> list[list[int]]:
    """Returns the token ids of plain texts. Special tokens in a text are read as ordinary text."""
    return [line["ids"] for line in run(command, ["tokenize", "--model", str(gguf_path)], [{"text": t} for t in texts])]


def run(command: str, arguments: list[str], records: list[dict]) -> list[dict]:
    """Calls the engine once, with JSON lines."""
    lines = json_lines(call(command, arguments, "".join(json.dumps(record) + "\n" for record in records)))
    assert len(lines) == len(records), (len(lines), len(records))
    return lines


def call(command: str, arguments: list[str], text: str = "") -> str:
    """Calls the engine with `text` as its input, and returns its output. Ends the program with the engine's message if it fails."""
    done = subprocess.run(shlex.split(command) + arguments, input=text, capture_output=True, text=True, cwd=ROOT, env=ONE_THREAD)
    if done.returncode:
        raise SystemExit(f"{command} {' '.join(arguments)} failed: {done.stderr.strip()}")
    return done.stdout


def json_lines(text: str) -> list[dict]:
    """Parses JSON lines. `str.splitlines` would also split at U+2028 in a string."""
    return [json.loads(line) for line in text.split("\n") if line]

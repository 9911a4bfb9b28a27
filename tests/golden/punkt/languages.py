#!/usr/bin/env python3
"""Writes the sentences of the texts in languages.jsonl, as NLTK splits them with all parameters of their language: start and end in code
points.

    python3 tests/golden/punkt/languages.py ~/.cargo/registry/src/*/punkt-1.0.5/src/data      (needs nltk 3.10.4)
"""
import json
import pathlib
import sys

from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

NAMES = {"de": "german", "fr": "french", "es": "spanish", "it": "italian", "pt": "portuguese", "nl": "dutch"}


def punkt(file):
    data = json.loads(file.read_text(encoding="utf-8"))
    parameters = PunktParameters()
    parameters.abbrev_types = set(data["abbrev_types"])
    parameters.collocations = {tuple(pair) for pair in data["collocations"]}
    parameters.sent_starters = set(data["sentence_starters"])
    parameters.ortho_context.update(data["ortho_context"])
    return PunktSentenceTokenizer(parameters)


def main(data):
    tokenizers = {tag: punkt(pathlib.Path(data) / (name + ".json")) for tag, name in NAMES.items()}
    file = pathlib.Path(__file__).parent / "languages.jsonl"
    cases = [json.loads(line) for line in file.read_text(encoding="ascii").splitlines()]
    for case in cases:
        spans = tokenizers[case["language"]].span_tokenize(case["text"])
        case["sentences"] = [[start, end] for start, end in spans if start < end]
    file.write_text("".join(json.dumps(case, separators=(",", ":")) + "\n" for case in cases), encoding="ascii")


main(*sys.argv[1:])

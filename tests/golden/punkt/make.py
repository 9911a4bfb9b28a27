#!/usr/bin/env python3
"""Writes the sentences of the texts in cases.jsonl, as NLTK splits them: start and end in code points.

    python3 tests/golden/punkt/make.py      (needs nltk 3.10.4)

Each line of a text is split alone, and sentences without a character are dropped. NLTK's parameters are those in
crates/text/src/sentences/english, with all the words of ortho_context.tab instead of the ones that our splitter keeps.
"""
import json
import pathlib

from nltk.tabdata import PunktDecoder
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

HERE = pathlib.Path(__file__).parent
ENGLISH = HERE / "../../../crates/text/src/sentences/english"


def punkt():
    parameters, decode = PunktParameters(), PunktDecoder()
    parameters.abbrev_types = decode.txt2set((ENGLISH / "abbrev_types.txt").open())
    parameters.collocations = set(decode.tab2tups((ENGLISH / "collocations.tab").open()))
    parameters.sent_starters = decode.txt2set((ENGLISH / "sent_starters.txt").open())
    parameters.ortho_context = decode.tab2intdict((HERE / "ortho_context.tab").open())
    return PunktSentenceTokenizer(parameters)


def sentences(tokenizer, text):
    start = 0
    for line in text.split("\n"):
        yield from ([start + a, start + b] for a, b in tokenizer.span_tokenize(line) if a < b)
        start += len(line) + 1


def main():
    file, tokenizer = HERE / "cases.jsonl", punkt()
    cases = [json.loads(line) for line in file.read_text(encoding="ascii").splitlines()]
    for case in cases:
        case["sentences"] = list(sentences(tokenizer, case["text"]))
    file.write_text("".join(json.dumps(case, separators=(",", ":")) + "\n" for case in cases), encoding="ascii")


main()

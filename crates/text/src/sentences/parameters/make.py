#!/usr/bin/env python3
"""Writes the Punkt parameters of each language to its own folder next to this script, from the data of the crate `punkt` 1.0.5:

    python3 make.py ~/.cargo/registry/src/*/punkt-1.0.5/src/data
"""
import json
import pathlib
import sys

BEG_LC, MID_LC, UNK_LC = 16, 32, 64
BEG_UC, MID_UC, UNK_UC = 2, 4, 8
LC = BEG_LC | MID_LC | UNK_LC
UC = BEG_UC | MID_UC | UNK_UC

# For English, all words are kept whose orthographic context can change a decision. For the other languages, only words are kept that are
# likely to change one (see README.md). They include every word of at most this many letters.
LANGUAGES = {"english": None, "german": 5, "french": 4, "spanish": 4, "italian": 4, "portuguese": 4, "dutch": 4}


def ortho_class(flags):
    """The smallest context with the same decisions as `flags` (see README.md). None has the decisions of an unknown word."""
    if not flags & LC:
        return None
    if flags & MID_UC:
        return "ortho_mid_lc_mid_uc"
    if flags & BEG_LC and not flags & UC:
        return "ortho_beg_lc"
    return "ortho_mid_lc"


def is_likely(word, flags, short):
    """Whether the word is likely to start a sentence after an abbreviation or a number: it started one in the training text, or it is
    short and therefore probably frequent."""
    return flags & BEG_UC or len(word) <= short or ortho_class(flags) == "ortho_beg_lc"


def write(file, lines):
    """Writes one entry per line, in byte order."""
    lines = sorted(line.encode() for line in lines)
    assert lines and all(b"\n" not in line and b"\r" not in line for line in lines)
    file.write_bytes(b"\n".join(lines) + b"\n")


def main(data):
    for language, short in LANGUAGES.items():
        parameters = json.loads((pathlib.Path(data) / (language + ".json")).read_text(encoding="utf-8"))
        folder = pathlib.Path(__file__).parent / language
        folder.mkdir(exist_ok=True)
        write(folder / "abbrev_types.txt", parameters["abbrev_types"])
        write(folder / "collocations.tab", ["\t".join(pair) for pair in parameters["collocations"]])
        write(folder / "sent_starters.txt", parameters["sentence_starters"])
        kept = {word: flags for word, flags in parameters["ortho_context"].items() if short is None or is_likely(word, flags, short)}
        for name in ("ortho_beg_lc", "ortho_mid_lc", "ortho_mid_lc_mid_uc"):
            write(folder / (name + ".txt"), [word for word, flags in kept.items() if ortho_class(flags) == name])


main(*sys.argv[1:])

#!/usr/bin/env python3
"""Writes the Punkt parameters of a language, from the data of the crate `punkt` 1.0.5, to the folder of that language:

    python3 make.py punkt-1.0.5/src/data/english.json english
"""
import json
import pathlib
import sys

BEG_LC, MID_LC, UNK_LC = 16, 32, 64
BEG_UC, MID_UC, UNK_UC = 2, 4, 8
LC = BEG_LC | MID_LC | UNK_LC
UC = BEG_UC | MID_UC | UNK_UC


def ortho_class(flags):
    """The smallest context that decides as `flags` does (see README.md); None decides as an unknown word does."""
    if not flags & LC:
        return None
    if flags & MID_UC:
        return "ortho_mid_lc_mid_uc"
    if flags & BEG_LC and not flags & UC:
        return "ortho_beg_lc"
    return "ortho_mid_lc"


def write(file, lines):
    """One entry a line, in byte order."""
    lines = sorted(line.encode() for line in lines)
    assert all(b"\n" not in line and b"\r" not in line for line in lines)
    file.write_bytes(b"\n".join(lines) + b"\n")


def main(source, folder):
    parameters = json.loads(pathlib.Path(source).read_text(encoding="utf-8"))
    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True)
    write(folder / "abbrev_types.txt", parameters["abbrev_types"])
    write(folder / "collocations.tab", ["\t".join(pair) for pair in parameters["collocations"]])
    write(folder / "sent_starters.txt", parameters["sentence_starters"])
    ortho_context = parameters["ortho_context"]
    for name in ("ortho_beg_lc", "ortho_mid_lc", "ortho_mid_lc_mid_uc"):
        write(folder / (name + ".txt"), [word for word, flags in ortho_context.items() if ortho_class(flags) == name])


main(*sys.argv[1:])

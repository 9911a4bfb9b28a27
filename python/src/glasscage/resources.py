"""Files that the package shares with the rest of the repository. A wheel has them in `data`; a checkout has them where they are edited."""

import pathlib

# Names in `data`, and places in the repository. `hatch_build.py` reads them, too.
SHARED = {
    "LICENSE-punkt": "crates/text/src/sentences/parameters/LICENSE-MIT",
    "explanation-2.json": "public/schema/explanation-2.json",
    "punkt": "crates/text/src/sentences/parameters/english",
}


def shared(name: str) -> pathlib.Path:
    """The file or folder of this name."""
    here = pathlib.Path(__file__).parent
    packaged = here / "data" / name
    return packaged if packaged.exists() else here.parents[2] / SHARED[name]

"""Files that the package shares with the rest of the repository. In a wheel they are in `data`, in a checkout at their usual places."""

import pathlib

# Names in `data`, and paths in the repository. `hatch_build.py` also reads them.
SHARED = {
    "LICENSE-punkt": "crates/text/src/sentences/parameters/LICENSE-MIT",
    "explanation-3.json": "public/schema/explanation-3.json",
    "punkt": "crates/text/src/sentences/parameters/english",
}


def shared(name: str) -> pathlib.Path:
    """Returns the path of the shared file or folder with this name."""
    here = pathlib.Path(__file__).parent
    packaged = here / "data" / name
    return packaged if packaged.exists() else here.parents[2] / SHARED[name]

"""The viewer of a built page: one file, which shows any document."""

import os
import pathlib

NAME = "explanation.html"
# A wheel has it where it lay there when the wheel was made.
PACKAGED = pathlib.Path(__file__).parent / "data" / NAME
# What the build leaves for a title and a document.
TITLE = "GLASSCAGE_TITLE"
ELEMENT = '<script type="application/json" id="document">GLASSCAGE_DOCUMENT</script>'


class ViewerError(RuntimeError):
    """The viewer is not there, or is none."""


def find(viewer: str | os.PathLike[str] | None = None) -> pathlib.Path:
    """Where the viewer is: the file or the built page that is named here, or by GLASSCAGE_DIST, or the file in the package."""
    named = viewer or os.environ.get("GLASSCAGE_DIST")
    path = pathlib.Path(named) if named else PACKAGED
    path = path / NAME if path.is_dir() else path
    if not path.is_file():
        raise ViewerError(f"{path} is missing; `cargo xtask serve --release` builds it in dist/: name that, here or in GLASSCAGE_DIST")
    return path


def alone(path: pathlib.Path) -> bytes:
    """The viewer without a document: it waits for one from the page around it."""
    page = path.read_text(encoding="utf-8")
    if ELEMENT not in page or TITLE not in page:
        raise ViewerError(f"{path} is not the viewer of a built page")
    return page.replace(ELEMENT, "", 1).replace(TITLE, "Explanation", 1).encode()

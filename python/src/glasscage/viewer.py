"""The viewer of a built page: one file that shows any document."""

import os
import pathlib

NAME = "explanation.html"
# Only in wheels that were built with the viewer.
PACKAGED = pathlib.Path(__file__).parent / "data" / NAME
# Placeholders for title and document.
TITLE = "GLASSCAGE_TITLE"
ELEMENT = '<script type="application/json" id="document">GLASSCAGE_DOCUMENT</script>'


class ViewerError(RuntimeError):
    """The viewer file is missing or is not a viewer."""


def find(viewer: str | os.PathLike[str] | None = None) -> pathlib.Path:
    """Returns the path of the viewer: in the given file or built page, in that of GLASSCAGE_DIST, or in the package."""
    named = viewer or os.environ.get("GLASSCAGE_DIST")
    path = pathlib.Path(named) if named else PACKAGED
    path = path / NAME if path.is_dir() else path
    if not path.is_file():
        raise ViewerError(f"{path} is missing; `cargo xtask serve --release` builds it in dist/: name that, here or in GLASSCAGE_DIST")
    return path


def alone(path: pathlib.Path) -> bytes:
    """Returns the viewer without a document. It waits for a document from the embedding page."""
    page = path.read_text(encoding="utf-8")
    if ELEMENT not in page or TITLE not in page:
        raise ViewerError(f"{path} is not the viewer of a built page")
    return page.replace(ELEMENT, "", 1).replace(TITLE, "Explanation", 1).encode()

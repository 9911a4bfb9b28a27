"""Runs the command line `glasscage`, which draws with the page's own code."""

import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Sequence


class ProgramError(RuntimeError):
    """The command line is missing, or it reported an error."""


def find() -> str:
    """Returns the path of the command line: GLASSCAGE_BIN, or `glasscage` on the PATH."""
    named = os.environ.get("GLASSCAGE_BIN")
    found = shutil.which(named or "glasscage")
    if found is None:
        where = f"GLASSCAGE_BIN names {named}, which is no program" if named else "there is no glasscage on the PATH"
        raise ProgramError(f"{where}; build it with `cargo build --release --bin glasscage` and set GLASSCAGE_BIN to it")
    return found


def export(document: str, ending: str, path: str | os.PathLike[str] | None, options: Sequence[str]) -> str:
    """Exports the JSON of a document with `glasscage export DOCUMENT --to FILE.ending`. Returns the output, and writes it to `path` if
    given.

    :raises ProgramError: if the command line is missing or reports an error.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "document.json"), pathlib.Path(folder, f"exported.{ending}")
        source.write_text(document, encoding="utf-8")
        line = [find(), "export", str(source), "--to", str(target), *options]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not target.exists():
            raise ProgramError(done.stderr.strip() or f"glasscage export failed with exit code {done.returncode}")
        text = target.read_text(encoding="utf-8")
    if path is not None:
        pathlib.Path(path).write_text(text, encoding="utf-8")
    return text

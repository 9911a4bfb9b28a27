"""The command line `glasscage`, for what is drawn by the page's own code."""

import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Sequence


class ProgramError(RuntimeError):
    """The command line is not there, or refused."""


def find() -> str:
    """Where the command line is: what GLASSCAGE_BIN names, or `glasscage` on the PATH."""
    named = os.environ.get("GLASSCAGE_BIN")
    found = shutil.which(named or "glasscage")
    if found is None:
        where = f"GLASSCAGE_BIN names {named}, which is no program" if named else "there is no glasscage on the PATH"
        raise ProgramError(f"{where}; build it with `cargo build --release --bin glasscage` and set GLASSCAGE_BIN to it")
    return found


def export(document: str, ending: str, path: str | os.PathLike[str] | None, options: Sequence[str]) -> str:
    """What `glasscage export DOCUMENT --to FILE.ending` makes of a document's JSON; also written to `path`.

    :raises ProgramError: where the command line is not there, or refuses.
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

"""Copies the files that the package shares with the rest of the repository into wheel and source distribution."""

import pathlib
import runpy
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class SharedFiles(BuildHookInterface):
    """Adds the shared files, unless this is a source distribution, which already has them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = pathlib.Path(self.root)
        package = "src/glasscage" if self.target_name == "sdist" else "glasscage"
        for name, place in runpy.run_path(str(root / "src/glasscage/resources.py"))["SHARED"].items():
            packaged, source = root / "src/glasscage/data" / name, root.parent / place
            if not packaged.exists() and version != "editable":
                build_data["force_include"][str(source)] = f"{package}/data/{name}"

"""Versions of the document format, as in `crates/core/src/explanation/version.rs`. Only this file decides which version a document has."""

from typing import Any

#: The newest version that the package reads.
VERSION = 3
#: Version of a document without fields that are new in version 3.
PLAIN_VERSION = 2


def smallest_version(data: dict[str, Any]) -> int:
    """Returns the smallest version with all fields that the document uses. A document of version 1 keeps its version."""
    has_new_unit = data.get("unit", "sentence") not in ("sentence", "word")
    branches = data["manifest"]["answer"].get("generated", {}).get("branches")
    has_new_list = any(data.get(name) for name in ("turns", "tokens", "contrasts", "groups"))
    uses_version_3 = bool(has_new_list or branches or has_new_unit)
    return VERSION if uses_version_3 else min(PLAIN_VERSION, int(data["version"]))

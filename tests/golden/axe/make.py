"""Fetches axe-core from npm and writes `axe.min.js.zlib`: python3 tests/golden/axe/make.py"""

import hashlib
import subprocess
import tarfile
import tempfile
import zlib
from pathlib import Path

PACKAGE = "axe-core@4.14.1"

with tempfile.TemporaryDirectory() as folder:
    subprocess.run(["npm", "pack", "--silent", PACKAGE, "--pack-destination", folder], check=True)
    archive = next(Path(folder).glob("*.tgz"))
    with tarfile.open(archive) as tar:
        script = tar.extractfile("package/axe.min.js").read()
packed = zlib.compress(script, 9)
(Path(__file__).parent / "axe.min.js.zlib").write_bytes(packed)
print(PACKAGE, len(script), "bytes, SHA-256", hashlib.sha256(script).hexdigest())

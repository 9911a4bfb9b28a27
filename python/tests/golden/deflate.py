#!/usr/bin/env python3
"""Writes deflate.json: output of miniz_oxide for the samples of tables.py. Builds the program below with cargo in its own folder.

python3 deflate.py
"""

import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from tables import sample

MANIFEST = """
[package]
name = "deflate"
version = "0.0.0"
edition = "2021"
[dependencies]
miniz_oxide = { version = "=0.8.9", features = ["with-alloc"] }
"""
PROGRAM = """
use std::io::{Read, Write};
fn main() {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).unwrap();
    std::io::stdout().write_all(&miniz_oxide::deflate::compress_to_vec(&bytes, 10)).unwrap();
}
"""
CASES = [
    *(("words", n) for n in (0, 1, 2, 3, 47, 48, 300, 3000, 32_000)),
    *(("runs", n) for n in (48, 1000, 34_000)),
    *(("skewed", n) for n in (100, 5000, 36_000)),
    *(("noise", n) for n in (32, 33, 3000, 34_000)),
]

with tempfile.TemporaryDirectory() as folder:
    crate = pathlib.Path(folder)
    (crate / "src").mkdir()
    (crate / "Cargo.toml").write_text(MANIFEST)
    (crate / "src/main.rs").write_text(PROGRAM)
    subprocess.run(["cargo", "build", "--release", "--target-dir", crate / "target"], cwd=crate, check=True)
    recorded = []
    for kind, n in CASES:
        deflated = subprocess.run([crate / "target/release/deflate"], input=sample(kind, n), capture_output=True, check=True).stdout
        recorded.append({"kind": kind, "n": n, "deflated": len(deflated), "sha256": hashlib.sha256(deflated).hexdigest()})
(HERE / "deflate.json").write_text("[\n" + ",\n".join(map(json.dumps, recorded)) + "\n]\n")

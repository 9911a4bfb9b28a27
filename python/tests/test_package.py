"""The installed package and its README."""

import importlib.metadata
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import zipfile

import pytest
from conftest import ROOT
from test_document import EXAMPLE

import glasscage
from glasscage import Document, importers
from glasscage.program import ProgramError, export
from glasscage.resources import SHARED, shared

README = (ROOT / "python/README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("example", re.findall(r"```python\n(.*?)```", README, re.DOTALL), ids=["document", "scores"])
def test_the_examples_of_the_readme_run(example: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "public").symlink_to(ROOT / "public")
    monkeypatch.chdir(tmp_path)
    exec(example, {})


def test_the_readme_names_every_importer() -> None:
    assert set(re.findall(r"`(from_\w+)`", README)) == {name for name in importers.__all__ if name.startswith("from_")}


def test_the_version_is_the_one_of_the_project() -> None:
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert version and glasscage.__version__ == version[1]
    assert glasscage.__version__ in (ROOT / "python/pyproject.toml").read_text()
    try:
        assert importlib.metadata.version("glasscage") == glasscage.__version__
    except importlib.metadata.PackageNotFoundError:
        assert ROOT in pathlib.Path(glasscage.__file__).parents, "it is installed, or it is that of the checkout"


def test_package_is_typed_and_complete() -> None:
    assert (pathlib.Path(glasscage.__file__).parent / "py.typed").exists()
    assert shared("explanation-3.json").read_bytes() == (ROOT / "public/schema/explanation-3.json").read_bytes()
    assert shared("LICENSE-punkt").read_bytes() == (ROOT / "crates/text/src/sentences/parameters/LICENSE-MIT").read_bytes()
    assert len(list(shared("punkt").iterdir())) == 6


def test_the_repository_has_no_symbolic_links() -> None:
    listed = subprocess.run(["git", "ls-files", "--stage"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is no checkout")
    assert [line for line in listed.stdout.splitlines() if line.startswith("120000")] == []


@pytest.mark.parametrize("name", ["LICENSE-APACHE", "LICENSE-MIT"])
def test_the_licenses_are_those_of_the_project(name: str) -> None:
    assert (ROOT / "python" / name).read_bytes() == (ROOT / name).read_bytes()


def build(project: pathlib.Path, target: str, folder: pathlib.Path) -> pathlib.Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    (built,) = folder.iterdir()
    return built


def test_wheel_and_source_distribution_are_built_without_links(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("hatchling")
    repository = tmp_path / "repository"
    without = shutil.ignore_patterns("__pycache__", "tests", "explanation.html", ".*")
    shutil.copytree(ROOT / "python", repository / "python", ignore=without)
    for place in SHARED.values():
        (repository / place).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / place).is_dir() else shutil.copy)(ROOT / place, repository / place)
    wheel = build(repository / "python", "wheel", tmp_path / "wheel")
    with tarfile.open(build(repository / "python", "sdist", tmp_path / "sdist")) as sdist:
        assert not any(member.issym() or member.islnk() for member in sdist.getmembers())
        sdist.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    from_sdist = build(unpacked, "wheel", tmp_path / "wheel-from-sdist")
    with zipfile.ZipFile(wheel) as first, zipfile.ZipFile(from_sdist) as second:
        assert first.namelist() and sorted(first.namelist()) == sorted(second.namelist())
        names = {name.removeprefix("glasscage/data/"): first.read(name) for name in first.namelist()}
        assert all(names[name] == second.read(f"glasscage/data/{name}") for name in names if f"glasscage/data/{name}" in second.namelist())
        first.extractall(tmp_path / "installed")
    for name, place in SHARED.items():
        for path in [ROOT / place, *(ROOT / place).glob("*")]:
            if path.is_file():
                assert names[name if path == ROOT / place else f"{name}/{path.name}"] == path.read_bytes()
    assert {"LICENSE-APACHE", "LICENSE-MIT"} <= {pathlib.PurePosixPath(name).name for name in names}
    code = "import glasscage; print(glasscage.sentence_texts('A b. C d.'), glasscage.__file__)"
    told = subprocess.run([sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path / 'installed')!r}); {code}"],
                          check=True, capture_output=True, text=True)  # fmt: skip
    assert told.stdout.startswith("['A b.', 'C d.']") and str(tmp_path) in told.stdout


def test_an_svg_is_drawn_by_the_command_line(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "glasscage"
    program.write_text('#!/bin/sh\n[ "$1 $3 $5" = "export --to --dark" ] && grep -q glasscage-explanation "$2" && echo "<svg/>" > "$4"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    document = Document.from_json(EXAMPLE)
    monkeypatch.setenv("GLASSCAGE_BIN", str(program))
    assert document.to_svg(tmp_path / "figure.svg", "--dark") == "<svg/>\n" == (tmp_path / "figure.svg").read_text()
    program.write_text("#!/bin/sh\necho 'glasscage: no such option' >&2\nexit 2\n")
    with pytest.raises(ProgramError, match="no such option"):
        document.to_svg()
    monkeypatch.setenv("GLASSCAGE_BIN", "/nowhere")
    with pytest.raises(ProgramError, match="/nowhere"):
        document.to_svg()
    monkeypatch.delenv("GLASSCAGE_BIN")
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(ProgramError, match="PATH"):
        document.to_svg()


def test_command_line_writes_picture_page_and_link(tmp_path: pathlib.Path) -> None:
    if not os.environ.get("GLASSCAGE_BIN"):
        pytest.skip("cargo xtask test")
    document = Document.from_json(EXAMPLE)
    assert document.to_svg(None, "--width", "480").startswith("<svg") and document._repr_svg_() == document.to_svg()
    viewer = ROOT / "www/explanation.html"
    page = document.to_html(viewer, tmp_path / "page.html")
    assert page == (tmp_path / "page.html").read_text(encoding="utf-8") and "GLASSCAGE_DOCUMENT" not in page
    address = "https://example.org/glasscage/"
    assert export(document.to_json(), "txt", None, ["--page", address]).strip() == document.link(address)

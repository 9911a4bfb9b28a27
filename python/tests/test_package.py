"""The package as it is installed, and its README."""

import importlib.metadata
import os
import pathlib
import re
import stat

import pytest
from conftest import ROOT
from test_document import EXAMPLE

import glasscage
from glasscage import Document, importers
from glasscage.program import ProgramError, export

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


def test_the_package_says_that_it_is_typed_and_lacks_no_data() -> None:
    folder = pathlib.Path(glasscage.__file__).parent
    assert (folder / "py.typed").exists()
    assert (folder / "data/explanation-2.json").read_bytes() == (ROOT / "public/schema/explanation-2.json").read_bytes()
    assert len(list((folder / "data/punkt").iterdir())) == 6


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


def test_the_command_line_draws_the_picture_the_page_and_the_link(tmp_path: pathlib.Path) -> None:
    if not os.environ.get("GLASSCAGE_BIN"):
        pytest.skip("cargo xtask test")
    document = Document.from_json(EXAMPLE)
    assert document.to_svg(None, "--width", "480").startswith("<svg") and document._repr_svg_() == document.to_svg()
    viewer = ROOT / "www/explanation.html"
    page = document.to_html(viewer, tmp_path / "page.html")
    assert page == (tmp_path / "page.html").read_text(encoding="utf-8") and "GLASSCAGE_DOCUMENT" not in page
    address = "https://example.org/glasscage/"
    assert export(document.to_json(), "txt", None, ["--page", address]).strip() == document.link(address)

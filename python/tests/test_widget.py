"""The widget without a browser: the origin of its viewer, and its Python code. `test_widget_live.py` tests the rest."""

import importlib.util
import json
import pathlib
import re
import sys
from typing import Any

import pytest
from conftest import ROOT
from test_document import EXAMPLE

from glasscage import Document, viewer
from glasscage.program import ProgramError

BUILT = f"<!doctype html><html lang='en'><title>{viewer.TITLE}</title>{viewer.ELEMENT}</html>"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="800" height="640"><title>Why <em>?</title></svg>'

needs_anywidget = pytest.mark.skipif(importlib.util.find_spec("anywidget") is None, reason="GLASSCAGE_LIVE=1 pytest")


@pytest.fixture
def built(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / viewer.NAME).write_text(BUILT)
    return tmp_path


def test_named_viewer_takes_precedence_over_environment(built: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSCAGE_DIST", "/nowhere")
    assert viewer.find(built) == viewer.find(built / viewer.NAME) == built / viewer.NAME
    with pytest.raises(viewer.ViewerError, match="/nowhere"):
        viewer.find()
    monkeypatch.setenv("GLASSCAGE_DIST", str(built))
    assert viewer.find() == built / viewer.NAME
    monkeypatch.delenv("GLASSCAGE_DIST")
    monkeypatch.setattr(viewer, "PACKAGED", built / "none.html")
    with pytest.raises(viewer.ViewerError, match="cargo xtask serve --release"):
        viewer.find()


def test_standalone_viewer_has_no_placeholders(built: pathlib.Path) -> None:
    page = viewer.alone(built / viewer.NAME).decode()
    assert "GLASSCAGE_" not in page and "<title>Explanation</title></html>" in page
    (built / "other.html").write_text("<!doctype html>")
    with pytest.raises(viewer.ViewerError, match="not the viewer"):
        viewer.alone(built / "other.html")


def test_placeholders_match_the_built_file() -> None:
    template = (ROOT / "www/explanation.html").read_text(encoding="utf-8")
    assert viewer.ELEMENT in template and f"<title>{viewer.TITLE}</title>" in template
    # The script of the widget inserts theme and hidden parts here.
    assert template.count("<html ") == 1


def test_script_and_page_share_protocol() -> None:
    script = (pathlib.Path(viewer.__file__).parent / "data/widget.js").read_text(encoding="utf-8")
    protocol = (ROOT / "src/app/viewer/protocol.rs").read_text(encoding="utf-8")
    version = re.search(r"const VERSION: u32 = (\d+);", protocol)
    assert version and f"const PROTOCOL = {version[1]};" in script
    documented = (ROOT / "docs/embedding.md").read_text(encoding="utf-8")
    for word in ("ready", "hello", "open", "choose", "height", "opened", "chosen", "refused"):
        assert f'"{word}"' in script and f"`{word}`" in documented


def test_without_anywidget_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "glasscage.widget", raising=False)
    with pytest.raises(ImportError, match=r"glasscage\[widget\]"):
        Document.from_json(EXAMPLE).widget()


@needs_anywidget
def test_selection_is_one_or_more_generated_sentences(built: pathlib.Path) -> None:
    import traitlets

    document = Document.from_json(EXAMPLE)
    widget = document.widget(built)
    assert widget.output == document.output
    widget.output = [2, 0, 2]
    assert widget.output == [0, 2] == widget.document.output
    assert json.loads(widget._document) == document.data
    for wrong in ([], [4], [-1], [0.5], "last"):
        with pytest.raises(traitlets.TraitError):
            widget.output = wrong
    assert widget.output == [0, 2]


@needs_anywidget
def test_cell_requests_viewer_and_picture(built: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    widget = Document.from_json(EXAMPLE).widget(built)
    sent: list[tuple[dict[str, Any], Any]] = []
    monkeypatch.setattr(type(widget), "send", lambda _, content, buffers=None: sent.append((content, buffers)))
    monkeypatch.setattr(Document, "to_svg", lambda self: f"<!--{self.output}-->{SVG}")
    widget.output = [1]
    for kind in ("viewer", "picture", "other"):
        widget._answer(widget, {"type": kind}, [])
    assert sent == [
        ({"type": "viewer"}, [viewer.alone(built / viewer.NAME)]),
        (
            {
                "type": "picture",
                "svg": f"<!--[1]-->{SVG}",
                "alt": "What G2 depends on, sentence by sentence",
                "output": "[1]",
                "width": "800",
                "height": "640",
            },
            None,
        ),
    ]


@needs_anywidget
def test_requests_of_one_page_get_one_viewer(built: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    widgets = [Document.from_json(EXAMPLE).widget(built) for _ in range(2)]
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(type(widgets[0]), "send", lambda _, content, buffers=None: sent.append(content))
    for page in ("0.1", "0.1", "0.2"):
        for widget in widgets:
            widget._answer(widget, {"type": "viewer", "page": page}, [])
    assert sent == [{"type": "viewer"}] * 2


@needs_anywidget
def test_a_notebook_keeps_the_picture_beside_the_widget(built: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import IPython.display

    shown: list[dict[str, Any]] = []
    monkeypatch.setattr(IPython.display, "display", lambda data, **_: shown.append(data))
    widget = Document.from_json(EXAMPLE).widget(built)
    monkeypatch.setattr(Document, "to_svg", lambda _: SVG)
    widget._ipython_display_()
    picture, live = shown
    assert picture["image/svg+xml"] == SVG and "<em>" not in picture["text/html"] and widget._place in picture["text/html"]
    assert live["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id

    def nothing(_: Document) -> str:
        raise ProgramError

    monkeypatch.setattr(Document, "to_svg", nothing)
    widget._ipython_display_()
    assert len(shown) == 3 and "text/html" not in shown[2]

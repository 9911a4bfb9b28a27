"""A document in a notebook. The notebook stores the picture, and the page's viewer replaces it while a kernel runs."""

import base64
import hashlib
import html
import json
import os
import pathlib
import re
import uuid
from typing import Any

from . import viewer as viewers
from .document import Document
from .program import ProgramError

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise ImportError("the widget needs anywidget: pip install 'glasscage[widget]'") from error


# Notebook pages and the viewers that were sent to them.
_SENT: set[tuple[object, str]] = set()


class Widget(anywidget.AnyWidget):  # type: ignore[misc]
    """Shows a document. `output` has the 0-based explained sentences. It follows clicks, and can be set."""

    _esm = (pathlib.Path(__file__).parent / "data/widget.js").read_text(encoding="utf-8")
    _document = traitlets.Unicode().tag(sync=True)
    _hide = traitlets.Unicode().tag(sync=True)
    # Identifies the viewer, so that a notebook page requests each viewer only once.
    _viewer = traitlets.Unicode().tag(sync=True)
    # CSS class of the picture that the notebook stores.
    _place = traitlets.Unicode().tag(sync=True)
    output = traitlets.List(traitlets.Int()).tag(sync=True)

    def __init__(self, document: Document, viewer: str | os.PathLike[str] | None = None, hide: str = "") -> None:
        self._page = viewers.alone(viewers.find(viewer))
        self._shown = document
        super().__init__(
            _document=json.dumps(document.data, ensure_ascii=False, separators=(",", ":")),
            _hide=hide,
            _viewer=hashlib.sha256(self._page).hexdigest()[:16],
            _place=f"glasscage-{uuid.uuid4().hex[:12]}",
            output=document.output,
        )
        self.on_msg(self._answer)

    @property
    def document(self) -> Document:
        """The document, with the current choice of explained sentences."""
        return Document(self._shown.data | {"output": list(self.output)})

    @traitlets.validate("output")  # type: ignore[untyped-decorator]
    def _check_output(self, proposal: dict[str, Any]) -> list[int]:
        chosen = sorted(set(proposal["value"]))
        m = len(self._shown.data["generation"]["sentences"])
        if not chosen or chosen[0] < 0 or chosen[-1] >= m:
            raise traitlets.TraitError(f"output is one or more of the generated sentences 0 to {m - 1}, not {proposal['value']}")
        return chosen

    def _answer(self, _: object, content: dict[str, Any], buffers: object) -> None:
        """Sends the data that a cell requests."""
        if content.get("type") == "viewer" and self._is_first_request(content.get("page")):
            self.send({"type": "viewer"}, [self._page])
        if content.get("type") == "picture":
            svg = self._picture()
            self.send({"type": "picture", "svg": svg, "alt": self._alternative()} | (self._shown_by(svg) if svg else {}))

    def _is_first_request(self, page: object) -> bool:
        """Returns whether no widget has sent this viewer to this notebook page. Requests queue up while the kernel is busy."""
        request = (page, self._viewer)
        is_first = page is None or request not in _SENT
        _SENT.add(request)
        return is_first

    def _picture(self) -> str | None:
        try:
            return self.document.to_svg()
        except ProgramError:
            return None

    def _alternative(self) -> str:
        """The alternative text of the picture."""
        labels = self._shown.labels[-len(self._shown.data["generation"]["sentences"]) :]
        return "What " + ", ".join(labels[row] for row in self.output) + " depends on, sentence by sentence"

    def _shown_by(self, svg: str) -> dict[str, str]:
        """Returns the explained sentences of a picture, and its size in CSS pixels."""
        size = re.search(r'width="(\d+)" height="(\d+)"', svg)
        width, height = size.groups() if size else ("800", "600")
        return {"output": json.dumps(list(self.output), separators=(",", ":")), "width": width, "height": height}

    def _ipython_display_(self) -> None:
        """Shows two outputs. A file made from the notebook shows the first one even if widgets do not work there."""
        from IPython.display import display

        svg = self._picture()
        if svg is not None:
            display({"text/html": self._as_html(svg), "image/svg+xml": svg, "text/plain": repr(self._shown)}, raw=True)
        bundle = self._repr_mimebundle_()
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        display(data, metadata=metadata, raw=True)

    def _as_html(self, svg: str) -> str:
        """The picture as an `<img>` element, which isolates it from the notebook page."""
        address = f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
        shown = self._shown_by(svg)
        data = " ".join(f'data-{name}="{value}"' for name, value in shown.items())
        size = f'width="{shown["width"]}" height="{shown["height"]}" style="max-width:100%;height:auto"'
        # Load lazily, so that the picture never loads if the widget hides it.
        alternative = html.escape(self._alternative())
        return f'<div class="{self._place}"><img loading="lazy" {size} alt="{alternative}" {data} src="{address}"></div>'

"""Explanations as documents, which the page opens."""

import copy
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import graph, json_text, link, link_repair, program
from . import viewer as viewers
from .canonical import canonical
from .checks import FORMAT, check
from .contrast import Contrast
from .graph import Array
from .groups import Citation, Group, citations
from .manifest import manifest as manifest_of
from .passage import Passage
from .problems import DocumentError
from .tokens import Branch, Token, forks, tokens_of
from .turns import Turn, mask_in_text, order_of, turns_of
from .version import PLAIN_VERSION

if TYPE_CHECKING:
    from .widget import Widget

#: Below this support, in nats, nothing in the prompt supports a sentence. Fitted in `crates/core/tests/support.rs`.
LITTLE_SUPPORT = 4.2
#: The same for models that were trained on problems only. Their names begin with `TRAINED_ON_PROBLEMS`.
LITTLE_SUPPORT_OF_PROBLEMS = 2.0
TRAINED_ON_PROBLEMS = "Glasscage "


class Document:
    """One explanation: texts, sentences, the attribution table **T** and how it was made. Everything else is computed from these.

    `data` is its JSON. To change it, create a new document, which is checked again.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        check(data)
        self.data = canonical(copy.deepcopy(dict(data)))

    @classmethod
    def make(
        cls,
        prompt: Passage,
        generation: Passage,
        table: ArrayLike,
        *,
        method: Mapping[str, Any],
        manifest: Mapping[str, Any] | None = None,
        unit: str = "sentence",
        turns: Sequence[Mapping[str, Any]] = (),
        support: Sequence[float] = (),
        tokens: Sequence[Mapping[str, Any]] = (),
        contrasts: Sequence[Mapping[str, Any]] = (),
        groups: Sequence[Mapping[str, Any]] = (),
        output: Sequence[int] | None = None,
    ) -> "Document":
        """Creates a document from a table of m x (n + m) mean scores, with NaN for cells that were not measured.

        `output` lists the 0-based generated sentences to explain; by default the last one. `method` needs an `id`, and a `unit` if the page
        does not know the method. `unit` is what the prompt is split into, and `groups` the named passages of the prompt. `turns` has the
        role and the number of sentences of each turn of a conversation before its last answer, and whether it is explained. `tokens` has
        the tokens of all generated sentences, and `contrasts` comparisons of parts of the generation with other texts, all as in the
        schema.
        """
        scores = np.asarray(table, dtype=np.float64)
        n, m = len(prompt.sentences), len(generation.sentences)
        if scores.shape != (m, n + m):
            raise ValueError(f"a table of {scores.shape} is not one of {m} generated sentences and {n + m} sources")
        # Infinite scores stay in the document, so that they are rejected and not mistaken for unmeasured cells.
        exists = graph.causal_mask(n, m) & ~np.isnan(scores)
        cells = [[float(cell) if there else None for cell, there in zip(*row, strict=True)] for row in zip(scores, exists, strict=True)]
        defaults = {"aggregation": "mean", "normalization": "full", "replacement": "", "passes": [0, 0]}
        return cls(
            {
                "format": FORMAT,
                "version": PLAIN_VERSION,
                "unit": unit,
                "prompt": prompt.to_json(),
                "generation": generation.to_json(),
                "turns": [dict(turn) for turn in turns],
                "table": cells,
                "support": list(support),
                "tokens": [dict(token) for token in tokens],
                "contrasts": [dict(contrast) for contrast in contrasts],
                "groups": [dict(group) for group in groups],
                "output": [m - 1] if output is None else list(output),
                "method": defaults | dict(method),
                "manifest": dict(manifest_of() if manifest is None else manifest),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "Document":
        """Reads and checks a document. Ignores byte order marks at the start."""
        return cls(json_text.read(text.lstrip("\ufeff")))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Document":
        """Reads and checks a JSON file in UTF-8."""
        try:
            text = pathlib.Path(path).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise DocumentError("this is not an explanation document: it is not text in UTF-8; save the explanation as JSON") from error
        return cls.from_json(text)

    @classmethod
    def from_link(cls, address: str) -> "Document":
        """Reads the document in a link. `address` can also be the part after its `#`, or a text with a link in it, for example from mail or
        chat.
        """
        return cls(link.from_fragment(link_repair.fragment_in(address.strip())))

    def to_json(self) -> str:
        """Returns the document as indented JSON, in the form that the page and the command line write."""
        return json_text.pretty(self.data)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes a file."""
        pathlib.Path(path).write_text(self.to_json() + "\n", encoding="utf-8")

    def link(self, base: str = "") -> str:
        """Returns an address that contains the document: the address of a Glasscage page, `#`, and the document with a 16-bit table."""
        return f"{base.partition('#')[0]}#{link.to_fragment(self.data)}"

    def to_svg(self, path: str | os.PathLike[str] | None = None, *options: str) -> str:
        """Returns the picture that the page shows. The command line `glasscage export` draws it; `options` are its options, such as
        `--dark`.
        """
        return program.export(self.to_json(), "svg", path, options)

    def to_html(self, viewer: str | os.PathLike[str] | None = None, path: str | os.PathLike[str] | None = None, *options: str) -> str:
        """Returns a standalone HTML file that works from disk.

        `viewer` is a built page of Glasscage, or its `explanation.html`. By default it is that of GLASSCAGE_DIST, or that of the package.
        """
        return program.export(self.to_json(), "html", path, ["--viewer", str(viewers.find(viewer)), *options])

    def widget(self, viewer: str | os.PathLike[str] | None = None, hide: str = "") -> "Widget":
        """Returns an interactive widget for notebooks (`glasscage[widget]`). `viewer` is as for `to_html`.

        `hide` lists the parts of the viewer to hide, separated by commas: graph, shares, details, tabs, derivation, manifest.
        """
        from .widget import Widget

        return Widget(self, viewer, hide)

    def _repr_svg_(self) -> str | None:
        """Returns the picture for notebooks, which they also show without a kernel. `None` if the command line is not installed."""
        try:
            return self.to_svg()
        except program.ProgramError:
            return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and self.data == other.data

    def __repr__(self) -> str:
        m, n = len(self.table), len(self.prompt.sentences)
        return f"<Document: {n} prompt and {m} generated sentences, {self.data['method']['id']}, {self.data['manifest']['model']['name']}>"

    @property
    def prompt(self) -> Passage:
        return Passage.from_json(self.data["prompt"])

    @property
    def generation(self) -> Passage:
        return Passage.from_json(self.data["generation"])

    @property
    def unit(self) -> str:
        """What the prompt is split into: `sentence`, `word`, `line`, `paragraph`, `section`, or `bracket`."""
        return str(self.data.get("unit", "sentence"))

    @property
    def turns(self) -> list[Turn]:
        """The turns of a conversation before its last answer, in order. Empty if the prompt is one text."""
        return turns_of(self.data.get("turns", []), len(self.data["prompt"]["sentences"]))

    @property
    def order(self) -> list[int]:
        """The sources in the order of the text. Prompt sentences come first, unless earlier answers of a conversation are explained."""
        return order_of(self.turns, len(self.data["prompt"]["sentences"]), len(self.sources))

    @property
    def speakers(self) -> list[str | None]:
        """The role of the speaker of each source: `system`, `user`, or `assistant`. `None` for the last answer, and for all sources if the
        prompt is not a conversation."""
        of_turns = {j: turn.role for turn in self.turns for j in turn.sentences}
        return [of_turns.get(j) for j in range(len(self.sources))]

    @property
    def sources(self) -> list[str]:
        """The texts of all n + m sentences, prompt sentences first: the columns of the arrays."""
        return self.prompt.sentence_texts + self.generation.sentence_texts

    @property
    def labels(self) -> list[str]:
        """The names of the sentences on the page: P1, P2, ... G1, G2, ..."""
        n, m = len(self.data["prompt"]["sentences"]), len(self.data["generation"]["sentences"])
        return [f"P{j + 1}" for j in range(n)] + [f"G{i + 1}" for i in range(m)]

    @property
    def output(self) -> list[int]:
        """The explained sentences as 0-based rows. The last sentence if the document chooses none."""
        return list(self.data["output"]) or [len(self.data["generation"]["sentences"]) - 1]

    @property
    def table(self) -> Array:
        """**T**, m x (n + m), as measured, in the unit of the method (nats per token). NaN for cells without a number."""
        return np.array(self.data["table"], dtype=np.float64)

    @property
    def is_complete(self) -> bool:
        """Whether every cell was measured whose source comes before the generated sentence in the text."""
        return not bool(np.isnan(self.table[self._mask]).any())

    @property
    def _mask(self) -> NDArray[np.bool_]:
        """The cells whose source comes before the generated sentence in the text."""
        return mask_in_text(self.order, len(self.data["prompt"]["sentences"]))

    @property
    def flow(self) -> Array | None:
        """The information flow from each source, m x (n + m), used to weight scores. NaN for cells without a number."""
        return np.array(self.data["flow"], dtype=np.float64) if "flow" in self.data else None

    @property
    def support(self) -> Array | None:
        """How much less likely the most affected token of each generated sentence becomes without all statements before its answer, in
        nats. `None` if the document does not say."""
        return np.array(self.data["support"], dtype=np.float64) if "support" in self.data else None

    @property
    def total_support(self) -> Array | None:
        """The support of each generated sentence and of the earlier ones that it depends on, in nats. `None` without support.

        ``total[i] = max(0, support[i]) + sum of A[i][k] total[k] over generated sentences k < i``, with rows of **A** that add up to 1.
        """
        if (support := self.support) is None:
            return None
        steps = graph.normalize(self.scores, "full")[:, len(self.prompt.sentences) :]
        total = np.zeros(len(support))
        for i, own in enumerate(support):
            total[i] = max(0.0, own) + steps[i, :i] @ total[:i]
        return total

    @property
    def unsupported(self) -> list[int]:
        """The 0-based generated sentences that nothing before their answer supports: their total support is below 4.2 nats, or below 2 nats
        if the model was trained on problems only.

        Empty if the document does not contain the support. Sentences that were not fully measured are left out.
        """
        if (total := self.total_support) is None:
            return []
        is_unmeasured = np.isnan(self.table) & self._mask
        is_of_problems = str(self.data["manifest"]["model"]["name"]).startswith(TRAINED_ON_PROBLEMS)
        little = LITTLE_SUPPORT_OF_PROBLEMS if is_of_problems else LITTLE_SUPPORT
        return [i for i, row in enumerate(is_unmeasured) if total[i] < little and not row.any()]

    @property
    def tokens(self) -> list[list[Token]]:
        """The tokens of each generated sentence, with their probabilities and alternatives. Empty lists if the document does not have
        them."""
        return tokens_of(self.data["generation"], self.data.get("tokens", []))

    @property
    def log_probabilities(self) -> Array | None:
        """ln p of each generated sentence, in nats: the sum over its tokens. `None` if the document has no tokens."""
        if "tokens" not in self.data:
            return None
        return np.array([sum(token.log_probability for token in tokens) for tokens in self.tokens], dtype=np.float64)

    @property
    def mean_probabilities(self) -> Array | None:
        """The geometric mean of the probabilities of each sentence's tokens. NaN for a sentence without tokens. `None` if the document has
        no tokens."""
        if (total := self.log_probabilities) is None:
            return None
        counts = np.array(self.data["generation"]["tokens"], dtype=np.float64)
        return np.where(counts > 0, np.exp(total / np.maximum(counts, 1.0)), np.nan)

    @property
    def forks(self) -> list[tuple[int, int]]:
        """The tokens with a rival of at least half their probability, as pairs of a 0-based generated sentence and a token in it. The
        closest first; the page marks the first three of the last answer."""
        places = [(i, k) for i, tokens in enumerate(self.tokens) for k in range(len(tokens))]
        return [places[number] for number in forks([token for tokens in self.tokens for token in tokens])]

    @property
    def branches(self) -> list[Branch]:
        """Where a reader chose an alternative of a token, in order; the model continued after it. Empty if the model chose every token."""
        generated = self.data["manifest"]["answer"].get("generated", {})
        return [Branch(branch["token"], branch["rank"], branch["text"]) for branch in generated.get("branches", [])]

    @property
    def contrasts(self) -> list[Contrast]:
        """Comparisons of parts of the generation with other texts in their place: why this and not that."""
        adjacency, text = graph.normalize(self.scores, "full"), self.data["generation"]["text"]
        return [Contrast.from_json(contrast, text, adjacency) for contrast in self.data.get("contrasts", [])]

    @property
    def groups(self) -> list[Group]:
        """The named passages of the prompt, in order, with their effects on each generated sentence. Empty if there are none."""
        return [Group.from_json(group) for group in self.data.get("groups", [])]

    def group_shares(self, output: Sequence[int] | None = None) -> Array:
        """The share of each named passage in the output: the sum of the shares of its sentences, divided by the number of explained
        sentences."""
        shares = self.context_attribution(output) / len(self._rows(output))
        return np.array([shares[group.sources.start : group.sources.stop].sum() for group in self.groups], dtype=np.float64)

    def citations(self) -> list[Citation]:
        """The citations of passages in the answer, in order, and whether the cited passages support them. Empty if words are explained.

        Each answer of a conversation cites only passages that come before it.
        """
        if self.unit == "word":
            return []
        generation, n = self.data["generation"], len(self.data["prompt"]["sentences"])
        explained = [turn.sentences for turn in self.turns if turn.explained]
        starts = {0, *(sentences.stop - n for sentences in explained)}
        return citations(self.groups, generation["text"], generation["sentences"], starts, self._mask)

    @property
    def scores(self) -> Array:
        """**S**, the derived scores from which the graph is made: **T**, summed, compressed or weighted as the document says.

        Compressed scores have no unit.
        """
        method = self.data["method"]
        tokens = np.array(self.data["prompt"]["tokens"] + self.data["generation"]["tokens"], dtype=np.float64)
        scores = graph.aggregate(self.table, method["aggregation"], method.get("compression", "none"), tokens)
        flow = self.flow if method.get("weighting", "none") == "flow" else None
        return scores if flow is None else scores * graph.flow_weights(flow)

    @property
    def adjacency(self) -> Array:
        """**A**, m x (n + m): the weights of the edges. 0 for cells without a number."""
        return graph.normalize(self.scores, self.data["method"]["normalization"])

    @property
    def total_influence(self) -> Array:
        """**Y** = A (I - A)^-1, m x (n + m)."""
        return graph.total_influence(self.adjacency)

    def context_attribution(self, output: Sequence[int] | None = None) -> Array:
        """Influence of each prompt sentence on the output, directly and through steps: the sum of the prompt columns of Y's output rows."""
        return graph.context_attribution(self.adjacency, self._rows(output))

    def row_attribution(self, output: Sequence[int] | None = None) -> Array:
        """The baseline, direct influence only: the sum of the prompt columns of A's output rows."""
        return graph.row_attribution(self.adjacency, self._rows(output))

    def _rows(self, output: Sequence[int] | None) -> list[int]:
        if output is None:
            return self.output
        rows, m = sorted(set(output)), len(self.data["generation"]["sentences"])
        if not rows or rows[0] < 0 or rows[-1] >= m:
            raise ValueError(f"output is one or more of the generated sentences 0 to {m - 1}, not {rows}")
        return rows

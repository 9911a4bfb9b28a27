"""Documents are read, written and rejected."""

import copy
import json
import math
import pathlib
import random
import re
from collections.abc import Callable
from typing import Any

import jsonschema
import numpy as np
import pytest
from conftest import ROOT, json_lines

from glasscage import Document, DocumentError, checks, document, json_text, schema
from glasscage.graph import signed_shares
from glasscage.groups import Group, citations
from glasscage.passage import Passage
from glasscage.tokens import Alternative, Token, forks

EXAMPLE = (ROOT / "crates/core/tests/golden/linked.json").read_text(encoding="utf-8")
WITH_CONTRASTS = (ROOT / "crates/core/tests/golden/contrasts.json").read_text(encoding="utf-8")
WITH_TURNS = (ROOT / "crates/core/tests/golden/turns.json").read_text(encoding="utf-8")
WITH_EXPLAINED_TURNS = (ROOT / "crates/core/tests/golden/explained-turns.json").read_text(encoding="utf-8")
WITH_BRANCHES = (ROOT / "crates/core/tests/golden/branches.json").read_text(encoding="utf-8")
WITH_PASSAGES = (ROOT / "crates/core/tests/golden/passages.json").read_text(encoding="utf-8")
WITH_TOKENS = (ROOT / "crates/core/tests/golden/tokens.json").read_text(encoding="utf-8")
GALLERY = sorted((ROOT / "public/gallery").glob("[0-9w]*.json"))


def example() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(EXAMPLE)
    return data


def with_everything() -> dict[str, Any]:
    """The example document with all optional fields."""
    data = example() | {"version": 3, "unit": "word"}
    data["alone"] = copy.deepcopy(data["table"])
    data["joint"] = [{"target": 1, "sources": [0, 1], "amount": 0.12345678, "either_is_enough": "5", "only_together": "ö \u2028"}]
    data["flow"] = copy.deepcopy(data["table"])
    data["support"] = [0.123456, -1e-6, 0.0, 2.0]
    data["tokens"] = json.loads(WITH_TOKENS)["tokens"]
    data["contrasts"] = json.loads(WITH_CONTRASTS)["contrasts"]
    data["turns"] = json.loads(WITH_TURNS)["turns"]
    data["contrasts"][0]["effects"][:2] = [0.123456, -1e-6]
    data["groups"] = [{"name": "1", "kind": "passage", "sources": [0, 2], "effects": [0.123456, -1e-6, 0.0, 2.0]}]
    data["method"] |= {"unit": "logits", "compression": "log", "weighting": "flow"}
    data["manifest"] |= {"sentence_rule": "any-script", "language": "de", "producer": {"name": "x", "version": "1"}}
    data["manifest"]["answer"]["generated"]["warning"] = "doubtful"
    branches = json.loads(WITH_BRANCHES)["manifest"]["answer"]["generated"]["branches"]
    data["manifest"]["answer"]["generated"]["branches"] = branches
    data["generation"]["sections"] = [{"kind": "thought", "sentences": 3}, {"kind": "answer", "sentences": 1}]
    return data


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.name[:2])
def test_page_documents_are_written_unchanged(path: pathlib.Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert Document.from_json(text).to_json() == text.strip()


def test_there_are_documents_of_the_page() -> None:
    assert len(GALLERY) == 13


@pytest.mark.parametrize(
    ("file", "struct", "place"),
    [("document", "Document", ()), ("method", "Method", ("method",)), ("manifest", "Manifest", ("manifest",)),
     ("manifest", "Model", ("manifest", "model")), ("manifest", "Sampling", ("manifest", "answer", "generated", "sampling"))],
    ids=lambda value: str(value),
)  # fmt: skip
def test_fields_are_written_in_the_order_of_rust(file: str, struct: str, place: tuple[str, ...]) -> None:
    text = (ROOT / f"crates/core/src/explanation/{file}.rs").read_text()
    fields = re.findall(r"^    pub (\w+):", text.split(f"pub struct {struct} {{")[1].split("\n}")[0], re.MULTILINE)
    written: Any = Document(with_everything()).data
    for key in place:
        written = written[key]
    assert list(written) == [field for field in fields if field in written] and len(written) >= len(fields) - 1


def test_a_document_survives_its_file(tmp_path: pathlib.Path) -> None:
    document = Document(with_everything())
    document.write(tmp_path / "explanation.json")
    assert Document.read(tmp_path / "explanation.json") == document
    assert document.labels == ["P1", "P2", "P3", "P4", "P5", "P6", "G1", "G2", "G3", "G4"]
    assert document.sources[6].startswith("There were 4 boxes") and document.sources[5].endswith("end?")


def test_unmeasured_cells_of_document_are_null() -> None:
    prompt, _ = Passage.from_tokens("Tom has 2. He eats 1.", [(0, 3), (3, 10), (10, 21)])
    generation, _ = Passage.from_tokens("So 1.", [(0, 5)])
    document = Document.make(prompt, generation, [[0.5, np.nan, np.nan]], method={"id": "x"})
    assert document.data["table"] == [[0.5, None, None]] and not document.is_complete
    assert document.context_attribution().tolist() == [1.0, 0.0]
    with pytest.raises(DocumentError, match="finite"):
        Document.make(prompt, generation, [[np.inf, 0.0, np.nan]], method={"id": "x"})
    with pytest.raises(ValueError, match="table"):
        Document.make(prompt, generation, [[0.5, 0.5]], method={"id": "x"})


def test_support_flows_through_steps() -> None:
    prompt, generation = Passage("A. B.", ((0, 3), (3, 5)), (2, 2)), Passage("A. B. C.", ((0, 3), (3, 6), (6, 8)), (2, 2, 2))
    nan = np.nan
    table = [[1, 0, nan, nan, nan], [1, 0, 3, nan, nan], [0, 0, 1, 1, nan]]
    made = Document.make(prompt, generation, table, method={"id": "pert"}, support=[20.0, 5.0, -10.0])
    np.testing.assert_array_equal(made.total_support, [20.0, 5.0 + 0.75 * 20.0, 0.5 * 20.0 + 0.5 * 20.0])
    assert (made.unsupported, Document.make(prompt, generation, table, method={"id": "pert"}).unsupported) == ([], [])
    little = Document.make(prompt, generation, [[nan] * 5, *table[1:]], method={"id": "pert"}, support=[-1.0, 9.0, 0.0])
    assert little.unsupported == [], "the first sentence is not measured, and the last one depends on the second"
    assert Document.make(prompt, generation, table, method={"id": "pert"}, support=[0.0] * 3).unsupported == [0, 1, 2]


def test_threshold_of_support_is_that_of_the_page() -> None:
    rust = (ROOT / "crates/core/src/shares/support.rs").read_text(encoding="utf-8")
    assert f"pub const LITTLE_SUPPORT: f64 = {document.LITTLE_SUPPORT};" in rust
    assert f"const LITTLE_SUPPORT_OF_PROBLEMS: f64 = {document.LITTLE_SUPPORT_OF_PROBLEMS};" in rust
    assert f'const TRAINED_ON_PROBLEMS: &str = "{document.TRAINED_ON_PROBLEMS}";' in rust


def test_documents_have_smallest_possible_version() -> None:
    tokens = json.loads(WITH_TOKENS)["tokens"]
    for version, written in ((1, 1), (2, 2), (3, 2)):
        assert Document(example() | {"version": version}).data["version"] == written
        assert Document(example() | {"version": version, "tokens": tokens}).data["version"] == 3
    assert Document.from_json(WITH_TOKENS).to_json() == WITH_TOKENS.strip()
    assert Document.from_link(Document.from_json(WITH_TOKENS).link()).data["version"] == 2


def test_tokens_belong_to_sentences() -> None:
    document = Document.from_json(WITH_TOKENS)
    assert [len(tokens) for tokens in document.tokens] == document.data["generation"]["tokens"]
    assert ["".join(token.text for token in tokens) for tokens in document.tokens] == document.generation.sentence_texts
    totals, means = document.log_probabilities, document.mean_probabilities
    assert totals is not None and means is not None
    logs = [[token.log_probability for token in tokens] for tokens in document.tokens]
    np.testing.assert_allclose(totals, [sum(row) for row in logs])
    np.testing.assert_allclose(means, [np.exp(np.mean(row)) for row in logs])
    without = Document(example())
    assert (without.tokens, without.log_probabilities, without.mean_probabilities, without.forks) == ([[]] * 4, None, None, [])


def test_groups_have_shares_effects_and_citations() -> None:
    document = Document.from_json(WITH_PASSAGES)
    assert document.to_json() == WITH_PASSAGES.strip() and document.data["version"] == 3
    assert [(group.name, group.kind, group.sources) for group in document.groups] == [
        ("1", "passage", range(2)),
        ("2", "passage", range(2, 3)),
    ]
    np.testing.assert_array_equal(document.groups[0].effects, [2.75, 0.03, 0.01])
    for output in (None, [0, 1]):
        shares = document.context_attribution(output) / (1 if output is None else 2)
        np.testing.assert_allclose(document.group_shares(output), [shares[:2].sum(), shares[2]])
    states = [(citation.sentence, citation.group, citation.state, citation.depends_on) for citation in document.citations()]
    assert states == [(0, 0, "supported", None), (1, 0, "misplaced", 1), (2, 1, "unsupported", None)]
    assert Document.from_link(document.link()).data["groups"] == document.data["groups"]
    del document.data["groups"][1]["effects"]
    assert {citation.state for citation in document.citations()} == {"unmeasured"}
    assert Document(document.data | {"groups": []}).data["version"] == 2
    assert Document(example()).groups == [] and Document(example()).citations() == []


@pytest.mark.parametrize("case", json_lines(ROOT / "crates/core/tests/citations.jsonl"), ids=lambda case: case["answer"][:12])
def test_citations_are_those_of_the_page(case: dict[str, Any]) -> None:
    groups = [Group(name, "passage", range(1), None) for name in case["names"]]
    found = citations(groups, case["answer"], case["sentences"])
    assert [[citation.sentence, *citation.span, citation.group] for citation in found] == case["citations"]


@pytest.mark.parametrize("hostile", ["-", "[-", "(1)", " [1] b"])
def test_citations_in_hostile_answer_are_found(hostile: str) -> None:
    """A comparison of all names or all marks at every place would take minutes."""
    names = ["-" * 300 + ".txt", "1"] * 50
    groups = [Group(name, "passage", range(1), None) for name in names]
    answer = "[-] " + hostile * 100_000 + "\n " + names[0]
    found = citations(groups, answer, [(0, len(answer))])
    assert (len(found), found[-1].group) == (1 + 100_000 * ("1" in hostile), 0)


def test_file_names_are_found_in_any_case() -> None:
    groups = [Group(name, "passage", range(1), None) for name in ("b.c", "ab.a", "\u0130.a")]
    found = citations(groups, "x b.C, ab.ab.a i\u0307.a \u0130.A", [(0, 25)])
    assert [(citation.span, citation.group) for citation in found] == [((2, 5), 0), ((10, 14), 1), ((20, 23), 2)]


def test_contrasts_split_effects_among_prompt_sentences() -> None:
    document = Document.from_json(WITH_CONTRASTS)
    assert document.to_json() == WITH_CONTRASTS.strip() and document.data["version"] == 3
    assert Document.from_link(document.link()).data["contrasts"] == document.data["contrasts"]
    first, last = document.contrasts
    assert (first.part, first.alternative, last.log_probabilities) == (" 24", " 36", (0.0, -9.25))
    n = len(document.prompt.sentences)
    for contrast in (first, last):
        row = contrast.effects / np.abs(contrast.effects).sum()
        steps = document.total_influence[: len(row) - n, :n]
        np.testing.assert_allclose(contrast.shares[:, 0] - contrast.shares[:, 1], row[:n] + row[n:] @ steps, atol=1e-12)
        assert contrast.shares.min() >= 0.0 and abs(contrast.shares.sum() - 1.0) < 1e-9
        np.testing.assert_array_equal(signed_shares(document.adjacency, -contrast.effects), contrast.shares[:, ::-1])
    np.testing.assert_array_equal(signed_shares(document.adjacency, np.zeros(n)), np.zeros((n, 2)))
    assert Document(example()).contrasts == []


def test_turns_have_speakers_and_sentences() -> None:
    document = Document.from_json(WITH_TURNS)
    assert document.to_json() == WITH_TURNS.strip() and document.data["version"] == 3
    assert [(turn.role, list(turn.sentences)) for turn in document.turns] == [
        ("system", [0]),
        ("user", [1, 2]),
        ("assistant", [3]),
        ("user", [4, 5]),
    ]
    assert document.speakers == ["system", "user", "user", "assistant", "user", "user", None, None, None, None]
    assert Document.from_link(document.link()).turns == document.turns
    assert (Document(example()).turns, Document(example()).speakers) == ([], [None] * 10)


def test_explained_turns_are_between_sources() -> None:
    document = Document.from_json(WITH_EXPLAINED_TURNS)
    assert document.to_json() == WITH_EXPLAINED_TURNS.strip() and document.data["version"] == 3
    assert [(turn.role, list(turn.sentences), turn.explained) for turn in document.turns] == [
        ("system", [0], False),
        ("user", [1], False),
        ("assistant", [3, 4], True),
        ("user", [2], False),
    ]
    assert document.speakers == ["system", "user", "user", "assistant", "assistant", None, None]
    assert (document.order, Document(example()).order) == ([0, 1, 3, 4, 2, 5, 6], list(range(10)))
    assert Document.from_link(document.link()).turns == document.turns


def with_passages_in_turns(answers: tuple[str, str]) -> Document:
    """The example with explained turns, with a passage before each answer. Its answers have two sentences each."""
    data = json.loads(WITH_EXPLAINED_TURNS)
    generation, _ = Passage.from_tokens("\n\n".join(answers), [])
    data["generation"] = generation.to_json()
    del data["contrasts"]
    places = [(1, [2.0, 1.5, 0.0, 0.5]), (2, [0.0, 0.0, 0.75, 0.0])]
    data["groups"] = [{"name": str(j), "kind": "passage", "sources": [j, j + 1], "effects": effects} for j, effects in places]
    return Document(data)


def test_later_passages_are_not_cited() -> None:
    document = with_passages_in_turns(("Good [1]. She has 2 [2].", "So 3 [1]. It is 3 [2]."))
    found = [(citation.sentence, citation.group, citation.state, citation.depends_on) for citation in document.citations()]
    assert found == [(0, 0, "supported", None), (2, 0, "misplaced", 1), (3, 1, "misplaced", 0)]


def test_citations_stay_in_their_answer() -> None:
    # Without text of its own, a mark belongs to the sentence before it, even on another line.
    document = with_passages_in_turns(("Good. [1] She has 2.", "[1].\nIt is 3."))
    assert document.generation.sentence_texts[2:] == ["[1].\n", "It is 3."]
    assert [citation.sentence for citation in document.citations()] == [0, 2]
    text, sentences = document.generation.text, document.generation.sentences
    assert [citation.sentence for citation in citations(document.groups, text, sentences)] == [0, 1]


def test_cells_of_later_sources_need_no_measurement() -> None:
    data = json.loads(WITH_EXPLAINED_TURNS) | {"support": [0.0] * 4}
    data["table"][0][2] = data["table"][1][2] = None
    assert (Document(data).is_complete, Document(data).unsupported) == (True, [0, 1, 2, 3])
    data["table"][2][2] = None
    assert (Document(data).is_complete, Document(data).unsupported) == (False, [0, 1, 3])


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("turns/2/explained", False, "cover"),
        ("turns/2/explained", 1, "boolean"),
        ("turns/2/role", "user", "not an earlier answer"),
        ("turns/2/sentences", 4, "cover"),
        ("table/0/2", 0.5, "text before them"),
        ("contrasts/0/effects/2", 0.5, "text before them"),
        ("flow", [[0.0, 0.0, 1.0, *[None] * 4], *[[None] * 7] * 3], "text before them"),
        ("joint", [{"target": 0, "sources": [1, 2], "amount": 0.5}], "text before them"),
        ("groups", [{"name": "1", "kind": "passage", "sources": [2, 3], "effects": [0.5, 0, 0, 0]}], "text before them"),
    ],
)
def test_inconsistent_explained_turns_are_refused(path: str, value: Any, words: str) -> None:
    data = json.loads(WITH_EXPLAINED_TURNS)
    *keys, last = path.split("/")
    place = data
    for key in keys:
        place = place[int(key) if key.isdigit() else key]
    place[int(last) if last.isdigit() else last] = value
    with pytest.raises(DocumentError, match=words):
        Document(data)


def test_branches_are_chosen_alternatives() -> None:
    document = Document.from_json(WITH_BRANCHES)
    assert document.to_json() == WITH_BRANCHES.strip() and document.data["version"] == 3
    assert [(branch.token, branch.rank, branch.text) for branch in document.branches] == [(3, 1, " the"), (12, 5, "\ufffd")]
    assert Document.from_link(document.link()).branches == document.branches
    assert Document(example()).branches == []
    data = example()
    data["manifest"]["answer"] = {"given": {}}
    assert Document(data).branches == []


def test_closest_forks_come_first() -> None:
    def token(p: float, *others: float) -> Token:
        return Token("x", (0, 1), math.log(p), tuple(Alternative("y", math.log(other)) for other in others))

    found = forks([token(0.5, 0.3), token(0.9, 0.1), token(0.4, 0.39), token(0.1, 0.8), token(0.25, 0.25), token(0.5, 0.24), token(1.0)])
    assert found == [4, 2, 0, 3]
    document = Document.from_json(WITH_TOKENS)
    rivalries = [abs(document.tokens[i][k].rivalry or 0.0) for i, k in document.forks]
    assert rivalries == sorted(rivalries) and document.tokens[0][1].is_fork


def test_numbers_are_written_as_rust_writes_them() -> None:
    written = {0.0: "0.0", -1.5: "-1.5", 1.0: "1.0", 1e-5: "0.00001", 1e-6: "1e-6", 1.5e-7: "1.5e-7", 123.456: "123.456"}
    written |= {1e15: "1000000000000000.0", 1e16: "1e+16", 1.25e300: "1.25e+300", 0.1 + 0.2: "0.30000000000000004", 12e20: "1.2e+21"}
    assert {number: json_text.number(number) for number in written} == written


def test_numbers_are_written_as_the_command_line_writes_them(glasscage: Any) -> None:
    rng = random.Random(1)
    numbers = [rng.uniform(-1, 1) * 10.0 ** rng.randint(-20, 20) for _ in range(500)] + [10.0**k for k in range(-30, 30)]
    asked = {"table": [[*numbers, None]], "n_prompt": len(numbers), "output": [0], "normalization": "none"}
    answer = glasscage("graph", [asked], parse_float=str)[0]
    assert answer["adjacency"][0][:-1] == [json_text.number(number) for number in numbers]


def change(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def apply(data: dict[str, Any]) -> None:
        *places, last = [int(key) if key.isdigit() else key for key in path.split("/")]
        place: Any = data
        for key in places:
            place = place[key]
        place[last] = value

    return apply


REFUSED = [
    ("format", "cake", "not an explanation document"),
    ("version", 9, "newer"),
    ("output", [4], "explains generated sentence 4"),
    ("output", [1, 1], "duplicates"),
    ("output", [2, 1], "out of order"),
    ("output", [0.0], "integer"),
    ("output", [True], "integer"),
    ("table/0/6", 1.0, "own sentence"),
    ("table/0/0", float("nan"), "finite"),
    ("table/0/0", 1.7e308, "score above"),
    ("table/0/0", "1", "number"),
    ("alone", [[0.0, None]], "not for its"),
    ("table", [], "fewer"),
    ("prompt/sentences/0/1", 3, "leave gaps"),
    ("prompt/tokens", [1], "leave gaps"),
    ("prompt/tokens/0", 1 << 25, "tokens"),
    ("prompt/text", "short", "leave gaps"),
    ("generation/sections", [{"kind": "thought", "sentences": 2}], "sections"),
    ("joint/0/sources", [1, 1], "joint"),
    ("joint/0/sources", [0, 7], "joint"),
    ("joint/0/target", 4, "joint"),
    ("joint/0/amount", 1e13, "score above"),
    ("joint/0/amount", -1.0, "below"),
    ("support", [0.5], "support of 1"),
    ("support/1", -1e13, "score above"),
    ("support/1", None, "number"),
    ("tokens/0/span", [3, 2], "out of order"),
    ("tokens/87/span/1", 190, "outside"),
    ("tokens/0/log_probability", 0.5, "above"),
    ("tokens/0/log_probability", -1e13, "score above"),
    ("tokens/1/alternatives/0/log_probability", -1e3, "out of order"),
    ("tokens/1/alternatives/0/text", "x" * 5000, "name"),
    ("tokens/1/alternatives", [{"text": "", "log_probability": -1.0}] * 6, "more than 5"),
    ("tokens", json.loads(WITH_TOKENS)["tokens"][:9], "of 9 tokens"),
    ("turns/0/sentences", 2, "cover"),
    ("turns/0/sentences", 0, "below"),
    ("turns/0/role", "tool", "none of"),
    ("turns/1/role", "system", "order"),
    ("turns/3/role", "assistant", "order"),
    ("groups/0/sources", [0, 9], "do not fit"),
    ("groups/0/sources", [2, 2], "do not fit"),
    ("groups/0/sources", [2], "fewer"),
    ("groups/0/effects", [0.5], "do not fit"),
    ("groups/0/effects/0", -1e13, "score above"),
    ("groups/0/name", "x" * 321, "name of more than 320"),
    ("groups/0/name", " ", "is not"),
    ("groups", json.loads(WITH_PASSAGES)["groups"] * 51, "more than 100"),
    ("groups", json.loads(WITH_PASSAGES)["groups"][::-1], "out of order"),
    ("contrasts/0/span", [3, 2], "does not fit"),
    ("contrasts/0/span", [103, 190], "does not fit"),
    ("contrasts/0/alternative", " 24", "does not fit"),
    ("contrasts/0/alternative", "\u2003", "does not fit"),
    ("contrasts/0/effects", [0.5], "does not fit"),
    ("contrasts/0/effects/0", -1e13, "score above"),
    ("contrasts/0/log_probabilities", [-0.5], "fewer"),
    ("contrasts/0/log_probabilities/0", 0.5, "above"),
    ("contrasts/1/alternative", "x" * ((1 << 20) + 1), "text"),
    ("contrasts", json.loads(WITH_CONTRASTS)["contrasts"] * 51, "more than 100"),
    ("method/id", "x" * 5000, "name"),
    ("method/unit", 5, "string"),
    ("method/aggregation", "median", "none of"),
    ("manifest/model/sha256", "xyz", "is not"),
    ("manifest/model/bytes", 1 << 64, "too large"),
    ("manifest/answer/generated/max_tokens", 1 << 32, "too large"),
    ("manifest/answer", {"given": {}, "generated": {}}, "does not match exactly one of the allowed forms"),
    ("manifest/answer/generated/branches/0/token", 12, "branches"),
    ("manifest/answer/generated/branches/1/token", 1 << 18, "does not match exactly one of the allowed forms"),
    ("manifest/answer/generated/branches/0/rank", 0, "does not match exactly one of the allowed forms"),
    ("manifest/answer/generated/branches/0/rank", 6, "does not match exactly one of the allowed forms"),
    ("manifest/answer/generated/branches/0/text", "x" * 5000, "name"),
    ("manifest/answer/generated/branches", [{"token": 0, "rank": 1, "text": ""}] * 101, "does not match exactly one of the allowed forms"),
    ("manifest/language", "xx", "none of"),
    ("extra", 1, "not known"),
]


@pytest.mark.parametrize(("path", "value", "words"), REFUSED, ids=lambda value: str(value)[:30])
def test_what_the_page_would_not_open_is_refused(path: str, value: Any, words: str) -> None:
    data = with_everything()
    change(path, value)(data)
    with pytest.raises(DocumentError, match=words):
        Document(data)


def test_large_texts_and_many_sentences_are_refused() -> None:
    data = example()
    data["prompt"]["text"] += "x" * (1 << 20)
    data["prompt"]["sentences"][-1][1] += 1 << 20
    with pytest.raises(DocumentError, match="bytes"):
        Document(data)
    n = checks.MAX_SENTENCES
    data["prompt"] = {"text": "x" * n, "sentences": [[i, i + 1] for i in range(n)], "tokens": [1] * n}
    with pytest.raises(DocumentError, match="sentences"):
        Document(data)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "null", "[" * 100_000, EXAMPLE[:-3], EXAMPLE.replace('"version": 1', '"version": 1, "version": 1'),
     EXAMPLE.replace("Tom", "\\ud800", 1), EXAMPLE.replace('"seed": 0', '"seed": NaN'), "1" * 5000],
    ids=range(10),
)  # fmt: skip
def test_what_is_no_document_is_refused(text: str) -> None:
    with pytest.raises(DocumentError):
        Document.from_json(text)


def test_every_field_that_is_asked_for_is_missed() -> None:
    for place in ("", "prompt", "method", "manifest", "manifest/model", "manifest/answer/generated"):
        fields: Any = example()
        for key in filter(None, place.split("/")):
            fields = fields[key]
        for key in fields:
            data: Any = example()
            holder = data
            for step in filter(None, place.split("/")):
                holder = holder[step]
            del holder[key]
            with pytest.raises(DocumentError):
                Document(data)


def test_the_schema_is_checked_as_jsonschema_does() -> None:
    validator = jsonschema.Draft202012Validator(schema.schema())
    rng = random.Random(2)
    values = [None, True, 0, -1, 1.5, "", "x", [], {}, [1], [[1, 2]], "mean", {"given": {}}]
    refused = 0
    for _ in range(200):
        data = with_everything()
        place: Any = data
        while True:
            key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
            if not isinstance(place[key], (dict, list)) or not place[key] or rng.random() < 0.3:
                break
            place = place[key]
        place[key] = rng.choice(values)
        found = not list(schema.problems(data))
        assert found == validator.is_valid(data), (key, place[key])
        refused += not found
    assert 100 < refused < 200


@pytest.mark.parametrize("output", [[], [4], [-1, 0]])
def test_output_without_row_is_refused(output: list[int]) -> None:
    document = Document.from_json(WITH_PASSAGES)
    for attribution in (document.context_attribution, document.row_attribution, document.group_shares):
        with pytest.raises(ValueError, match="generated sentences 0 to 2, not"):
            attribution(output)


def test_byte_order_mark_is_ignored(tmp_path: pathlib.Path) -> None:
    (tmp_path / "explanation.json").write_text(EXAMPLE, encoding="utf-8-sig")
    assert Document.read(tmp_path / "explanation.json") == Document.from_json("\ufeff" + EXAMPLE) == Document(example())


@pytest.mark.parametrize("content", [EXAMPLE.encode("utf-16"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"], ids=["utf-16", "png"])
def test_file_in_other_encoding_is_refused(content: bytes, tmp_path: pathlib.Path) -> None:
    (tmp_path / "explanation.json").write_bytes(content)
    with pytest.raises(DocumentError, match="not text in UTF-8; save the explanation as JSON"):
        Document.read(tmp_path / "explanation.json")


def test_lesson_is_named_in_error() -> None:
    path = ROOT / "public/gallery/lesson-a-coin-flip-answer.json"
    with pytest.raises(DocumentError, match="this is a lesson"):
        Document.read(path)
    assert Document(json.loads(path.read_text(encoding="utf-8"))["explanations"][0]).prompt.text


def test_empty_output_means_last_sentence() -> None:
    chosen = Document(example())
    last = len(chosen.table) - 1
    none = Document(example() | {"output": []})
    assert none.output == [last]
    np.testing.assert_array_equal(none.context_attribution(), chosen.context_attribution([last]))
    np.testing.assert_array_equal(none.row_attribution(), chosen.row_attribution([last]))
    assert Document.from_json(none.to_json()).data["output"] == []

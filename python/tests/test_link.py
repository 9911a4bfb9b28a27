"""Compares links with those that the page created."""

import contextlib
import hashlib
import json
import random
import zlib
from typing import Any

import numpy as np
import pytest
from conftest import GOLDEN, ROOT
from tables import sample
from test_document import EXAMPLE, GALLERY, with_everything

from glasscage import Document, LinkError, link, packed
from glasscage.deflate import deflate

LINKS = {
    version: (ROOT / f"crates/core/tests/golden/explanation{version}.link").read_text().strip() for version in ("", "-2", "-3", "-3-steps")
}


@pytest.mark.parametrize("address", LINKS.values(), ids=["g1", "g2", "g3", "g3-steps"])
def test_links_of_the_page_open(address: str) -> None:
    linked, original = Document.from_link(address), Document.from_json(EXAMPLE)
    assert (linked.prompt, linked.generation, linked.output) == (original.prompt, original.generation, original.output)
    assert linked.data["manifest"]["table_precision"] == "16-bit"
    largest = np.nanmax(np.abs(original.table), axis=1, keepdims=True)
    assert np.nanmax(np.abs(linked.table - original.table) / largest) <= 1 / 32767


def test_a_link_has_the_bytes_of_the_page() -> None:
    today, before = (packed.decode(LINKS[version].removeprefix("g3.")) for version in ("-3-steps", "-3"))
    assert today is not None and before is not None
    assert link.to_bytes(Document.from_json(EXAMPLE).data) == packed.inflate(today)
    assert link.to_bytes(Document.from_link(LINKS["-3"]).data) == packed.inflate(before)


def test_links_equal_those_of_the_page() -> None:
    assert Document.from_json(EXAMPLE).link() == "#" + LINKS["-3-steps"]
    for version in ("-3", "-3-steps"):
        assert Document.from_link(LINKS[version]).link() == "#" + LINKS[version]
    lesson = (ROOT / "crates/core/tests/golden/lesson-1.link").read_text().strip().partition(".")[2]
    body = packed.decode(lesson)
    data = None if body is None else packed.inflate(body)
    assert data is not None and packed.pack(data) == lesson


@pytest.mark.parametrize("case", json.loads((GOLDEN / "deflate.json").read_text()), ids=lambda case: f"{case['kind']}-{case['n']}")
def test_deflate_is_that_of_miniz(case: dict[str, Any]) -> None:
    data = sample(case["kind"], case["n"])
    deflated = deflate(data)
    assert zlib.decompress(deflated, -15) == data
    assert (len(deflated), hashlib.sha256(deflated).hexdigest()) == (case["deflated"], case["sha256"])


def test_large_data_is_deflated_by_zlib() -> None:
    data = sample("words", 100_000)
    body = packed.decode(packed.pack(data))
    assert body is not None and packed.inflate(body) == data


def test_a_linked_document_links_to_the_same_address() -> None:
    for data in [with_everything(), *(Document.read(path).data for path in GALLERY)]:
        address = Document(data).link("https://example.org/page#old")
        assert address.startswith("https://example.org/page#g3.")
        assert Document.from_link(address).link("https://example.org/page") == address


def test_cells_not_measured_stay_so() -> None:
    data = with_everything()
    data["table"][1][2] = None
    assert np.isnan(Document.from_link(Document(data).link()).table[1, 2])


def test_scores_are_rounded_as_rust_rounds() -> None:
    assert [link._round(value) for value in (0.5, -0.5, 1.5, 2.5, 0.49999999999999994, -2.4)] == [1, -1, 2, 3, 0, -2]


@pytest.mark.parametrize(
    ("address", "words"),
    [("#g7.AAAA", "newer"), ("#about", "not contain an explanation"), ("", "not contain an explanation"),
     ("#g2", "damaged"), ("#g3.!!", "damaged"),
     ("#g1.AAAA", "damaged"), (LINKS["-3"][:-9], "damaged"), ("g3." + "A" * (2 << 20), "large"),
     ("g3." + packed.pack(bytes(packed.MAX_INFLATED + 1)), "damaged")],
    ids=range(9),
)  # fmt: skip
def test_whatever_is_no_link_is_refused_with_a_reason(address: str, words: str) -> None:
    with pytest.raises(LinkError, match=words):
        Document.from_link(address)


def test_no_character_of_a_link_can_be_changed_unnoticed() -> None:
    address = Document.from_json(EXAMPLE).link()
    linked = Document.from_link(address)
    rng = random.Random(3)
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for position in range(4, len(address)):
        changed = address[:position] + rng.choice(digits) + address[position + 1 :]
        with contextlib.suppress(ValueError):
            assert Document.from_link(changed) == linked


def test_the_punctuation_after_a_link_is_forgiven() -> None:
    address = Document.from_json(EXAMPLE).link()
    for after in (")", ".", ",", ").", ">", "\u201d", "&utm_source=x"):
        assert Document.from_link(address + after) == Document.from_link(address)


BETWEEN_LINES = ["\n", "\r\n", "\n> ", "\n> > ", " ", "%0A", "%2520", "\u200b", "=\n", "<br>", "-\n", "-\r\n> ", "\u2010\n"]


@pytest.mark.parametrize("between", BETWEEN_LINES)
@pytest.mark.parametrize("after", ["", "\n\nBest regards\nAnn", " (issue #12)", ">"])
def test_a_link_survives_mail_and_chat(between: str, after: str) -> None:
    fragment = Document.from_json(EXAMPLE).link()
    linked = Document.from_link(fragment)
    wrapped = fragment[:8] + between.join(fragment[at : at + 70] for at in range(8, len(fragment), 70)) + after
    for before in ("https://example.org/glasscage/", "See #12: <https://example.org/?a&amp;b", "> "):
        assert Document.from_link(before + wrapped) == linked


@pytest.mark.parametrize("hash", ["%23", "%2523", "&#35;", "&#x23;", "\uff03", "%EF%BC%83"])
def test_link_is_found_by_any_form_of_hash(hash: str) -> None:
    fragment = Document.from_json(EXAMPLE).link()
    for changed in (fragment[1:], fragment[1:].replace("-", "%2D").replace("_", "\\_"), fragment[1:].replace("-", "\u2011")):
        assert Document.from_link(f"See #12: https://example.org/{hash}{changed}") == Document.from_link(fragment)


@pytest.mark.parametrize("scores", [[1e-60, -1e-60], [5.0, 1e-6], [-5.0, -1e-6], [0.0, 1e-9]])
def test_scores_too_small_for_a_link_are_not_zero(scores: list[float]) -> None:
    data = json.loads(EXAMPLE)
    data["table"][0][:2] = scores
    address = Document(data).link()
    linked = Document.from_link(address)
    np.testing.assert_array_equal(np.sign(linked.table[0, :2]), np.sign(scores))
    assert linked.link() == address

"""Checks of documents beyond the schema, as in `Document::check` and `limits` in `crates/core/src/explanation`.

The page rejects documents that these checks reject.
"""

import bisect
from collections.abc import Iterator, Sequence
from typing import Any

from . import schema
from .problems import DocumentError
from .spans import WHITE_SPACE
from .turns import order_of, turns_of
from .version import VERSION

FORMAT = "glasscage-explanation"
LESSON_FORMAT = "glasscage-lesson"
MAX_SENTENCES = 1000
MAX_TEXT = 1 << 20
MAX_TOKENS = 1 << 24
MAX_SCORE = 1e12
MAX_JOINT = 10_000
MAX_NAME = 1 << 12
MAX_GROUP_NAME = 320
MAX_TOKEN_LIST = 1 << 17
MAX_CONTRASTS = 100
MAX_GROUPS = 100
# The page is a 32-bit program. These fields have 64 bits there, too.
_MAX_COUNT = (1 << 32) - 1
_MAX_LARGE_COUNT = (1 << 64) - 1
_LARGE_COUNTS = {"bytes", "parameters", "seed"}


def check(data: Any) -> None:
    """Raises `DocumentError` if the page would not open the document."""
    if isinstance(data, dict) and data.get("format") == LESSON_FORMAT:
        raise DocumentError("this is a lesson, not an explanation document; create a Document from one of its `explanations`")
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise DocumentError("this is not an explanation document")
    version = data.get("version")
    if isinstance(version, int) and version > VERSION:
        raise DocumentError(f"this document has version {version}, newer than this package (version {VERSION})")
    problem = next(schema.problems(data), None) or next(_problems(data), None)
    if problem:
        raise DocumentError(problem)


def check_sentences(count: int) -> None:
    """Raises `DocumentError` if a document cannot have this number of sentences."""
    if count > MAX_SENTENCES:
        raise DocumentError(_too_many(count))


def _too_many(count: int) -> str:
    return f"this document has {count} sentences, more than the {MAX_SENTENCES} that the page shows"


def _problems(data: dict[str, Any]) -> Iterator[str]:
    prompt, generation = data["prompt"], data["generation"]
    n, m = len(prompt["sentences"]), len(generation["sentences"])
    if n + m > MAX_SENTENCES:
        yield _too_many(n + m)
    for name, passage in (("prompt", prompt), ("generation", generation)):
        yield from _of_passage(passage, name)
    yield from _of_turns(data.get("turns", []), n, m)
    for table in (data["table"], data.get("alone"), data.get("flow")):
        if table is not None:
            yield from _of_table(table, n, m)
    if data["method"].get("weighting", "none") == "flow" and data.get("flow") is None:
        yield "this document uses flow weighting but contains no flow data"
    yield from _of_joint(data.get("joint", []), n, m)
    support = data.get("support", [])
    if support and len(support) != m:
        yield f"this document has the support of {len(support)} sentences, but its answer has {m}"
    if any(abs(drop) > MAX_SCORE for drop in support):
        yield f"this document has a score above {MAX_SCORE:g}"
    yield from _of_tokens(data.get("tokens", []), generation)
    yield from _of_contrasts(data.get("contrasts", []), generation, n)
    yield from _of_groups(data.get("groups", []), n, m)
    yield from _of_order(data, n, m)
    tokens = [branch["token"] for branch in data["manifest"]["answer"].get("generated", {}).get("branches", [])]
    if tokens != sorted(set(tokens)):
        yield "the branches of this document's answer are out of order"
    names = _texts({"method": data["method"], "manifest": data["manifest"]})
    if any(_n_bytes(name) > MAX_NAME for name in names):
        yield f"this document has a name of more than {MAX_NAME} bytes"
    output = data["output"]
    if output != sorted(set(output)):
        yield "the explained sentences of this document are repeated or out of order"
    if any(row >= m for row in output):
        yield f"this document explains generated sentence {max(output)}, which it does not have"
    if _exceeds(data, _MAX_COUNT):
        yield "this document has a number that is too large"


def _of_passage(passage: dict[str, Any], name: str) -> Iterator[str]:
    spans, counts = passage["sentences"], passage["tokens"]
    starts = [0, *(end for _, end in spans[:-1])]
    in_order = all(start == expected and end > start for (start, end), expected in zip(spans, starts, strict=True))
    if not in_order or spans[-1][1] != len(passage["text"]) or len(counts) != len(spans):
        yield f"the sentences of this document\u2019s {name} leave gaps or overlap"
    sections = passage.get("sections", [])
    if sections and sum(section["sentences"] for section in sections) != len(spans):
        yield f"the {name} of this document has sections that do not cover its sentences"
    if _n_bytes(passage["text"]) > MAX_TEXT:
        yield f"the {name} of this document has a text of more than {MAX_TEXT} bytes"
    if any(tokens > MAX_TOKENS for tokens in counts):
        yield f"the {name} of this document has a sentence of more than {MAX_TOKENS} tokens"


def _of_turns(turns: list[dict[str, Any]], n: int, m: int) -> Iterator[str]:
    if not turns:
        return
    roles, explained = [turn["role"] for turn in turns], [turn for turn in turns if turn.get("explained")]
    n_explained = sum(turn["sentences"] for turn in explained)
    n_given = sum(turn["sentences"] for turn in turns) - n_explained
    if n_given != n or (explained and n_explained >= m):
        yield "the turns of this document do not cover its sentences"
    if "system" in roles[1:] or roles[-1] != "user":
        yield "the turns of this document are out of order"
    # Nothing comes before the first turn.
    if turns[0].get("explained") or any(turn["role"] != "assistant" for turn in explained):
        yield "this document explains a turn that is not an earlier answer"


def _of_order(data: dict[str, Any], n: int, m: int) -> Iterator[str]:
    """If earlier answers are explained, sentences of the prompt come after them, and have no effect on them."""
    turns = turns_of(data.get("turns", []), n)
    if not any(turn.explained for turn in turns):
        return
    places = {j: place for place, j in enumerate(order_of(turns, n, n + m))}
    problem = "this document has effects of sentences on text before them"

    def has_later(i: int, effects: Sequence[float | None]) -> bool:
        return any(effect and places[j] > places[n + i] for j, effect in enumerate(effects))

    for table in (data["table"], data.get("alone"), data.get("flow")):
        if table is not None and any(has_later(i, row) for i, row in enumerate(table)):
            yield problem
    if any(places[j] > places[n + effect["target"]] for effect in data.get("joint", []) for j in effect["sources"]):
        yield problem
    if any(has_later(len(contrast["effects"]) - n, contrast["effects"]) for contrast in data.get("contrasts", [])):
        yield problem
    for group in data.get("groups", []):
        if any(effect and places[group["sources"][0]] > places[n + i] for i, effect in enumerate(group.get("effects", []))):
            yield problem


def _of_table(table: list[list[float | None]], n: int, m: int) -> Iterator[str]:
    if len(table) != m or any(len(row) != n + m for row in table):
        yield f"this document's table is not for its {n} prompt and {m} generated sentences"
        return
    for i, row in enumerate(table):
        if any(score is not None for score in row[n + i :]):
            yield f"row {i} of the table has a number at or after its own sentence"
        if any(score is not None and abs(score) > MAX_SCORE for score in row):
            yield f"this document has a score above {MAX_SCORE:g}"


def _of_tokens(tokens: list[dict[str, Any]], generation: dict[str, Any]) -> Iterator[str]:
    if tokens and len(tokens) != sum(generation["tokens"]):
        yield f"this document has the probabilities of {len(tokens)} tokens, but its answer has {sum(generation['tokens'])}"
    if len(tokens) > MAX_TOKEN_LIST:
        yield f"this document has the probabilities of more than {MAX_TOKEN_LIST} tokens"
    before = [0, 0]
    for token in tokens:
        (start, end), others = token["span"], token["alternatives"]
        if not (before[0] <= start <= end <= len(generation["text"]) and before[1] <= end):
            yield "the tokens of this document are out of order, or outside its answer"
        before = [start, end]
        numbers = [other["log_probability"] for other in others]
        if numbers != sorted(numbers, reverse=True):
            yield "this document has alternatives of a token that are out of order"
        if any(number < -MAX_SCORE for number in [token["log_probability"], *numbers]):
            yield f"this document has a score above {MAX_SCORE:g}"
        if any(_n_bytes(other["text"]) > MAX_NAME for other in others):
            yield f"this document has a name of more than {MAX_NAME} bytes"


def _of_contrasts(contrasts: list[dict[str, Any]], generation: dict[str, Any], n: int) -> Iterator[str]:
    if len(contrasts) > MAX_CONTRASTS:
        yield f"this document has more than {MAX_CONTRASTS} comparisons of two texts"
    text, ends = generation["text"], [end for _, end in generation["sentences"]]
    for contrast in contrasts:
        (start, end), alternative, effects = contrast["span"], contrast["alternative"], contrast["effects"]
        part = text[start:end]
        visible = len(part) - len(part.lstrip(WHITE_SPACE))
        row = bisect.bisect_right(ends, start + visible)
        is_known = start < end <= len(text) and visible < len(part) and alternative.strip(WHITE_SPACE) and alternative != part
        if not is_known or len(effects) != n + row:
            yield "this document has a comparison that does not fit its answer"
        if any(abs(number) > MAX_SCORE for number in [*contrast["log_probabilities"], *effects]):
            yield f"this document has a score above {MAX_SCORE:g}"
        if _n_bytes(alternative) > MAX_TEXT:
            yield f"this document has a text of more than {MAX_TEXT} bytes"


def _of_groups(groups: list[dict[str, Any]], n: int, m: int) -> Iterator[str]:
    if len(groups) > MAX_GROUPS:
        yield f"this document has more than {MAX_GROUPS} passages"
    reached = 0
    for group in groups:
        (start, end), effects = group["sources"], group.get("effects", [0.0] * m)
        if not (reached <= start < end <= n) or len(effects) != m:
            yield "the passages of this document are out of order, or do not fit its prompt and answer"
        reached = end
        if any(abs(effect) > MAX_SCORE for effect in effects):
            yield f"this document has a score above {MAX_SCORE:g}"
        if _n_bytes(group["name"]) > MAX_GROUP_NAME:
            yield f"this document has a passage with a name of more than {MAX_GROUP_NAME} bytes"


def _of_joint(joint: list[dict[str, Any]], n: int, m: int) -> Iterator[str]:
    if len(joint) > MAX_JOINT:
        yield f"this document has more than {MAX_JOINT} joint effects"
    for effect in joint:
        (j, k), target = effect["sources"], effect["target"]
        if not (target < m and j < k < n + target):
            yield "this document names sources of a joint effect that it does not have"
        if effect["amount"] > MAX_SCORE:
            yield f"this document has a score above {MAX_SCORE:g}"
        if any(_n_bytes(effect.get(words, "")) > MAX_TEXT for words in ("either_is_enough", "only_together")):
            yield f"this document has a text of more than {MAX_TEXT} bytes"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _exceeds(value: Any, limit: int) -> bool:
    """Whether a count in `value` is above `limit`, or above that of its field."""
    if isinstance(value, dict):
        return any(_exceeds(inner, _MAX_LARGE_COUNT if key in _LARGE_COUNTS else limit) for key, inner in value.items())
    if isinstance(value, list):
        return any(_exceeds(inner, limit) for inner in value)
    return isinstance(value, int) and value > limit


def _n_bytes(text: str) -> int:
    return len(text.encode())

"""The prompt in the model's chat template as tokens, and the tokens of an answer, as in `crates/model/src/chat`,
`crates/session/src/prompt.rs` and `crates/session/src/text.rs`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .passage import Passage
from .spans import WHITE_SPACE, Span, first_visible
from .units import Unit, of_answer, units

# Chat templates may print the date. A fixed date, that of Llama 3.1's template, keeps results reproducible.
_DATE = "26 Jul 2024"
# SentencePiece's spelling of a space.
_SPACE = "\u2581"
_STAND_IN = "\ue000\ue001\ue002"
_ROLES = ("system", "user", "assistant")
# Between the turns of a conversation in the text of a document.
BETWEEN_TURNS = "\n\n"
# Delimiters of a thinking section, by model family.
_THOUGHTS = (("<think>", "</think>"), ("[THINK]", "[/THINK]"), ("<|channel>thought", "<channel|>"))


@dataclass(frozen=True)
class Framed:
    """The tokens that the model reads before it answers."""

    ids: list[int]
    parts: list["FramedPart"]
    is_chat: bool
    # The text of the frame after the prompt.
    after: str = ""

    @property
    def start(self) -> int:
        """The position of the prompt's first token."""
        return self.parts[0].start

    @property
    def spans(self) -> list[Span]:
        """The spans of the tokens of the first part."""
        return self.parts[0].spans


@dataclass(frozen=True)
class FramedPart:
    """The tokens of the prompt, or of a turn. The tokens from `start` on are the part's. Each has a span of its text."""

    start: int
    spans: list[Span]


@dataclass(frozen=True)
class PromptPart:
    """The prompt, or a turn of a conversation: its text, and its units if they are known. `role` is `None` if the prompt is one text.
    `is_explained` marks an earlier answer that belongs to the generation."""

    role: str | None
    text: str
    units: Sequence[Span] | None = None
    is_explained: bool = False


@dataclass(frozen=True)
class Answer:
    """The tokens of the answer, each with its span of the text."""

    text: str
    ids: list[int]
    spans: list[Span]


@dataclass(frozen=True)
class BeforeAnswer:
    """The positions of the sentences before an answer that are not questions, for every unit, and the rows of the answer."""

    statements: list[range]
    rows: range


@dataclass(frozen=True)
class SplitText:
    """Prompt and answer split into units. `sources` has the positions of each unit among all tokens, `before_answers` the statements before
    each explained turn and before the last answer, in order. `turns` has the role and the number of units of each turn of a conversation.
    `start` is the position of the first token of the generation, and `spans` has the span of each token from there on; (0, 0) outside."""

    prompt: Passage
    generation: Passage
    sources: list[range]
    before_answers: list[BeforeAnswer]
    start: int
    spans: list[Span]
    turns: list[dict[str, Any]] = field(default_factory=list)

    @property
    def targets(self) -> list[range]:
        """The positions of the generated sentences."""
        return self.sources[len(self.prompt.sentences) :]


def given_text(text: str) -> str:
    """Removes the byte order mark at the start and turns every line end into a line feed, as in `crates/text/src/given.rs`."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def turns_of_messages(messages: Sequence[Mapping[str, str]]) -> list[tuple[str, str]]:
    """Checks the messages of a conversation. Returns role and content of each, without white space at the ends of contents."""
    if isinstance(messages, str) or not all(isinstance(message, Mapping) for message in messages):
        raise ValueError('the conversation is not a list of messages; write each one as {"role": "user", "content": "..."}')
    for number, message in enumerate(messages):
        if not isinstance(message.get("content", ""), str):
            raise ValueError(f"the content of turn {number + 1} of the conversation is not a text; write it as one string")
    turns = [(message.get("role", ""), given_text(message.get("content", "")).strip(WHITE_SPACE)) for message in messages]
    for number, (role, content) in enumerate(turns):
        if role not in _ROLES:
            raise ValueError(f"the conversation has the unknown role {role!r}")
        if not content:
            raise ValueError(f"turn {number + 1} of the conversation is empty")
        if number and role == "system":
            raise ValueError(f"turn {number + 1} of the conversation is a system message, but only the first turn can be one")
    if not turns or turns[-1][0] != "user":
        raise ValueError("the conversation does not end with a turn of the user")
    return turns


def frame(tokenizer: Any, prompt: str, use_template: bool = True) -> Framed:
    """Renders the prompt as one user message without thinking. Uses the plain prompt if the tokenizer has no template or `use_template` is
    false.
    """
    return frame_parts(tokenizer, [PromptPart(None, prompt)], use_template)


def frame_parts(tokenizer: Any, parts: Sequence[PromptPart], use_template: bool = True) -> Framed:
    """Renders a prompt as in `frame`, or the turns of a conversation as messages. A conversation needs a template."""
    if not getattr(tokenizer, "is_fast", False):
        raise ValueError("this needs a fast tokenizer, which knows where in the text its tokens are")
    is_chat = use_template and bool(getattr(tokenizer, "chat_template", None))
    if not is_chat and parts[0].role:
        raise ValueError("a conversation needs a chat template")
    text, places = _in_template(tokenizer, parts) if is_chat else (parts[0].text, [_Place(0, len(parts[0].text), 0)])
    ids, spans = _encode(tokenizer, text)
    begin = tokenizer("")["input_ids"][:1]
    if begin == [tokenizer.bos_token_id] and ids[:1] != begin:
        ids, spans = begin + ids, [(0, 0), *spans]
    control = _control_ids(tokenizer)
    framed = [_framed_part(text, place, spans) for place in places]
    for part in framed:
        if not control.isdisjoint(ids[part.start : part.start + len(part.spans)]):
            raise ValueError("the prompt names a control token of the model, which its text must not become")
    return Framed(ids, framed, is_chat, text[places[-1].end :])


def _framed_part(text: str, place: "_Place", spans: Sequence[Span]) -> FramedPart:
    is_part = [a < b and place.start <= first_visible(text, (a, b)) < place.end for a, b in spans]
    if not any(is_part):
        raise ValueError("the prompt has no token")
    first, last = is_part.index(True), len(spans) - 1 - is_part[::-1].index(True)
    at = place.trimmed - place.start
    return FramedPart(first, [(max(a, place.start) + at, min(b, place.end) + at) for a, b in spans[first : last + 1]])


def after_thought(tokenizer: Any, framed: Framed) -> Framed:
    """Closes the thinking section that the frame opens, so that a given answer is not part of it."""
    ending = next((f"\n{close}\n\n" for opening, close in _THOUGHTS if framed.after.rfind(opening) > framed.after.rfind(close)), "")
    return replace(framed, ids=framed.ids + _encode(tokenizer, ending)[0], after=framed.after + ending) if ending else framed


def given_answer(tokenizer: Any, text: str) -> Answer:
    """Tokenizes a given answer. Raises `ValueError` if its text contains a control token."""
    ids, spans = _encode(tokenizer, text)
    if not _control_ids(tokenizer).isdisjoint(ids):
        raise ValueError("the answer names a control token of the model, which its text must not become")
    return Answer(text, ids, spans)


def generated_answer(tokenizer: Any, context: Sequence[int], ids: Sequence[int]) -> Answer:
    """Decodes the tokens `ids` that the model generated after `context`."""
    # Decode with a few tokens before, so that a space at the start is kept.
    before = list(context[-4:])
    skipped = len(_decode(tokenizer, before))
    texts = [_decode(tokenizer, before + list(ids[: i + 1]))[skipped:] for i in range(len(ids))]
    text = texts[-1] if texts else ""
    spans, end = [], 0
    for partial in texts:
        start = end
        # An incomplete character belongs to the token that completes it. Earlier tokens end where it starts.
        end = max(end, _common_length(partial.rstrip("\ufffd"), text))
        spans.append((start, end))
    return Answer(text, list(ids), [*spans[:-1], (spans[-1][0], len(text))] if spans else [])


def decoded_after(tokenizer: Any, before: Sequence[int], number: int) -> str:
    """Decodes one token as the continuation of `before`. Bytes that are not UTF-8 are U+FFFD."""
    return _decode(tokenizer, [*before, number])[len(_decode(tokenizer, before)) :]


def split(prompt: str, framed: Framed, answer: Answer, unit: Unit = "sentence", of_prompt: Sequence[Span] | None = None) -> SplitText:
    """Splits both texts into units, with the tokens of each. `of_prompt` are the units of the prompt, if they are known."""
    return split_parts([PromptPart(None, prompt, of_prompt)], framed, answer, unit)


def split_parts(parts: Sequence[PromptPart], framed: Framed, answer: Answer, unit: Unit = "sentence") -> SplitText:
    """Splits the parts of a prompt and the answer into units, with the tokens of each. No unit spans two parts."""
    known = [_units_of(part, unit) if part.units is None else part.units for part in parts]
    tokens_of_answer = FramedPart(len(framed.ids), answer.spans)
    pieces = list(zip(parts, framed.parts, known, strict=True))
    of_answer_alone = (PromptPart("assistant", answer.text), tokens_of_answer, units(answer.text, of_answer(unit)))
    prompt, in_prompt, _ = _passage_of_parts([piece for piece in pieces if not piece[0].is_explained])
    answers = [*(piece for piece in pieces if piece[0].is_explained), of_answer_alone]
    generation, in_answers, starts = _passage_of_parts(answers)
    turns = [
        {"role": part.role, "sentences": len(found)} | ({"explained": True} if part.is_explained else {})
        for part, _, found in pieces
        if part.role
    ]
    start = answers[0][1].start
    spans = [(0, 0)] * (len(framed.ids) + len(answer.ids) - start)
    for (_, tokens, _), at in zip(answers, starts, strict=True):
        first = tokens.start - start
        spans[first : first + len(tokens.spans)] = [(at + a, at + b) for a, b in tokens.spans]
    return SplitText(
        prompt,
        generation,
        [*in_prompt, *in_answers],
        _before_answers([*pieces, of_answer_alone]),
        start,
        spans,
        # A conversation of one turn is the same as a prompt.
        turns if len(turns) > 1 else [],
    )


def _before_answers(pieces: Sequence[tuple[PromptPart, FramedPart, Sequence[Span]]]) -> list[BeforeAnswer]:
    """Returns the statements before each explained turn and before the last piece, which is the last answer."""
    of_sentences = [(part, tokens, units(part.text, "sentence")) for part, tokens, _ in pieces[:-1]]
    found, row = list[BeforeAnswer](), 0
    for number, (part, _, of_part) in enumerate(pieces):
        if part.is_explained or number + 1 == len(pieces):
            sentences, in_sentences, _ = _passage_of_parts(of_sentences[:number])
            end = row + len(of_part)
            found.append(BeforeAnswer([in_sentences[j] for j in sentences.statements], range(row, end)))
            row = end
    return found


def _units_of(part: PromptPart, unit: Unit) -> Sequence[Span]:
    """Returns the units of a part. An explained answer is split like the last one."""
    return units(part.text, of_answer(unit) if part.is_explained else unit)


def _passage_of_parts(pieces: Sequence[tuple[PromptPart, FramedPart, Sequence[Span]]]) -> tuple[Passage, list[range], list[int]]:
    """Joins parts, each with its tokens and units, with blank lines between them. Also returns the positions of the tokens of each unit,
    and where each part starts in the text."""
    text, spans, counts, ranges, starts = "", list[Span](), list[int](), list[range](), list[int]()
    for number, (part, tokens, found) in enumerate(pieces):
        written = part.text + (BETWEEN_TURNS if number + 1 < len(pieces) else "")
        starts.append(len(text))
        passage, inside = Passage.from_tokens(written, tokens.spans, found)
        spans += [(len(text) + start, len(text) + end) for start, end in passage.sentences]
        counts += passage.tokens
        ranges += [range(tokens.start + r.start, tokens.start + r.stop) for r in inside]
        text += written
    return Passage(text, tuple(spans), tuple(counts)), ranges, starts


def _control_ids(tokenizer: Any) -> set[int]:
    """The control tokens: those that the tokenizer lists, and those that it only marks as special."""
    marked = getattr(tokenizer, "added_tokens_decoder", {}).items()
    return {*tokenizer.all_special_ids, *(number for number, token in marked if token.special)}


@dataclass(frozen=True)
class _Place:
    """Where a content is in the rendered template, and how many characters the template trimmed at its start."""

    start: int
    end: int
    trimmed: int


def _in_template(tokenizer: Any, parts: Sequence[PromptPart]) -> tuple[str, list[_Place]]:
    """Returns the rendered template, and the places of all contents in it."""
    stand_ins = [f"{_STAND_IN}{number}{_STAND_IN}" if number else _STAND_IN for number in range(len(parts))]
    rest, pieces = _render(tokenizer, parts, stand_ins), list[str]()
    for stand_in in stand_ins:
        before, found, rest = rest.partition(stand_in)
        pieces.append(before)
        if not found:
            raise ValueError("the model's chat template does not repeat every message")
    text, places, end = _render(tokenizer, parts, [part.text for part in parts]), list[_Place](), 0
    for number, (part, before) in enumerate(zip(parts, pieces, strict=True)):
        start = end + len(before)
        after = [*pieces, rest][number + 1]
        place = _place(text, start, part.text, after, number + 1 == len(parts))
        if text[end:start] != before or place is None:
            raise ValueError("the model's chat template changes the prompt")
        places.append(place)
        end = place.end
    return text, places


def _place(text: str, start: int, content: str, after: str, is_last: bool) -> _Place | None:
    """Returns the place of a content that starts there, before `after`. The template may trim its ends."""
    if is_last:
        written = text[start : len(text) - len(after)]
        trimmed = content.find(written)
        is_whole = text.endswith(after) and trimmed >= 0 and written.strip() == content.strip()
        return _Place(start, start + len(written), trimmed) if is_whole else None
    leading = len(content) - len(content.lstrip())
    for trimmed, written in ((0, content), (0, content.rstrip()), (leading, content.lstrip()), (leading, content.strip())):
        if text.startswith(written + after, start):
            return _Place(start, start + len(written), trimmed)
    return None


def _render(tokenizer: Any, parts: Sequence[PromptPart], contents: Sequence[str]) -> str:
    messages = [{"role": part.role or "user", "content": content} for part, content in zip(parts, contents, strict=True)]
    options = {"tokenize": False, "add_generation_prompt": True, "enable_thinking": False, "date_string": _DATE}
    return str(tokenizer.apply_chat_template(messages, **options))


def _encode(tokenizer: Any, text: str) -> tuple[list[int], list[Span]]:
    """Tokenizes a text. White space belongs to the span of the token after it."""
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    ids, spans, reached = list(encoded["input_ids"]), [], 0
    for number, (start, end) in zip(ids, encoded["offset_mapping"], strict=True):
        if tokenizer.convert_ids_to_tokens(number) == _SPACE and text[start:end].strip(WHITE_SPACE):
            # A space that the tokenizer added has an empty span, although its offsets are those of the character after it.
            end = start
        # Byte-level tokenizers leave leading white space out of the offsets.
        is_gap = reached < start and not text[reached:start].strip(WHITE_SPACE)
        spans.append((reached if is_gap else start, end))
        reached = max(reached, end)
    return ids, spans


def _decode(tokenizer: Any, ids: Sequence[int]) -> str:
    return str(tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False))


def _common_length(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))

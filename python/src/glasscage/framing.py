"""The prompt in the model's chat template as tokens, and the tokens of an answer, as in `crates/model/src/chat` and
`crates/session/src/text.rs`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .passage import Passage
from .spans import WHITE_SPACE, Span, first_visible
from .units import Unit, of_answer, units

# Chat templates may print the date. A fixed date, that of Llama 3.1's template, keeps results reproducible.
_DATE = "26 Jul 2024"
# SentencePiece's spelling of a space.
_SPACE = "\u2581"
_STAND_IN = "\ue000\ue001\ue002"
# Delimiters of a thinking section, by model family.
_THOUGHTS = (("<think>", "</think>"), ("[THINK]", "[/THINK]"), ("<|channel>thought", "<channel|>"))


@dataclass(frozen=True)
class Framed:
    """The tokens that the model reads before it answers."""

    ids: list[int]
    # The tokens from `start` on are the prompt's. Each has a span of the prompt.
    start: int
    spans: list[Span]
    is_chat: bool
    # The text of the frame after the prompt.
    after: str = ""


@dataclass(frozen=True)
class Answer:
    """The tokens of the answer, each with its span of the text."""

    text: str
    ids: list[int]
    spans: list[Span]


@dataclass(frozen=True)
class SplitText:
    """Prompt and answer split into units. `sources` has the positions of each unit among all tokens, `statements` those of the prompt's
    sentences that are not questions, whatever the unit."""

    prompt: Passage
    generation: Passage
    sources: list[range]
    statements: list[range]

    @property
    def targets(self) -> list[range]:
        """The positions of the generated sentences."""
        return self.sources[len(self.prompt.sentences) :]


def given_text(text: str) -> str:
    """Removes the byte order mark at the start and turns every line end into a line feed, as in `crates/text/src/given.rs`."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def frame(tokenizer: Any, prompt: str, use_template: bool = True) -> Framed:
    """Renders the prompt as one user message without thinking. Uses the plain prompt if the tokenizer has no template or `use_template` is
    false.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise ValueError("this needs a fast tokenizer, which knows where in the text its tokens are")
    is_chat = use_template and bool(getattr(tokenizer, "chat_template", None))
    text, start, end, trimmed = _in_template(tokenizer, prompt) if is_chat else (prompt, 0, len(prompt), 0)
    ids, spans = _encode(tokenizer, text)
    begin = tokenizer("")["input_ids"][:1]
    if begin == [tokenizer.bos_token_id] and ids[:1] != begin:
        ids, spans = begin + ids, [(0, 0), *spans]
    is_prompt = [span[0] < span[1] and start <= first_visible(text, span) < end for span in spans]
    if not any(is_prompt):
        raise ValueError("the prompt has no token")
    first, last = is_prompt.index(True), len(ids) - 1 - is_prompt[::-1].index(True)
    if not _control_ids(tokenizer).isdisjoint(ids[first : last + 1]):
        raise ValueError("the prompt names a control token of the model, which its text must not become")
    inside = [(max(a, start) - start + trimmed, min(b, end) - start + trimmed) for a, b in spans[first : last + 1]]
    return Framed(ids, first, inside, is_chat, text[end:])


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
    prompt_passage, in_prompt = Passage.from_tokens(prompt, framed.spans, units(prompt, unit) if of_prompt is None else of_prompt)
    generation, in_answer = Passage.from_tokens(answer.text, answer.spans, units(answer.text, of_answer(unit)))
    sentences, in_sentences = Passage.from_tokens(prompt, framed.spans)
    starts = [(framed.start, in_prompt), (len(framed.ids), in_answer)]
    return SplitText(
        prompt_passage,
        generation,
        [range(at + r.start, at + r.stop) for at, ranges in starts for r in ranges],
        [range(framed.start + r.start, framed.start + r.stop) for r in (in_sentences[j] for j in sentences.statements)],
    )


def _control_ids(tokenizer: Any) -> set[int]:
    """The control tokens: those that the tokenizer lists, and those that it only marks as special."""
    marked = getattr(tokenizer, "added_tokens_decoder", {}).items()
    return {*tokenizer.all_special_ids, *(number for number, token in marked if token.special)}


def _in_template(tokenizer: Any, prompt: str) -> tuple[str, int, int, int]:
    """Returns the rendered template, start and end of the prompt in it, and the number of characters that it trimmed at the prompt's start.
    """
    before, _, after = _render(tokenizer, _STAND_IN).partition(_STAND_IN)
    text = _render(tokenizer, prompt)
    written = text[len(before) : len(text) - len(after)]
    trimmed = prompt.find(written)
    if not (text.startswith(before) and text.endswith(after)) or trimmed < 0 or written.strip() != prompt.strip():
        raise ValueError("the model's chat template changes the prompt")
    return text, len(before), len(before) + len(written), trimmed


def _render(tokenizer: Any, prompt: str) -> str:
    message = [{"role": "user", "content": prompt}]
    options = {"tokenize": False, "add_generation_prompt": True, "enable_thinking": False, "date_string": _DATE}
    return str(tokenizer.apply_chat_template(message, **options))


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

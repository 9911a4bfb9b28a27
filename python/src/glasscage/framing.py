"""The prompt in the model's chat frame, as tokens, and the tokens of an answer: what `src/model/chat` and `src/session/text.rs` do."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .passage import Passage
from .spans import WHITE_SPACE, Span, first_visible

# Chat templates may print the date; a fixed one, that of Llama 3.1's template, keeps results reproducible.
_DATE = "26 Jul 2024"
# As SentencePiece writes it.
_SPACE = "\u2581"
_STAND_IN = "\ue000\ue001\ue002"
# What stands before and after a thought, by family.
_THOUGHTS = (("<think>", "</think>"), ("[THINK]", "[/THINK]"), ("<|channel>thought", "<channel|>"))


@dataclass(frozen=True)
class Framed:
    """What the model reads before it answers."""

    ids: list[int]
    # Tokens `start`, `start + 1`, ... are the prompt's; each with its span of the prompt.
    start: int
    spans: list[Span]
    is_chat: bool
    # What its frame ends with.
    after: str = ""


@dataclass(frozen=True)
class Answer:
    """The answer in tokens, each with its span of the text."""

    text: str
    ids: list[int]
    spans: list[Span]


@dataclass(frozen=True)
class SplitText:
    """Prompt and answer as sentences, and which positions each sentence has among all tokens."""

    prompt: Passage
    generation: Passage
    sources: list[range]

    @property
    def targets(self) -> list[range]:
        """The positions of the generated sentences."""
        return self.sources[len(self.prompt.sentences) :]


def given_text(text: str) -> str:
    """A text without the byte order mark at its start, in which every line end is a line feed: what `crates/text/src/given.rs` does."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def frame(tokenizer: Any, prompt: str, use_template: bool = True) -> Framed:
    """The prompt as one message of a user, without thinking; plain where the tokenizer has no template or it is not to be used."""
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
    """The frame with the thought ended that it opens, for an answer that is given: such an answer is no thought."""
    ending = next((f"\n{close}\n\n" for opening, close in _THOUGHTS if framed.after.rfind(opening) > framed.after.rfind(close)), "")
    return replace(framed, ids=framed.ids + _encode(tokenizer, ending)[0], after=framed.after + ending) if ending else framed


def given_answer(tokenizer: Any, text: str) -> Answer:
    """A given text as an answer."""
    ids, spans = _encode(tokenizer, text)
    if not _control_ids(tokenizer).isdisjoint(ids):
        raise ValueError("the answer names a control token of the model, which its text must not become")
    return Answer(text, ids, spans)


def generated_answer(tokenizer: Any, context: Sequence[int], ids: Sequence[int]) -> Answer:
    """What the model generated after `context`."""
    # A few tokens before it, so that no space at its start is lost.
    before = list(context[-4:])
    skipped = len(_decode(tokenizer, before))
    texts = [_decode(tokenizer, before + list(ids[: i + 1]))[skipped:] for i in range(len(ids))]
    text = texts[-1] if texts else ""
    spans, end = [], 0
    for partial in texts:
        start = end
        # A character that is not whole yet belongs to the token that completes it, and to those before it by where it starts.
        end = max(end, _common_length(partial.rstrip("\ufffd"), text))
        spans.append((start, end))
    return Answer(text, list(ids), [*spans[:-1], (spans[-1][0], len(text))] if spans else [])


def split(prompt: str, framed: Framed, answer: Answer) -> SplitText:
    """Both as sentences, with the tokens of each."""
    prompt_passage, of_prompt = Passage.from_tokens(prompt, framed.spans)
    generation, of_answer = Passage.from_tokens(answer.text, answer.spans)
    starts = [(framed.start, of_prompt), (len(framed.ids), of_answer)]
    return SplitText(prompt_passage, generation, [range(at + r.start, at + r.stop) for at, ranges in starts for r in ranges])


def _control_ids(tokenizer: Any) -> set[int]:
    """Control tokens: those that the tokenizer lists, and those that it only marks as special."""
    marked = getattr(tokenizer, "added_tokens_decoder", {}).items()
    return {*tokenizer.all_special_ids, *(number for number, token in marked if token.special)}


def _in_template(tokenizer: Any, prompt: str) -> tuple[str, int, int, int]:
    """The rendered template, where the prompt stands in it, and how many characters the template trimmed at the prompt's start."""
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
    """Tokens with their spans, in which white space belongs to the token after it."""
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    ids, spans, reached = list(encoded["input_ids"]), [], 0
    for number, (start, end) in zip(ids, encoded["offset_mapping"], strict=True):
        if tokenizer.convert_ids_to_tokens(number) == _SPACE and text[start:end].strip(WHITE_SPACE):
            # A space that the tokenizer added covers nothing, though its offsets are those of the character after it.
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

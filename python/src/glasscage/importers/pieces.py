"""Tokens as tools print them, and the texts that they represent."""

import codecs
import functools
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

from ..spans import WHITE_SPACE, Span

_SPACE = "\u2581"
_BYTE = re.compile("<0x([0-9A-F]{2})>")
# Replacement character for an incomplete character.
_PART = "\ufffd"
_Decoder = Callable[[str], bytes]
Located = tuple[str, list[Span]]


def texts_of(
    prompt_tokens: Sequence[str], generation_tokens: Sequence[str], prompt: str | None, generation: str | None
) -> tuple[Located, Located]:
    """Returns the texts of prompt and answer with the span of each token.

    The spelling of the tokens is determined from both together, because an answer of one word has no mark of a space. A spelling whose text
    contains `prompt` or `generation` is preferred, because some tools print the two differently.
    """
    decoders = _decoders([prompt_tokens, generation_tokens])
    return _text(prompt_tokens, prompt, "prompt", decoders), _text(generation_tokens, generation, "generation", decoders)


def _text(tokens: Sequence[str], part: str | None, name: str, decoders: Sequence[_Decoder]) -> Located:
    found = [_decoded(tokens, decoder) for decoder in decoders]
    if part is not None:
        wanted = _visible(part)
        restored = (_restored(text, spans, wanted) for text, spans in found)
        contain = (located for located in found if wanted in _visible(located[0]))
        return next(contain, None) or next(filter(None, restored), found[0])
    whole = next((located for located in found if _PART not in located[0]), None)
    if whole is None:
        raise ValueError(f"some tokens are parts of characters, which do not tell the text: give it as `{name}=`")
    return whole


def text_of(tokens: Sequence[str]) -> Located:
    """Returns the text of tokens as named by a tokenizer (`Ġhas`, `▁has`, `<0x0A>`) or as plain pieces, and the span of each.

    A character that consists of several tokens belongs to the last of them.
    """
    return _decoded(tokens, _decoders([tokens])[0])


def _decoded(tokens: Sequence[str], decoder: _Decoder) -> Located:
    pieces = list(map(decoder, tokens))
    whole = b"".join(pieces)
    text = whole.decode(errors="replace")
    # Number of complete characters after each number of bytes.
    ends = _whole_characters(whole)
    spans, length, start = [], 0, 0
    for piece in pieces:
        length += len(piece)
        end = min(ends[length], len(text))
        spans.append((start, end))
        start = end
    return text, spans


def located(text: str, spans: Sequence[Span], part: str | None) -> tuple[str, list[Span], list[int]]:
    """Selects the tokens of `text` that cover `part`, such as the prompt inside its chat template. Returns `part`, spans in it, and token
    indices.

    Without `part`, selects all tokens. White space is not compared, because some tools omit it from tokens. The tokens may also be words of
    `part` with other words between them, such as the values of a template.
    """
    if part is None:
        return text, list(spans), list(range(len(spans)))
    places = [at for at, c in enumerate(part) if c not in WHITE_SPACE]
    # Number of visible characters before each position of the text.
    visible = [0, *itertools.accumulate(c not in WHITE_SPACE for c in text)]
    start = _visible(text).find(_visible(part))
    if not places or start < 0:
        scattered = _scattered([text[a:b].strip() for a, b in spans], part)
        if not places or scattered is None:
            raise ValueError("the tokens do not contain this text")
        return part, scattered, list(range(len(spans)))
    ranges = [(visible[a] - start, visible[b] - start) for a, b in spans]
    inside = [i for i, (a, b) in enumerate(ranges) if a < b and a < len(places) and b > 0]
    found, end = [], 0
    for a, b in ranges[inside[0] : inside[-1] + 1]:
        # White space and parts of characters start where the token before them ends.
        begin = places[max(a, 0)] if a < b else end
        end = places[min(b, len(places)) - 1] + 1 if a < b else end
        found.append((begin, end))
    return part, found, list(range(inside[0], inside[-1] + 1))


def _scattered(words: Sequence[str], part: str) -> list[Span] | None:
    """Finds these words in `part`, in order. Returns `None` if one is missing."""
    found, at = [], 0
    for word in words:
        as_word = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)").search(part, at)
        start = as_word.start() if as_word else part.find(word, at)
        if start < 0:
            return None
        at = start + len(word)
        found.append((start, at))
    return found if any(words) else None


def _restored(text: str, spans: Sequence[Span], wanted: str) -> Located | None:
    """Replaces parts of characters in the text by the characters of `wanted`. Returns `None` if the result would not contain `wanted`."""
    places = [at for at, c in enumerate(text) if c not in WHITE_SPACE]
    visible = _visible(text)
    if _PART not in visible or not wanted:
        return None
    for start, c in enumerate(visible):
        if c in (wanted[0], _PART) and (characters := _aligned(visible[start:], wanted)) is not None:
            instead = {places[start + at]: character for at, character in characters.items()}
            pieces = ["".join(instead.get(at, text[at]) for at in range(a, b)) for a, b in spans]
            edges = [0, *itertools.accumulate(map(len, pieces))]
            return "".join(pieces), list(itertools.pairwise(edges))
    return None


def _aligned(visible: str, wanted: str) -> dict[int, str] | None:
    """Assigns a character or nothing to each part of a character in `visible`, so that it begins with `wanted`. A character belongs to its
    last part.
    """
    # Maps each possible number of consumed characters of `wanted` to the parts that lead there, as a linked list from the last one back.
    ways: dict[int, Any] = {0: None}
    for at, c in enumerate(visible):
        if len(wanted) in ways and c != _PART:
            break
        longer: dict[int, Any] = {}
        for n, way in sorted(ways.items(), key=lambda item: item[0]):
            if c == _PART:
                longer.setdefault(n, (at, "", way))
                if n < len(wanted) and not wanted[n].isascii():
                    longer.setdefault(n + 1, (at, wanted[n], way))
            elif wanted[n : n + 1] == c:
                longer[n + 1] = way
        ways = longer
    if len(wanted) not in ways:
        return None
    found, way = {}, ways[len(wanted)]
    while way is not None:
        at, character, way = way
        found[at] = character
    return found


def _visible(text: str) -> str:
    return "".join(c for c in text if c not in WHITE_SPACE)


def _decoders(lists: Sequence[Sequence[str]]) -> list[_Decoder]:
    """Returns the possible spellings of these tokens, most likely first."""
    tokens = [token for some in lists for token in some]
    if any(_SPACE in token or _BYTE.fullmatch(token) for token in tokens):
        return [_sentence_piece, str.encode]
    if any("\u0120" in token or "\u010a" in token for token in tokens) or any(map(_spells_bytes, lists)):
        return [_byte_level, str.encode]
    return [str.encode]


def _spells_bytes(tokens: Sequence[str]) -> bool:
    """Whether non-ASCII characters are names of bytes, which is the case if the bytes are UTF-8. "ü" alone is not, "Ã¼" is."""
    text = "".join(tokens)
    table = _byte_of_character()
    if text.isascii() or not all(c in table for c in text):
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(bytes(table[c] for c in text))
    except UnicodeDecodeError:
        return False
    return True


def _byte_level(token: str) -> bytes:
    """Decodes GPT-2's names of bytes."""
    table = _byte_of_character()
    return bytes(table[c] for c in token) if all(c in table for c in token) else token.encode()


def _sentence_piece(token: str) -> bytes:
    byte = _BYTE.fullmatch(token)
    return bytes([int(byte[1], 16)]) if byte else token.replace(_SPACE, " ").encode()


@functools.cache
def _byte_of_character() -> dict[str, int]:
    """GPT-2's names of bytes: printable bytes are themselves, the others follow from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


def _whole_characters(data: bytes) -> list[int]:
    """Returns the number of complete characters after each number of bytes. A broken character counts as one."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    counts = [0]
    for byte in data:
        counts.append(counts[-1] + len(decoder.decode(bytes([byte]))))
    return counts

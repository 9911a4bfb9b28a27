"""`explain`: generates an answer with a causal language model from Hugging Face, and measures its attribution table with Pert. or CLP.

The method is that of `crates/attribution`: end tokens replace each sentence in turn, and one teacher-forced pass measures how much less
likely every later generated sentence becomes. All passes have the same length, so a batch needs no padding.
"""

import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from .checks import check_sentences
from .document import Document
from .framing import (
    BETWEEN_TURNS,
    Answer,
    Framed,
    PromptPart,
    SplitText,
    after_thought,
    decoded_after,
    frame_parts,
    generated_answer,
    given_answer,
    given_text,
    split_parts,
    turns_of_messages,
)
from .graph import Array, causal_mask
from .groups import citation_marks
from .manifest import manifest
from .passages import MAX_PASSAGES, NamedPassage, cut, passages
from .punkt import sentences
from .scoring import Scorer
from .spans import first_visible
from .tokens import MAX_ALTERNATIVES
from .units import UNITS, Unit, of_answer, units, unmarked

METHODS = ("pert", "clp")
EARLIER_ANSWERS = ("explained", "given")
EarlierAnswers = Literal["explained", "given"]


def explain(
    model: Any,
    tokenizer: Any,
    prompt: str | None = None,
    *,
    conversation: Sequence[Mapping[str, str]] | None = None,
    earlier_answers: EarlierAnswers = "explained",
    answer: str | None = None,
    method: str = "pert",
    unit: Unit = "sentence",
    max_tokens: int = 256,
    use_template: bool = True,
    batch_size: int = 8,
    progress: bool = True,
) -> Document:
    """Measures which sentences an answer depends on. Generates the answer to `prompt` greedily in the model's chat template, or uses
    `answer`.

    `model` is a causal language model of transformers, `tokenizer` its fast tokenizer. `method` is `pert`, the drop of log-probability, or
    `clp`, the divergence of the predictions. The tokenizer needs an end token, which replaces sentences. In both texts, a byte order mark
    at the start is removed, and every line end becomes a line feed. The answer ends where the model's context does. Longer texts raise
    `ValueError`.

    The cost is n + m + 1 forward passes for n prompt and m generated sentences. Each named passage and each explained earlier answer adds
    one pass. `unit="word"` takes n + m.

    `unit` is what a source of the prompt is: `sentence`, `word`, `line`, `paragraph` (lines without a blank line between them), `section`
    (a Markdown heading with the text up to the next one), or `bracket` (a part between `[[` and `]]`, which the model does not read; other
    text by sentence). `word` and `line` also split the answer. With the other units, the answer has sentences.

    `conversation` has messages with `role` (`system`, `user`, or `assistant`) and `content`, in place of `prompt`. The last one is the
    user's. Each sentence of every message is a source, also of earlier answers. The chat template renders the messages.

    `earlier_answers` says what the assistant's messages are: with `explained`, each of their sentences also gets a row of the table, so
    that one document explains every answer of the conversation. With `given`, they are only sources. A first message is always given.

    The document names the model as its GGUF file does. Other models have the name in `model.config.name_or_path`.
    """
    if earlier_answers not in EARLIER_ANSWERS:
        raise ValueError(f"earlier answers are none of {', '.join(EARLIER_ANSWERS)}: {earlier_answers!r}")
    if method not in METHODS:
        raise ValueError(f"the method {method!r} is none of {', '.join(METHODS)}")
    if unit not in UNITS:
        raise ValueError(f"the unit {unit!r} is none of {', '.join(UNITS)}")
    for name, number in (("max_tokens", max_tokens), ("batch_size", batch_size)):
        if number < 1:
            raise ValueError(f"{name} is {number}, but it must be at least 1")
    end_token = tokenizer.eos_token_id
    if end_token is None:
        raise ValueError("the tokenizer has no end token to replace sentences with; set tokenizer.eos_token")
    parts, named = _parts(prompt, conversation, unit, earlier_answers == "explained")
    # Check before the model runs. A generated answer has at least one sentence.
    n_prompt = sum(len(part.units or ()) for part in parts)
    check_sentences(n_prompt + (1 if answer is None else len(units(given_text(answer), of_answer(unit)))))
    framed = frame_parts(tokenizer, parts, use_template)
    if answer is None:
        # Leave room for at least one token of the answer.
        _check_length(model, len(framed.ids) + 1)
        found, how = _generate(model, tokenizer, framed, max_tokens)
    else:
        framed = after_thought(tokenizer, framed)
        found, how = given_answer(tokenizer, given_text(answer)), {"given": {}}
        _check_length(model, len(framed.ids) + len(found.ids))
    if not found.text.strip():
        # If the model's numbers overflow, the answer may end at once. `Scorer` then raises a clearer error.
        Scorer(model, framed.ids, len(framed.ids) - 1, lambda _: "last of the prompt")
        raise ValueError("the answer is empty")
    text = split_parts(parts, framed, found, unit)
    groups = _groups(parts, named, text, framed)
    check_sentences(len(text.prompt.sentences) + len(text.generation.sentences))
    if not text.start:
        raise ValueError("no token comes before the first explained answer")
    scorer = Scorer(model, framed.ids + found.ids, text.start, lambda number: text.generation.text[slice(*text.spans[number])])
    table, n_passes = _table(scorer, text, end_token, method, batch_size, progress)
    blanked, names = [positions for _, positions in groups], [passage.name for of_part in named for passage in of_part]
    n_passes += sum(map(bool, blanked))
    effects = _group_effects(scorer, blanked, _claims(text, names), text.start, end_token, batch_size)
    return Document.make(
        text.prompt,
        text.generation,
        table,
        unit=unit,
        turns=text.turns,
        support=[] if unit == "word" else _support(scorer, text, end_token),
        tokens=_tokens(scorer, tokenizer, text, framed, found),
        groups=[group | {"effects": of_group} for (group, _), of_group in zip(groups, effects, strict=True)],
        method={"id": method, "replacement": str(tokenizer.eos_token), "passes": [n_passes, n_passes]},
        manifest=manifest(
            model=_name(model.config),
            architecture=str(model.config.model_type),
            parameters=sum(weights.numel() for weights in model.parameters()),
            precision=str(model.dtype).removeprefix("torch.").replace("bfloat", "bf").replace("float", "f"),
            backend=f"transformers-{model.device.type}",
            template="chat" if framed.is_chat else "none",
            answer=how,
        ),
    )


def _parts(
    prompt: str | None, conversation: Sequence[Mapping[str, str]] | None, unit: Unit, explains: bool
) -> tuple[list[PromptPart], list[list[NamedPassage]]]:
    """Returns the prompt, or the turns of the conversation, with their units. If `explains`, answers after the first turn are explained.
    Also returns the named passages of each."""
    if (prompt is None) == (conversation is None):
        raise ValueError("give either a prompt or a conversation")
    turns = [(None, given_text(prompt or ""))] if conversation is None else turns_of_messages(conversation)
    if conversation is None and not sentences(turns[0][1]):
        raise ValueError("the prompt is empty; write a question")
    explained = [explains and role == "assistant" and number > 0 for number, (role, _) in enumerate(turns)]
    split = [
        (text, units(text, of_answer(unit))) if is_answer else unmarked(text) if unit == "bracket" else (text, units(text, unit))
        for (_, text), is_answer in zip(turns, explained, strict=True)
    ]
    # Answers of the model have no passages: they cite.
    named = [[] if role == "assistant" else passages(text) for (role, _), (text, _) in zip(turns, split, strict=True)]
    names = [passage.name.lower() for of_part in named for passage in of_part]
    if len(names) > MAX_PASSAGES or len(set(names)) < len(names):
        last = max(number for number, of_part in enumerate(named) if of_part)
        named = [of_part if number == last else [] for number, of_part in enumerate(named)]
    found = [cut(text, of_text, of_part) for (text, of_text), of_part in zip(split, named, strict=True)]
    known = zip(turns, split, found, explained, strict=True)
    return [PromptPart(role, text, of_part, is_answer) for (role, _), (text, _), of_part, is_answer in known], named


def _context_length(model: Any) -> int:
    """Returns how many tokens the model can read. There is no limit if its configuration does not say."""
    return getattr(model.config, "max_position_embeddings", None) or sys.maxsize


def _check_length(model: Any, n_tokens: int) -> None:
    """Raises `ValueError` if the model cannot read this number of tokens, as in `crates/session/src/problems.rs`."""
    limit = _context_length(model)
    if n_tokens > limit:
        raise ValueError(
            f"prompt and answer have {n_tokens} tokens, {n_tokens - limit} more than the {limit} that this model can read; "
            "shorten the prompt, or choose a model with a longer context"
        )


def _generate(model: Any, tokenizer: Any, framed: Framed, max_tokens: int) -> tuple[Answer, dict[str, Any]]:
    """Generates the greedy answer. Returns it without its end token, and how it was generated."""
    import torch
    from transformers import GenerationConfig

    ends = {tokenizer.eos_token_id, *_as_list(getattr(model.generation_config, "eos_token_id", None))} - {None}
    # Use a new configuration, because the model's own may sample or penalize repetition.
    greedy = GenerationConfig(
        do_sample=False,
        num_beams=1,
        max_new_tokens=min(max_tokens, _context_length(model) - len(framed.ids)),
        eos_token_id=sorted(ends),
        pad_token_id=tokenizer.eos_token_id,
    )
    ids = torch.tensor([framed.ids], device=model.device)
    with torch.inference_mode():
        made = model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=greedy)[0, len(framed.ids) :].tolist()
    has_ended = bool(made) and made[-1] in ends
    how = {
        "generated": {
            "sampling": {"temperature": 0.0, "top_k": None, "top_p": None, "seed": 0},
            "max_tokens": max_tokens,
            "stop": "end" if has_ended else "length",
        }
    }
    return generated_answer(tokenizer, framed.ids, made[:-1] if has_ended else made), how


def _table(scorer: Scorer, text: SplitText, end_token: int, method: str, batch_size: int, progress: bool) -> tuple[Array, int]:
    """Measures **T**. Also returns the number of passes. Sources without a token need no pass, and score 0. So do sources that come after a
    generated sentence in the text."""
    n, m = len(text.prompt.sentences), len(text.generation.sentences)
    table = np.where(causal_mask(n, m), 0.0, np.nan)
    # The last generated sentence influences no other sentence.
    columns = [j for j, source in enumerate(text.sources[:-1]) if source]
    effects = scorer.effects([text.sources[j] for j in columns], end_token, method, batch_size)
    for j, effect in zip(columns, _watched(effects, len(columns), progress), strict=True):
        for i in range(max(0, j + 1 - n), m):
            target = text.targets[i]
            is_before = bool(target) and text.sources[j].start < target.start
            table[i, j] = effect[target.start - text.start : target.stop - text.start].mean() if is_before else 0.0
    return table, len(columns)


def _support(scorer: Scorer, text: SplitText, end_token: int) -> list[float]:
    """Measures how much less likely the most affected token of each generated sentence becomes without all statements before its answer, in
    nats."""
    support, start = [0.0] * len(text.targets), text.start
    blanked = [[position for statement in before.statements for position in statement] for before in text.before_answers]
    effects = scorer.effects([positions for positions in blanked if positions], end_token, "pert", 1)
    for before in (before for before, positions in zip(text.before_answers, blanked, strict=True) if positions):
        effect = next(effects)
        for i in before.rows:
            target = text.targets[i]
            support[i] = float(effect[target.start - start : target.stop - start].max()) if target else 0.0
    return support


def _groups(
    parts: Sequence[PromptPart], named: Sequence[Sequence[NamedPassage]], text: SplitText, framed: Framed
) -> list[tuple[dict[str, Any], range]]:
    """Returns the named passages of each part as groups of prompt sentences, each with the positions of its tokens, without those of its
    name.
    """
    visible = [first_visible(text.prompt.text, span) for span in text.prompt.sentences]
    groups, at = [], 0
    for part, tokens, of_part in zip(parts, framed.parts, named, strict=True):
        if part.is_explained:
            continue
        for passage in of_part:
            sources = [j for j, first in enumerate(visible) if at + passage.span[0] <= first < at + passage.span[1]]
            if not sources:
                continue
            after_name = tokens.start + sum(first_visible(part.text, span) < passage.mark[1] for span in tokens.spans)
            positions = range(max(text.sources[sources[0]].start, after_name), max(text.sources[sources[-1]].stop, after_name))
            groups.append(({"name": passage.name, "kind": "passage", "sources": [sources[0], sources[-1] + 1]}, positions))
        at += len(part.text) + len(BETWEEN_TURNS)
    return groups


def _claims(text: SplitText, names: list[str]) -> list[list[int]]:
    """Returns the positions of the tokens of each generated sentence, without those of its citations of passages with these names."""
    generation = text.generation.text
    marks = [mark.span for mark in citation_marks(names, generation)]

    def is_of_mark(position: int) -> bool:
        start, end = text.spans[position - text.start]
        visible = first_visible(generation, (start, end))
        return any(first < end and visible < last for first, last in marks)

    return [[position for position in target if not is_of_mark(position)] for target in text.targets]


def _group_effects(
    scorer: Scorer, groups: list[range], claims: list[list[int]], start: int, end_token: int, batch_size: int
) -> list[list[float]]:
    """Measures how much less likely each claim becomes without each group, in nats per token; 0 for a claim before the group."""
    drops = scorer.effects([positions for positions in groups if positions], end_token, "pert", batch_size)
    effects = []
    for positions in groups:
        drop = next(drops) if positions else None
        means = [
            0.0 if drop is None or not claim or claim[0] < positions.start else float(drop[[p - start for p in claim]].mean())
            for claim in claims
        ]
        effects.append(means)
    return effects


def _tokens(scorer: Scorer, tokenizer: Any, text: SplitText, framed: Framed, found: Answer) -> list[dict[str, Any]]:
    """Returns the tokens of all generated sentences with their probabilities, as in `crates/session/src/tokens.rs`."""
    log_probs, ranked, ranked_log_probs = scorer.predictions(MAX_ALTERNATIVES + 1)
    # Decode after another token, so that a space at the start is kept.
    before = framed.ids[framed.start : framed.start + 1]
    tokens, reached, ids = [], (0, 0), (framed.ids + found.ids)[text.start :]
    for number in (position - text.start for target in text.targets for position in target):
        start, end = text.spans[number]
        reached = (max(start, reached[0]), max(end, reached[1])) if start < end else (reached[1], reached[1])
        others = [
            {"text": decoded_after(tokenizer, before, token), "log_probability": _rounded(log_prob)}
            for token, log_prob in zip(ranked[number], ranked_log_probs[number], strict=True)
            if token != ids[number] and np.isfinite(log_prob)
        ]
        token = {"span": list(reached), "log_probability": _rounded(log_probs[number]), "alternatives": others[:MAX_ALTERNATIVES]}
        tokens.append(token)
    return tokens


def _rounded(log_prob: float) -> float:
    """A log-probability of six decimals, at most 0. Models compute less precisely."""
    return min(0.0, round(float(log_prob), 6)) + 0.0


def _watched(passes: Any, total: int, progress: bool) -> Any:
    """Returns the passes, with a progress bar if one is requested and tqdm is installed."""
    if not progress:
        return passes
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return passes
    return tqdm(passes, total=total, desc="passes", unit="pass")


def _name(config: Any) -> str:
    """The name of the model in its GGUF file, or its Hub name, or only the folder name, because the full path is private."""
    # transformers stores `general.name` of a GGUF file here.
    if name := getattr(config, "_model_name_or_path", ""):
        return str(name)
    name_or_path = str(getattr(config, "name_or_path", ""))
    path = pathlib.Path(name_or_path)
    return path.resolve().name if path.is_dir() else name_or_path


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]

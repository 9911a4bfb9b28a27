"""Tests the producer without torch: with a tokenizer of words, and a scorer that knows the effect of each sentence."""

import re
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from conftest import GOLDEN, ROOT, assert_same_tokens

from glasscage import Document, DocumentError
from glasscage.framing import (
    Answer,
    PromptPart,
    after_thought,
    frame,
    frame_parts,
    generated_answer,
    given_answer,
    given_text,
    split,
    split_parts,
    turns_of_messages,
)
from glasscage.passages import passages
from glasscage.producer import _claims, _group_effects, _groups, _name, _parts, _support, _table, _tokens, explain

STORIES = ROOT / "tests/golden/stories260k/stories260k-f32.gguf"
DEMO = ROOT / "tests/fixtures/models/demo.gguf"


class WordTokenizer:
    """Tokens are words with the space before them. As in byte-level tokenizers, offsets exclude the space. `<s>` and `</s>` are control
    tokens.
    """

    is_fast = True
    bos_token_id = 0
    eos_token_id: int | None = 1
    all_special_ids = (0, 1)
    chat_template = "frame"

    def __init__(self, adds_bos: bool = False) -> None:
        self.words = ["<s>", "</s>"]
        self.adds_bos = adds_bos

    def __call__(self, text: str, add_special_tokens: bool = True, **_: Any) -> dict[str, Any]:
        matches = list(re.finditer(r"</?s>|\s*(?:[^\s<]+|<(?!/?s>))|\s+", text))
        for match in matches:
            if match.group() not in self.words:
                self.words.append(match.group())
        offsets = [(match.end() - len(match.group().lstrip()), match.end()) for match in matches]
        ids = [self.words.index(match.group()) for match in matches]
        return {"input_ids": [0] * (self.adds_bos and add_special_tokens) + ids, "offset_mapping": offsets}

    def apply_chat_template(self, messages: list[dict[str, str]], **options: Any) -> str:
        assert options["add_generation_prompt"] and not options["enable_thinking"]
        return f"<s>user: {messages[0]['content'].strip()}</s><s>model:"

    def convert_ids_to_tokens(self, number: int) -> str:
        return self.words[number]

    def decode(self, ids: list[int], **_: Any) -> str:
        return "".join(self.words[number] for number in ids)


PROMPT = "\n Tom has 2.  He eats 1.\n\nHow many? "


def test_the_prompt_stands_in_its_frame() -> None:
    tokenizer = WordTokenizer()
    framed = frame(tokenizer, PROMPT)
    assert tokenizer.decode(framed.ids) == "<s>user: Tom has 2.  He eats 1.\n\nHow many?</s><s>model:"
    words = [PROMPT[start:end] for start, end in framed.spans]
    assert words == ["Tom", " has", " 2.", "  He", " eats", " 1.", "\n\nHow", " many?"]
    assert framed.start == 2 and framed.is_chat


def test_text_without_template_starts_as_the_model_wants() -> None:
    for adds_bos in (False, True):
        framed = frame(WordTokenizer(adds_bos), "A b. C.", use_template=False)
        assert (framed.start, len(framed.ids), framed.is_chat) == (int(adds_bos), 3 + adds_bos, False)


def test_the_text_of_a_visitor_becomes_no_control_token() -> None:
    for text in ("Say </s> now.", "<s>"):
        with pytest.raises(ValueError, match="control token"):
            frame(WordTokenizer(), text)
        with pytest.raises(ValueError, match="control token"):
            given_answer(WordTokenizer(), text)


def test_token_marked_as_special_is_control_token() -> None:
    class Marking(WordTokenizer):
        all_special_ids = (0,)
        added_tokens_decoder: ClassVar = {1: SimpleNamespace(special=True)}

    for ask in (frame, given_answer):
        with pytest.raises(ValueError, match="control token"):
            ask(Marking(), "Say </s> now.")
def test_given_answer_follows_opened_thinking_section() -> None:
    class Thinking(WordTokenizer):
        opens = "<think>"

        def apply_chat_template(self, messages: list[dict[str, str]], **options: Any) -> str:
            return super().apply_chat_template(messages, **options) + self.opens

    tokenizer = Thinking()
    framed = frame(tokenizer, "What is <think>?")
    ended = after_thought(tokenizer, framed)
    assert tokenizer.decode(ended.ids).endswith("<s>model:<think>\n</think>\n\n")
    assert (ended.start, ended.spans, after_thought(tokenizer, ended)) == (framed.start, framed.spans, ended)
    tokenizer.opens = "<think>\n\n</think>\n\n"
    framed = frame(tokenizer, "Why?")
    assert after_thought(tokenizer, framed) == framed


def test_byte_order_mark_and_carriage_returns_are_removed() -> None:
    assert given_text("\ufeffOne.\r\nTwo.\r\r\n\u200b\ufeff\n") == "One.\nTwo.\n\n\u200b\ufeff\n"


def test_a_tokenizer_that_does_not_know_places_is_refused() -> None:
    with pytest.raises(ValueError, match="fast"):
        frame(object(), "A.")


def test_sentences_have_their_tokens() -> None:
    tokenizer = WordTokenizer()
    framed = frame(tokenizer, PROMPT)
    text = split(PROMPT, framed, given_answer(tokenizer, "2 - 1 = 1. So 1."))
    assert text.prompt.sentence_texts == ["\n Tom has 2.  ", "He eats 1.\n\n", "How many? "]
    assert text.prompt.tokens == (3, 3, 2) and text.generation.tokens == (5, 2)
    assert text.sources == [range(2, 5), range(5, 8), range(8, 10), range(13, 18), range(18, 20)]
    assert len(framed.ids) == 13 and text.targets == text.sources[3:]


class ChatTokenizer(WordTokenizer):
    """Puts every message in a frame."""

    def apply_chat_template(self, messages: list[dict[str, str]], **options: Any) -> str:
        assert options["add_generation_prompt"]
        return "".join(f"<s>{message['role']}: {message['content'].strip()}</s>" for message in messages) + "<s>model:"


CONVERSATION = [
    {"role": "system", "content": " Be brief. Go.\n"},
    {"role": "user", "content": "Tom has 2."},
    {"role": "assistant", "content": "So 2."},
    {"role": "user", "content": "He eats 1. How many?"},
]


def test_turns_have_tokens_and_sentences_of_their_own() -> None:
    tokenizer = ChatTokenizer()
    parts = [PromptPart(role, text) for role, text in turns_of_messages(CONVERSATION)]
    framed = frame_parts(tokenizer, parts)
    words = tokenizer.decode(framed.ids)
    assert words == (
        "<s>system: Be brief. Go.</s><s>user: Tom has 2.</s><s>assistant: So 2.</s><s>user: He eats 1. How many?</s><s>model:"
    )
    text = split_parts(parts, framed, given_answer(tokenizer, "So 1."))
    assert text.prompt.text == "Be brief. Go.\n\nTom has 2.\n\nSo 2.\n\nHe eats 1. How many?"
    assert text.prompt.sentence_texts == ["Be brief. ", "Go.\n\n", "Tom has 2.\n\n", "So 2.\n\n", "He eats 1. ", "How many?"]
    assert [tokenizer.decode([framed.ids[k] for k in source]) for source in text.sources[:6]] == [
        " Be brief.",
        " Go.",
        " Tom has 2.",
        " So 2.",
        " He eats 1.",
        " How many?",
    ]
    assert text.turns == [{"role": role, "sentences": n} for role, n in (("system", 2), ("user", 1), ("assistant", 1), ("user", 2))]
    assert [(len(before.statements), before.rows) for before in text.before_answers] == [(5, range(len(text.targets)))]


def test_explained_answers_belong_to_generation() -> None:
    class Scorer:
        def effects(self, edits: list[range], *_: Any) -> Any:
            self.edits = edits
            yield from (np.arange(1.0, 20.0) + 100 * edit.start for edit in edits)

    tokenizer, scorer = ChatTokenizer(), Scorer()
    turns = turns_of_messages(CONVERSATION)
    parts = [PromptPart(role, text, is_explained=role == "assistant") for role, text in turns]
    framed, found = frame_parts(tokenizer, parts), given_answer(tokenizer, "So 1. Yes.")
    text = split_parts(parts, framed, found)
    assert text.prompt.text == "Be brief. Go.\n\nTom has 2.\n\nHe eats 1. How many?"
    assert text.generation.sentence_texts == ["So 2.\n\n", "So 1. ", "Yes."]
    assert [turn.get("explained", False) for turn in text.turns] == [False, False, True, False]
    ids = framed.ids + found.ids
    spelled = [tokenizer.decode([ids[k] for k in source]).strip() for source in text.sources]
    assert spelled == ["Be brief.", "Go.", "Tom has 2.", "He eats 1.", "How many?", "So 2.", "So 1.", "Yes."]
    assert text.start == text.targets[0].start and len(text.spans) == len(ids) - text.start
    assert [text.generation.text[slice(*text.spans[k - text.start])].strip() for k in text.targets[1]] == ["So", "1."]
    assert [(len(before.statements), before.rows) for before in text.before_answers] == [(3, range(0, 1)), (5, range(1, 3))]
    table, n_passes = _table(scorer, text, 1, "pert", 8, False)  # type: ignore[arg-type]
    assert n_passes == 7 and list(table[0, :5] > 0) == [True, True, True, False, False] and (table[1, :6] > 0).all()
    claims = [list(target) for target in text.targets]
    effects = _group_effects(scorer, [text.sources[3]], claims, text.start, 1, 8)  # type: ignore[arg-type]
    assert effects[0][0] == 0.0 and min(effects[0][1:]) > 0.0


def test_first_answer_is_given() -> None:
    messages = [{"role": "assistant", "content": "Hello. Who?"}, *CONVERSATION[1:]]
    parts, _ = _parts(None, messages, "bracket", True)
    assert [part.is_explained for part in parts] == [False, False, True, False]
    with pytest.raises(ValueError, match="explained, given: 'both'"):
        explain(None, ChatTokenizer(), conversation=messages, earlier_answers="both")  # type: ignore[arg-type]


def test_conversation_of_one_turn_is_a_prompt() -> None:
    tokenizer = ChatTokenizer()
    framed = frame_parts(tokenizer, [PromptPart("user", "Tom has 2.")])
    assert framed == frame(tokenizer, "Tom has 2.")
    assert split_parts([PromptPart("user", "Tom has 2.")], framed, given_answer(tokenizer, "So.")).turns == []


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "end with a turn of the user"),
        (CONVERSATION[:3], "end with a turn of the user"),
        ([*CONVERSATION, CONVERSATION[0], CONVERSATION[1]], "turn 5 .* only the first"),
        ([{"role": "user", "content": " "}], "turn 1 of the conversation is empty"),
        ([{"role": "tool", "content": "x"}], "unknown role 'tool'"),
        ("User: hi", "not a list of messages"),
        (["hi"], "not a list of messages"),
        ([*CONVERSATION[:1], {"role": "user", "content": None}], "content of turn 2 .* not a text"),
        ([{"role": "user", "content": [{"type": "text", "text": "Hi"}]}], "content of turn 1 .* not a text"),
    ],
)
def test_conversations_that_cannot_be_asked_are_refused(messages: list[dict[str, str]], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        turns_of_messages(messages)


def test_template_must_repeat_every_message() -> None:
    parts = [PromptPart(role, text) for role, text in turns_of_messages(CONVERSATION)]
    with pytest.raises(ValueError, match="does not repeat every message"):
        frame_parts(WordTokenizer(), parts)
    with pytest.raises(ValueError, match="needs a chat template"):
        frame_parts(ChatTokenizer(), parts, use_template=False)
    with pytest.raises(ValueError, match="control token"):
        frame_parts(ChatTokenizer(), [PromptPart("user", "Say </s>."), *parts[2:]])
    with pytest.raises(ValueError, match="either a prompt or a conversation"):
        explain(None, ChatTokenizer())


def test_answer_keeps_first_space_and_whole_characters() -> None:
    class Bytes:
        def decode(self, ids: list[int], **_: Any) -> str:
            return bytes(ids).decode(errors="replace")

    answer = generated_answer(Bytes(), b"model:", " Ë\u20ac.".encode())
    assert answer.text == " Ë\u20ac."
    assert answer.spans == [(0, 1), (1, 1), (1, 2), (2, 2), (2, 2), (2, 3), (3, 4)]
    assert generated_answer(Bytes(), b"model:", b"") == Answer("", [], [])


def test_scores_are_means_over_target_tokens() -> None:
    class Scorer:
        def effects(self, edits: list[range], *_: Any) -> Any:
            self.edits = edits
            yield from (np.arange(7.0) + 100 * edit.start for edit in edits)

    tokenizer, scorer = WordTokenizer(), Scorer()
    framed = frame(tokenizer, PROMPT)
    text = split(PROMPT, framed, given_answer(tokenizer, "2 - 1 = 1. So 1."))
    table, n_passes = _table(scorer, text, 1, "pert", 8, False)  # type: ignore[arg-type]
    assert scorer.edits == text.sources[:-1] and n_passes == 4
    nan = np.nan
    expected = [[202.0, 502.0, 802.0, nan, nan], [205.5, 505.5, 805.5, 1305.5, nan]]
    np.testing.assert_array_equal(table, expected)


def test_tokens_have_alternatives_other_than_themselves() -> None:
    class Scorer:
        def predictions(self, most: int) -> Any:
            ranked = [[self.ids[k], *range(2, 1 + most)] for k in range(7)]
            return np.full(7, 1e-9), ranked, np.array([[0.0, -1.0, -2.0, -3.0, -4.0, -np.inf]] * 7)

    tokenizer, scorer = WordTokenizer(), Scorer()
    framed = frame(tokenizer, PROMPT)
    found = given_answer(tokenizer, "2 - 1 = 1. So 1.")
    scorer.ids = found.ids  # type: ignore[attr-defined]
    tokens = _tokens(scorer, tokenizer, split(PROMPT, framed, found), framed, found)  # type: ignore[arg-type]
    assert "".join(found.text[slice(*token["span"])] for token in tokens) == found.text and len(tokens) == 7
    others = [(other["text"], other["log_probability"]) for other in tokens[0]["alternatives"]]
    assert others == [(tokenizer.words[k], 1.0 - k) for k in range(2, 6)]
    assert all(token["log_probability"] == 0.0 for token in tokens)


@pytest.mark.parametrize("answer", [None, "2.\n" * 500])
def test_too_many_sentences_fail_before_model_runs(answer: str | None) -> None:
    prompt = "Go.\n" * (1000 if answer is None else 501)
    with pytest.raises(DocumentError, match="has 1001 sentences"):
        explain(None, WordTokenizer(), prompt, answer=answer)


@pytest.mark.parametrize(("prompt", "options", "words"), [
    ("", {}, "prompt is empty; write a question"),
    (" \n", {}, "prompt is empty"),
    ("Why?", {"batch_size": 0}, "batch_size is 0, but it must be at least 1"),
    ("Why?", {"batch_size": -1}, "batch_size is -1"),
    ("Why?", {"max_tokens": 0}, "max_tokens is 0"),
])  # fmt: skip
def test_wrong_arguments_are_named(prompt: str, options: dict[str, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        explain(None, WordTokenizer(), prompt, **options)  # type: ignore[arg-type]


def test_tokenizer_without_end_token_is_refused() -> None:
    tokenizer = WordTokenizer()
    tokenizer.eos_token_id = None
    with pytest.raises(ValueError, match="no end token"):
        explain(None, tokenizer, PROMPT)


@pytest.mark.parametrize(("answer", "context"), [(None, 13), ("So 1.", 14)])
def test_text_beyond_context_fails_before_model_runs(answer: str | None, context: int) -> None:
    # The prompt has 13 tokens in its frame, and the answer needs at least one more.
    model = SimpleNamespace(config=SimpleNamespace(max_position_embeddings=context))
    excess = r"prompt and answer have 1\d tokens, 1 more than the 1\d that this model can read; shorten the prompt"
    with pytest.raises(ValueError, match=excess):
        explain(model, WordTokenizer(), PROMPT, answer=answer)


def test_document_names_model_as_its_gguf_file(tmp_path: Any) -> None:
    assert _name(SimpleNamespace(_model_name_or_path="Glasscage demo", name_or_path="demo")) == "Glasscage demo"
    assert _name(SimpleNamespace(name_or_path="Qwen/Qwen3-0.6B")) == "Qwen/Qwen3-0.6B"
    assert _name(SimpleNamespace(name_or_path=str(tmp_path))) == tmp_path.name


def test_support_is_the_largest_drop_without_all_statements() -> None:
    class Scorer:
        def effects(self, edits: list[list[int]], *_: Any) -> Any:
            self.edits = edits
            yield np.arange(7.0)

    tokenizer, scorer = WordTokenizer(), Scorer()
    prompt = "Zoë has 2 figs. How many does she have?"
    framed = frame(tokenizer, prompt)
    text = split(prompt, framed, given_answer(tokenizer, "2 - 1 = 1. So 1."))
    assert _support(scorer, text, 1) == [4.0, 6.0]  # type: ignore[arg-type]
    assert scorer.edits == [list(text.sources[0])]


@pytest.mark.parametrize("question", ["", "Who?"])
def test_support_of_each_answer_is_without_statements_before_it(question: str) -> None:
    class Scorer:
        def effects(self, edits: list[list[int]], *_: Any) -> Any:
            self.edits = edits
            yield from (np.arange(50.0) * scale for scale in (1, 10))

    tokenizer, scorer = ChatTokenizer(), Scorer()
    turns = [("user", question or "Tom has 2."), ("assistant", "Yes. Really?"), ("user", "Ann has 3. And Bob?")]
    parts = [PromptPart(role, text, is_explained=role == "assistant") for role, text in turns]
    framed = frame_parts(tokenizer, parts)
    found = given_answer(tokenizer, "Bob has 4. So 9.")
    text, ids = split_parts(parts, framed, found), framed.ids + found.ids
    support = _support(scorer, text, 1)  # type: ignore[arg-type]
    blanked = [tokenizer.decode([ids[position] for position in edit]) for edit in scorer.edits]
    # A question is blanked only if everything before the answer is a question.
    assert blanked == ([" Who?", " Yes. Ann has 3."] if question else [" Tom has 2.", " Tom has 2. Yes. Ann has 3."])
    # The last token of each sentence has the largest drop: in the first pass for the first answer, and in the second one for the last.
    ends = [target.stop - 1 - text.start for target in text.targets]
    assert support == [ends[0], ends[1], 10 * ends[2], 10 * ends[3]]


def test_support_of_last_answer_is_same_with_earlier_answers_given() -> None:
    given, explained = (Document.read(GOLDEN / f"demo-{name}.json").support for name in ("conversation", "explained"))
    assert given is not None and explained is not None
    np.testing.assert_array_equal(explained[-len(given) :], given)


def test_group_effects_leave_out_names_and_citations() -> None:
    class Scorer:
        def effects(self, edits: list[range], *_: Any) -> Any:
            self.edits = edits
            yield from (np.arange(7.0) * scale for scale in (1, 10))

    tokenizer, scorer = WordTokenizer(), Scorer()
    prompt = "Read.\n[1] Zoë has 2 figs.\nShe eats 1.\n[2] Bob\n\nWho?"
    framed, found = frame(tokenizer, prompt), given_answer(tokenizer, "Zoë has 1 [1]. So does Bob.")
    text, named = split(prompt, framed, found), passages(prompt)
    groups = _groups([PromptPart(None, prompt)], [named], text, framed)
    assert [group for group, _ in groups] == [
        {"name": "1", "kind": "passage", "sources": [1, 3]},
        {"name": "2", "kind": "passage", "sources": [3, 4]},
    ]
    ids = framed.ids + found.ids
    assert [tokenizer.decode([ids[p] for p in positions]).strip() for _, positions in groups] == ["Zoë has 2 figs.\nShe eats 1.", "Bob"]
    claims = _claims(text, [passage.name for passage in named])
    assert [tokenizer.decode([ids[p] for p in claim]).strip() for claim in claims] == ["Zoë has 1", "So does Bob."]
    positions = [positions for _, positions in groups]
    effects = _group_effects(scorer, [*positions, range(3, 3)], claims, len(framed.ids), 1, 8)  # type: ignore[arg-type]
    assert (scorer.edits, effects) == (positions, [[1.0, 5.0], [10.0, 50.0], [0.0, 0.0]])


@pytest.mark.parametrize("method", ["pert", "clp"])
@pytest.mark.parametrize("wrong", ["base", "variant"])
def test_nan_prediction_names_its_token(method: str, wrong: str) -> None:
    torch = pytest.importorskip("torch", reason="GLASSCAGE_LIVE=1 pytest")
    from glasscage.scoring import Scorer

    class Model:
        device, dtype = "cpu", torch.float16
        n_calls = 0

        def forward(self, **_: Any) -> Any: ...

        def __call__(self, input_ids: Any, **_: Any) -> Any:
            self.n_calls += 1
            logits = torch.zeros(*input_ids.shape, 5)
            if (self.n_calls == 1) == (wrong == "base"):
                logits[:, 2] = float("nan")
            return SimpleNamespace(logits=logits)

    def score() -> None:
        scorer = Scorer(Model(), [0, 1, 2, 3], 2, lambda number: ["six", "seven"][number])
        list(scorer.effects([range(0, 1)], 4, method, 8))

    with pytest.raises(ValueError, match=r"'seven' is not a number: .* float16"):
        score()


@pytest.mark.parametrize(("earlier_answers", "file"), [("given", "demo-conversation"), ("explained", "demo-explained")])
def test_conversation_measured_by_transformers_is_that_of_the_engine(earlier_answers: str, file: str, tmp_path: Any) -> None:
    import json
    import os
    import subprocess

    program = os.environ.get("GLASSCAGE_BIN")
    if not program:
        pytest.skip("cargo xtask test")
    recorded = Document.read(GOLDEN / f"{file}.json")
    contents = ["".join(recorded.sources[j] for j in turn.sentences).strip() for turn in recorded.turns]
    messages = [{"role": turn.role, "content": content} for turn, content in zip(recorded.turns, contents, strict=True)]
    target = tmp_path / "explanation.json"
    asked = ["--conversation", "--prompt", json.dumps(messages), "--method", "pert", "--max-tokens", "60", "--json", str(target)]
    asked += ["--earlier-answers", earlier_answers]
    subprocess.run([program, "explain", "--model", str(DEMO), *asked], check=True, capture_output=True)
    measured = Document.read(target)
    assert (measured.prompt, measured.generation, measured.turns) == (recorded.prompt, recorded.generation, recorded.turns)
    np.testing.assert_allclose(measured.table, recorded.table, atol=1e-4, rtol=0)
    assert measured.support is not None and recorded.support is not None
    np.testing.assert_allclose(measured.support, recorded.support, atol=1e-4, rtol=0)
    assert_same_tokens(measured, recorded)


@pytest.mark.parametrize("method", ["pert", "clp"])
def test_what_transformers_measured_is_what_the_engine_measures(method: str, tmp_path: Any) -> None:
    import os
    import subprocess

    program = os.environ.get("GLASSCAGE_BIN")
    if not program:
        pytest.skip("cargo xtask test")
    recorded = Document.read(GOLDEN / f"stories-{method}.json")
    target = tmp_path / "explanation.json"
    asked = ["--prompt", recorded.prompt.text, "--method", method, "--max-tokens", "60", "--json", str(target)]
    subprocess.run([program, "explain", "--model", str(STORIES), *asked], check=True, capture_output=True)
    measured = Document.read(target)
    assert (measured.prompt, measured.generation) == (recorded.prompt, recorded.generation)
    np.testing.assert_allclose(measured.table, recorded.table, atol=1e-4, rtol=0)
    assert_same_tokens(measured, recorded)


def test_passages_that_transformers_measured_are_those_of_the_engine(tmp_path: Any) -> None:
    import os
    import subprocess

    program = os.environ.get("GLASSCAGE_BIN")
    if not program:
        pytest.skip("cargo xtask test")
    recorded = Document.read(GOLDEN / "stories-passages.json")
    target = tmp_path / "explanation.json"
    asked = ["--prompt", recorded.prompt.text, "--method", "pert", "--max-tokens", "60", "--json", str(target)]
    subprocess.run([program, "explain", "--model", str(STORIES), *asked], check=True, capture_output=True)
    measured = Document.read(target)
    assert (measured.prompt, measured.generation) == (recorded.prompt, recorded.generation)
    assert measured.data["method"] == recorded.data["method"]
    np.testing.assert_allclose(measured.table, recorded.table, atol=1e-4, rtol=0)
    assert [(group.name, group.sources) for group in measured.groups] == [(group.name, group.sources) for group in recorded.groups]
    for found, expected in zip(measured.groups, recorded.groups, strict=True):
        assert found.effects is not None and expected.effects is not None
        np.testing.assert_allclose(found.effects, expected.effects, atol=1e-4, rtol=0)
    assert measured.citations() == recorded.citations()

"""Byte-level BPE with the Qwen2 pre-tokenizer (single digits), trained on generated problems."""

from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from draw import Draw
from problem import Problem
from problems import training_problem

VOCAB_SIZE = 4096
END_OF_TEXT, IM_START, IM_END = 0, 1, 2
SPECIAL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
QWEN2_PATTERN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CHAT_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def qwen2_tokenizer(model: models.BPE) -> Tokenizer:
    """`model` behind the Qwen2 pre-tokenizer and the byte-level alphabet."""
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(QWEN2_PATTERN), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])  # fmt: skip
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def train_tokenizer(path: Path, problem_count: int = 60_000) -> Tokenizer:
    """Trains on a fixed sample of the training mix and writes `tokenizer.json`."""
    tokenizer = qwen2_tokenizer(models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB_SIZE,
        special_tokens=[AddedToken(token, special=True) for token in SPECIAL_TOKENS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    draw = Draw("tokenizer")
    sample = (training_problem(draw) for _ in range(problem_count))
    roles = ["system\n", "user\n", "assistant\n"] * 1000
    tokenizer.train_from_iterator([f"{p.prompt}\n{p.answer_text}" for p in sample] + roles, trainer)
    tokenizer.save(str(path))
    return tokenizer


class ChatEncoder:
    """Problems as token ids in the ChatML format."""

    def __init__(self, tokenizer: Tokenizer):
        self.tokenizer = tokenizer
        self.opening = [IM_START, *self._ids("user\n")]
        self.turn = [IM_END, *self._ids("\n"), IM_START, *self._ids("assistant\n")]

    def _ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def prompt_ids(self, sentences: list[str], blanked: frozenset[int] = frozenset()) -> list[int]:
        """The prompt with the `blanked` sentences replaced by as many end tokens (the page's perturbation)."""
        ids = list(self.opening)
        for i, sentence in enumerate(sentences):
            sentence_ids = self._ids(sentence if i == 0 else " " + sentence)
            ids += [IM_END] * len(sentence_ids) if i in blanked else sentence_ids
        return ids + self.turn

    def answer_ids(self, problem: Problem) -> list[int]:
        return [*self._ids(problem.answer_text), IM_END]

    def decode(self, ids: list[int]) -> str:
        return self.tokenizer.decode(ids, skip_special_tokens=True)

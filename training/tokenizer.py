"""Byte-level BPE with SmolLM's pre-tokenizer (it splits numbers into digits), and the chat format."""

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from problem import Problem

END_OF_TEXT, IM_START, IM_END = 0, 1, 2
SPECIAL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
CHAT_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def smollm_tokenizer(model: models.BPE) -> Tokenizer:
    """Builds a tokenizer from `model`, the byte-level alphabet, and the pre-tokenizer that llama.cpp calls smollm."""
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
    ])  # fmt: skip
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL_TOKENS])
    return tokenizer


class ChatEncoder:
    """Encodes problems as token ids in the ChatML format."""

    def __init__(self, tokenizer: Tokenizer):
        self.tokenizer = tokenizer
        self.opening = [IM_START, *self._ids("user\n")]
        self.turn = [IM_END, *self._ids("\n"), IM_START, *self._ids("assistant\n")]

    def _ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def prompt_ids(self, sentences: list[str], blanked: frozenset[int] = frozenset()) -> list[int]:
        """Returns the prompt ids. Each token of the `blanked` sentences is replaced with an end token, as in the page's perturbations."""
        ids = list(self.opening)
        for i, sentence in enumerate(sentences):
            sentence_ids = self._ids(sentence if i == 0 else " " + sentence)
            ids += [IM_END] * len(sentence_ids) if i in blanked else sentence_ids
        return ids + self.turn

    def answer_ids(self, problem: Problem) -> list[int]:
        return [*self._ids(problem.answer_text), IM_END]

    def decode(self, ids: list[int]) -> str:
        return self.tokenizer.decode(ids, skip_special_tokens=True)

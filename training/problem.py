"""A problem: the prompt sentences, the answer sentences, and the prompt sentences that the answer needs."""

from dataclasses import dataclass

from draw import Draw
from words import FILLERS

UNRELATED = "Unrelated sentence."


@dataclass
class Problem:
    """One problem. A single space joins the sentences. The last answer sentence is usually "The answer is N."."""

    task: str  # arithmetic | everyday | lookup | facts | sum
    steps: int  # operations, hops, or facts to list
    distractors: str  # none | unrelated | rival | mixed
    sentences: list[str]
    answer: list[str]
    relevant: list[int]  # indices into `sentences`

    @property
    def prompt(self) -> str:
        return " ".join(self.sentences)

    @property
    def answer_text(self) -> str:
        return " ".join(self.answer)

    @property
    def irrelevant(self) -> list[int]:
        return [i for i in range(len(self.sentences)) if i not in self.relevant]


def unrelated_sentences(draw: Draw, count: int) -> list[str]:
    """Returns `count` times the paper's "Unrelated sentence." or, in a quarter of cases, a harmless remark."""
    return [draw.choice(FILLERS) if draw.random() < 0.25 else UNRELATED for _ in range(count)]


def insert(draw: Draw, sentences: list[str], extra: list[str], rivals: list[str]) -> tuple[list[str], list[int]]:
    """Inserts distractors before the question, which is the last sentence. Rivals keep their order and come after the first sentence.
    Returns all sentences and the indices of the needed ones."""
    tagged = [(sentence, True) for sentence in sentences]
    for sentence in extra:
        tagged.insert(draw.randint(0, len(tagged) - 1), (sentence, False))
    position = 1
    for sentence in rivals:
        position = draw.randint(position, len(tagged) - 1)
        tagged.insert(position, (sentence, False))
        position += 1
    return [sentence for sentence, _ in tagged], [i for i, (_, needed) in enumerate(tagged) if needed]

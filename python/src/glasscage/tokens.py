"""How likely the model found each generated token, and what it might have written in its place. As in
`crates/core/src/explanation/tokens.rs`.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Alternative:
    """Another token in the place of a generated one."""

    text: str
    log_probability: float

    @property
    def probability(self) -> float:
        """p at temperature 1, between 0 and 1."""
        return math.exp(self.log_probability)


@dataclass(frozen=True)
class Token:
    """A generated token. `span` is its half-open span of the generation in code points, `log_probability` is in nats at temperature 1.
    `alternatives` are the most likely other tokens in its place, the most likely first.
    """

    text: str
    span: tuple[int, int]
    log_probability: float
    alternatives: tuple[Alternative, ...]

    @property
    def probability(self) -> float:
        """p at temperature 1, between 0 and 1."""
        return math.exp(self.log_probability)

    @property
    def rivalry(self) -> float | None:
        """ln of the ratio p(runner-up) / p(token), in nats. `None` without alternatives."""
        return self.alternatives[0].log_probability - self.log_probability if self.alternatives else None

    @property
    def is_fork(self) -> bool:
        """Whether the runner-up has at least half the probability of the token."""
        return self.rivalry is not None and self.rivalry >= -math.log(2.0)


@dataclass(frozen=True)
class Branch:
    """An alternative that was chosen in place of a token. As in `crates/core/src/explanation/branch.rs`.

    `token` is the 0-based index of the token among those of all generated sentences. `rank` is the place of the alternative among the most
    likely other tokens: 1 is the most likely one.
    """

    token: int
    rank: int
    text: str


MAX_ALTERNATIVES = 5


def tokens_of(generation: Mapping[str, Any], data: Sequence[Mapping[str, Any]]) -> list[list[Token]]:
    """The tokens of each generated sentence. Empty lists if there are no tokens."""
    text = generation["text"]
    tokens = iter(
        Token(
            text[slice(*token["span"])],
            (token["span"][0], token["span"][1]),
            float(token["log_probability"]),
            tuple(Alternative(other["text"], float(other["log_probability"])) for other in token["alternatives"]),
        )
        for token in data
    )
    return [list(itertools.islice(tokens, count)) for count in generation["tokens"]]


def forks(tokens: Sequence[Token]) -> list[int]:
    """The forks among the tokens (0-based), the closest first: smallest absolute rivalry. The page marks the first three."""
    found = [number for number, token in enumerate(tokens) if token.is_fork]
    return sorted(found, key=lambda number: abs(tokens[number].rivalry or 0.0))

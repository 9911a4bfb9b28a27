"""Makes random choices of words, wordings and tense. A part of each is reserved for the held-out problems."""

import re
from random import Random

from words import EDIBLE_BY_USE, NAMES_BY_USE, THINGS_BY_USE, invented_word

# The share of invented words, by whether the problem is held out. Training has more invented things than the held-out problems have,
# because copying new words is what the model finds hardest.
INVENTED_NAMES = {True: 0.3, False: 0.3}
INVENTED_THINGS = {True: 0.15, False: 0.25}
_ALTERNATIVES = re.compile(r"\[([^\[\]]*)\]")
_TENSES = re.compile(r"\(([^()/]*)/([^()]*)\)")


class Draw(Random):
    """A random generator for training problems or for held-out problems.

    With `held_out`, names and things come from the reserved ones. With `new_wordings`, a text with reserved alternatives uses one of
    them, and `used_new_wording` becomes True. `past` is the tense of the current problem."""

    def __init__(self, seed, held_out: bool = False, new_wordings: bool = False):
        super().__init__(seed)
        self.held_out, self.new_wordings = held_out, new_wordings
        self.past = self.used_new_wording = False

    def begin(self):
        """Chooses the tense of a new problem."""
        self.past = self.random() < 0.4
        self.used_new_wording = False

    def say(self, text: str) -> str:
        """Expands "[a|b~c]" to a or b, or to the reserved c, and expands "(has/had)" by tense."""
        while "[" in text:
            text = _ALTERNATIVES.sub(self._alternative, text)
        return _TENSES.sub(lambda match: match[2 if self.past else 1], text)

    def _alternative(self, match: re.Match) -> str:
        seen, _, new = match[1].partition("~")
        if new and self.new_wordings:
            self.used_new_wording = True
            seen = new
        return self.choice(seen.split("|"))

    def weighted(self, mix: dict):
        """Chooses one key of `mix` at random. The values are the weights."""
        return self.choices(list(mix), weights=list(mix.values()))[0]

    def names(self, count: int) -> list[str]:
        """Chooses `count` different first names. Some are invented."""
        names: list[str] = []
        while len(names) < count:
            invented = self.random() < INVENTED_NAMES[self.held_out]
            name = invented_word(self).capitalize() if invented else self.choice(NAMES_BY_USE[self.held_out])
            if name not in names:
                names.append(name)
        return names

    def things(self, count: int, edible: bool = False) -> list[tuple[str, str]]:
        """Chooses `count` different countable things as (singular, plural). Some are invented."""
        known = (EDIBLE_BY_USE if edible else THINGS_BY_USE)[self.held_out]
        things: list[tuple[str, str]] = []
        while len(things) < count:
            if self.random() < INVENTED_THINGS[self.held_out]:
                word = invented_word(self)
                thing = (word, word + ("es" if word[-1] in "sxh" else "s"))
            else:
                thing = self.choice(known)
            if thing not in things:
                things.append(thing)
        return things

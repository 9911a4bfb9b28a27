"""Generates stories: a person has something, and one to four events change how many. A sentence tells one or more events.

A story is a list of events on quantities, so the program can compute its answer. The wording combines phrases for the verb, the amount,
the time and the links between sentences. Phrases are written as in `Draw.say`. `#` is the amount, `{O}` the other person, `{him}` and
`{his}` the pronouns of the subject.
"""

from dataclasses import dataclass

from draw import Draw
from numbers_in_words import in_words
from problem import Problem, insert
from templates import remarks
from words import DATA, pronouns

LARGEST = 199

# "gain food" and so on -> alternatives. "any" covers every kind of thing except food and money.
PHRASES = dict(line.split(": ", 1) for line in (DATA / "phrases.txt").read_text().splitlines() if not line.startswith("#"))
TIMES = PHRASES["time"].split("|")
PARTS = {2: "half of", 3: "a third of", 4: "a quarter of"}
CURRENCIES = ["dollars", "dollars", "euros", "pounds", "cents", "coins"]


@dataclass
class Event:
    """One event: the amount, its sign and its text. `text` is a clause without a subject, unless `with_subject` is set."""

    text: str
    sign: int  # +1 gains, -1 loses
    amount: int
    part: int = 0  # 2, 3, 4: a half, a third, a quarter of the current number
    with_subject: bool = False


class Story:
    """A story that is being generated."""

    def __init__(self, draw: Draw):
        draw.begin()
        self.draw = draw
        self.kind = draw.weighted({"any": 0.62, "food": 0.2, "money": 0.18})
        self.name, self.other, self.third = draw.names(3)
        self.forms = pronouns(self.name)
        (_, self.things), (_, self.rival) = draw.things(2, edible=self.kind == "food")
        if self.kind == "money":
            self.things = draw.choice(CURRENCIES)
        self.dollar = self.kind == "money" and self.things == "dollars" and draw.random() < 0.5
        self.spelled = draw.random() < 0.25
        self.lent: int | None = None  # the amount that the other person received from this person
        self.lost: int | None = None

    def amount(self, number: int, sign: int, spelled: bool) -> str:
        """Returns an amount in words: "5", "5 more", "5 of them", "another 5 apples"."""
        if self.dollar:
            return self.draw.choice((f"${number}", f"${number}", f"${number} more" if sign > 0 else f"${number}"))
        n = in_words(number) if spelled and number <= 20 else str(number)
        things = self.things if number != 1 else "one"
        forms = [n, f"{n} {things}", f"{n} {things}"]
        if self.kind == "money":
            forms = [f"{n} {things}", f"{n} {things}", f"{n} more {things}" if sign > 0 else f"{n} {things}"]
        elif sign > 0:
            forms += [f"{n} more", f"{n} more {things}", f"another {n}", f"another {n} {things}"]
        else:
            forms += [f"{n} of them", f"{n} of the {things}", f"{n} of {self.forms['his']} {things}"]
        return self.draw.choice(forms)

    def say(self, text: str) -> str:
        text = self.draw.say(self.draw.choice(_split(text)))
        for slot, word in (
            ("{O}", self.other),
            ("{N}", self.name),
            ("{X}", self.things),
            *((f"{{{k}}}", v) for k, v in self.forms.items()),
        ):
            text = text.replace(slot, word)
        return text

    def event(self, value: int) -> Event:
        """Chooses an event that is possible with `value` things."""
        draw = self.draw
        if self.lent and draw.random() < 0.6:
            amount, self.lent = draw.randint(1, self.lent), None
            if value + amount <= LARGEST:
                return Event(self.say(PHRASES["other returns"]), 1, max(amount, 2), with_subject=True) if amount > 1 else self.event(value)
        if self.lost and self.lost > 2 and draw.random() < 0.4:
            amount, self.lost = draw.randint(2, self.lost), None
            if value + amount <= LARGEST:
                return Event(self.say(PHRASES["find again"]), 1, amount)
        factors = [f for f in PARTS if value % f == 0 and value >= 2 * f]
        if factors and draw.random() < 0.15:
            part = draw.choice(factors)
            return Event(self.say(PHRASES[f"lose {self.kind}"]), -1, value // part, part=part)
        if (draw.random() < 0.52 or value > 150) and value >= 3:
            amount = draw.randint(2, min(value - 1, 15 if draw.random() < 0.5 else 60))
            if draw.random() < 0.25:
                self.lent = amount
                return Event(self.say(PHRASES["give"]), -1, amount)
            self.lost = amount
            return Event(self.say(PHRASES[f"lose {self.kind}"]), -1, amount)
        amount = draw.randint(2, max(2, min(LARGEST - value, 15 if draw.random() < 0.5 else 60)))
        how = draw.random()
        if how < 0.15:
            return Event(self.say(PHRASES["other gives"]), 1, amount, with_subject=True)
        return Event(self.say(PHRASES["receive"] if how < 0.3 else PHRASES[f"gain {self.kind}"]), 1, amount)

    def tell(self, event: Event, spelled: bool) -> str:
        """Returns the clause of an event with its amount."""
        if event.part:
            whole = self.draw.choice(("them", f"the {self.things}", f"{self.forms['his']} {self.things}"))
            return event.text.replace("#", f"{PARTS[event.part]} {whole}")
        return event.text.replace("#", self.amount(event.amount, event.sign, spelled))


def _split(text: str) -> list[str]:
    """Splits phrases at each "|" outside brackets."""
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if letter == "|" and not depth:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def story(draw: Draw, steps: int) -> Problem:
    """Makes a story of `steps` events about one person."""
    s = Story(draw)
    start = value = draw.randint(3, 60) if draw.random() < 0.85 else draw.randint(61, 150)
    events, values = [], [value]
    for _ in range(steps):
        event = s.event(value)
        value += event.sign * event.amount
        events.append(event)
        values.append(value)
    opening = s.say(PHRASES["money start"] if s.kind == "money" else PHRASES["start"]).replace("#", _start_amount(s, start))
    clauses = [s.tell(event, s.spelled) for event in events]
    sentences = _package(s, f"{s.name} {opening}", events, clauses)
    answer = [f"{s.name} {s.draw.say('(has/had)')} {_plain(s, start)}."]
    for event, clause, before, after in zip(events, clauses, values, values[1:]):
        told = event.text if event.with_subject else f"{_capital(s.forms['he'])} {event.text}"
        answer.append(_step(s, told, event, before, after))
    if draw.random() < 0.3:  # combines the start and the first step in one sentence
        answer[0:2] = [
            answer[0][:-1] + " and " + answer[1][0].lower() * (not events[0].with_subject) + answer[1][not events[0].with_subject :]
        ]
    answer = [_capital(sentence) for sentence in answer] + [f"The answer is {value}."]
    sentences.append(s.say(PHRASES["ask money"] if s.kind == "money" else PHRASES["ask"]))
    rivals, extra = _distractors(s)
    sentences, relevant = insert(draw, sentences, extra, rivals)
    return Problem(
        "story",
        steps,
        "mixed" if rivals and extra else "rival" if rivals else "unrelated" if extra else "none",
        sentences,
        answer,
        relevant,
    )


def _start_amount(s: Story, number: int) -> str:
    if s.dollar:
        return f"${number}"
    return f"{in_words(number) if s.spelled and number <= 20 else number} {s.things}"


def _plain(s: Story, number: int) -> str:
    return f"${number}" if s.dollar else f"{number} {s.things}"


def _step(s: Story, told: str, event: Event, before: int, after: int) -> str:
    """Returns the answer sentence of an event."""
    if event.part:
        whole = told.replace("#", f"{PARTS[event.part]} them")
        if event.part == 2:
            return f"{whole}, so {before} / 2 = {after}."
        return f"{whole}, so {before} / {event.part} = {event.amount} and {before} - {event.amount} = {after}."
    amount = f"${event.amount}" if s.dollar else f"{event.amount} {s.things}" if s.kind == "money" else str(event.amount)
    return f"{told.replace('#', amount)}, so {before} {'+' if event.sign > 0 else '-'} {event.amount} = {after}."


def _package(s: Story, opening: str, events: list[Event], clauses: list[str]) -> list[str]:
    """Returns the sentences of the story. Each sentence tells one or more events. The first may tell one event after the start."""
    draw, he = s.draw, s.forms["he"]
    sentences = [opening]
    last_has_subject = True  # whether a clause without a subject can be joined to the last sentence
    for i, (event, clause) in enumerate(zip(events, clauses)):
        joined = sentences[-1].count(" and ") + sentences[-1].count(", ")
        if i and draw.random() < 0.4 and last_has_subject and joined < 3 or not i and draw.random() < 0.2:
            joint = draw.choice((" and ", " and ", " and then ", ", then ", " but ", ", and later ", " and after that "))
            subject = "" if not event.with_subject and draw.random() < 0.7 else "" if event.with_subject else f"{he} "
            sentences[-1] += joint.replace(" but ", ", but " if draw.random() < 0.5 else " but ") + subject + clause
            last_has_subject = not event.with_subject
            continue
        subject = "" if event.with_subject else f"{s.name if draw.random() < 0.35 else he} "
        text = subject + clause
        if i and draw.random() < 0.4:
            time = s.say(draw.choice(TIMES))
            text = draw.choice((f"{time} {text}", f"{time}, {text}")) if draw.random() < 0.75 else text
        sentences.append(text)
        last_has_subject = not event.with_subject
    return [_capital(sentence) + "." for sentence in sentences]


def _distractors(s: Story) -> tuple[list[str], list[str]]:
    """Returns sentences about quantities that the question does not use, and other irrelevant sentences."""
    draw = s.draw
    rivals = []
    if draw.random() < 0.2:
        number = draw.randint(2, 60)
        rivals.append(draw.say(draw.choice((
            f"{s.third} (has/had) {number} {s.things}.",
            f"{s.name} also (has/had) {number} {s.rival}.",
            f"{_capital(s.forms['his'])} {draw.choice(('brother', 'sister', 'friend', 'cousin'))} (has/had) {number} {s.things}.",
            f"{s.third} (is/was) {number} years old.",
        ))))  # fmt: skip
    return rivals, remarks(draw, s.name) if draw.random() < 0.25 else []


if __name__ == "__main__":
    sample = Draw(2)
    for k in range(24):
        shown = story(sample, 1 + k % 4)
        print("  ", shown.prompt, "\n  >", shown.answer_text)

"""Stories: one to four things happen to what somebody has, told one, two or three to a sentence.

A story is a list of events on quantities, so its answer is computed; the wording is composed from phrases for the verb, the
amount, the time and the joints between sentences. Phrases are written as in `Draw.say`; `#` is the amount, `{O}` the other
person, `{him}` and `{his}` the pronouns of the subject.
"""

from dataclasses import dataclass

from draw import Draw
from numbers_in_words import in_words
from problem import Problem, insert
from templates import remarks
from words import pronouns

LARGEST = 199

# What can be said of things of each kind. "any" holds for all kinds but money.
GAIN = {
    "any": (
        "[(buys/bought)|(gets/got)|(finds/found)|(wins/won)|(collects/collected)|(receives/received)|(orders/ordered)|(borrows/borrowed)] #|"
        "(is/was) given #|(picks/picked) up #|(finds/found) # [in the attic|under the bed|in the garden|in a drawer|at school]|"
        "(buys/bought) # [at the market|at the shop|in town|online]|(gets/got) # [as a present|for {his} birthday|in the mail|from a friend]|"
        "(wins/won) # [in a game|at the fair|in a contest]|(brings/brought) home #|(adds/added) #|(earns/earned) #|(trades/traded) a toy for #|"
        "(discovers/discovered) # [in a box|on the shelf]|(gathers/gathered) #|(makes/made) #|(takes/took) # [from a pile|home]|(digs/dug) up #|"
        "(inherits/inherited) #|(chooses/chose) #|(packs/packed) # more into {his} bag"
    ),
    "food": (
        "(bakes/baked) #|(picks/picked) #|(cooks/cooked) #|(prepares/prepared) #|(buys/bought) # [at the bakery|at the market|for the party]|"
        "(makes/made) # [in the evening|for a guest|for lunch]|(harvests/harvested) #|(takes/took) # from the kitchen|(is/was) given #|(gets/got) #"
    ),
    "money": (
        "(earns/earned) #|(gets/got) # [from an uncle|for {his} birthday|as pocket money|for washing a car|from a neighbor]|(saves/saved) #|"
        "(finds/found) # [on the street|in a pocket|in a coat]|(is/was) paid #|(makes/made) # [by walking dogs|by selling cookies|by babysitting]|"
        "(receives/received) #|(wins/won) #|(borrows/borrowed) #|(collects/collected) #|(sells/sold) a [book|game|toy|hat] for #"
    ),
}
LOSE = {
    "any": (
        "[(loses/lost)|(sells/sold)|(uses/used)|(donates/donated)|(drops/dropped)|(removes/removed)|(misplaces/misplaced)|(returns/returned)] #|"
        "(gives/gave) away #|(gives/gave) # away|(throws/threw) away #|(throws/threw) # away|(lends/lent) out #|(hands/handed) out #|(breaks/broke) #|"
        "(leaves/left) # [on the bus|at school|at home]|(gives/gave) # to [{his} brother|{his} sister|a friend|a neighbor|{his} teacher|charity]|"
        "(lends/lent) # to a friend|(sells/sold) # [at the market|online|to a shop]|(trades/traded) # for a [ball|book|toy]|(takes/took) # out|"
        "(puts/put) # in the [trash|attic]|(sends/sent) # to {his} [aunt|cousin|grandmother]|(gets/got) rid of #|(hides/hid) #|"
        "(passes/passed) # on to a [friend|child]"
    ),
    "food": (
        "(eats/ate) #|(eats/ate) # [for breakfast|for lunch|after school|on the way home]|(gives/gave) # to [the birds|a friend|{his} sister]|"
        "(serves/served) #|(sells/sold) #|(drops/dropped) #|(uses/used) # [for a pie|for a soup|for a cake|in a salad]|(burns/burned) #|"
        "(throws/threw) away #|(shares/shared) # with {his} friends|(takes/took) # to school|(feeds/fed) # to the goats|(gives/gave) away #"
    ),
    "money": (
        "(spends/spent) #|(spends/spent) # on [a book|a hat|lunch|a ticket|candy|a toy|shoes|flowers]|(pays/paid) # for [a book|lunch|a ticket|a game|a haircut]|"
        "(gives/gave) # to [{his} brother|{his} sister|charity]|(loses/lost) #|(lends/lent) # to a friend|(donates/donated) #|"
        "(buys/bought) a [shirt|cap|comic|sandwich|ball] for #|(uses/used) # to pay for the bus"
    ),
}
GIVE = (
    "(gives/gave) # to {O}|(gives/gave) {O} #|(hands/handed) # to {O}|(sells/sold) # to {O}|(lends/lent) # to {O}|(sends/sent) # to {O}|"
    "(passes/passed) # to {O}|(shares/shared) # with {O}|(hands/handed) {O} #|(lets/let) {O} have #"
)
RECEIVE = "(gets/got) # from {O}|(borrows/borrowed) # from {O}|(receives/received) # from {O}|(buys/bought) # from {O}|(takes/took) # from {O}|(wins/won) # from {O}"
OTHER_GIVES = "{O} (gives/gave) {him} #|{O} (sends/sent) {him} #|{O} (brings/brought) {him} #|{O} (lends/lent) {him} #|{O} (hands/handed) {him} #"
OTHER_RETURNS = "{O} (gives/gave) # back|{O} (returns/returned) #|{O} (brings/brought) back #|{O} (hands/handed) # back"
FIND_AGAIN = "(finds/found) # again|(gets/got) # back|(takes/took) # back"
PARTS = {2: "half of", 3: "a third of", 4: "a quarter of"}

TIMES = (
    "On Monday|On Friday|In the morning|In the evening|Later|Then|After that|The next day|After lunch|At school|At home|During the break|"
    "That night|A week later|On the way home|Yesterday|Today|Last week|In the afternoon|At noon|Next|Soon after|On {his} birthday|At the market"
).split("|")
START = (
    "(has/had) #|(starts/started) with #|(owns/owned) #|(begins/began) with #|(starts/started) the day with #|(starts/started) out with #|"
    "(brings/brought) #|(keeps/kept) # [in a box|on a shelf|in a drawer|at home]|(has/had) # [at first|in the beginning|in {his} bag|in a box|at home]|"
    "(has/had) a [box|bag|jar|basket] with #|(has/had) a collection of #|(carries/carried) #"
)  # fmt: skip
MONEY_START = "(has/had) #|(starts/started) with #|(has/had) # [in {his} wallet|in {his} pocket|in {his} piggy bank|at first]|(owns/owned) #|(has/had) saved #"
ASK = (
    "How many {X} (does/did) {N} have [(now/then)|left|in the end|at the end|after that|]?|How many {X} (are/were) left?|How many {X} (does/did) {he} have [(now/then)|left|in the end]?|"
    "How many {X} (has/had) {N} got [(now/then)|left|]?|What is {N}'s number of {X} (now/then)?|How many {X} (is/was) {N} left with?|"
    "How many (does/did) {he} have [left|(now/then)|in the end]?|How many (are/were) there in the end?|How many {X} (remain/remained)?|"
    "Find the number of {X} {N} (has/had) [now|left|in the end].|Tell me how many {X} {N} has [now|left].|So how many {X} (does/did) {N} have?|"
    "With how many {X} (does/did) {he} end up?|How many {X} (does/did) {N} still have?|How many {X} (does/did) {N} end up with?|Count {N}'s {X} now."
)
ASK_MONEY = (
    "How much [money |](does/did) {N} have [(now/then)|left|in the end|after that]?|How much money (is/was) left?|How much (does/did) {he} have [left|(now/then)]?|"
    "How many {X} (does/did) {N} have [(now/then)|left]?|How much [money |](does/did) {N} end up with?|How much money (does/did) {he} still have?"
)
CURRENCIES = ["dollars", "dollars", "euros", "pounds", "cents", "coins"]


@dataclass
class Event:
    """What happens: the amount, its sign, and how it is told. `text` is a clause without subject unless `with_subject`."""

    text: str
    sign: int  # +1 gains, -1 loses
    amount: int
    part: int = 0  # 2, 3, 4: a half, a third, a quarter of all there is
    with_subject: bool = False


class Story:
    """One story in the making."""

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
        self.lent: int | None = None  # what the other person has of this person's
        self.lost: int | None = None

    def amount(self, number: int, sign: int, spelled: bool) -> str:
        """How an amount is said: "5", "5 more", "5 of them", "another 5 apples"."""
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
        for slot, word in (("{O}", self.other), ("{N}", self.name), ("{X}", self.things), *((f"{{{k}}}", v) for k, v in self.forms.items())):
            text = text.replace(slot, word)
        return text

    def event(self, value: int) -> Event:
        """Something that can happen to `value` things."""
        draw = self.draw
        if self.lent and draw.random() < 0.6:
            amount, self.lent = draw.randint(1, self.lent), None
            if value + amount <= LARGEST:
                return Event(self.say(OTHER_RETURNS), 1, max(amount, 2), with_subject=True) if amount > 1 else self.event(value)
        if self.lost and self.lost > 2 and draw.random() < 0.4:
            amount, self.lost = draw.randint(2, self.lost), None
            if value + amount <= LARGEST:
                return Event(self.say(FIND_AGAIN), 1, amount)
        factors = [f for f in PARTS if value % f == 0 and value >= 2 * f]
        if factors and draw.random() < 0.15:
            part = draw.choice(factors)
            return Event(self.say(LOSE[self.kind]), -1, value // part, part=part)
        if (draw.random() < 0.52 or value > 150) and value >= 3:
            amount = draw.randint(2, min(value - 1, 15 if draw.random() < 0.5 else 60))
            if draw.random() < 0.25:
                self.lent = amount
                return Event(self.say(GIVE), -1, amount)
            self.lost = amount
            return Event(self.say(LOSE[self.kind]), -1, amount)
        amount = draw.randint(2, max(2, min(LARGEST - value, 15 if draw.random() < 0.5 else 60)))
        how = draw.random()
        if how < 0.15:
            return Event(self.say(OTHER_GIVES), 1, amount, with_subject=True)
        return Event(self.say(RECEIVE if how < 0.3 else GAIN[self.kind]), 1, amount)

    def tell(self, event: Event, spelled: bool) -> str:
        """The clause of an event, with its amount."""
        if event.part:
            whole = self.draw.choice(("them", f"the {self.things}", f"{self.forms['his']} {self.things}"))
            return event.text.replace("#", f"{PARTS[event.part]} {whole}")
        return event.text.replace("#", self.amount(event.amount, event.sign, spelled))


def _split(text: str) -> list[str]:
    """Splits phrases at "|" outside brackets."""
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
    """A story of `steps` events about one person."""
    s = Story(draw)
    start = value = draw.randint(3, 60) if draw.random() < 0.85 else draw.randint(61, 150)
    events, values = [], [value]
    for _ in range(steps):
        event = s.event(value)
        value += event.sign * event.amount
        events.append(event)
        values.append(value)
    opening = s.say(MONEY_START if s.kind == "money" else START).replace("#", _start_amount(s, start))
    clauses = [s.tell(event, s.spelled) for event in events]
    sentences = _package(s, f"{s.name} {opening}", events, clauses)
    answer = [f"{s.name} {s.draw.say('(has/had)')} {_plain(s, start)}."]
    for event, clause, before, after in zip(events, clauses, values, values[1:]):
        told = event.text if event.with_subject else f"{_capital(s.forms['he'])} {event.text}"
        answer.append(_step(s, told, event, before, after))
    if draw.random() < 0.3:  # the start and the first step in one sentence
        answer[0:2] = [answer[0][:-1] + " and " + answer[1][0].lower() * (not events[0].with_subject) + answer[1][not events[0].with_subject :]]
    answer = [_capital(sentence) for sentence in answer] + [f"The answer is {value}."]
    sentences.append(s.say(ASK_MONEY if s.kind == "money" else ASK))
    rivals, extra = _distractors(s)
    sentences, relevant = insert(draw, sentences, extra, rivals)
    return Problem("story", steps, "mixed" if rivals and extra else "rival" if rivals else "unrelated" if extra else "none", sentences, answer, relevant)


def _start_amount(s: Story, number: int) -> str:
    if s.dollar:
        return f"${number}"
    return f"{in_words(number) if s.spelled and number <= 20 else number} {s.things}"


def _plain(s: Story, number: int) -> str:
    return f"${number}" if s.dollar else f"{number} {s.things}"


def _step(s: Story, told: str, event: Event, before: int, after: int) -> str:
    """The answer sentence of an event."""
    if event.part:
        whole = told.replace("#", f"{PARTS[event.part]} them")
        if event.part == 2:
            return f"{whole}, so {before} / 2 = {after}."
        return f"{whole}, so {before} / {event.part} = {event.amount} and {before} - {event.amount} = {after}."
    amount = f"${event.amount}" if s.dollar else f"{event.amount} {s.things}" if s.kind == "money" else str(event.amount)
    return f"{told.replace('#', amount)}, so {before} {'+' if event.sign > 0 else '-'} {event.amount} = {after}."


def _package(s: Story, opening: str, events: list[Event], clauses: list[str]) -> list[str]:
    """The sentences of the story: each tells one to three events; the first may tell one beside the start."""
    draw, he = s.draw, s.forms["he"]
    sentences = [opening]
    last_has_subject = True  # whether another verb can be joined to the last sentence
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
    """Sentences about quantities that nobody asks for, and other irrelevant sentences."""
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

"""Problems with step-by-step answers and known relevant sentences.

A problem is a list of prompt sentences, the answer as a list of sentences (one step each, the last one usually
"The answer is N."), and the indices of the prompt sentences the answer needs. Sentences are joined by single spaces.
"""

import re
from dataclasses import dataclass
from random import Random

from words import (
    CITIES, COLOURS, CONTAINERS, COUNTRIES, CURRENCIES, FILLERS, FOODS, HOLDERS, JOBS, OBJECTS, PETS, RELATIONS,
    ROOMS, SHARERS, SPORTS, WORLD_FACTS, distinct_names, distinct_things, invented_word,
)  # fmt: skip

UNRELATED = "Unrelated sentence."
LARGEST = 999
MAX_STEPS = 5


@dataclass
class Problem:
    """One problem; `relevant` are the indices of the prompt sentences that the answer needs."""

    task: str  # arithmetic | lookup | facts | sum
    steps: int  # arithmetic operations, hops, or facts to list
    distractors: str  # none | unrelated | rival | mixed
    sentences: list[str]
    answer: list[str]
    relevant: list[int]

    @property
    def prompt(self) -> str:
        return " ".join(self.sentences)

    @property
    def answer_text(self) -> str:
        return " ".join(self.answer)

    @property
    def irrelevant(self) -> list[int]:
        return [i for i in range(len(self.sentences)) if i not in self.relevant]


# ---------------------------------------------------------------- the four tasks and their mix

TASK_MIX = {"arithmetic": 0.58, "facts": 0.14, "lookup": 0.16, "sum": 0.12}
EARLY_TASK_MIX = {"arithmetic": 0.48, "facts": 0.12, "lookup": 0.14, "sum": 0.26}
DISTRACTOR_MIX = {"none": 0.40, "unrelated": 0.35, "rival": 0.15, "mixed": 0.10}
STEP_MIX = {1: 0.12, 2: 0.20, 3: 0.23, 4: 0.22, 5: 0.23}


def draw(rng: Random, mix: dict):
    """One key of `mix`, with its weight."""
    return rng.choices(list(mix), weights=list(mix.values()))[0]


def training_problem(rng: Random, early: bool) -> Problem:
    """A problem of the training mix; `early` in the run means more sums and at most 3 operations."""
    task = draw(rng, EARLY_TASK_MIX if early else TASK_MIX)
    steps = draw(rng, STEP_MIX)
    if early:
        steps = min(steps, 3)
    if task == "arithmetic":
        return arithmetic(rng, steps, draw(rng, DISTRACTOR_MIX))
    if task == "lookup":
        return lookup(rng, rng.choice((1, 2, 2, 3, 3)), draw(rng, {"none": 0.6, "unrelated": 0.4}))
    if task == "facts":
        count = rng.randint(3, 9)
        return facts(rng, count, rng.randint(1, min(5, count - 1)))
    return bare_sum(rng, min(steps, 3))


# ---------------------------------------------------------------- arithmetic word problems


def arithmetic(rng: Random, steps: int, distractors: str) -> Problem:
    """A word problem of `steps` operations: a chain, comparisons, groups or two people."""
    kinds = [_chain, _chain, _comparison, _groups] + ([_two_people] if steps <= 4 else [])
    story = _Story(rng, explicit=distractors in ("rival", "mixed"))
    sentences, answer = rng.choice(kinds)(story, steps)
    while any(int(number) > LARGEST for number in re.findall(r"\d+", " ".join(answer))):
        sentences, answer = rng.choice(kinds)(story, steps)
    extra: list[tuple[str, int]] = []  # (sentence, earliest position)
    if distractors in ("unrelated", "mixed"):
        natural = rng.random() < 0.25
        extra += [(rng.choice(FILLERS) if natural else UNRELATED, 0) for _ in range(rng.randint(1, 3))]
    rivals = story.rival_sentences() if distractors in ("rival", "mixed") else []
    sentences, relevant = _insert(rng, sentences, extra, rivals)
    return Problem("arithmetic", steps, distractors, sentences, answer, relevant)


def _insert(rng: Random, sentences: list[str], extra: list[tuple[str, int]], rivals: list[str]):
    """Puts distractors before the question; rivals keep their order and come after the first sentence."""
    tagged = [(s, True) for s in sentences]
    for sentence, earliest in extra:
        tagged.insert(rng.randint(earliest, len(tagged) - 1), (sentence, False))
    position = 1
    for sentence in rivals:
        position = rng.randint(position, len(tagged) - 1)
        tagged.insert(position, (sentence, False))
        position += 1
    return [s for s, _ in tagged], [i for i, (_, needed) in enumerate(tagged) if needed]


# (present, past)
GAIN_VERBS = [
    ("buys", "bought"), ("finds", "found"), ("gets", "got"), ("picks up", "picked up"), ("wins", "won"),
    ("collects", "collected"), ("makes", "made"), ("receives", "received"), ("borrows", "borrowed"),
]  # fmt: skip
LOSE_VERBS = [
    ("gives away", "gave away"), ("loses", "lost"), ("sells", "sold"), ("uses", "used"), ("breaks", "broke"),
    ("throws away", "threw away"), ("lends out", "lent out"), ("drops", "dropped"), ("takes out", "took out"),
]  # fmt: skip
MULTIPLES = {2: "twice", 3: "three times", 4: "four times"}
FRACTIONS = {2: "half", 3: "a third", 4: "a quarter"}


class _Story:
    """The people, the counted thing and the tense of one word problem."""

    def __init__(self, rng: Random, explicit: bool):
        self.rng = rng
        self.past = rng.random() < 0.4
        self.explicit = explicit  # name the thing in every sentence, because a rival quantity is around
        self.names = distinct_names(rng, 9)
        self.things, self.other_things = (plural for _, plural in distinct_things(rng, 2))
        self.has = "had" if self.past else "has"
        self.have = "had" if self.past else "have"
        self.are = "were" if self.past else "are"
        self.does = "did" if self.past else "does"
        self.do = "did" if self.past else "do"

    def verb(self, verbs: list[tuple[str, str]]) -> str:
        return self.rng.choice(verbs)[self.past]

    def start_number(self) -> int:
        return self.rng.randint(2, 99) if self.rng.random() < 0.8 else self.rng.randint(100, 400)

    def change(self, name: str, value: int) -> tuple[str, str, int]:
        """A sentence that changes `name`'s `value`, the answer sentence for it, and the new value."""
        rng, things = self.rng, self.things
        kind = draw(rng, {"gain": 0.34, "lose": 0.34, "part": 0.16, "times": 0.16})
        if kind == "part" and (factors := [f for f in FRACTIONS if value % f == 0 and value > f]):
            factor = rng.choice(factors[:1] + factors)
            whole = f"the {things}" if self.explicit or rng.random() < 0.4 else "them"
            text = f"{name} {self.verb(LOSE_VERBS)} {FRACTIONS[factor]} of {whole}"
            if factor == 2:
                return text + ".", f"{text}, so {value} / 2 = {value // 2} {self.are} left.", value // 2
            taken = value // factor
            return text + ".", f"{text}, so {value} / {factor} = {taken} and {value} - {taken} = {value - taken} {self.are} left.", value - taken
        if kind == "times" and 2 <= value <= 300:
            factor, verb = rng.choice([(2, ("doubles", "doubled")), (2, ("doubles", "doubled")), (3, ("triples", "tripled"))])
            text = f"{name} {verb[self.past]} the number of {things}"
            return text + ".", f"{text}, so {value} * {factor} = {value * factor}.", value * factor
        if (kind == "lose" or value > 900) and value > 3:
            amount = rng.randint(2, value - 1) if rng.random() < 0.5 else rng.randint(2, min(value - 1, 30))
            form = rng.random()
            if form < 0.2:
                text = f"{name} {'gave' if self.past else 'gives'} {amount} {things} to {self.names[-1]}"
            elif self.explicit or form < 0.6:
                text = f"{name} {self.verb(LOSE_VERBS)} {amount} {'of the ' if rng.random() < 0.4 else ''}{things}"
            else:
                text = f"{name} {self.verb(LOSE_VERBS)} {amount} of them"
            return self.then(text) + ".", f"{text}, so {value} - {amount} = {value - amount} {self.are} left.", value - amount
        amount = rng.randint(2, min(99, LARGEST - value)) if value <= LARGEST - 2 else 0
        if rng.random() < 0.2:
            text = f"{self.names[-1]} {'gave' if self.past else 'gives'} {name} {amount} {things}"
        elif self.explicit or rng.random() < 0.5:
            text = f"{name} {self.verb(GAIN_VERBS)} {amount} {'more ' if rng.random() < 0.6 else ''}{things}"
        else:
            text = f"{name} {self.verb(GAIN_VERBS)} {amount} more"
        return self.then(text) + ".", f"{text}, so {value} + {amount} = {value + amount}.", value + amount

    def then(self, text: str) -> str:
        return self.rng.choice(("Then ", "Later ", "After that ")) + text if self.rng.random() < 0.15 else text

    def rival_sentences(self) -> list[str]:
        """One or two sentences about a quantity that nobody asks for."""
        rng = self.rng
        if rng.random() < 0.5:
            name, things = self.names[-2], self.things
            first = f"{name} {self.has} {self.start_number()} {things}."
        else:
            name, things = self.names[0], self.other_things
            first = f"{name} also {self.has} {self.start_number()} {things}."
        if rng.random() < 0.4:
            verbs = rng.choice((GAIN_VERBS, LOSE_VERBS))
            return [first, f"{name} {self.verb(verbs)} {rng.randint(2, 60)} {things}."]
        return [first]


def _chain(story: _Story, steps: int):
    """One person, one thing, `steps` changes."""
    rng, name, things = story.rng, story.names[0], story.things
    value = story.start_number()
    start = rng.choice((
        f"{name} {'started' if story.past else 'starts'} with {value} {things}.",
        f"{name} {story.has} {value} {things}.",
        f"{name} {'owned' if story.past else 'owns'} {value} {things}.",
        f"At first {name} {story.has} {value} {things}.",
    ))  # fmt: skip
    sentences, answer = [start], [start]
    for _ in range(steps):
        sentence, step, value = story.change(name, value)
        sentences.append(sentence)
        answer.append(step)
    sentences.append(rng.choice((
        f"How many {things} {story.does} {name} have in the end?",
        f"How many {things} {story.does} {name} have now?" if not story.past else f"How many {things} did {name} have then?",
        f"How many {things} {story.are} left with {name}?",
        f"What is the number of {things} that {name} {story.has} in the end?",
    )))  # fmt: skip
    return sentences, answer + [f"The answer is {value}."]


def _comparison(story: _Story, steps: int):
    """Each person has more, fewer or a multiple of what the one before has."""
    rng, things = story.rng, story.things
    together = steps >= 2 and rng.random() < 0.35
    value = story.start_number()
    sentences = [f"{story.names[0]} {story.has} {value} {things}."]
    answer = [sentences[0]]
    values = [value]
    for i in range(1, steps + 1 - together):
        before, name = story.names[i - 1], story.names[i]
        kind = draw(rng, {"more": 0.35, "fewer": 0.3, "times": 0.2, "half": 0.15})
        noun = f"{things} " if rng.random() < 0.6 else ""
        if kind == "half" and value % 2 == 0 and value > 2:
            how, sum_text, value = f"half as many {noun}as", f"{value} / 2", value // 2
        elif kind == "times" and value <= 200:
            factor = rng.choice((2, 2, 3, 4))
            how, sum_text, value = f"{MULTIPLES[factor]} as many {noun}as", f"{value} * {factor}", value * factor
        elif (kind == "fewer" or value > 800) and value > 3:
            amount = rng.randint(2, value - 1) if rng.random() < 0.4 else rng.randint(2, min(value - 1, 30))
            how, sum_text, value = f"{amount} fewer {noun}than", f"{value} - {amount}", value - amount
        else:
            amount = rng.randint(2, 99)
            how, sum_text, value = f"{amount} more {noun}than", f"{value} + {amount}", value + amount
        sentences.append(f"{name} {story.has} {how} {before}.")
        answer.append(f"{name} {story.has} {sum_text} = {value} {things}.")
        values.append(value)
    if rng.random() < 0.3 and len(sentences) > 1:
        rng.shuffle(sentences)
    last = len(values) - 1
    if together:
        pair = (story.names[last - 1], story.names[last])
        total = values[-2] + values[-1]
        sentences.append(f"How many {things} {story.do} {pair[0]} and {pair[1]} have together?")
        answer.append(f"Together they {story.have} {values[-2]} + {values[-1]} = {total} {things}.")
        return sentences, answer + [f"The answer is {total}."]
    sentences.append(f"How many {things} {story.does} {story.names[last]} have?")
    return sentences, answer + [f"The answer is {value}."]


def _groups(story: _Story, steps: int):
    """Equal groups; then changes; then perhaps sharing or a price."""
    rng, name, things = story.rng, story.names[0], story.things
    singular, plural = rng.choice(CONTAINERS)
    groups, each = rng.randint(2, 12), rng.randint(2, 20)
    value = groups * each
    hold = rng.choice((("holds", "held"), ("contains", "contained"), ("has", "had")))[story.past]
    sentences = [f"{name} {story.has} {groups} {plural}.", f"Each {singular} {hold} {each} {things}."]
    answer = [f"There {story.are} {groups} {plural} with {each} {things} each, so {groups} * {each} = {value}."]
    ending = rng.choice(("plain", "share", "price")) if steps >= 2 else "plain"
    for _ in range(steps - 1 - (ending != "plain")):
        sentence, step, value = story.change(name, value)
        sentences.append(sentence)
        answer.append(step)
    divisors = [d for d in range(2, 13) if value % d == 0 and value >= d]
    if ending == "share" and divisors:
        divisor = rng.choice(divisors)
        one, many = rng.choice(SHARERS)
        text = f"The {things} {story.are} shared equally among {divisor} {many}"
        answer.append(f"{text}, so {value} / {divisor} = {value // divisor} for each {one}.")
        sentences += [text + ".", f"How many {things} {story.does} each {one} get?"]
        value //= divisor
    elif ending != "plain" and value * 2 <= LARGEST:
        price = rng.randint(2, min(12, LARGEST // value))
        currency = rng.choice(CURRENCIES)
        verb = "sold" if story.past else "sells"
        text = f"{name} {verb} all the {things} for {price} {currency} each"
        answer.append(f"{text}, so {value} * {price} = {value * price} {currency}.")
        sentences += [text + ".", f"How many {currency} {story.does} {name} get?"]
        value *= price
    else:
        if ending != "plain":
            sentence, step, value = story.change(name, value)
            sentences.append(sentence)
            answer.append(step)
        sentences.append(f"How many {things} {story.does} {name} have in the end?" if steps > 1 else f"How many {things} {story.does} {name} have?")
    return sentences, answer + [f"The answer is {value}."]


def _two_people(story: _Story, steps: int):
    """Two people with changes of their own; the last step adds or compares."""
    rng, things = story.rng, story.things
    people = story.names[:2]
    values = [story.start_number(), story.start_number()]
    opening = [f"{people[i]} {story.has} {values[i]} {things}" for i in (0, 1)]
    sentences = [opening[0] + ".", opening[1] + "."]
    answer = [f"{opening[0]} and {opening[1]}."]
    for _ in range(steps - 1):
        who = rng.randint(0, 1)
        sentence, step, values[who] = story.change(people[who], values[who])
        sentences.append(sentence)
        answer.append(step)
    if rng.random() < 0.4 and values[0] != values[1]:
        high, low = (0, 1) if values[0] > values[1] else (1, 0)
        result = values[high] - values[low]
        sentences.append(f"How many more {things} {story.does} {people[high]} have than {people[low]}?")
        answer.append(f"{people[high]} {story.has} {values[high]} - {values[low]} = {result} more {things}.")
    else:
        result = sum(values)
        sentences.append(rng.choice((f"How many {things} {story.do} they have together?", f"How many {things} {story.do} {people[0]} and {people[1]} have together?")))
        answer.append(f"Together they {story.have} {values[0]} + {values[1]} = {result} {things}.")
    return sentences, answer + [f"The answer is {result}."]


# ---------------------------------------------------------------- bare sums


def bare_sum(rng: Random, steps: int) -> Problem:
    """ "What is 12 + 5 - 3?", worked out from left to right."""
    value = rng.randint(2, 99) if rng.random() < 0.6 else rng.randint(100, 800)
    expression, answer = str(value), []
    for _ in range(steps):
        kind = rng.choice("++--*/") if steps == 1 else rng.choice("+-")
        divisors = [d for d in range(2, 10) if value % d == 0]
        if kind == "/" and divisors:
            amount = rng.choice(divisors)
            result = value // amount
        elif kind == "*" and value <= 450:
            amount = rng.randint(2, min(12, LARGEST // value))
            result = value * amount
        elif kind == "-" and value > 3:
            amount = rng.randint(2, value - 1)
            result = value - amount
        else:
            kind, amount = "+", rng.randint(2, 199)
            result = value + amount
        expression += f" {kind} {amount}"
        answer.append(f"{value} {kind} {amount} = {result}.")
        value = result
    sentence = rng.choice((f"What is {expression}?", f"Work out {expression}.", f"How much is {expression}?", f"Calculate {expression}."))
    return Problem("sum", steps, "none", [sentence], answer + [f"The answer is {value}."], [0])


# ---------------------------------------------------------------- look-ups


def _places(rng: Random, count: int):
    """Object in a coloured holder, holder in a room, room in somebody's house."""
    objects, rooms = rng.sample(OBJECTS, count), rng.sample(ROOMS, count)
    holders = [f"{c} {h}" for c, h in zip(rng.sample(COLOURS, count), rng.choices(HOLDERS, k=count))]
    names = distinct_names(rng, count)
    rows = [
        [f"The {o} is in the {h}.", f"The {h} is in the {r}.", f"The {r} belongs to {n}."]
        for o, h, r, n in zip(objects, holders, rooms, names)
    ]
    questions = [
        (f"What is the {objects[0]} in?", f"the {holders[0]}"),
        (f"In which room is the {objects[0]}?", f"the {rooms[0]}"),
        (f"Who owns the room with the {objects[0]}?", names[0]),
    ]
    return rows, questions


def _relatives(rng: Random, count: int):
    """Ann's friend is Bob, Bob's neighbour is Cleo, Cleo lives in Oslo."""
    names = distinct_names(rng, 3 * count)
    first, second = rng.sample(RELATIONS, 2)
    cities = rng.sample(CITIES, count)
    rows = [
        [f"{a}'s {first} is {b}.", f"{b}'s {second} is {c}.", f"{c} lives in {city}."]
        for a, b, c, city in zip(names[::3], names[1::3], names[2::3], cities)
    ]
    a = names[0]
    questions = [
        (f"Who is {a}'s {first}?", names[1]),
        (f"Who is the {second} of {a}'s {first}?", names[2]),
        (f"Where does the {second} of {a}'s {first} live?", cities[0]),
    ]
    return rows, questions


def _owners(rng: Random, count: int):
    """Ann has a dog, the dog is called Rex, Rex sleeps in the hall."""
    names = distinct_names(rng, 2 * count)
    pets, rooms = rng.sample(PETS, count), rng.sample(ROOMS, count)
    rows = [
        [f"{n} has a {p}.", f"The {p} is called {called}.", f"{called} sleeps in the {room}."]
        for n, called, p, room in zip(names[::2], names[1::2], pets, rooms)
    ]
    n = names[0]
    questions = [
        (f"Which animal does {n} have?", f"the {pets[0]}"),
        (f"What is the name of {n}'s animal?", names[1]),
        (f"Where does {n}'s animal sleep?", f"the {rooms[0]}"),
    ]
    return rows, questions


def _workers(rng: Random, count: int):
    """Ann works for the baker, the baker comes from Rome, Rome ... in a made-up country."""
    names = distinct_names(rng, count)
    jobs, cities, countries = rng.sample(JOBS, count), rng.sample(CITIES, count), rng.sample(COUNTRIES, count)
    invented = [invented_word(rng).capitalize() if rng.random() < 0.5 else city for city in cities]
    rows = [
        [f"{n} works for the {j}.", f"The {j} comes from {city}.", f"{city} sends letters to {country}."]
        for n, j, city, country in zip(names, jobs, invented, countries)
    ]
    n = names[0]
    questions = [
        (f"Who does {n} work for?", f"the {jobs[0]}"),
        (f"Where does the boss of {n} come from?", invented[0]),
        (f"Which country gets letters from the home town of {n}'s boss?", countries[0]),
    ]
    return rows, questions


LOOKUP_FAMILIES = [_places, _relatives, _owners, _workers]


def lookup(rng: Random, hops: int, distractors: str) -> Problem:
    """A question over `hops` sentences, among complete decoy chains; sentences in any order."""
    chains = rng.randint(2, 4) if hops == 1 else rng.randint(2, 3) if hops == 2 else 2
    rows, questions = rng.choice(LOOKUP_FAMILIES)(rng, chains)
    question, result = questions[hops - 1]
    needed = rows[0][:hops]
    sentences = [sentence for row in rows for sentence in row[:hops]]
    rng.shuffle(sentences)
    if distractors == "unrelated":
        for _ in range(rng.randint(1, 2)):
            sentences.insert(rng.randint(0, len(sentences)), UNRELATED)
    sentences.append(question)
    relevant = [i for i, s in enumerate(sentences) if s in needed or s == question]
    return Problem("lookup", hops, distractors, sentences, needed + [f"The answer is {result}."], relevant)


# ---------------------------------------------------------------- listing facts

NUMBER_WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}


def _one_fact(rng: Random) -> str:
    if rng.random() < 0.3:
        return rng.choice(WORLD_FACTS)
    name = distinct_names(rng, 1)[0]
    thing, things = distinct_things(rng, 1)[0]
    return rng.choice((
        f"{name} lives in {rng.choice(CITIES)}.",
        f"{name} likes {rng.choice(FOODS)}.",
        f"{name} plays {rng.choice(SPORTS)}.",
        f"{name} has a {rng.choice(COLOURS)} {rng.choice(PETS)}.",
        f"{name} is a {rng.choice(JOBS)}.",
        f"{name} collects {things}.",
        f"{name} has {rng.randint(2, 99)} {things}.",
        f"The {thing} is {rng.choice(COLOURS)}.",
        f"The {rng.choice(OBJECTS)} is in the {rng.choice(ROOMS)}.",
        f"{name} was born in {rng.choice(COUNTRIES)}.",
    ))  # fmt: skip


def facts(rng: Random, count: int, wanted: int) -> Problem:
    """List `wanted` of `count` facts; the reference lists some of them in prompt order."""
    given: list[str] = []
    while len(given) < count:
        fact = _one_fact(rng)
        if fact not in given:
            given.append(fact)
    number = rng.choice((NUMBER_WORDS[wanted], str(wanted)))
    noun = "fact" if wanted == 1 else "facts"
    request = rng.choice((f"List {number} of these facts.", f"Name {number} of the facts.", f"Repeat {number} {noun} from the text.", f"Write down {number} of the facts above."))
    chosen = sorted(rng.sample(range(count), wanted))
    return Problem("facts", wanted, "none", given + [request], [given[i] for i in chosen], chosen + [count])


# ---------------------------------------------------------------- held out

HELD_OUT_SEED = 20_261_121

# name -> makes one problem; the scores of evaluate.py are per row
CONDITIONS = {
    **{f"arithmetic, {n} steps": (lambda rng, n=n: arithmetic(rng, n, "none")) for n in range(1, MAX_STEPS + 1)},
    "arithmetic, 6 steps (more than trained)": lambda rng: arithmetic(rng, 6, "none"),
    "arithmetic, 2-5 steps, unrelated": lambda rng: arithmetic(rng, rng.randint(2, 5), "unrelated"),
    "arithmetic, 2-5 steps, rival": lambda rng: arithmetic(rng, rng.randint(2, 5), "rival"),
    "arithmetic, 2-5 steps, mixed": lambda rng: arithmetic(rng, rng.randint(2, 5), "mixed"),
    **{f"look-up, {n} hops": (lambda rng, n=n: lookup(rng, n, "none")) for n in (1, 2, 3)},
    "look-up, 2-3 hops, unrelated": lambda rng: lookup(rng, rng.randint(2, 3), "unrelated"),
    "facts, 3 of 5": lambda rng: facts(rng, 5, 3),
    "facts, 3 of 9": lambda rng: facts(rng, 9, 3),
    "sums, 1-3 steps": lambda rng: bare_sum(rng, rng.randint(1, 3)),
}


def held_out(per_condition: int = 200) -> dict[str, list[Problem]]:
    """The held-out problems, always the same; training skips any problem with one of these prompts."""
    return {
        name: [make(Random(f"{HELD_OUT_SEED}/{name}/{i}")) for i in range(per_condition)]
        for name, make in CONDITIONS.items()
    }


if __name__ == "__main__":
    sample_rng = Random(1)
    for _ in range(12):
        shown = training_problem(sample_rng, early=False)
        print(shown.task, shown.steps, shown.distractors, shown.relevant)
        print("  ", shown.prompt, "\n  ", shown.answer_text, "\n")

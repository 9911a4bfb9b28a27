"""Generates word problems with a chosen number of operations, and plain sums. Results are from 0 to 199, products at most 150."""

import re

from draw import Draw
from problem import Problem, insert, unrelated_sentences
from words import CONTAINERS, CURRENCIES, SHARERS, pronoun

LARGEST = 199
LARGEST_PRODUCT = 150
DISTRACTOR_MIX = {"none": 0.34, "unrelated": 0.26, "rival": 0.25, "mixed": 0.15}


def arithmetic(draw: Draw, steps: int, distractors: str) -> Problem:
    """Makes a word problem with `steps` operations: a chain, comparisons, groups or two people."""
    kinds = [_chain, _chain, _comparison, _groups, _two_people]
    while True:
        draw.begin()
        story = _Story(draw, explicit=distractors in ("rival", "mixed"))
        sentences, answer = draw.choice(kinds)(story, steps)
        if all(int(number) <= LARGEST for number in re.findall(r"\d+", " ".join(answer))):
            break
    extra = unrelated_sentences(draw, draw.randint(1, 3)) if distractors in ("unrelated", "mixed") else []
    rivals = story.rival_sentences() if distractors in ("rival", "mixed") else []
    sentences, relevant = insert(draw, sentences, extra, rivals)
    return Problem("arithmetic", steps, distractors, sentences, answer, relevant)


GAIN = (
    "[(buys/bought)|(finds/found)|(gets/got)|(picks/picked) up|(wins/won)|(collects/collected)|(makes/made)|"
    "(receives/received)|(borrows/borrowed)|(gains/gained)|(earns/earned)|(orders/ordered)|(discovers/discovered)"
    "~(gathers/gathered)|(brings/brought) home]"
)
LOSE = (
    "[(gives/gave) away|(loses/lost)|(sells/sold)|(uses/used)|(breaks/broke)|(throws/threw) away|(lends/lent) out|"
    "(drops/dropped)|(takes/took) out|(removes/removed)|(eats/ate)|(returns/returned)|(spends/spent)"
    "~(donates/donated)|(hands/handed) out]"
)
MULTIPLES = {2: "twice", 3: "three times", 4: "four times"}
FRACTIONS = {2: "half", 3: "a third", 4: "a quarter"}
CHANGE_MIX = {"gain": 0.36, "lose": 0.36, "part": 0.14, "times": 0.14}


class _Story:
    """The people and the counted thing of one word problem."""

    def __init__(self, draw: Draw, explicit: bool):
        self.draw = draw
        self.explicit = explicit  # the sentences name the person and the thing every time, because the problem may mention a rival quantity
        self.names = draw.names(9)
        (self.thing, self.things), (_, self.other_things) = draw.things(2)
        self.with_pronouns = not explicit and draw.random() < 0.4
        self.pronoun = pronoun(self.names[0], draw).capitalize()

    def count(self, number: int) -> str:
        return f"{number} {self.thing if number == 1 else self.things}"

    def start_number(self) -> int:
        return self.draw.randint(2, 60) if self.draw.random() < 0.9 else self.draw.randint(61, 120)

    def change_amount(self, most: int) -> int:
        return self.draw.randint(1, min(most, 12 if self.draw.random() < 0.3 else 40))

    def subject(self, name: str) -> str:
        """Returns the name. Where the story has only one person, it may return a pronoun instead."""
        return self.pronoun if self.with_pronouns and name == self.names[0] and self.draw.random() < 0.7 else name

    def change(self, name: str, value: int) -> tuple[str, str, int]:
        """Returns a sentence that changes the `value` of `name`, the answer sentence for the change, and the new value."""
        draw, things = self.draw, self.things
        kind, who = draw.weighted(CHANGE_MIX), self.subject(name)
        if kind == "part" and (factors := [f for f in FRACTIONS if value % f == 0 and value > f]):
            factor = draw.choice(factors[:1] + factors)
            whole = f"the {things}" if self.explicit or draw.random() < 0.4 else "them"
            text = draw.say(f"{who} {LOSE} {FRACTIONS[factor]} of {whole}")
            taken = value // factor
            if factor == 2:
                return text + ".", draw.say(f"{text}, so {value} / 2 = {taken} (are/were) left."), taken
            left = value - taken
            return text + ".", draw.say(f"{text}, so {value} / {factor} = {taken} and {value} - {taken} = {left} (are/were) left."), left
        if kind == "times" and 2 <= value <= LARGEST_PRODUCT // 2:
            factor, verb = draw.choice([(2, "(doubles/doubled)"), (2, "(doubles/doubled)"), (3, "(triples/tripled)")])
            if value * factor <= LARGEST_PRODUCT:
                text = draw.say(f"{who} {verb} the number of {things}")
                return text + ".", f"{text}, so {value} * {factor} = {value * factor}.", value * factor
        then = draw.say("[Then |Later |After that |Next ~Afterwards ]") if draw.random() < 0.15 else ""
        if (kind == "lose" or value > 150) and value >= 1:
            amount = self.change_amount(value)
            form = draw.random()
            if form < 0.2:
                text = f"{who} [(gives/gave)|(passes/passed)] {self.count(amount)} to {self.names[-1]}"
            elif amount == 1 or form < 0.4:
                text = f"{who} {LOSE} {self.count(amount)}"
            elif self.explicit or form < 0.65:
                text = f"{who} {LOSE} {amount} of the {things}"
            else:
                text = f"{who} {LOSE} {amount} of them"
            text = draw.say(text)
            left = value - amount
            return self._opened(then, text), draw.say(f"{text}, so {value} - {amount} = {left} (are/were) left."), left
        amount = self.change_amount(LARGEST - value)
        form = draw.random()
        if form < 0.2:
            text = f"{self.names[-1]} [(gives/gave)|(hands/handed)] {name} {self.count(amount)}"
        elif self.explicit or form < 0.6:
            text = f"{who} {GAIN} {amount} {draw.choice(('more ', ''))}{self.thing if amount == 1 else things}"
        else:
            text = f"{who} {GAIN} {amount} more"
        text = draw.say(text)
        return self._opened(then, text), f"{text}, so {value} + {amount} = {value + amount}.", value + amount

    def _opened(self, then: str, text: str) -> str:
        """Puts the prompt sentence together. A pronoun after "Then" becomes lower case."""
        if then and text.split()[0] in ("He", "She"):
            text = text[0].lower() + text[1:]
        return then + text + "."

    def rival_sentences(self) -> list[str]:
        """Returns one or two sentences about a quantity that the question does not use."""
        draw = self.draw
        if draw.random() < 0.5:
            name, things = self.names[-2], self.things
            first = f"{name} (has/had) {self.start_number()} {things}."
        else:
            name, things = self.names[0], self.other_things
            first = f"{name} also (has/had) {self.start_number()} {things}."
        second = f"{name} {draw.choice((GAIN, LOSE))} {draw.randint(2, 40)} {things}."
        return [draw.say(text) for text in ([first, second] if draw.random() < 0.4 else [first])]


def _chain(story: _Story, steps: int):
    """One person has some of one thing, and the number changes `steps` times."""
    draw, name, things = story.draw, story.names[0], story.things
    value = story.start_number()
    start = draw.say(draw.choice((
        f"{name} [(starts/started) with|(has/had)|(owns/owned)~(begins/began) with] {value} {things}.",
        f"[At first|In the beginning~To begin with] {name} (has/had) {value} {things}.",
    )))  # fmt: skip
    sentences, answer = [start], [start]
    for _ in range(steps):
        sentence, step, value = story.change(name, value)
        sentences.append(sentence)
        answer.append(step)
    who = name if not story.with_pronouns else draw.choice((name, story.pronoun.lower()))
    of_all = "" if story.explicit else f"|How many {things} (are/were) there (now/then)?"
    sentences.append(draw.say(
        f"[How many {things} (does/did) {who} have[ in the end| (now/then)| at the end| left|]?|"
        f"How many {things} (are/were) left with {name}?|What is the number of {things} that {name} (has/had) in the end?"
        f"{of_all}~How many {things} (does/did) {name} finally have?|"
        f"With how many {things} (does/did) {name} end up?]"
    ))  # fmt: skip
    return sentences, answer + [f"The answer is {value}."]


def _comparison(story: _Story, steps: int):
    """Each person has more, fewer or a multiple of what the previous person has."""
    draw, things = story.draw, story.things
    together = steps >= 2 and draw.random() < 0.35
    value = story.start_number()
    sentences = [draw.say(f"{story.names[0]} (has/had) {value} {things}.")]
    answer = [sentences[0]]
    values = [value]
    for i in range(1, steps + 1 - together):
        before, name = story.names[i - 1], story.names[i]
        kind = draw.weighted({"more": 0.36, "fewer": 0.32, "times": 0.18, "half": 0.14})
        noun = f"{things} " if draw.random() < 0.6 else ""
        factor = draw.choice((2, 2, 3, 4))
        if kind == "half" and value % 2 == 0 and value > 2:
            how, sum_text, value = f"half as many {noun}as", f"{value} / 2", value // 2
        elif kind == "times" and 0 < value * factor <= LARGEST_PRODUCT:
            how, sum_text, value = f"{MULTIPLES[factor]} as many {noun}as", f"{value} * {factor}", value * factor
        elif (kind == "fewer" or value > 150) and value > 3:
            amount = story.change_amount(value - 1)
            how, sum_text, value = f"{amount} fewer {noun}than", f"{value} - {amount}", value - amount
        else:
            amount = story.change_amount(LARGEST - value)
            how, sum_text, value = f"{amount} more {noun}than", f"{value} + {amount}", value + amount
        sentences.append(draw.say(f"{name} (has/had) {how} {before}."))
        answer.append(draw.say(f"{name} (has/had) {sum_text} = {value} {things}."))
        values.append(value)
    if draw.random() < 0.3 and len(sentences) > 1:
        draw.shuffle(sentences)
    last = len(values) - 1
    if together:
        first, second = story.names[last - 1], story.names[last]
        total = values[-2] + values[-1]
        sentences.append(draw.say(
            f"[How many {things} (do/did) {first} and {second} have [together|altogether|in total]?"
            f"~How many {things} do {first} and {second} have between them?]"
        ))  # fmt: skip
        answer.append(draw.say(f"Together they (have/had) {values[-2]} + {values[-1]} = {total} {things}."))
        return sentences, answer + [f"The answer is {total}."]
    sentences.append(draw.say(
        f"[How many {things} (does/did) {story.names[last]} have?|What is the number of {things} that {story.names[last]} (has/had)?"
        f"~How many {things} (belong/belonged) to {story.names[last]}?]"
    ))  # fmt: skip
    return sentences, answer + [f"The answer is {value}."]


def _groups(story: _Story, steps: int):
    """The problem has equal groups, then changes, and sometimes ends with sharing or a price."""
    draw, name, things = story.draw, story.names[0], story.things
    singular, plural = draw.choice(CONTAINERS)
    groups = draw.randint(2, 12)
    each = draw.randint(2, min(20, LARGEST_PRODUCT // groups))
    value = groups * each
    sentences = [
        draw.say(f"{name} [(has/had)|(fills/filled)|(buys/bought)~(owns/owned)] {groups} {plural}."),
        draw.say(f"[Each|Every] {singular} [(holds/held)|(contains/contained)|(has/had)~(carries/carried)] {each} {things}."),
    ]
    answer = [draw.say(f"There (are/were) {groups} {plural} with {each} {things} each, so {groups} * {each} = {value}.")]
    ending = draw.choice(("plain", "share", "price")) if steps >= 2 else "plain"
    for _ in range(steps - 1 - (ending != "plain")):
        sentence, step, value = story.change(name, value)
        sentences.append(sentence)
        answer.append(step)
    divisors = [d for d in range(2, 11) if value % d == 0 and value >= d]
    if ending == "share" and divisors:
        divisor = draw.choice(divisors)
        one, many = draw.choice(SHARERS)
        text = draw.say(f"The {things} (are/were) [shared|split|divided~distributed] equally among {divisor} {many}")
        answer.append(f"{text}, so {value} / {divisor} = {value // divisor} for each {one}.")
        sentences += [text + ".", draw.say(f"How many {things} (does/did) [each|every] {one} [get|receive~end up with]?")]
        value //= divisor
    elif ending != "plain" and 2 <= value * 2 <= LARGEST_PRODUCT:
        price = draw.randint(2, min(12, LARGEST_PRODUCT // value))
        currency = draw.choice(CURRENCIES)
        text = draw.say(f"{name} (sells/sold) all [the|of the] {things} for {price} {currency} each")
        answer.append(f"{text}, so {value} * {price} = {value * price} {currency}.")
        sentences += [text + ".", draw.say(f"How many {currency} (does/did) {name} [get|earn|receive~take in]?")]
        value *= price
    else:
        if ending != "plain":
            sentence, step, value = story.change(name, value)
            sentences.append(sentence)
            answer.append(step)
        end = " [in the end|(now/then)|altogether]" if steps > 1 else "[| altogether| in total]"
        sentences.append(draw.say(f"How many {things} (does/did) {name} have{end}?"))
    return sentences, answer + [f"The answer is {value}."]


def _two_people(story: _Story, steps: int):
    """Each of two people has separate changes. The last step adds or compares the two numbers."""
    draw, things = story.draw, story.things
    story.with_pronouns = False
    people = story.names[:2]
    values = [story.start_number(), story.start_number()]
    opening = [draw.say(f"{people[i]} (has/had) {values[i]} {things}") for i in (0, 1)]
    sentences = [opening[0] + ".", opening[1] + "."]
    answer = [f"{opening[0]} and {opening[1]}."]
    for _ in range(steps - 1):
        who = draw.randint(0, 1)
        sentence, step, values[who] = story.change(people[who], values[who])
        sentences.append(sentence)
        answer.append(step)
    if draw.random() < 0.4 and values[0] != values[1]:
        high, low = (0, 1) if values[0] > values[1] else (1, 0)
        result = values[high] - values[low]
        sentences.append(draw.say(
            f"[How many more {things} (does/did) {people[high]} have than {people[low]}?|"
            f"How many fewer {things} (does/did) {people[low]} have than {people[high]}?"
            f"~By how many {things} (is/was) {people[high]} ahead of {people[low]}?]"
        ))  # fmt: skip
        answer.append(draw.say(f"{people[high]} (has/had) {values[high]} - {values[low]} = {result} more {things}."))
    else:
        result = sum(values)
        pair = f"{people[0]} and {people[1]}"
        they = pair if story.explicit else f"[they|{pair}]"
        sentences.append(draw.say(
            f"[How many {things} (do/did) {they} have [together|altogether|in total]?"
            f"~How many {things} (do/did) the two have in all?]"
        ))  # fmt: skip
        answer.append(draw.say(f"Together they (have/had) {values[0]} + {values[1]} = {result} {things}."))
    return sentences, answer + [f"The answer is {result}."]


def bare_sum(draw: Draw, steps: int) -> Problem:
    """A question such as "What is 12 + 5 - 3?". The answer computes it from left to right."""
    draw.begin()
    value = draw.randint(0, 60) if draw.random() < 0.6 else draw.randint(2, LARGEST)
    expression, answer = str(value), []
    for _ in range(steps):
        kind = draw.choice("++--*/") if steps == 1 else draw.choice("+-")
        divisors = [d for d in range(2, 11) if value % d == 0 and value]
        if kind == "/" and divisors:
            amount = draw.choice(divisors)
            result = value // amount
        elif kind == "*" and 1 <= value <= LARGEST_PRODUCT // 2:
            amount = draw.randint(2, min(12, LARGEST_PRODUCT // value)) if value > 12 else draw.randint(1, 12)
            result = value * amount
        elif value > 150 or kind == "-" and value:
            kind, amount = "-", draw.randint(1, min(value, draw.choice((40, LARGEST))))
            result = value - amount
        else:
            kind, amount = "+", draw.randint(1, min(LARGEST - value, draw.choice((40, LARGEST))))
            result = value + amount
        expression += f" {kind} {amount}"
        answer.append(f"{value} {kind} {amount} = {result}.")
        value = result
    sentence = draw.say(f"[What is {expression}?|Work out {expression}.|How much is {expression}?|Calculate {expression}.]")
    return Problem("sum", steps, "none", [sentence], answer + [f"The answer is {value}."], [0])

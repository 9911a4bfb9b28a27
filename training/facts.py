"""Generates requests to list M of N given facts."""

import re

from draw import Draw
from problem import Problem
from words import CITIES, COLOURS, COUNTRIES, FOODS, JOBS, OBJECTS, PETS, ROOMS, SPORTS, WORLD_FACTS

NUMBER_WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
MAX_FACTS, MAX_WANTED = 9, 5


def facts(draw: Draw, count: int, wanted: int) -> Problem:
    """Makes a request to list `wanted` of `count` facts. The reference answer lists some of them in prompt order."""
    draw.begin()
    given: list[str] = []
    while len(given) < count:
        fact = _one_fact(draw)
        if fact not in given:
            given.append(fact)
    number = draw.choice((NUMBER_WORDS[wanted], str(wanted)))
    noun = "fact" if wanted == 1 else "facts"
    request = draw.say(
        f"[List {number} of these facts.|Name {number} of the facts.|Repeat {number} {noun} from the text.|"
        f"Write down {number} of the facts above.|Give me {number} of these {noun}.|Copy {number} of these sentences.|"
        f"Tell me {number} of the facts.|What are {number} of these facts?|List {number} {noun} from above.|List {number} {noun}."
        f"~State {number} of the facts given.|Choose {number} of the sentences and repeat them.|Please list {number} of the facts.]"
    )
    chosen = sorted(draw.sample(range(count), wanted))
    return Problem("facts", wanted, "none", given + [request], [given[i] for i in chosen], chosen + [count])


def _one_fact(draw: Draw) -> str:
    if draw.random() < 0.25:
        return draw.choice(WORLD_FACTS)
    name = draw.names(1)[0]
    thing, things = draw.things(1)[0]
    draw.past = draw.random() < 0.2
    fact = draw.say(draw.choice((
        f"{name} [(lives/lived) in|(works/worked) in|(comes/came) from|(likes/liked)] {draw.choice(CITIES)}.",
        f"{name} [likes|eats|cooks|hates|buys] {draw.choice(FOODS)}.",
        f"{name} [plays|likes|watches] {draw.choice(SPORTS)}.",
        f"{name} (has/had) a [big|small|young|old|{draw.choice(COLOURS)}] {draw.choice(PETS)}.",
        f"{name} is a {draw.choice(JOBS)}.",
        f"{name} (is/was) {draw.randint(3, 99)} years old.",
        f"{name} [collects|sells|likes|buys|draws] {things}.",
        f"{name} (has/had) {draw.randint(2, 99)} {things}.",
        f"The {thing} (is/was) {draw.choice(COLOURS)}.",
        f"The {thing} costs [{draw.randint(2, 99)} euros|${draw.randint(2, 99)}|{draw.randint(2, 99)} pounds].",
        f"The {draw.choice(OBJECTS)} (is/was) in the {draw.choice(ROOMS)}.",
        f"{name} was born in {draw.choice(COUNTRIES)}.",
        f"There (are/were) {draw.randint(2, 99)} {things} in the {draw.choice(ROOMS)}.",
    )))  # fmt: skip
    return re.sub(r"\ba (?=[aeiou])", "an ", fact)

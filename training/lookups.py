"""Generates questions that need one to three sentences ("hops"). The prompt also has decoy chains of the same kind."""

from draw import Draw
from problem import UNRELATED, Problem
from words import (
    CITIES, COLOURS, COUNTRIES, FOODS, HOLDERS, JOBS, OBJECTS, PETS, RELATIONS, ROOMS, TEAMS, invented_word,
)  # fmt: skip


def lookup(draw: Draw, hops: int, distractors: str) -> Problem:
    """Makes a question that needs `hops` sentences. The prompt also has complete decoy chains. The sentences are in random order."""
    draw.begin()
    draw.past = False
    chains = draw.randint(2, 4) if hops == 1 else draw.randint(2, 3)
    rows, questions = draw.choice(FAMILIES)(draw, chains)
    question, result = questions[hops - 1]
    question = draw.say(question)
    rows = [[draw.say(sentence) for sentence in row[:hops]] for row in rows]
    needed = rows[0]
    sentences = [sentence for row in rows for sentence in row]
    draw.shuffle(sentences)
    if distractors == "unrelated":
        for _ in range(draw.randint(1, 2)):
            sentences.insert(draw.randint(0, len(sentences)), UNRELATED)
    sentences.append(question)
    relevant = [i for i, s in enumerate(sentences) if s in needed or s == question]
    return Problem("lookup", hops, distractors, sentences, needed + [f"The answer is {result}."], relevant)


# A family makes `count` chains of three sentences. It also makes one question about the first chain for each number of hops.


def _places(draw: Draw, count: int):
    """An object is in a colored holder, the holder is in a room, and the room belongs to a person."""
    objects, rooms = draw.sample(OBJECTS, count), draw.sample(ROOMS, count)
    holders = [f"{c} {h}" for c, h in zip(draw.sample(COLOURS, count), draw.choices(HOLDERS, k=count))]
    names = draw.names(count)
    rows = [
        [f"The {o} is [in|inside~kept in] the {h}.", f"The {h} [is|stands~can be found] in the {r}.", f"The {r} belongs to {n}."]
        for o, h, r, n in zip(objects, holders, rooms, names)
    ]
    questions = [
        (f"[What is the {objects[0]} in?|Where is the {objects[0]}?~What holds the {objects[0]}?]", f"the {holders[0]}"),
        (
            f"[In which room is the {objects[0]}?|Which room has the {objects[0]}?~In what room can one find the {objects[0]}?]",
            f"the {rooms[0]}",
        ),
        (
            f"[Who owns the room with the {objects[0]}?|Whose room is the {objects[0]} in?~Who has the room where the {objects[0]} is?]",
            names[0],
        ),
    ]
    return rows, questions


def _relatives(draw: Draw, count: int):
    """Ann's friend is Bob, Bob's neighbour is Cleo, Cleo lives in Oslo."""
    names = draw.names(3 * count)
    first, second = draw.sample(RELATIONS, 2)
    cities = draw.sample(CITIES, count)
    rows = [
        [f"{a}'s {first} is {b}.", f"{b}'s {second} is {c}.", f"{c} [lives|works|was born~spends the summer] in {city}."]
        for a, b, c, city in zip(names[::3], names[1::3], names[2::3], cities)
    ]
    where = rows[0][2] = draw.say(rows[0][2])
    verb = "was" if "born" in where else "does"
    end = " born" if "born" in where else " work" if "works" in where else " live" if "lives" in where else " spend the summer"
    a = names[0]
    questions = [
        (f"[Who is {a}'s {first}?|Who is the {first} of {a}?~What is the name of {a}'s {first}?]", names[1]),
        (
            f"[Who is the {second} of {a}'s {first}?|Who is {a}'s {first}'s {second}?~What is the {second} of {a}'s {first} called?]",
            names[2],
        ),
        (f"[Where|In which city~In what town] {verb} the {second} of {a}'s {first}{end}?", cities[0]),
    ]
    return rows, questions


def _owners(draw: Draw, count: int):
    """Ann has a dog, the dog is called Rex, Rex sleeps in the hall."""
    names = draw.names(2 * count)
    pets, rooms = draw.sample(PETS, count), draw.sample(ROOMS, count)
    rows = [
        [f"{n} [has|owns~keeps] a {p}.", f"The {p} is [called|named] {called}.", f"{called} [sleeps|eats|hides] in the {room}."]
        for n, called, p, room in zip(names[::2], names[1::2], pets, rooms)
    ]
    rows[0][2] = draw.say(rows[0][2])
    verb = rows[0][2].split()[1][:-1]
    n = names[0]
    questions = [
        (f"[Which animal does {n} have?|What animal does {n} own?~What pet has {n} got?]", f"the {pets[0]}"),
        (f"[What is the name of {n}'s [animal|pet]?|What is {n}'s [animal|pet] called?~How do people call {n}'s animal?]", names[1]),
        (
            f"[Where does {n}'s [animal|pet] {verb}?|In which room does {n}'s [animal|pet] {verb}?~In what place does the animal of {n} "
            f"{verb}?]",
            f"the {rooms[0]}",
        ),
    ]
    return rows, questions


def _workers(draw: Draw, count: int):
    """Ann works for the baker, the baker comes from Rome, Rome sends letters to Peru."""
    names = draw.names(count)
    jobs, cities, countries = draw.sample(JOBS, count), draw.sample(CITIES, count), draw.sample(COUNTRIES, count)
    towns = [invented_word(draw).capitalize() if draw.random() < 0.5 else city for city in cities]
    rows = [
        [f"{n} works [for|with] the {j}.", f"The {j} comes from {town}.", f"{town} sends [letters|parcels] to {country}."]
        for n, j, town, country in zip(names, jobs, towns, countries)
    ]
    rows[0][2] = draw.say(rows[0][2])
    sent, with_whom = rows[0][2].split()[2], rows[0][0]
    rows[0][0] = with_whom = draw.say(with_whom)
    n, word = names[0], with_whom.split()[2]
    questions = [
        (f"[Who does {n} work {word}?~{word.capitalize()} whom does {n} work?]", f"the {jobs[0]}"),
        (f"[Where does the boss of {n} come from?|Which town does {n}'s boss come from?~What is the home town of {n}'s boss?]", towns[0]),
        (
            f"[Which country gets {sent} from the home town of {n}'s boss?~To which country does the home town of {n}'s boss send {sent}?]",
            countries[0],
        ),
    ]
    return rows, questions


def _clubs(draw: Draw, count: int):
    """Ann plays for the Lions, the Lions train in Rome, Rome is famous for its soup."""
    names = draw.names(count)
    teams, cities, foods = draw.sample(TEAMS, count), draw.sample(CITIES, count), draw.sample(FOODS, count)
    rows = [
        [f"{n} plays for the {t}.", f"The {t} [train|play|meet] in {city}.", f"{city} is [famous|known] for its {food}."]
        for n, t, city, food in zip(names, teams, cities, foods)
    ]
    rows[0][1], rows[0][2] = draw.say(rows[0][1]), draw.say(rows[0][2])
    verb, known = rows[0][1].split()[2], rows[0][2].split()[2]
    n = names[0]
    questions = [
        (f"[Which team does {n} play for?|For which team does {n} play?~What is the name of {n}'s team?]", f"the {teams[0]}"),
        (
            f"[Where does the team of {n} {verb}?|In which city does {n}'s team {verb}?~What is the city where {n}'s team {verb}s?]",
            cities[0],
        ),
        (f"[What is the city of {n}'s team {known} for?~For what is the city {known} where {n}'s team {verb}s?]", foods[0]),
    ]
    return rows, questions


def _streets(draw: Draw, count: int):
    """Ann lives in the red house, the red house is next to the mill, the mill was built by Bob."""
    names = draw.names(2 * count)
    colours = draw.sample(COLOURS, count)
    places = draw.sample("bakery bank bridge castle church cinema museum park school station theatre tower".split(), count)
    rows = [
        [f"{n} lives in the {c} house.", f"The {c} house is [next to|opposite~close to] the {p}.", f"The {p} was [built|painted] by {b}."]
        for n, b, c, p in zip(names[::2], names[1::2], colours, places)
    ]
    rows[0][1], rows[0][2] = draw.say(rows[0][1]), draw.say(rows[0][2])
    near, built = rows[0][1][len(f"The {colours[0]} house is ") :].split(" the ")[0], rows[0][2].split()[3]
    n = names[0]
    questions = [
        (f"[In which house does {n} live?|Which house does {n} live in?~What is the home of {n}?]", f"the {colours[0]} house"),
        (
            f"[What is {near} the house of {n}?|Which building is {near} {n}'s house?~What can be found {near} the home of {n}?]",
            f"the {places[0]}",
        ),
        (f"[Who {built} the building {near} {n}'s house?~By whom was the building {built} that is {near} {n}'s house?]", names[1]),
    ]
    return rows, questions


FAMILIES = [_places, _relatives, _owners, _workers, _clubs, _streets]

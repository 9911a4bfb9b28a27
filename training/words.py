"""The words of the problems, and invented names and nouns."""

import re
from pathlib import Path
from random import Random

DATA = Path(__file__).parent / "data"

HIS_NAMES = (
    "Abel Adam Ahmed Alan Amir Anton Arjun Ben Bilal Bob Carl Chen Dan David Diego Dylan Emil Enzo Erik Ethan Felix Finn "
    "Frank George Hassan Henry Hugo Isaac Ivan Jack Jakob James Jamal John Jonas Jorge Karim Kenji Leo Liam Lucas Luis Marco "
    "Mark Mateo Max Milan Mohammed Nick Nils Noah Oliver Omar Oscar Otto Paul Pedro Peter Rafael Ravi Robin Sam Samir Simon "
    "Stefan Theo Tim Tom Victor Walter Wei Will Yusuf"
).split()
HER_NAMES = (
    "Ada Aisha Alice Amina Amy Anna Aylin Beatriz Bella Camila Carla Chloe Clara Daisy Diana Ella Elena Emma Esther Eva "
    "Fatima Fiona Frida Gloria Grace Hana Hannah Ida Ines Iris Ivy Jane Jasmin Julia Kate Kim Laura Lea Leila Lily Lina Lucy "
    "Maria Mary Maya Mia Mina Mira Nadia Naomi Nina Nora Olga Olivia Pia Priya Rita Rosa Ruth Sara Selma Sofia Stella Tara "
    "Uma Vera Wanda Yara Yuki Zara Zoe"
).split()
NAMES = sorted(HIS_NAMES + HER_NAMES)

FOODS_COUNTED = (
    "almond/almonds apple/apples banana/bananas bean/beans biscuit/biscuits bun/buns cake/cakes carrot/carrots "
    "cherry/cherries cookie/cookies date/dates egg/eggs fig/figs grape/grapes lemon/lemons mango/mangoes melon/melons "
    "muffin/muffins nut/nuts olive/olives onion/onions orange/oranges pancake/pancakes peach/peaches pear/pears pie/pies "
    "plum/plums potato/potatoes roll/rolls sandwich/sandwiches strawberry/strawberries sweet/sweets tomato/tomatoes "
    "waffle/waffles"
)
GOODS = (
    "badge/badges bag/bags ball/balls balloon/balloons bead/beads bell/bells bike/bikes blanket/blankets block/blocks "
    "book/books bottle/bottles bowl/bowls bracelet/bracelets brick/bricks brush/brushes button/buttons candle/candles "
    "cap/caps card/cards chair/chairs coin/coins comic/comics crayon/crayons cup/cups cushion/cushions doll/dolls drum/drums "
    "envelope/envelopes eraser/erasers feather/feathers flag/flags flower/flowers fork/forks game/games glass/glasses "
    "glove/gloves hat/hats key/keys kite/kites knife/knives ladder/ladders lamp/lamps leaf/leaves letter/letters "
    "magazine/magazines magnet/magnets map/maps marble/marbles mask/masks mug/mugs nail/nails necklace/necklaces "
    "needle/needles notebook/notebooks paper/papers pebble/pebbles pen/pens pencil/pencils photo/photos pillow/pillows "
    "plant/plants plate/plates postcard/postcards poster/posters puzzle/puzzles ribbon/ribbons ring/rings robot/robots "
    "rock/rocks rope/ropes rose/roses ruler/rulers scarf/scarves screw/screws seed/seeds shell/shells shirt/shirts "
    "shoe/shoes sock/socks spoon/spoons stamp/stamps stick/sticks sticker/stickers stone/stones ticket/tickets tile/tiles "
    "towel/towels toy/toys train/trains tulip/tulips vase/vases watch/watches wheel/wheels"
)
# (singular, plural)
EDIBLE = [tuple(pair.split("/")) for pair in FOODS_COUNTED.split()]
THINGS = sorted(EDIBLE + [tuple(pair.split("/")) for pair in GOODS.split()])

CONTAINERS = [
    tuple(pair.split("/"))
    for pair in (
        "bag/bags basket/baskets box/boxes bucket/buckets case/cases crate/crates drawer/drawers jar/jars pack/packs "
        "packet/packets pot/pots shelf/shelves tin/tins tray/trays"
    ).split()
]
SHARERS = [("child", "children"), ("friend", "friends"), ("pupil", "pupils"), ("team", "teams"), ("class", "classes")]
CURRENCIES = ["dollars", "euros", "pounds", "coins", "cents"]
ANIMALS = "birds bees cats chickens cows dogs ducks fish frogs goats hens horses mice pigs rabbits sheep".split()
TEAMS = "Bears Comets Dragons Eagles Falcons Foxes Hawks Kings Lions Owls Pirates Rockets Sharks Stars Tigers Wolves".split()

COLOURS = "red blue green yellow white black brown grey pink purple orange silver golden".split()
OBJECTS = (
    "key letter map ring coin book phone wallet ticket hat camera watch pen lamp toy torch ball scarf spoon candle "
    "photo umbrella violin knife mug"
).split()
HOLDERS = "box bag basket case chest drawer jar trunk suitcase backpack bucket crate".split()
ROOMS = "kitchen garage attic cellar bedroom bathroom hall office library garden workshop shed study barn".split()
CITIES = (
    "Athens Berlin Boston Bristol Cairo Delhi Dublin Geneva Kyoto Lagos Lima Lisbon London Madrid Milan Moscow Oslo "
    "Paris Prague Rome Seoul Sydney Tokyo Turin Vienna Warsaw Zurich"
).split()
COUNTRIES = "Chile China Egypt France Ghana Greece India Italy Japan Kenya Mexico Norway Peru Poland Spain Sweden".split()
PETS = "cat dog horse rabbit parrot hamster goat pony turtle mouse duck sheep".split()
JOBS = "baker doctor driver farmer lawyer nurse painter pilot singer teacher writer cook builder dentist".split()
FOODS = "bread cheese honey pasta pizza rice salad soup cake fish jam yoghurt chocolate noodles porridge".split()
SPORTS = "tennis football chess hockey golf rugby swimming running sailing skiing judo basketball cricket".split()
RELATIONS = "friend neighbour teacher brother sister boss cousin uncle aunt partner coach".split()

FILLERS = (
    "The sky is grey today.|It is a sunny day.|The shop is near the station.|Birds are singing outside.|"
    "The train is late again.|Everyone likes the music.|The door is painted green.|It is cold outside.|"
    "The radio is on.|A dog barks in the street.|The bus leaves soon.|The garden looks nice.|Rain is falling.|"
    "The clock on the wall is old.|The windows are open.|Lunch is at noon.|The street is quiet.|"
    "It is a long way home.|The tea is still hot.|The weather is good.|The park is full of people.|"
    "The market opens at 9 o'clock.|It was a Monday.|The floor is clean.|The moon is bright tonight."
).split("|")

WORLD_FACTS = (
    "Ice is frozen water.|The sun is a star.|Cats are mammals.|Bees make honey.|Iron is a metal.|Snow is white.|"
    "Fish live in water.|The moon orbits the earth.|Plants need light.|Gold is heavy.|Whales are mammals.|"
    "Spiders have eight legs.|Penguins cannot fly.|Owls hunt at night.|Bread is made from flour.|"
    "Water boils at 100 degrees.|A week has 7 days.|A year has 12 months.|Sound travels through air.|"
    "Glass is made from sand.|Paper is made from wood.|Cows eat grass.|Salt dissolves in water.|"
    "Bats can fly.|Diamonds are very hard.|Rivers flow to the sea.|Lemons taste sour.|Frogs lay eggs.|"
    "Wood floats on water.|Horses can run fast.|Rainbows have many colours.|Mars is a planet.|"
    "Camels live in the desert.|Sharks have sharp teeth.|Apples grow on trees.|Magnets attract iron."
).split("|")

_ONSETS = "b bl br c ch d dr f fl g gr h j k kl l m n p pl qu r s sh st t th tr v w z".split()
_VOWELS = "a e i o u ai ea ee oo ou".split()
_CODAS = ["", "", "", "", "b", "d", "g", "k", "l", "m", "n", "p", "r", "rn", "s", "sk", "t", "x", "nd", "lt"]


# An invented word must not be one of these.
TAKEN = {
    word
    for path in [*DATA.glob("*.txt"), *(DATA.parent / "templates").glob("*.txt")]
    for word in re.findall(r"[a-z]+", path.read_text().lower())
}


def _is_held_out(rng: Random) -> bool:
    """Returns whether held-out problems are being drawn. They are older than the additional word lists and must not change."""
    return getattr(rng, "held_out", False)


def invented_word(rng: Random) -> str:
    """Returns a pronounceable word of one or two syllables, such as "drokel"."""
    word = "".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS) for _ in range(rng.choice((1, 2, 2, 2))))
    is_taken = word in TAKEN and not _is_held_out(rng)
    return word if len(word) > 2 and not is_taken else invented_word(rng)


def reserved(items: list) -> list:
    """Returns every eighth item. Training never sees these items."""
    return items[::8]


def seen(items: list) -> list:
    """Returns the items that training sees."""
    return [item for i, item in enumerate(items) if i % 8]


def _lines(file: str) -> list[str]:
    return (DATA / file).read_text().splitlines()


def _pair(text: str) -> tuple[str, str]:
    """Parses "dog", "child/children" or "tennis_ball tennis_balls" -> (singular, plural)."""
    one, _, many = text.strip().partition("/" if "/" in text else " ")
    return one.replace("_", " "), many.replace("_", " ") or one + "s"


# Additional words that only training sees: names with their pronouns, things, foods, and named lists for slots such as "{town}" in
# templates.
MORE_NAMES = {name: he for name, he in (line.split() for line in _lines("names.txt")) if name not in NAMES}
MORE_THINGS = [pair for pair in map(_pair, _lines("things.txt")) if pair not in THINGS]
MORE_EDIBLE = [pair for pair in map(_pair, _lines("foods.txt")) if pair not in THINGS]
LISTS: dict[str, list[str] | list[tuple[str, str]]] = {
    name: [_pair(word) if "/" in words else word.strip() for word in words.split(",")]
    for name, words in (line.split(": ", 1) for line in _lines("lists.txt"))
}

NAMES_BY_USE = {True: reserved(NAMES), False: seen(NAMES) + sorted(MORE_NAMES)}  # by whether the problem is held out
THINGS_BY_USE = {True: reserved(THINGS), False: seen(THINGS) + MORE_THINGS + MORE_EDIBLE}
EDIBLE_BY_USE = {True: [t for t in reserved(THINGS) if t in EDIBLE], False: [t for t in seen(THINGS) if t in EDIBLE] + MORE_EDIBLE}


def pronouns(name: str) -> dict[str, str]:
    """Returns the pronouns for a name. An invented name always gets the same pronouns."""
    he = name in HIS_NAMES or MORE_NAMES.get(name) == "he" or not (name in HER_NAMES or name in MORE_NAMES) and len(name) % 2 == 0
    if he:
        return {"he": "he", "his": "his", "him": "him", "hers": "his", "himself": "himself"}
    return {"he": "she", "his": "her", "him": "her", "hers": "hers", "himself": "herself"}


def pronoun(name: str, rng: Random) -> str:
    """Returns "he" or "she". For an invented name either may be chosen."""
    known = "he" if name in HIS_NAMES else "she" if name in HER_NAMES else None if _is_held_out(rng) else MORE_NAMES.get(name)
    return known or rng.choice(("he", "she"))

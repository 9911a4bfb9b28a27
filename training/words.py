"""The words the problems are made of, and invented names and nouns."""

from random import Random

NAMES = (
    "Ada Alan Alice Amir Amy Anna Ben Bella Bob Carl Carla Chen Clara Dan Daisy David Ella Emil Emma Eva Felix "
    "Finn Frida George Grace Hana Hugo Ida Ivan Jack Jane Jonas Julia Karim Kate Lea Leo Lily Lucas Luis Maria Max "
    "Mia Mira Nina Noah Nora Olga Oliver Omar Paul Pia Priya Robin Rosa Ruth Sam Sara Sofia Tara Theo Tim Tom Uma "
    "Vera Victor Wei Will Yara Yusuf Zoe"
).split()

# (singular, plural)
THINGS = [
    tuple(pair.split("/"))
    for pair in (
        "apple/apples ball/balls balloon/balloons banana/bananas bead/beads bean/beans bike/bikes book/books "
        "bottle/bottles bowl/bowls brick/bricks brush/brushes button/buttons cake/cakes candle/candles card/cards "
        "carrot/carrots chair/chairs cherry/cherries coin/coins cookie/cookies crayon/crayons cup/cups doll/dolls "
        "egg/eggs envelope/envelopes feather/feathers fish/fish flower/flowers fork/forks glove/gloves grape/grapes "
        "hat/hats kite/kites lamp/lamps leaf/leaves lemon/lemons letter/letters magnet/magnets map/maps "
        "marble/marbles melon/melons mug/mugs muffin/muffins nail/nails necklace/necklaces notebook/notebooks "
        "nut/nuts onion/onions orange/oranges page/pages peach/peaches pear/pears pebble/pebbles pen/pens "
        "pencil/pencils photo/photos pie/pies plate/plates plum/plums postcard/postcards potato/potatoes "
        "puzzle/puzzles ribbon/ribbons ring/rings robot/robots rock/rocks rose/roses ruler/rulers sandwich/sandwiches "
        "scarf/scarves seed/seeds shell/shells shirt/shirts sock/socks spoon/spoons stamp/stamps stick/sticks "
        "sticker/stickers sweet/sweets ticket/tickets tile/tiles tomato/tomatoes toy/toys tree/trees tulip/tulips"
    ).split()
]

CONTAINERS = [
    tuple(pair.split("/"))
    for pair in (
        "bag/bags basket/baskets box/boxes bucket/buckets case/cases crate/crates drawer/drawers jar/jars pack/packs "
        "packet/packets pot/pots shelf/shelves tin/tins tray/trays"
    ).split()
]
SHARERS = [("child", "children"), ("friend", "friends"), ("pupil", "pupils"), ("team", "teams"), ("class", "classes")]
CURRENCIES = ["dollars", "euros", "pounds", "coins", "cents"]

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


def invented_word(rng: Random) -> str:
    """A pronounceable word of one or two syllables, such as "drokel"."""
    word = "".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS) for _ in range(rng.choice((1, 2, 2, 2))))
    return word if len(word) > 2 else invented_word(rng)


def distinct_names(rng: Random, count: int, invented_share: float = 0.3) -> list[str]:
    """`count` different first names, each invented with the given probability."""
    names: list[str] = []
    while len(names) < count:
        name = invented_word(rng).capitalize() if rng.random() < invented_share else rng.choice(NAMES)
        if name not in names:
            names.append(name)
    return names


def distinct_things(rng: Random, count: int, invented_share: float = 0.15) -> list[tuple[str, str]]:
    """`count` different countable things as (singular, plural), each invented with the given probability."""
    things: list[tuple[str, str]] = []
    while len(things) < count:
        if rng.random() < invented_share:
            word = invented_word(rng)
            thing = (word, word + ("es" if word[-1] in "sx" else "s"))
        else:
            thing = rng.choice(THINGS)
        if thing not in things:
            things.append(thing)
    return things

"""Varies problems as users type them: missing capitals and full stops, typing errors, contractions, British spelling, a greeting.

The answer stays the same, with two exceptions: like the prompt, it may be in lower case or in British spelling.
"""

import re
from dataclasses import replace

from draw import Draw
from problem import Problem
from words import DATA, LISTS, MORE_EDIBLE, MORE_THINGS, NAMES_BY_USE, THINGS

SEEN_NAMES = set(NAMES_BY_USE[False])
ADJECTIVES = (
    "old new small big red blue green fresh heavy little nice clean broken empty wooden cheap long short bright shiny plain".split()
)
# Removing one of these words would change the question.
NEEDED = set(
    "no not none half twice double third quarter each every per more less fewer left than times all both most least first last only rest "
    "how many much who what which where when whose as of and or but by for with from to at in on other another again back same away out "
    "one two three four five six seven eight nine ten eleven twelve dozen before after ago older younger taller shorter total "
    "together".split()
)
_SETS = [line.strip().split(" | ") for line in (DATA / "synonyms.txt").read_text().splitlines() if " | " in line]
SYNONYMS = {phrase: [other for other in some if other != phrase] for some in _SETS for phrase in some}
_PHRASES = re.compile(r"\b(?:" + "|".join(re.escape(phrase) for phrase in sorted(SYNONYMS, key=len, reverse=True)) + r")\b")

SINGULARS = {
    many: one
    for one, many in [*THINGS, *MORE_THINGS, *MORE_EDIBLE, *(pair for words in LISTS.values() for pair in words if isinstance(pair, tuple))]
    if one != many
}  # fmt: skip

CONTRACTIONS = {
    " is not ": " isn't ", " are not ": " aren't ", " does not ": " doesn't ", " did not ": " didn't ", " has not ": " hasn't ",
    "What is ": "What's ", "Who is ": "Who's ", "Where is ": "Where's ", "It is ": "It's ",
    " cannot ": " can't ", " They are ": " They're ",
    "I have ": "I've ", "I am ": "I'm ", "There is ": "There's ",
}  # fmt: skip
BRITISH = {
    "color": "colour", "meter": "metre", "liter": "litre", "neighbor": "neighbour", "gray": "grey", "center": "centre",
    "theater": "theatre", "favorite": "favourite", "harbor": "harbour", "cookie": "biscuit", "candies": "sweets", "candy": "sweet",
    "soccer": "football",
    "math ": "maths ", "mom": "mum", "Mom": "Mum", "traveled": "travelled", "store": "shop",
}  # fmt: skip
OPENINGS = (
    "Please help me.|Question:|Hi!|Hello,|Can you solve this?|Here is a problem.|Solve this problem.|Answer this question.|Let's see.|"
    "Problem:|Please answer.|I have a question.|Try this one.|Riddle:|Quick question:|OK,|Help me with my homework.|Read this carefully."
).split("|")
ENDINGS = (
    "Thanks!|Thank you.|Please explain.|Show your work.|Think step by step.|Explain step by step.|Please.|Show the steps.|Can you help?|"
    "Give the answer.|Answer with a number.|Work it out.|What do you think?"
).split("|")


def vary(draw: Draw, problem: Problem) -> Problem:
    """Returns `problem` as a user might type it."""
    sentences, answer, relevant = list(problem.sentences), list(problem.answer), list(problem.relevant)
    if problem.task == "template" and draw.random() < 0.4:
        sentences, answer = _other_noun(draw, sentences, answer)
    if draw.random() < 0.5:
        sentences, answer = _synonyms(draw, sentences, answer)
    if draw.random() < 0.2:
        sentences = [_adorned(draw, sentence) for sentence in sentences]
    if draw.random() < 0.1:
        sentences = [_thinned(draw, sentence, problem.answer_text) for sentence in sentences]
    if draw.random() < 0.15:
        sentences, answer = ([_british(sentence) for sentence in some] for some in (sentences, answer))
    if draw.random() < 0.08:
        sentences = [_contracted(sentence) for sentence in sentences]
    if draw.random() < 0.07 and len(sentences) > 1 and re.match(r"(How|Who|What|Where|Which|When) ", sentences[-1]):
        sentences = [sentences[-1], *sentences[:-1]]
        relevant = sorted((i + 1) % len(sentences) for i in relevant)
    if draw.random() < 0.06:
        sentences = [_mistyped(draw, sentence, problem.answer_text) for sentence in sentences]
    if draw.random() < 0.05:
        opening = draw.choice(OPENINGS)
        sentences, relevant = [opening, *sentences], [i + 1 for i in relevant]
    if draw.random() < 0.05:
        sentences.append(draw.choice(ENDINGS))
    if draw.random() < 0.05:
        sentences = [sentence.lower() for sentence in sentences]
        answer = [sentence.lower() for sentence in answer[:-1]] + [_lower_result(answer[-1])]
    style = draw.random()
    if style < 0.04:  # run-on sentences
        joint = draw.choice((" ", ", ", " and "))
        body = joint.join(sentence.rstrip(".") for sentence in sentences[:-1])
        sentences, relevant = [f"{body}{'' if joint == ' and ' else ','} {sentences[-1]}" if body else sentences[-1]], [0]
    elif style < 0.07:
        sentences[-1] = sentences[-1].rstrip(".?!")
    elif style < 0.10:
        sentences = [sentence.rstrip(".") for sentence in sentences]
    elif style < 0.12:
        sentences, relevant = ["\n".join(sentences)], [0]
    return replace(problem, sentences=sentences, answer=answer, relevant=relevant)


def _contracted(sentence: str) -> str:
    for long, short in CONTRACTIONS.items():
        sentence = sentence.replace(long, short)
    return sentence


def _other_noun(draw: Draw, sentences: list[str], answer: list[str]) -> tuple[list[str], list[str]]:
    """Replaces a thing that both prompt and answer name with another thing. The calculation stays the same."""
    in_prompt, in_answer = (set(re.findall(r"[a-z]+", " ".join(some))) for some in (sentences, answer))
    nouns = sorted(word for word in in_prompt & in_answer if word in SINGULARS)
    if not nouns or re.search(r"legs|wheels|wings|sides", " ".join(answer)):
        return sentences, answer
    old = draw.choice(nouns)
    one, many = draw.things(1)[0]

    def other(sentence: str) -> str:
        sentence = re.sub(rf"\b{old}\b", many, sentence)
        return re.sub(rf"\b{SINGULARS[old]}\b", one, sentence)

    return [other(sentence) for sentence in sentences], [other(sentence) for sentence in answer]


def _synonyms(draw: Draw, sentences: list[str], answer: list[str]) -> tuple[list[str], list[str]]:
    """Replaces some phrases with synonyms, in the prompt and in the answer."""
    swaps = {}
    for phrase in sorted(set(_PHRASES.findall(" ".join(sentences)))):
        if draw.random() < 0.4:
            swaps[phrase] = draw.choice(SYNONYMS[phrase])

    def other(sentence: str) -> str:
        return _PHRASES.sub(lambda match: swaps.get(match[0], match[0]), sentence)

    return [other(sentence) for sentence in sentences], [other(sentence) for sentence in answer[:-1]] + answer[-1:]


def _adorned(draw: Draw, sentence: str) -> str:
    """Adds an adjective before a counted thing, or a remark about a person."""
    sentence = re.sub(r"(\b\d+ )(?=[a-z]+s\b)", lambda m: m[1] + (draw.choice(ADJECTIVES) + " ") * (draw.random() < 0.3), sentence)
    name = re.match(r"([A-Z][a-z]+) (?=[a-z]+(s|ed|d)\b)", sentence)
    if name and name[1] in SEEN_NAMES and draw.random() < 0.25:
        aside = draw.choice((
            f"a {draw.choice(LISTS['job'])}", f"who lives in {draw.choice(LISTS['town'])}", f"who is {draw.randint(6, 90)} years old",
            f"who likes {draw.choice(LISTS['food'])}", f"a friend of {draw.names(1)[0]}", f"our {draw.choice(LISTS['relation'])}",
        ))  # fmt: skip
        sentence = f"{name[1]}, {aside}, {sentence[name.end() :]}"
    return sentence


def _thinned(draw: Draw, sentence: str, answer: str) -> str:
    """Removes some of the words that the answer does not need, as in a hasty note."""
    words = sentence.split(" ")
    kept = [w for i, w in enumerate(words) if not i or not w.islower() or w in NEEDED or w in answer or draw.random() < 0.85]
    return " ".join(kept)


def _british(sentence: str) -> str:
    for american, british in BRITISH.items():
        sentence = sentence.replace(american, british)
    return sentence.replace("thermometre", "thermometer").replace("perimetre", "perimeter")


def _lower_result(sentence: str) -> str:
    """Writes the result in lower case: "The answer is Tom." -> "The answer is tom."."""
    opening = "The answer is "
    return opening + sentence[len(opening) :].lower() if sentence.startswith(opening) else sentence


def _mistyped(draw: Draw, sentence: str, answer: str) -> str:
    """Puts one typing error in one of the words that the answer does not repeat."""
    words = [w for w in re.findall(r"\b[a-z]{4,}\b", sentence) if w not in answer]
    if not words:
        return sentence
    word = draw.choice(words)
    i = draw.randint(1, len(word) - 2)
    wrong = draw.choice((
        word[:i] + word[i + 1 :],  # a missing letter
        word[:i] + word[i] + word[i:],  # a doubled letter
        word[:i] + word[i + 1] + word[i] + word[i + 2 :],  # two swapped letters
        word[:i] + draw.choice("aeiourstnl") + word[i + 1 :],  # a wrong letter
    ))  # fmt: skip
    return re.sub(rf"\b{word}\b", wrong, sentence, count=1)

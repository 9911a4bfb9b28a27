"""Handwritten problem templates: the files in `templates/`. A block is one problem.

    # a comment
    ? a=20-90 b=2-15 a>2*b
    {N} (has/had) {a} {X}. | {N.He} [lose:(gives/gave) away|(sells/sold)] {b} of them. | How many {X} are left?
    Of {N}'s {a} {X} {b} [lose:are given away|are sold]. | How many {X} remain?
    > {N} (has/had) {a} {X}. | {N.He} (loses/lost) {b}, so {a} - {b} = {x}. | The answer is {x}.

A block has one or more prompts with the same meaning (one is chosen at random), an answer after ">", and optional conditions after "?".
Blank lines separate blocks, and " | " separates sentences.

* `{N}`: a first name, different for each of N M O Q R S T. `{N.he}`, `.his`, `.him`, `.He`, `.His`: its pronouns.
* `{X}`: the plural of a countable thing, different for each of X Y Z. `{X.one}`: its singular. The same holds for F G
  (things to eat), A B (animals), K L (containers such as boxes).
* `{room}`, `{town}`, ...: a word from a list in `words.LISTS`. `{room2}`, `{room3}` are different words from the same list.
  `.one` is the singular, if the list has singulars.
* `{a}` to `{k}`: a whole number, from 2 to 60 unless "? a=5-20" gives other limits. The default for c and d is from 2 to 12.
  In a prompt the number may be written as a word ("seven"). In the answer it always has digits. `{a.word}` is always a
  word. `{$a}` is money: "$7", "7 euros". `{a.th}` is "3rd".
* `{x|minute|minutes}`: the first word if x is 1, otherwise the second. The number itself is not written. `{a.digits}` always
  has digits.
* `{N:she}`, `{N:he}`: a female or male name. `{N.hers}`, `.himself` are pronouns, too.
* `<<max {N}=a, {M}=b, the blue one=x>>`: the words before the largest number. min and mid work the same way. The numbers
  must differ. `<<if a>b: {N} has enough // {N} has too little>>`: the first text if the condition holds, otherwise the
  second.
* `{a} - {b} = {x}` in the answer computes x. The operators are + - * /. Numbers are drawn again until every result is a
  whole number from 0 to 200 and every condition holds. A constant may replace a slot: `{c} * 60 = {x}`.
* `[buys|finds]`: one of these. `[verb:buys|finds]`: one of these, and `{verb}` repeats it. Names of lists have two or more
  letters. `[|more ]` may be empty. `(has/had)`: present or past, the same throughout a problem.
* `[part,of:half;2|a third;3]`: linked choices. The list itself becomes the first part. `{part}` and `{of}` repeat the two
  parts, also in equations.
* A prompt sentence that begins with "~" is irrelevant. One with "~?" is irrelevant and appears only half of the time.
  Consecutive sentences that begin with "&" may be shuffled (combined as "&~?" and so on).
* `@1` in the answer repeats prompt sentence 1 without its full stop.

`python training/templates.py FILE` checks a file and prints sample problems.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from draw import Draw
from numbers_in_words import in_words, ordinal
from problem import UNRELATED, Problem, insert
from words import CONTAINERS, DATA, LISTS, NAMES_BY_USE, pronouns

FOLDER = Path(__file__).parent / "templates"
LARGEST = 200
MONEY = ("${}", "${}", "{} dollars", "{} euros", "{} pounds")
PEOPLE, COUNTED = "NMOQRST", {"X": "things", "Y": "things", "Z": "things", "F": "foods", "G": "foods", "K": "containers", "L": "containers"}
OPERATORS: dict[str, Callable[[int, int], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b if b else -1,
}
_CHOICE = re.compile(r"\[(?:([a-z]{2,}\d?(?:,[a-z]{2,}\d?)*):)?([^\[\]]*)\]")
_TENSE = re.compile(r"\(([^()/]*)/([^()/]*)\)")
_SLOT = re.compile(r"\{(\$?)(\w+)(?:\.(\w+))?\}")
_EQUATION = re.compile(r"(\{\$?\w\}|\d+) ([-+*/]) (\{\$?\w\}|\d+) = \{\$?([a-z])\}")
_NAMED = re.compile(r"\{([a-z]{2,}\d?)\}")
_PLURAL = re.compile(r"\{([a-z])\|([^|{}]*)\|([^|{}]*)\}")
_GENDER = re.compile(r"\{([NMOQRST]):(he|she)\}")
_RANK = re.compile(r"<<(max|min|mid) (.*?)>>")
_IF = re.compile(r"<<if (.*?): (.*?) // (.*?)>>")
_COPY = re.compile(r"@(\d)")


class TemplateError(Exception):
    """A template with an error. The message gives the file and line."""


@dataclass
class Template:
    """One block: prompts with the same meaning and their answer, as lists of sentences."""

    source: str
    prompts: list[list[str]]
    answer: list[str]
    domains: dict[str, tuple[int, int]] = field(default_factory=dict)
    conditions: list[str] = field(default_factory=list)


def read(path: Path) -> list[Template]:
    """Reads the templates of one file."""
    templates: list[Template] = []
    block: list[tuple[int, str]] = []
    for number, line in enumerate([*path.read_text().splitlines(), ""], 1):
        line = line.strip()
        if line and not line.startswith("#"):
            block.append((number, line))
        elif not line and block:
            templates.append(_template(path, block))
            block = []
    return templates


def _template(path: Path, block: list[tuple[int, str]]) -> Template:
    source = f"{path.name}:{block[0][0]}"
    prompts = [_sentences(line) for _, line in block if line[0] not in "?>"]
    answers = [_sentences(line[1:]) for _, line in block if line[0] == ">"]
    if not prompts or len(answers) != 1:
        raise TemplateError(f"{source}: a block needs prompts and exactly one answer after '>'")
    template = Template(source, prompts, answers[0])
    for token in " ".join(line[1:] for _, line in block if line[0] == "?").split():
        if domain := re.fullmatch(r"([a-k])=(\d+)-(\d+)", token):
            template.domains[domain[1]] = int(domain[2]), int(domain[3])
        else:
            template.conditions.append(re.sub(r"(?<![<>=!])=(?!=)", "==", token))
    return template


def _sentences(line: str) -> list[str]:
    return [sentence.strip() for sentence in line.split(" | ")]


@cache
def all_templates() -> list[Template]:
    return [template for path in sorted(FOLDER.glob("*.txt")) for template in read(path)]


def from_templates(draw: Draw) -> Problem:
    """Makes a problem from a random template. A fifth of the problems get irrelevant sentences."""
    problem = expand(draw, draw.choice(all_templates()))
    if draw.random() < 0.2:
        person = next((word for word in re.findall(r"[A-Z]\w+", problem.answer_text) if word not in ("The", "He", "She")), "Alex")
        extra = remarks(draw, person)
        needed = [problem.sentences[i] for i in problem.relevant]
        problem.sentences, _ = insert(draw, problem.sentences, extra, [])
        problem.relevant = [i for i, sentence in enumerate(problem.sentences) if sentence in needed]
        problem.distractors = "unrelated"
    return problem


def remarks(draw: Draw, person: str) -> list[str]:
    """Returns one or two irrelevant everyday sentences. `person` is somebody in the problem."""
    return [_remark(draw, person) for _ in range(draw.choice((1, 1, 1, 2)))]


def _remark(draw: Draw, person: str) -> str:
    if draw.random() < 0.1:
        return UNRELATED
    text = draw.choice(_remarks()).replace("{P}", person)
    return expand(draw, Template("remarks.txt", [[text]], [])).prompt


@cache
def _remarks() -> list[str]:
    return [line for line in (DATA / "remarks.txt").read_text().splitlines() if line]


def expand(draw: Draw, template: Template) -> Problem:
    """Makes a problem from this template."""
    draw.begin()
    for _ in range(100):
        filler = _Filler(draw, template)
        prompt = [filler.choose(sentence) for sentence in _shuffled(draw, draw.choice(template.prompts))]
        answer = [filler.choose(sentence) for sentence in template.answer]
        prompt, answer = ([filler.repeat(sentence) for sentence in some] for some in (prompt, answer))
        if any(filler.draw_numbers(prompt, answer) for _ in range(200)):
            return filler.problem(prompt, answer)
    raise TemplateError(f"{template.source}: no numbers satisfy it")


def _shuffled(draw: Draw, sentences: list[str]) -> list[str]:
    """Shuffles each group of sentences that are marked "&". Drops half of the sentences marked "?". Adds each sentence's number in the
    template."""
    numbered = [f"@{i} {sentence}" for i, sentence in enumerate(sentences, 1) if "?" not in _marks(sentence) or draw.random() < 0.5]
    start = 0
    while start < len(numbered):
        end = start
        while end < len(numbered) and "&" in _marks(numbered[end][3:]):
            end += 1
        group = numbered[start:end]
        draw.shuffle(group)
        numbered[start:end] = group
        start = end + 1
    return numbered


def _ranked(text: str) -> list[tuple[str, str]]:
    """Parses a ranking: "{N}=a, the blue one=x" -> [("{N}", "a"), ("the blue one", "x")]."""
    return [(words.strip(), letter.strip()) for words, letter in (part.rsplit("=", 1) for part in text.split(","))]


def _marks(sentence: str) -> str:
    """Returns the marks before a prompt sentence: "~", "~?", "&", "&~", ..."""
    return sentence[: len(sentence) - len(sentence.lstrip("~&?"))]


class _Filler:
    """Chooses the words and numbers of one problem."""

    def __init__(self, draw: Draw, template: Template):
        self.draw, self.template = draw, template
        self.chosen: dict[str, str] = {}
        self.words: dict[str, tuple[str, ...]] = {}
        self.numbers: dict[str, int] = {}
        self.people = draw.names(len(PEOPLE))
        for person, he in {match[1]: match[2] for match in _GENDER.finditer(" ".join(sum(template.prompts, template.answer)))}.items():
            self.people[PEOPLE.index(person)] = self._name_of(he)
        self.money = draw.choice(MONEY)
        self.spelled = draw.random() < 0.2
        self.largest_spelled = LARGEST if draw.random() < 0.3 else 20

    def _name_of(self, he: str) -> str:
        """Returns an unused name of a man ("he") or a woman ("she")."""
        while pronouns(name := self.draw.choice(NAMES_BY_USE[False]))["he"] != he or name in self.people:
            pass
        return name

    @property
    def conditions(self) -> list[str]:
        """Returns the conditions of the template, with linked values inserted."""
        return [self.repeat(rule) for rule in self.template.conditions]

    def choose(self, text: str) -> str:
        """Chooses alternatives and tenses."""
        while _CHOICE.search(text):
            text = _CHOICE.sub(self._alternative, text)
        return _TENSE.sub(lambda match: match[2 if self.draw.past else 1], text)

    def repeat(self, text: str) -> str:
        """Inserts the choices from named lists."""
        repeated = _NAMED.sub(lambda match: self.chosen.get(match[1], match[0]), text)
        return repeated if repeated == text else self.repeat(repeated)

    def _alternative(self, match: re.Match) -> str:
        if not match[1] and re.match(r"\w+:\S", match[2]):
            raise TemplateError(f"{self.template.source}: the name of a list has two or more small letters, not [{match[2]}]")
        value = self.draw.choice(match[2].split("|"))
        if not match[1]:
            return value
        names = match[1].split(",")
        values = value.split(";") if len(names) > 1 else [value]
        if len(names) != len(values):
            raise TemplateError(f"{self.template.source}: {len(names)} names for {value!r}")
        return [self.chosen.setdefault(name, self.choose(value)) for name, value in zip(names, values)][0]

    def draw_numbers(self, prompt: list[str], answer: list[str]) -> bool:
        """Draws the numbers and computes the results. Returns whether all results are in range and all conditions hold."""
        self.numbers = {}
        text = " ".join(prompt + answer)
        computed = [match[4] for match in _EQUATION.finditer(" ".join(answer))]
        letters = {match[2] for match in _SLOT.finditer(text)} | {match[1] for match in _PLURAL.finditer(text)}
        letters |= {letter for match in _RANK.finditer(text) for _, letter in _ranked(match[2])}
        letters |= {letter for match in _IF.finditer(text) for letter in re.findall(r"\b[a-k]\b", match[1])}
        letters &= set("abcdefghijk")
        letters |= {letter for rule in self.conditions for letter in re.findall(r"\b[a-k]\b", rule)}
        for letter in sorted(letters - set(computed)):
            default = (2, 12) if letter in "cd" else (2, 60)
            self.numbers[letter] = self.draw.randint(*self.template.domains.get(letter, default))
        for match in _EQUATION.finditer(" ".join(answer)):
            first, second = (self._operand(operand) for operand in (match[1], match[3]))
            result = OPERATORS[match[2]](first, second)
            if not 0 <= result <= LARGEST or result != int(result):
                return False
            self.numbers[match[4]] = int(result)
        return self._are_ranks_clear(prompt + answer) and all(eval(rule, {}, self.numbers) for rule in self.conditions)

    def _are_ranks_clear(self, sentences: list[str]) -> bool:
        """Returns whether the ranked numbers are all different."""
        ranked = ([self.numbers[letter] for _, letter in _ranked(match[2])] for match in _RANK.finditer(" ".join(sentences)))
        return all(len(set(numbers)) == len(numbers) for numbers in ranked)

    def _operand(self, text: str) -> int:
        if text.isdigit():
            return int(text)
        letter = text.strip("{$}")
        if letter not in self.numbers:
            raise TemplateError(f"{self.template.source}: {text} is used before it is computed")
        return self.numbers[letter]

    def problem(self, prompt: list[str], answer: list[str]) -> Problem:
        copies, sentences, relevant = {}, [], []
        for i, sentence in enumerate(prompt):
            number, sentence = sentence[1], sentence[3:]
            text = sentence.lstrip("~&? ")
            relevant += [] if "~" in _marks(sentence) else [i]
            copies[number] = self.fill(text, False)
            sentences.append(self.fill(text, self.spelled))
        listed = [self.fill(_COPY.sub(lambda m: copies[m[1]].rstrip(".!?"), s), False) for s in answer]
        steps = sum(len(_EQUATION.findall(sentence)) for sentence in answer)
        return Problem("template", steps or len(answer) - 1, "none", sentences, listed, relevant)

    def fill(self, text: str, spelled: bool) -> str:
        """Fills the slots. With `spelled`, small numbers are written as words."""
        text = _IF.sub(lambda match: match[2] if eval(match[1], {}, self.numbers) else match[3], text)
        text = _RANK.sub(lambda match: self._rank(match[1], match[2]), text)
        text = _GENDER.sub(r"{\1}", text)
        text = _PLURAL.sub(lambda match: match[2] if self.numbers[match[1]] == 1 else match[3], text)
        text = _SLOT.sub(lambda match: self._word(match, spelled), text)
        text = re.sub(r" +(?=[ .?!,;])", "", text.strip())
        text = re.sub(r"\b([Aa]) (?=(?!uni|uku|use|eu|one)[aeiou]|8|11\b|18\b)", r"\1n ", text)
        return text[:1].upper() + text[1:]

    def _rank(self, which: str, text: str) -> str:
        """Returns the words before the largest, smallest or middle number."""
        ordered = [words for words, _ in sorted(_ranked(text), key=lambda pair: self.numbers[pair[1]])]
        return {"min": ordered[0], "max": ordered[-1], "mid": ordered[len(ordered) // 2]}[which]

    def _word(self, match: re.Match, spelled: bool) -> str:
        money, slot, form = match[1], match[2], match[3]
        if slot in PEOPLE:
            return self._person(self.people[PEOPLE.index(slot)], form)
        if len(slot) == 1 and slot.islower():
            return self._number(self.numbers[slot], money, form, spelled)
        words = self.words.get(slot) or self._new_word(slot)
        return words[0] if form == "one" else words[-1]

    def _person(self, name: str, form: str | None) -> str:
        if form is None:
            return name
        forms = pronouns(name)
        if form.lower() not in forms:
            raise TemplateError(f"{self.template.source}: no form '{form}' of a name")
        return forms[form] if form.islower() else forms[form.lower()].capitalize()

    def _number(self, number: int, money: str, form: str | None, spelled: bool) -> str:
        if form == "digits":
            return str(number)
        if form == "th":
            return ordinal(number)
        if form == "word" or spelled and number <= self.largest_spelled and not money:
            return in_words(number)
        return self.money.format(number) if money else str(number)

    def _new_word(self, slot: str) -> tuple[str, ...]:
        """Chooses a word that no other slot of this problem has, as (singular, plural) or (word,)."""
        draw, used = self.draw, set(self.words.values())
        while True:
            if slot in ("A", "B"):
                word = draw.choice(LISTS["animal"])
            elif slot in COUNTED:
                kind = COUNTED[slot]
                word = draw.choice(CONTAINERS) if kind == "containers" else draw.things(1, edible=kind == "foods")[0]
            else:
                name = slot.rstrip("0123456789")
                if name not in LISTS:
                    raise TemplateError(f"{self.template.source}: no slot or list is called '{slot}'")
                word = draw.choice(LISTS[name])
            word = (word,) if isinstance(word, str) else tuple(word)
            if word not in used:
                self.words[slot] = word
                return word


def main():
    path = Path(sys.argv[1])
    templates = read(path)
    draw, problems = Draw(1), 0
    for template in templates:
        try:
            for _ in range(20):
                problem = expand(draw, template)
                if left := re.search(r"[{}\[\]|@~]| \(|\w/\w|\$\{", problem.prompt + problem.answer_text):
                    raise TemplateError(f"{template.source}: '{left[0]}' is left in: {problem.prompt} > {problem.answer_text}")
            if not problem.answer[-1].startswith("The answer is "):
                raise TemplateError(f"{template.source}: the last sentence must be 'The answer is ...'")
            print(f"{template.source}  {problem.prompt}\n      > {problem.answer_text}")
        except (TemplateError, SyntaxError, NameError, KeyError) as error:
            problems += 1
            print(f"WRONG {template.source}: {error}")
    print(f"{len(templates)} templates, {sum(len(t.prompts) for t in templates)} prompts, {problems} wrong")


if __name__ == "__main__":
    main()

"""Writes numbers as English words."""

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen " "eighteen nineteen"
).split()
_TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()


def in_words(number: int) -> str:
    """Returns the words for 0 to 999: 45 is "forty-five", 120 is "one hundred and twenty"."""
    if number >= 100:
        rest = number % 100
        return f"{_SMALL[number // 100]} hundred" + (f" and {in_words(rest)}" if rest else "")
    if number >= 20:
        return _TENS[number // 10] + (f"-{_SMALL[number % 10]}" if number % 10 else "")
    return _SMALL[number]


def ordinal(number: int) -> str:
    """Returns the ordinal: 3 is "3rd", 12 is "12th"."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}" + {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")

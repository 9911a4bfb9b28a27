#!/usr/bin/env python3
"""Writes pre-tokenizers.json next to this file: the words into which Hugging Face's tokenizers split texts.

    python3 tests/golden/tokenizers/pre_tokenizers.py        (needs tokenizers 0.23.3)

The patterns are those of the models' own tokenizer.json, if llama.cpp quotes them (src/llama-vocab.cpp in llama-cpp-python 0.3.36) or
Hugging Face has them built in. Otherwise they are llama.cpp's. They run in Oniguruma; ours do not.
"""
import json
import pathlib
import re

from tokenizers import Regex
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence, Split

CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
WORD, MARKS, BLANKS = r"[^\r\n\p{L}\p{N}]?\p{L}+", r" ?[^\s\p{L}\p{N}]+[\r\n]*", r"\s*[\r\n]+|\s+(?!\S)|\s+"
HEAD, TAIL = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"


def split(*patterns):
    return Sequence([Split(Regex(pattern), "isolated") for pattern in patterns])


def gpt2(*before):
    return Sequence([*before, ByteLevel(add_prefix_space=False, use_regex=True)])


def cased(ending, digits):
    start = r"[^\r\n\p{L}\p{N}]?"
    words = f"{start}[{HEAD}]*[{TAIL}]+{ending}|{start}[{HEAD}]+[{TAIL}]*{ending}"
    return rf"{words}|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{BLANKS}"


def bracketed(line_ends):
    symbols = r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"
    return rf"{symbols}[A-Za-z]+|[^\r\n\p{{L}}\p{{P}}\p{{S}}]?[\p{{L}}\p{{M}}]+| ?[\p{{P}}\p{{S}}]+{line_ends}|\s+(?!\S)|\s+"


GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CJK, KANA = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
SCRIPTS = "|".join(
    [
        "[\uac00-\ud7a3\u3131-\u318e]+",
        "[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+",
        "[\u3105-\u312f]+",
        KANA,
    ]
)
DEEPSEEK_MARKS = "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+"
QWEN = f"{CONTRACTIONS}|{WORD}|" + r"\p{N}" + f"|{MARKS}|{BLANKS}"
BLOOM = r" ?[^(\s|.,!?…。，、।۔،)]+"
JAIS_BLANKS = "|".join(rf"\s{{{n}}}(?!\S)" for n in ("512", "256", "128", "64", "32", "16", "8", "4", "1,2"))


def deepseek_letters():
    """The only pattern that is a list of letters. Taken from our table, because no library has it built in."""
    table = (pathlib.Path(__file__).parents[3] / "crates/model/src/tokenizer/pre_tokenizers.rs").read_text(encoding="utf-8")
    lines = re.search(r"DEEPSEEK_LLM_LETTERS: &str = concat!\((.*?)\);", table, re.DOTALL).group(1)
    return "".join(re.findall(r'r"(.*)"', lines))


RULES = {
    "default": split(r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"),
    "gpt-2": gpt2(),
    "llama-bpe": split(f"{CONTRACTIONS}|{WORD}|" + r"\p{N}{1,3}" + f"|{MARKS}|{BLANKS}"),
    "qwen2": split(QWEN),
    "qwen35": split(rf"{CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{BLANKS}"),
    "smollm": gpt2(Digits(individual_digits=True)),
    "tekken": split(cased("", r"\p{N}")),
    "gpt-4o": split(cased(CONTRACTIONS + "?", r"\p{N}{1,3}")),
    "tiny_aya": split(r"\d{1,3}(?=(?:\d{3})*\b)", cased(CONTRACTIONS + "?", r"\p{N}{1,3}")),
    "deepseek-llm": split("[\r\n]", deepseek_letters(), DEEPSEEK_MARKS, r"\s+$", CJK, r"\p{N}+"),
    "deepseek-coder": split("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", CJK, r"\p{N}"),
    "deepseek-v3": split(r"\p{N}{1,3}", KANA, bracketed(r"[\r\n]*|\s*[\r\n]+")),
    "spark2_5": split(r"\p{N}{1,3}", KANA, bracketed(r"|[\r\n]"), r"\p{N}"),
    "youtu": split(SCRIPTS, cased(CONTRACTIONS + "?", r"\p{N}")),
    "falcon": split(r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"),
    "poro-chat": split(BLOOM),
    "viking": split(BLOOM, r"\p{N}"),
    "jais-2": split(f"{CONTRACTIONS}|{WORD}|" + r"\p{N}{1,3}" + f"|{MARKS}|" + r"\s*[\r\n]+|" + JAIS_BLANKS + r"|\s{1}"),
    "minicpm5": split(r"\p{N}{1,3}", f"{CONTRACTIONS}|{WORD}|" + r"\p{N}+" + f"|{MARKS}|{BLANKS}"),
    "seed-coder": split(rf"{CONTRACTIONS}|{WORD}|\p{{N}}{{1}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|{BLANKS}"),
    "superbpe": split(r"\p{N}+", r"(?=(\d{3})+(?!\d))"),
    "bailingmoe": split(r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"),
    "exaone-moe": split(
        CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
    ),
    "ufakzeka": split(rf"{WORD}|\p{{N}}|{MARKS}|{BLANKS}"),
    "laguna": split(r"[^\n]+|[\n]+", QWEN),
}
# Names that use the patterns of another name, with other flags.
SAME = {"smaug-bpe": "llama-bpe", "glm4": "llama-bpe"}

TEXTS = [
    "", " ", "   ", "\n", " \n\n  x", "a\r\n\r\nb", "\t\ttabs and  blanks ", "end   ", "a    b" + " " * 70 + "c",
    "Hello world", "Hello, world! It's John's; we'll go, they'VE gone, I'D say 'tis.", "don’t “quote” ‘me’ — … end",
    "1", "12", "123", "1234", "1234567890", "3.14159 and 1,000,000.50", "x1y22z333", "n°5 ½ ² ³ ١٢٣٤ Ⅷ 四百",
    "CamelCaseAndHTTPServer parseJSONFast", "ÉcoleÉTÉ naïveÏ Straße ΑΒΓαβγ ПриветМИР ǅungla", "i̇stanbul'da Türkiye'nin",
    "for (int i = 0; i < n; ++i) { a[i] += b[i] * 2; }\n\treturn a;\n", "https://example.org/a/b?c=d#e //\n///\r\n",
    "<|im_start|>user\n<think>", "$5 + 3 = 8 ~ ^2 | `code` _under_score_ ###", "(a)b[c]{d}.e,f;g:h!i?j/k\\l@m#n%o&p*q",
    "e\u0301 cafe\u0301s n\u0303o\u0302 a\u0308b", "हिन्दी में लिखना १२३", "ไทยสวัสดี 123", "עברית שלום, עולם 42", "العربية، نص ٤٢۔",
    "中文字符，标点。混合English和123数字", "日本語のテキスト、カタカナとひらがな。", "한국어 텍스트 123 ㄱㄴㄷ", "ㄅㄆㄇ 、。！：；", "！？ＡＢＣ ａｂｃ １２３",
    "emoji 🦙🦙 👩‍👩‍👧 ok", "a\u00a0b\u2003c\u200bd\u3000e", "mixed\r\rlines\n\n\nand \n more \n", "ab 12\ncd 345 6789\n\n\n\n\nz",
    "Ω𐐀𐐨 𝒳𝒴 𞤀𞤢", "... --- !!!??? :-) <3 </tag>", " leading 12 and 'quoted' words'", "3333 33333 333333 3333333 33333333",
    "one two three  four   five", "a.b.c,d. e", "'s 't 'RE 'Ve 'lL 'M", "x²y³ 10⁻⁶ μm µm ﬁne",
]


def lengths(rules, text):
    """Lengths of the words, in bytes."""
    spans = [span for _, span in rules.pre_tokenize_str(text)]
    assert "".join(text[start:end] for start, end in spans) == text, (text, spans)
    return " ".join(str(len(text[start:end].encode())) for start, end in spans if start < end)


def main():
    found = {name: [lengths(rules, text) for text in TEXTS] for name, rules in RULES.items()}
    found.update({name: found[other] for name, other in SAME.items()})
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(words)}" for name, words in sorted(found.items()))
    golden = f'{{"texts": {json.dumps(TEXTS, ensure_ascii=False)},\n"lengths": {{\n{lines}\n}}}}\n'
    json.loads(golden)
    pathlib.Path(__file__).with_name("pre-tokenizers.json").write_text(golden, encoding="utf-8")


if __name__ == "__main__":
    main()

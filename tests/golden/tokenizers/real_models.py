#!/usr/bin/env python3
"""Writes real-models.jsonl.zlib: 2,000 texts, and their ids by the tokenizers of SmolLM2-135M-Instruct and Gemma 3 270M.

    python real_models.py SmolLM2-135M-Instruct.Q4_1.gguf gemma-3-270m-q4_k_m.gguf      (needs gguf 0.19.0 and tokenizers 0.23.3)

The ids come from the Hugging Face library `tokenizers`. It runs the pipeline that each model's own tokenizer.json describes, with the
vocabulary and merges of the file. The texts are of the kinds that the tests of llama.cpp and of `tokenizers` use: every part of Unicode,
code, blanks, numbers, and emoji.
"""
import json
import pathlib
import random
import sys
import unicodedata
import zlib

from gguf import GGUFReader, TokenType
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]
RANDOM = random.Random(7)
BLANKS = [*" " * 3, "  ", "   ", "\t", "\n", "\n\n", "\r\n", "\u00a0", "\u2003", "\u2009", "\u200a", "\u3000", "\u2028", "\u0085", "\x0b"]
WORDS = "the of don't we'll I'VE ÉTÉ naïve Straße Ærø İstanbul Привет мир γειά σου שלום مرحبا नमस्ते สวัสดี 你好世界 こんにちは 안녕하세요 ok".split()
MARKS = list("""!"#$%&'()*+,-./:;<=>?@[]^_`{|}~…—–«»„“”‘’·•§¶©®™°±×÷≠≤≥∞∑√∂→←↔⇒∀∃""") + ["...", "--", "''", "```", "://", "==", "!=", "\\n"]
EMOJI = ["😀", "👍🏽", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "🇨🇳", "1️⃣", "❤️", "☃", "🧑🏿‍🚀", "🫠", "⌚", "♾️", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "👁️‍🗨️"]
CODE = ["src/lib.rs", "www/sw.js", "www/explanation.css", "python/src/glasscage/link.py", "index.html", "Cargo.toml", "docs/metrics.md",
        "public/locales/de.json", "public/locales/zh.json", "crates/engine/src/gpu/kernels/matmul.wgsl"]


def assigned(start, end):
    """Characters of a part of Unicode that have a meaning: no surrogates, private or unassigned ones."""
    return [chr(code) for code in range(start, end) if unicodedata.category(chr(code)) not in ("Cs", "Co", "Cn", "Cc")]


def of_unicode():
    """Random strings out of each 256 characters of the first planes, often with blanks."""
    parts = [part for start in range(0, 0x20000, 256) if (part := assigned(start, start + 256))]
    for _ in range(700):
        part = RANDOM.choice(parts[:40] if RANDOM.random() < 0.4 else parts)
        yield "".join(RANDOM.choice(part if RANDOM.random() < 0.85 else BLANKS) for _ in range(RANDOM.randint(1, 12)))


def of_code():
    lines = [line for path in CODE for line in (ROOT / path).read_text(encoding="utf-8").splitlines() if line.strip()]
    for _ in range(450):
        start = RANDOM.randrange(len(lines))
        yield "\n".join(lines[start : start + RANDOM.randint(1, 3)])[:200]


def of_blanks():
    for _ in range(200):
        yield "".join(RANDOM.choice(BLANKS if RANDOM.random() < 0.7 else WORDS) for _ in range(RANDOM.randint(1, 10)))


def of_numbers():
    for _ in range(250):
        number = str(RANDOM.randrange(10 ** RANDOM.randint(1, 18)))
        forms = [number, f"-{number}", f"${number}.50", f"{number}%", f"1{number}th", f"0x{number}", f"{number[:3]},{number[-3:]}",
                 f"½{number}²", "".join(chr(0x660 + int(digit)) for digit in number),
                 "".join(chr(0xFF10 + int(digit)) for digit in number), f"x{number}y"]
        yield " ".join(RANDOM.sample(forms, RANDOM.randint(1, 3)))


def of_emoji():
    for _ in range(150):
        yield "".join(RANDOM.choice(EMOJI if RANDOM.random() < 0.6 else [*WORDS, *BLANKS, *MARKS]) for _ in range(RANDOM.randint(1, 7)))


def mixed():
    for _ in range(300):
        kinds = [RANDOM.choice([WORDS, BLANKS, MARKS, EMOJI, ["12", "7", "2024"]]) for _ in range(RANDOM.randint(2, 14))]
        yield "".join(RANDOM.choice(kind) for kind in kinds)


def texts():
    """2,000 texts without duplicates."""
    kinds = (of_unicode, of_code, of_blanks, of_numbers, of_emoji, mixed)
    return list(dict.fromkeys(["", " ", "\n", *(text for kind in kinds for text in kind())]))[:2000]


def fields(file):
    reader = GGUFReader(file)
    return {key.removeprefix("tokenizer.ggml."): field.contents() for key, field in reader.fields.items() if key.startswith("tokenizer")}


def smollm2(file):
    """Splits digits, then splits like GPT-2, then merges bytes. No text before or after."""
    found = fields(file)
    merges = [tuple(merge.split(" ")) for merge in found["merges"]]
    tokenizer = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(found["tokens"])}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def gemma3(file):
    """Finds added tokens (line feeds, tags), replaces blanks by U+2581, and merges characters by the scores of the tokens. A character
    without a token becomes bytes."""
    found = fields(file)
    # llama.cpp's converter writes blanks in added tokens as they stand in a text, and changes their scores. SentencePiece has 0.
    tokens = [token.replace(" ", "▁") for token in found["tokens"]]
    ids = {token: i for i, token in enumerate(tokens)}
    merges = []
    for token, score, kind in zip(tokens, found["scores"], found["token_type"], strict=True):
        if kind in (TokenType.NORMAL, TokenType.USER_DEFINED):
            rank = 0 if kind == TokenType.USER_DEFINED else score
            splits = [(token[:i], token[i:]) for i in range(1, len(token))]
            merges += [(rank, len(left), len(right), left, right) for left, right in splits if left in ids and right in ids]
    # The order of `generate_merges` in transformers: convert_slow_tokenizer.py.
    merges.sort(key=lambda merge: merge[:3], reverse=True)
    tokenizer = Tokenizer(models.BPE(
        vocab=ids, merges=[merge[3:] for merge in merges], unk_token="<unk>", fuse_unk=True, byte_fallback=True
    ))
    added = [token for token, kind in zip(tokens, found["token_type"], strict=True) if kind == TokenType.USER_DEFINED]
    tokenizer.add_tokens([AddedToken(token, normalized=False) for token in added])
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    return tokenizer


def main(smollm2_file, gemma3_file):
    tokenizers = {"smollm2": smollm2(smollm2_file), "gemma3": gemma3(gemma3_file)}
    lines = [
        json.dumps({"text": text} | {name: tokenizer.encode(text, add_special_tokens=False).ids for name, tokenizer in tokenizers.items()},
                   ensure_ascii=False, separators=(",", ":"))
        for text in texts()
    ]
    print(len(lines), "texts")
    (HERE / "real-models.jsonl.zlib").write_bytes(zlib.compress("\n".join(lines).encode(), 9))


main(*sys.argv[1:])

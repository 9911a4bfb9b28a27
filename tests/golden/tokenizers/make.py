#!/usr/bin/env python3
"""Cuts the vocabularies next to this file out of full vocabularies, and checks that every text keeps its ids.

    cargo build --release
    python3 tests/golden/tokenizers/make.py FOLDER_OF_FULL_VOCABULARIES target/release/glasscage      (needs gguf 0.19.0)

A tokenizer only looks up parts of the text. So a cut vocabulary gives a text the same ids as the full one if it keeps every token that
occurs in the text and every merge that makes such a token. This is even true for incorrect merges. Ids stay: a removed token becomes empty,
with type UNUSED.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import zlib

from gguf import GGUFReader, GGUFValueType, GGUFWriter, TokenType

HERE = pathlib.Path(__file__).parent
# Our name, the full file, and whether it is cut. The benchmark needs the whole vocabulary of Qwen 3.
VOCABULARIES = [
    ("gpt-2", "ggml-vocab-gpt-2.gguf", True),
    ("llama-2", "ggml-vocab-llama-spm.gguf", True),
    ("llama-3", "vocab-llama3.gguf", True),
    ("qwen3", "vocab-qwen3.gguf", False),
]
TOKENS, TYPES, MERGES, SCORES = (f"tokenizer.ggml.{part}" for part in ("tokens", "token_type", "merges", "scores"))
BLANK = "▁"
# Texts of tests/native/chat.rs in the chat template of Llama 3.
FRAMED = ["user<|end_header_id|>\n\nHi there.<|eot_id|>", "user<|end_header_id|>\n\nSay <|eot_id|>.<|eot_id|>"]


def cases(name):
    return [json.loads(line) for line in (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def texts():
    """Every text that a test tokenizes with any of the vocabularies."""
    found = {case["text"] for name in (*(name for name, *_ in VOCABULARIES), "stories260k") for case in cases(name)}
    found.update((HERE / "llama.cpp.inp").read_bytes().decode().split("\n__ggml_vocab_test__\n"))
    found.update(case["rendered"] for case in json.loads((HERE / "../chat/rendered.json").read_text(encoding="utf-8")))
    return sorted(found.union(FRAMED))


def byte_spelling():
    """GPT-2's spelling of each byte: https://github.com/openai/gpt-2/blob/master/src/encoder.py, `bytes_to_unicode`."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in plain]
    return {**{byte: chr(byte) for byte in plain}, **{byte: chr(256 + i) for i, byte in enumerate(others)}}


def kept(fields):
    """Whether each token is kept."""
    names, types = fields[TOKENS], fields[TYPES]
    if fields["tokenizer.ggml.model"] == "gpt2":
        spelling = byte_spelling()
        spelled = ["".join(spelling[byte] for byte in text.encode()) for text in texts()] + list(spelling.values())
    else:
        spelled = [text.replace(" ", BLANK) for text in texts()]
    everything = "\0".join(spelled)
    # SentencePiece adds a blank before a text, and before text after a special token.
    return [type != TokenType.NORMAL or name.removeprefix(BLANK) in everything for name, type in zip(names, types)]


def cut(fields):
    keep = kept(fields)
    left = {name for name, is_kept in zip(fields[TOKENS], keep) if is_kept}
    blank_out = {TOKENS: "", TYPES: int(TokenType.UNUSED), SCORES: 0.0}
    for key, blank in blank_out.items():
        if key in fields:
            fields[key] = [value if is_kept else blank for value, is_kept in zip(fields[key], keep)]
    if MERGES in fields:
        # The merge "a b" makes "ab". A part may be a blank itself, but it has no other blanks.
        fields[MERGES] = [merge for merge in fields[MERGES] if merge.replace(" ", "") in left]
    return sum(keep)


def write(path, reader, fields):
    writer = GGUFWriter(path, arch=None)
    for key, field in reader.fields.items():
        if not key.startswith("GGUF."):
            writer.add_key_value(key, fields[key], field.types[0], field.types[-1] if len(field.types) > 1 else None)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def ids(glasscage, model):
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts())
    run = subprocess.run([glasscage, "tokenize", "--model", model], input=lines, capture_output=True, text=True, check=True)
    return dict(zip(texts(), map(json.loads, run.stdout.splitlines()), strict=True))


def check(name, full, ours, glasscage):
    """Checks that both vocabularies give the same ids, and that they equal llama.cpp's in the cases."""
    of_full, of_ours = ids(glasscage, full), ids(glasscage, ours)
    assert of_full == of_ours, name
    for case in cases(name):
        assert of_ours[case["text"]] == {"ids": case["ids"], "ids_special": case["ids_bos_special"]}, case
    print(f"{name}: {len(of_ours)} texts have the same ids with both, {len(cases(name))} of them llama.cpp's")


def main(folder, glasscage):
    for name, file, is_cut in VOCABULARIES:
        full = pathlib.Path(folder) / file
        with tempfile.TemporaryDirectory() as temporary:
            ours = pathlib.Path(temporary) / "cut.gguf"
            if is_cut:
                reader = GGUFReader(full)
                fields = {key: field.contents() for key, field in reader.fields.items()}
                n_kept = cut(fields)
                print(f"{name}: {n_kept} of {len(fields[TOKENS])} tokens kept")
                write(ours, reader, fields)
            else:
                ours.write_bytes(full.read_bytes())
            check(name, full, ours, glasscage)
            (HERE / f"{name}.gguf.zlib").write_bytes(zlib.compress(ours.read_bytes(), 9))


main(*sys.argv[1:])

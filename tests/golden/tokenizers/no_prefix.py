#!/usr/bin/env python3
"""Writes llama-2-no-prefix.json next to this file: SentencePiece's ids of texts without an added space at the start, as in Gemma's files.

    python3 tests/golden/tokenizers/no_prefix.py        (needs gguf 0.19.0, sentencepiece 0.2.3, protobuf)

The vocabulary is the cut Llama 2 vocabulary next to this file. The texts are every third of its texts.
"""
import json
import pathlib
import tempfile
import zlib

from gguf import GGUFReader
from sentencepiece import SentencePieceProcessor
from sentencepiece import sentencepiece_model_pb2 as protocol

HERE = pathlib.Path(__file__).parent
Piece = protocol.ModelProto.SentencePiece
UNUSED = Piece.Type.Value("UNUSED")


def fields():
    with tempfile.NamedTemporaryFile() as file:
        file.write(zlib.decompress((HERE / "llama-2.gguf.zlib").read_bytes()))
        file.flush()
        reader = GGUFReader(file.name)
        return [reader.fields[f"tokenizer.ggml.{part}"].contents() for part in ("tokens", "scores", "token_type")]


def model():
    made = protocol.ModelProto()
    for i, (name, score, kind) in enumerate(zip(*fields())):
        # A removed token has no name. Type numbers are the same in both formats.
        made.pieces.append(Piece(piece=name or f"\x01cut {i}", score=score, type=kind if name else UNUSED))
    made.trainer_spec.model_type = protocol.TrainerSpec.BPE
    made.trainer_spec.byte_fallback = True
    made.normalizer_spec.name = "identity"
    made.normalizer_spec.add_dummy_prefix = False
    made.normalizer_spec.remove_extra_whitespaces = False
    return SentencePieceProcessor(model_proto=made.SerializeToString())


def main():
    tokenizer = model()
    lines = (HERE / "llama-2.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines][::3]
    cases = ",\n".join(json.dumps({"text": text, "ids": tokenizer.encode(text)}, ensure_ascii=False) for text in texts)
    (HERE / "llama-2-no-prefix.json").write_text(f"[\n{cases}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()

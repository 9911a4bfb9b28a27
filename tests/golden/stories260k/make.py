#!/usr/bin/env python3
"""Writes the model files and figures.json next to this file.

    python3 tests/golden/stories260k/make.py FOLDER      (needs gguf 0.19.0 and numpy; FOLDER has stories260K.bin and tok512.bin)

The checkpoint is that of llama2.c. Its run.c describes the layout (`memory_map_weights`). The transformer of ../architectures.py computes
the figures in float64 from the model files. It shares no code with our engines. Greedy ids were compared with llama.cpp.
"""
import json
import pathlib
import struct
import sys

import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf import GGUFReader, GGUFWriter, LlamaFileType, TokenType, dequantize, quantize

HERE = pathlib.Path(__file__).parent
sys.path.append(str(HERE.parent))
from architectures import Shape, log_distributions, rounded  # noqa: E402

# Types of the file, of its matrices, and of matrices whose rows do not divide into blocks.
FILES = [
    ("f32", LlamaFileType.ALL_F32, Type.F32, Type.F32),
    ("f16", LlamaFileType.MOSTLY_F16, Type.F16, Type.F16),
    ("q8_0", LlamaFileType.MOSTLY_Q8_0, Type.Q8_0, Type.F16),
    ("q4_0", LlamaFileType.MOSTLY_Q4_0, Type.Q4_0, Type.F16),
]
BLOCK = 32
NORM_EPSILON = 1e-5
PROMPT = [1, 403, 407, 261, 378]  # "Once upon a time"
GREEDY_TOKENS = 60
END_TOKEN = 2
# The greedy text and these tokens form four given and three generated sentences.
FURTHER = [
    439, 419, 357, 336, 432, 313, 438, 310, 432, 278, 316, 439, 419, 298, 414, 267, 265, 282, 295, 433, 426, 436, 317,
    286, 296, 418, 269, 279, 292, 416, 439, 413, 409, 416, 327, 263, 415, 294, 267, 400, 426, 338, 336, 432, 313, 442,
    391, 267, 337, 335, 364, 420, 268, 388, 432, 398, 359, 280, 303, 439, 413, 272, 417, 264, 312, 426, 436,
]
SPANS = [(1, 16), (16, 32), (32, 45), (45, 62), (62, 87), (87, 106)]
GENERATION = 62


def vocabulary(data):
    """Names and scores from llama2.c's tokenizer.bin: the length of the longest name, then score, length and name of each token."""
    at, names, scores = 4, [], []
    while at < len(data):
        score, length = struct.unpack_from("<fi", data, at)
        names.append(data[at + 8 : at + 8 + length].decode())
        scores.append(score)
        at += 8 + length
    control = ["<unk>", "<s>", "</s>"]
    return control + [name.replace(" ", "▁") for name in names[3:]], scores


def kind(i):
    return TokenType.UNKNOWN if i == 0 else TokenType.CONTROL if i < 3 else TokenType.BYTE if i < 259 else TokenType.NORMAL


def checkpoint(data):
    """Sizes, and float32 tensors by GGUF name."""
    dim, ffn, layers, heads, kv_heads, vocab, context = struct.unpack_from("<7i", data)
    values, kv = np.frombuffer(data, "<f4", offset=28), dim * kv_heads // heads
    parts = [
        ("attn_norm", (dim,)),
        ("attn_q", (dim, dim)),
        ("attn_k", (kv, dim)),
        ("attn_v", (kv, dim)),
        ("attn_output", (dim, dim)),
        ("ffn_norm", (dim,)),
        ("ffn_gate", (ffn, dim)),
        ("ffn_down", (dim, ffn)),
        ("ffn_up", (ffn, dim)),
    ]
    shapes = {"token_embd.weight": (vocab, dim)}
    shapes.update({f"blk.{i}.{part}.weight": shape for part, shape in parts for i in range(layers)})
    shapes["output_norm.weight"] = (dim,)
    tensors = {}
    for name, shape in shapes.items():
        count = int(np.prod(shape))
        tensors[name], values = values[:count].reshape(shape), values[count:]
    tensors["output.weight"] = tensors["token_embd.weight"]
    first = ["token_embd.weight", "output_norm.weight", "output.weight"]
    order = first + [f"blk.{i}.{part}.weight" for i in range(layers) for part, _ in parts]
    sizes = {"dim": dim, "ffn": ffn, "layers": layers, "heads": heads, "kv_heads": kv_heads, "vocab": vocab, "context": context}
    return sizes, {name: tensors[name] for name in order}


def write(path, sizes, tensors, tokens, file_type, kinds):
    writer = GGUFWriter(path, "llama")
    writer.add_name("stories260K")
    writer.add_context_length(sizes["context"])
    writer.add_embedding_length(sizes["dim"])
    writer.add_feed_forward_length(sizes["ffn"])
    writer.add_block_count(sizes["layers"])
    writer.add_head_count(sizes["heads"])
    writer.add_head_count_kv(sizes["kv_heads"])
    writer.add_layer_norm_rms_eps(NORM_EPSILON)
    writer.add_rope_dimension_count(sizes["dim"] // sizes["heads"])
    writer.add_rope_freq_base(10_000)
    writer.add_vocab_size(sizes["vocab"])
    writer.add_file_type(file_type)
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    names, scores = tokens
    writer.add_token_list(names)
    writer.add_token_scores(scores)
    writer.add_token_types([kind(i) for i in range(len(names))])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(END_TOKEN)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(False)
    writer.add_add_space_prefix(True)
    blocks, halves = kinds
    for name, tensor in tensors.items():
        type = Type.F32 if tensor.ndim == 1 else blocks if tensor.shape[1] % BLOCK == 0 else halves
        writer.add_tensor(name, quantize(tensor, type), raw_dtype=type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def weights(path):
    """The weights in the file, in float64."""
    tensors = GGUFReader(path).tensors
    return {tensor.name: dequantize(tensor.data, tensor.tensor_type).astype(np.float64) for tensor in tensors}


def distributions(shape, weights, ids):
    """ln p of every token after `ids[: t + 1]`: `[tokens, vocabulary]`."""
    return log_distributions(shape, weights, weights["token_embd.weight"][ids])[0]


def log_probs(shape, weights, ids, read=None):
    """ln p of the ids after the first, if the model reads other ids: `[tokens - 1]`."""
    log_p = distributions(shape, weights, read or ids)
    return log_p[np.arange(len(ids) - 1), ids[1:]]


def greedy(shape, weights):
    ids = list(PROMPT)
    for _ in range(GREEDY_TOKENS):
        ids.append(int(distributions(shape, weights, ids)[-1].argmax()))
    return ids


def without(ids, start, end):
    return ids[:start] + [END_TOKEN] * (end - start) + ids[end:]


def main(folder):
    folder = pathlib.Path(folder)
    sizes, tensors = checkpoint((folder / "stories260K.bin").read_bytes())
    tokens = vocabulary((folder / "tok512.bin").read_bytes())
    files = {}
    for name, file_type, *kinds in FILES:
        path = HERE / f"stories260k-{name}.gguf"
        write(path, sizes, tensors, tokens, file_type, kinds)
        files[path.name] = weights(path)
    head_dim = sizes["dim"] // sizes["heads"]
    epsilon = float(np.float32(NORM_EPSILON))
    shape = Shape("", "llama", sizes["heads"], sizes["kv_heads"], head_dim, False, 1e4, layers=sizes["layers"], norm_epsilon=epsilon)
    f32 = files["stories260k-f32.gguf"]
    ids = greedy(shape, f32)
    names = tokens[0]
    text = ids + FURTHER
    generated = slice(GENERATION - 1, None)
    figures = {
        "prompt": "Once upon a time",
        "prompt_ids": PROMPT,
        "greedy_ids": ids[len(PROMPT) :],
        "greedy_text": "".join(names[i] for i in ids[len(PROMPT) :]).replace("▁", " ").replace("<0x0A>", "\n"),
        "log_probs": {name: rounded(log_probs(shape, tensors, ids)) for name, tensors in files.items()},
        "ablation": {
            "ids": text,
            "generation_start": GENERATION,
            "log_probs": rounded(log_probs(shape, f32, text)[generated]),
            "replaced": [
                {"span": span, "id": END_TOKEN, "log_probs": rounded(log_probs(shape, f32, text, without(text, *span))[generated])}
                for span in SPANS
            ],
        },
    }
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(figure)}" for key, figure in figures.items())
    lines = lines.replace('"stories', '\n  "stories').replace('{"span"', '\n  {"span"')
    (HERE / "figures.json").write_text("{\n" + lines + "\n}\n", encoding="utf-8")


main(*sys.argv[1:])

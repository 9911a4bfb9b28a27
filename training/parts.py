"""Converts the weights of "Standard" between three forms: GGUF, the checkpoint that `finetune.py` reads, and small parts for a machine
without a network.

    python training/parts.py from-gguf standard.gguf RUN/init.pt      # also writes RUN/tokenizer.json; needs gguf
    python training/parts.py split RUN/init.pt PARTS --mib 55         # PARTS/part-0, part-1, ...
    python training/parts.py join PARTS RUN/init.pt
    python training/parts.py split RUN/rounded.pt PARTS --mib 15.5 --rounded

Parts hold 8-bit blocks of 64 weights with a float16 scale each. That is 1.03 bytes per weight, with an error of at most 1/254 of the
largest weight in the block. With `--rounded`, parts hold exactly the blocks of the exported file: 4 bits per weight, without any error.
This requires weights that `finetune.py` has rounded. `split` and `join` need only torch and numpy.
"""

import argparse
import io
from ast import literal_eval
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

BYTE_BLOCK, ROUNDED_BLOCK = 64, 32
EMBEDDING = "token_embd.weight"


def as_bytes(weights: np.ndarray, block: int) -> dict[str, np.ndarray]:
    """Encodes weights [n] as 8-bit codes [n / block, block] with float16 scales."""
    blocks = weights.reshape(-1, block)
    scales = (np.abs(blocks).max(1, keepdims=True) / 127).astype(np.float16)
    codes = np.rint(blocks / np.maximum(scales.astype(np.float32), 1e-12)).clip(-127, 127)
    return {"bytes": codes.astype(np.int8), "scale": scales}


def as_nibbles(weights: np.ndarray) -> dict[str, np.ndarray]:
    """Encodes weights [n], already rounded to Q4_0, as 4-bit codes with float16 scales. A byte holds two codes."""
    blocks = weights.reshape(-1, ROUNDED_BLOCK)
    largest = np.take_along_axis(blocks, np.abs(blocks).argmax(1, keepdims=True), 1)
    scales = largest / -8
    inverse = np.where(scales == 0, 0, 1 / np.where(scales == 0, 1, scales))
    codes = np.trunc(blocks * inverse + 8.5).clip(0, 15).astype(np.uint8)
    half = ROUNDED_BLOCK // 2
    return {"nibbles": codes[:, :half] | (codes[:, half:] << 4), "scale": scales.astype(np.float16)}


def pack(saved: dict, rounded: bool) -> bytes:
    """Packs a checkpoint into an uncompressed .npz archive."""
    arrays = {"config": np.array(repr(saved["config"])), "summary": np.array(repr(saved.get("summary", {})))}
    for name, tensor in saved["model"].items():
        weights = tensor.detach().float().cpu().numpy()
        if weights.ndim == 1:
            arrays[f"floats/{name}"] = weights
            continue
        if rounded and name != EMBEDDING:
            blocks = as_nibbles(weights)
        else:
            blocks = as_bytes(weights, ROUNDED_BLOCK if rounded else BYTE_BLOCK)
        arrays |= {f"{kind}/{name}": array for kind, array in blocks.items()} | {f"shape/{name}": np.array(weights.shape)}
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def unpack(data: bytes) -> dict:
    """Returns the checkpoint from the bytes that `pack` returned."""
    arrays = np.load(io.BytesIO(data))
    model: dict[str, Tensor] = {}
    for key in arrays.files:
        kind, _, name = key.partition("/")
        if kind == "floats":
            model[name] = torch.tensor(arrays[key])
        if kind not in ("bytes", "nibbles"):
            continue
        codes = arrays[key]
        if kind == "nibbles":
            codes = np.concatenate((codes & 15, codes >> 4), 1).astype(np.int8) - 8
        weights = codes.astype(np.float32) * arrays[f"scale/{name}"].astype(np.float32)
        model[name] = torch.tensor(weights.reshape(tuple(arrays[f"shape/{name}"])))
    return {"config": literal_eval(str(arrays["config"])), "model": model, "summary": literal_eval(str(arrays["summary"]))}


def from_gguf(path: Path, target: Path):
    """Converts a `llama` GGUF file with tied embeddings into a checkpoint, and writes tokenizer.json next to it."""
    from gguf import GGUFReader, dequantize
    from tokenizers import models

    from model import Config
    from start import half_split
    from tokenizer import smollm_tokenizer

    reader = GGUFReader(path)
    field = {name: value.contents() for name, value in reader.fields.items()}
    heads, dim = field["llama.attention.head_count"], field["llama.embedding_length"]
    config = Config(
        vocab_size=len(field["tokenizer.ggml.tokens"]), dim=dim, n_layers=field["llama.block_count"], n_heads=heads,
        n_kv_heads=field["llama.attention.head_count_kv"], head_dim=dim // heads, ffn_dim=field["llama.feed_forward_length"],
        context_length=field["llama.context_length"], rope_theta=field["llama.rope.freq_base"],
        rms_eps=field["llama.attention.layer_norm_rms_epsilon"],
    )  # fmt: skip
    tensors = {tensor.name: torch.tensor(dequantize(tensor.data, tensor.tensor_type)) for tensor in reader.tensors}
    for name, tensor in tensors.items():
        if name.endswith((".attn_q.weight", ".attn_k.weight")):
            tensors[name] = half_split(tensor, config.head_dim)
    target.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"config": asdict(config), "model": tensors, "summary": {"from": path.name}}, target)
    ids = {token: i for i, token in enumerate(field["tokenizer.ggml.tokens"])}
    merges = [tuple(merge.split(" ")) for merge in field["tokenizer.ggml.merges"]]
    smollm_tokenizer(models.BPE(ids, merges)).save(str(target.parent / "tokenizer.json"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("from-gguf", "split", "join"))
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--mib", type=float, default=36, help="of a part")
    parser.add_argument("--rounded", action="store_true", help="the weights are rounded to the blocks of the exported file")
    arguments = parser.parse_args()
    if arguments.what == "from-gguf":
        from_gguf(arguments.source, arguments.target)
    elif arguments.what == "split":
        data = pack(torch.load(arguments.source, map_location="cpu", weights_only=False), arguments.rounded)
        arguments.target.mkdir(parents=True, exist_ok=True)
        size = int(arguments.mib * 2**20)
        parts = [data[begin : begin + size] for begin in range(0, len(data), size)]
        for i, part in enumerate(parts):
            (arguments.target / f"part-{i}").write_bytes(part)
        print(f"{len(data):,} bytes in {len(parts)} parts")
    else:
        parts = sorted(arguments.source.glob("part-*"), key=lambda path: int(path.name.split("-")[1]))
        torch.save(unpack(b"".join(path.read_bytes() for path in parts)), arguments.target)
        print(f"{len(parts)} parts joined")


if __name__ == "__main__":
    main()

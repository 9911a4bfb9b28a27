"""Starts a model from a trained one that has fewer layers or another vocabulary, so that a run need not begin at nothing."""

from pathlib import Path

import torch
from gguf import GGUFReader, dequantize
from tokenizers import Tokenizer, models
from torch import Tensor

from model import Model
from tokenizer import qwen2_tokenizer


@torch.no_grad()
def start_from(model: Model, tokenizer: Tokenizer, path: Path):
    """Copies the weights of the GGUF file at `path` into `model`. Layers that the file lacks are spread among the others and
    begin as the identity; a token's embedding is the mean of those of its pieces in the old vocabulary."""
    reader = GGUFReader(path)
    old = {t.name: torch.tensor(dequantize(t.data, t.tensor_type)) for t in reader.tensors}
    count = 1 + max(int(name.split(".")[1]) for name in old if name.startswith("blk."))
    places = [round(i * (len(model.blk) - 1) / (count - 1)) for i in range(count)]
    state = model.state_dict()
    for i, place in enumerate(places):
        for name in [name for name in old if name.startswith(f"blk.{i}.")]:
            state[f"blk.{place}." + name.split(".", 2)[2]].copy_(old[name])
    state["output_norm.weight"].copy_(old["output_norm.weight"])
    state["token_embd.weight"].copy_(_embedding(old["token_embd.weight"], _old_tokenizer(reader), tokenizer))
    print(f"started from {path}: its {count} layers are layers {places}", flush=True)


def _old_tokenizer(reader: GGUFReader) -> Tokenizer:
    tokens, merges = (reader.fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "merges"))
    pairs = [tuple(merge.split(" ")) for merge in merges]
    return qwen2_tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, pairs))


def _embedding(old: Tensor, old_tokenizer: Tokenizer, tokenizer: Tokenizer) -> Tensor:
    """[new vocabulary, dim]"""
    vocabulary = old_tokenizer.get_vocab()
    rows = []
    for i in range(tokenizer.get_vocab_size()):
        token = tokenizer.id_to_token(i)
        pieces = [vocabulary[token]] if token in vocabulary else old_tokenizer.encode(tokenizer.decode([i])).ids
        rows.append(old[pieces].mean(0) if pieces else old.mean(0))
    return torch.stack(rows)

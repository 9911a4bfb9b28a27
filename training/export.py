"""Writes the trained model as GGUF (Q8_0 matrices, F32 norms) and reads such a file back into torch."""

import json
from pathlib import Path

import gguf
import torch
from gguf.quants import dequantize, quantize
from tokenizers import Tokenizer, models

from model import Config, Model
from tokenizer import CHAT_TEMPLATE, END_OF_TEXT, IM_END, SPECIAL_TOKENS, ChatEncoder, qwen2_tokenizer

NAME = "Glasscage demo"
DESCRIPTION = (
    "A small model trained from scratch for Glasscage on generated problems only: arithmetic word problems of 1 to 5 "
    "steps, look-ups over 1 to 3 sentences, listing given facts, bare sums. It answers step by step. "
    "It knows nothing else."
)


def load_trained(folder: Path) -> tuple[Model, dict]:
    """The model `train.py` left in `folder`, and its training summary."""
    saved = torch.load(folder / "model.pt", weights_only=False)
    model = Model(Config())
    model.load_state_dict(saved["model"])
    return model.eval(), saved["summary"]


def write_gguf(folder: Path, path: Path, quantization=gguf.GGMLQuantizationType.Q8_0):
    """Exports the run in `folder`. Our parameter names are GGUF's tensor names."""
    model, summary = load_trained(folder)
    c = model.config
    writer = gguf.GGUFWriter(str(path), "qwen3")
    writer.add_name(NAME)
    writer.add_author("Glasscage")
    writer.add_license("apache-2.0")
    writer.add_size_label(f"{sum(p.numel() for p in model.parameters()) / 1e6:.1f}M")
    writer.add_description(DESCRIPTION)
    writer.add_string(
        "glasscage.training",
        f"{summary['tokens'] / 1e6:.1f} M tokens of generated problems, {summary['steps']} steps, "
        f"{summary['minutes']} minutes on one CPU thread, seed {summary['seed']}; Muon and Adam, learning rate "
        "constant for 60 % and then linear to zero; loss on the answers only.",
    )
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    writer.add_context_length(c.context_length)
    writer.add_embedding_length(c.dim)
    writer.add_block_count(c.n_layers)
    writer.add_feed_forward_length(c.ffn_dim)
    writer.add_head_count(c.n_heads)
    writer.add_head_count_kv(c.n_kv_heads)
    writer.add_key_length(c.head_dim)
    writer.add_value_length(c.head_dim)
    writer.add_rope_dimension_count(c.head_dim)
    writer.add_rope_freq_base(c.rope_theta)
    writer.add_layer_norm_rms_eps(c.rms_eps)
    _add_tokenizer(writer, folder / "tokenizer.json")
    for name, tensor in model.state_dict().items():
        if tensor.ndim == 2:
            writer.add_tensor(name, quantize(tensor.numpy(), quantization), raw_dtype=quantization)
        else:
            writer.add_tensor(name, tensor.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_tokenizer(writer: gguf.GGUFWriter, path: Path):
    bpe = json.loads(path.read_text())["model"]
    tokens = sorted(bpe["vocab"], key=bpe["vocab"].get)
    assert [bpe["vocab"][token] for token in tokens] == list(range(Config.vocab_size))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.CONTROL if t in SPECIAL_TOKENS else gguf.TokenType.NORMAL for t in tokens])
    writer.add_token_merges([" ".join(pair) for pair in bpe["merges"]])
    writer.add_bos_token_id(END_OF_TEXT)
    writer.add_pad_token_id(END_OF_TEXT)
    writer.add_eos_token_id(IM_END)
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)


def read_gguf(path: Path) -> tuple[Model, ChatEncoder]:
    """Model and tokenizer from nothing but the file, matrices dequantised to F32."""
    reader = gguf.GGUFReader(str(path))
    field = {name: value.contents() for name, value in reader.fields.items()}
    config = Config(
        vocab_size=len(field["tokenizer.ggml.tokens"]),
        dim=field["qwen3.embedding_length"],
        n_layers=field["qwen3.block_count"],
        n_heads=field["qwen3.attention.head_count"],
        n_kv_heads=field["qwen3.attention.head_count_kv"],
        head_dim=field["qwen3.attention.key_length"],
        ffn_dim=field["qwen3.feed_forward_length"],
        context_length=field["qwen3.context_length"],
        rope_theta=field["qwen3.rope.freq_base"],
        rms_eps=field["qwen3.attention.layer_norm_rms_epsilon"],
    )
    model = Model(config)
    model.load_state_dict({t.name: torch.from_numpy(dequantize(t.data, t.tensor_type).copy()) for t in reader.tensors})
    vocab = {token: i for i, token in enumerate(field["tokenizer.ggml.tokens"])}
    merges = [tuple(merge.split(" ")) for merge in field["tokenizer.ggml.merges"]]
    tokenizer: Tokenizer = qwen2_tokenizer(models.BPE(vocab=vocab, merges=merges))
    tokenizer.add_special_tokens(SPECIAL_TOKENS)
    return model.eval(), ChatEncoder(tokenizer)

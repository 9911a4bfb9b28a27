"""Writes the trained model as GGUF: quantized (or F32) matrices, F32 norms, tokenizer, chat template and model card."""

import json
from dataclasses import dataclass
from pathlib import Path

import gguf
from gguf.quants import quantize
from torch import Tensor

from card import AUTHOR, DESCRIPTION, LICENCE, NAME, metadata_card, training_summary
from model import load_trained
from tokenizer import CHAT_TEMPLATE, END_OF_TEXT, IM_END, SPECIAL_TOKENS

FILE_TYPES = {
    gguf.GGMLQuantizationType.F32: gguf.LlamaFileType.ALL_F32,
    gguf.GGMLQuantizationType.Q4_0: gguf.LlamaFileType.MOSTLY_Q4_0,
    gguf.GGMLQuantizationType.Q5_0: gguf.LlamaFileType.MOSTLY_Q5_0,
}


@dataclass(frozen=True)
class About:
    """The description of the model in the file's metadata."""

    name: str
    description: str
    training: str
    card: str


def write_gguf(
    trained: Path, path: Path, quantization=gguf.GGMLQuantizationType.Q5_0, about: About | None = None, embedding=None, largest_part=0
):
    """Exports `trained` (`model.pt`, with its tokenizer in the same folder). Our parameter names are GGUF's tensor names. `embedding` is
    the type of the embedding if it differs from `quantization`. With `largest_part`, the model is split into files of at most this many
    bytes of tensors: `NAME-00001-of-00003.gguf`."""
    model, summary = load_trained(trained)
    c = model.config
    about = about or About(NAME, DESCRIPTION, training_summary(summary), metadata_card(summary))
    writer = gguf.GGUFWriter(str(path), "llama", split_max_size=largest_part)
    writer.add_name(about.name)
    writer.add_author(AUTHOR)
    writer.add_license(LICENCE)
    writer.add_size_label(f"{sum(p.numel() for p in model.parameters()) / 1e6:.1f}M")
    writer.add_description(about.description)
    writer.add_string("glasscage.training", about.training)
    writer.add_string("glasscage.card", about.card)
    writer.add_file_type(FILE_TYPES[quantization])
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    writer.add_context_length(c.context_length)
    writer.add_embedding_length(c.dim)
    writer.add_block_count(c.n_layers)
    writer.add_feed_forward_length(c.ffn_dim)
    writer.add_head_count(c.n_heads)
    writer.add_head_count_kv(c.n_kv_heads)
    writer.add_vocab_size(c.vocab_size)
    writer.add_rope_dimension_count(c.head_dim)
    writer.add_rope_freq_base(c.rope_theta)
    writer.add_layer_norm_rms_eps(c.rms_eps)
    _add_tokenizer(writer, trained.parent / "tokenizer.json", c.vocab_size)
    for name, tensor in model.state_dict().items():
        if name.endswith((".attn_q.weight", ".attn_k.weight")):
            tensor = neighbors(tensor, c.head_dim)
        if tensor.ndim == 2:
            kind = embedding if embedding is not None and name == "token_embd.weight" else quantization
            writer.add_tensor(name, quantize(tensor.numpy(), kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, tensor.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def neighbors(weight: Tensor, head_dim: int) -> Tensor:
    """Reorders the rows [heads * head_dim, dim] of q or k. In the input, two rows that rotate together are half a head apart. In the
    output they are adjacent, as in GGUF's Llama."""
    return weight.view(-1, 2, head_dim // 2, weight.shape[1]).transpose(1, 2).reshape(weight.shape)


def _add_tokenizer(writer: gguf.GGUFWriter, path: Path, vocab_size: int):
    bpe = json.loads(path.read_text())["model"]
    tokens = sorted(bpe["vocab"], key=bpe["vocab"].get)
    assert [bpe["vocab"][token] for token in tokens] == list(range(vocab_size))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.CONTROL if t in SPECIAL_TOKENS else gguf.TokenType.NORMAL for t in tokens])
    writer.add_token_merges([" ".join(pair) for pair in bpe["merges"]])
    writer.add_bos_token_id(END_OF_TEXT)
    writer.add_pad_token_id(END_OF_TEXT)
    writer.add_eos_token_id(IM_END)
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)

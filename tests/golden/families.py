#!/usr/bin/env python3
"""Writes families.json beside this file: what the random models of tests/models/mod.rs answer whose architectures Hugging Face has, in
float64 by transformers' own code.

    python3 tests/golden/families.py        (needs numpy, torch 2.15, transformers 5.23.0; takes seconds)

Weights, shapes and tokens are made as in architectures.py, edits and figures are the same. Run it again when the models there change.
"""
import json
import pathlib

import numpy as np
import torch
from architectures import DIM, END_TOKEN, FFN, NORM_EPSILON, RANGES, TOKENS, VOCAB, Random, figures_of, flow, sha256, tensor
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    GraniteConfig,
    GraniteForCausalLM,
    Lfm2Config,
    Lfm2ForCausalLM,
    Olmo2Config,
    Olmo2ForCausalLM,
    SmolLM3Config,
    SmolLM3ForCausalLM,
)

ROTATION = {"rope_type": "default"}
LOCAL, GLOBAL, CONVOLUTION = "sliding_attention", "full_attention", "conv"


def granite():
    scales = {"embedding_multiplier": 6.0, "residual_multiplier": 0.25, "attention_multiplier": 0.0625, "logits_scaling": 3.0}
    return GraniteForCausalLM, GraniteConfig, (4, 2, 64), 2, {"rope_parameters": {"rope_theta": 1e4, **ROTATION}, **scales}


def smollm3():
    return SmolLM3ForCausalLM, SmolLM3Config, (8, 2, 32), 4, {"rope_parameters": {"rope_theta": 5e6, **ROTATION}, "pad_token_id": None}


def olmo2():
    more = {"rope_parameters": {"rope_theta": 5e5, **ROTATION}, "tie_word_embeddings": False}
    return Olmo2ForCausalLM, Olmo2Config, (4, 2, 64), 2, more


def gemma3(heads, layers, window, local_base, scaling):
    rotations = {GLOBAL: {"rope_theta": 1e6, **scaling}, LOCAL: {"rope_theta": local_base, **ROTATION}}
    more = {"sliding_window": window, "layer_types": layers, "query_pre_attn_scalar": heads[2], "rope_parameters": rotations}
    return Gemma3ForCausalLM, Gemma3TextConfig, heads, len(layers), more


def lfm2(layers):
    more = {"block_auto_adjust_ff_dim": False, "norm_eps": NORM_EPSILON, "conv_L_cache": 3, "conv_bias": False, "layer_types": layers}
    return Lfm2ForCausalLM, Lfm2Config, (4, 2, 64), len(layers), {"rope_parameters": {"rope_theta": 1e6, **ROTATION}, **more}


# As in SHAPES of tests/models/mod.rs.
FAMILIES = {
    "granite": granite(),
    "smollm3": smollm3(),
    "olmo2": olmo2(),
    "gemma3": gemma3((4, 1, 64), [LOCAL] * 5 + [GLOBAL], 17, 5e3, ROTATION),
    "gemma3, scaled": gemma3((4, 2, 80), [LOCAL, GLOBAL, LOCAL], 9, 1e4, {"rope_type": "linear", "factor": 8.0}),
    "lfm2": lfm2([CONVOLUTION, CONVOLUTION, GLOBAL, CONVOLUTION, GLOBAL]),
}
# Pairs of values that turn together are neighbors in the file.
TURNS_NEIGHBORS = {"granite", "smollm3"}
# Tensors of a layer in the order in which their numbers are drawn, and their names in transformers; q and kv are widths.
BEFORE = [("attn_norm", "input_layernorm", "dim"), ("ffn_norm", "post_attention_layernorm", "dim")]
AFTER = [("post_attention_norm", "post_attention_layernorm", "dim"), ("post_ffw_norm", "post_feedforward_layernorm", "dim")]
BEFORE_OF_BOTH = [("attn_norm", "input_layernorm", "dim"), ("ffn_norm", "pre_feedforward_layernorm", "dim")]
PROJECTIONS = [(f"attn_{part}", f"self_attn.{part}_proj", width) for part, width in [("q", "q"), ("k", "kv"), ("v", "kv")]]
QK_NORMS = [("attn_q_norm", "self_attn.q_norm", "q_norm"), ("attn_k_norm", "self_attn.k_norm", "k_norm")]
REST = [
    ("attn_output", "self_attn.o_proj", "output"),
    ("ffn_gate", "mlp.gate_proj", "ffn"),
    ("ffn_up", "mlp.up_proj", "ffn"),
    ("ffn_down", "mlp.down_proj", "down"),
]
LFM2_NORMS = [("attn_norm", "operator_norm", "dim"), ("ffn_norm", "ffn_norm", "dim")]
LFM2_ATTENTION = [(ours, theirs.replace("norm", "layernorm"), width) for ours, theirs, width in PROJECTIONS + QK_NORMS]
LFM2_ATTENTION += [("attn_output", "self_attn.out_proj", "output")]
SHORT_CONVOLUTION = [("shortconv.in_proj", "conv.in_proj", "conv_in"), ("shortconv.conv", "conv.conv", "taps")]
SHORT_CONVOLUTION += [("shortconv.out_proj", "conv.out_proj", "conv_out")]
LFM2_REST = [("ffn_gate", "feed_forward.w1", "ffn"), ("ffn_up", "feed_forward.w3", "ffn"), ("ffn_down", "feed_forward.w2", "down")]
PARTS = {
    "granite": BEFORE + PROJECTIONS + REST,
    "smollm3": BEFORE + PROJECTIONS + REST,
    "olmo2": AFTER + PROJECTIONS + QK_NORMS + REST,
    "lfm2": LFM2_NORMS + LFM2_ATTENTION + LFM2_REST,
    "lfm2, conv": LFM2_NORMS + SHORT_CONVOLUTION + LFM2_REST,
    "gemma3": BEFORE_OF_BOTH + AFTER + PROJECTIONS + QK_NORMS + REST,
}


def tensors(family, heads, layer_types, tied):
    """By name in the file: float32 tensor, and name in transformers."""
    n_heads, n_kv_heads, head_dim = heads
    q, kv = n_heads * head_dim, n_kv_heads * head_dim
    norms = (q, kv) if family == "olmo2" else (head_dim, head_dim)
    dims = {"dim": (DIM,), "q": (q, DIM), "kv": (kv, DIM), "output": (DIM, q), "ffn": (FFN, DIM), "down": (DIM, FFN)}
    dims.update({"q_norm": (norms[0],), "k_norm": (norms[1],)})
    dims.update({"conv_in": (3 * DIM, DIM), "taps": (DIM, 3), "conv_out": (DIM, DIM)})
    last_norm = ("token_embd_norm", "embedding_norm") if family == "lfm2" else ("output_norm", "norm")
    names = [("token_embd", "embed_tokens", (VOCAB, DIM)), (*last_norm, (DIM,))]
    names += [] if tied else [("output", None, (VOCAB, DIM))]
    for i, kind in enumerate(layer_types):
        parts = PARTS[f"{family}, conv" if kind == CONVOLUTION else family]
        names += [(f"blk.{i}.{ours}", f"layers.{i}.{theirs}", dims[width]) for ours, theirs, width in parts]
    random = Random(7)
    made = {}
    for ours, theirs, shape in names:
        name = "lm_head.weight" if theirs is None else f"model.{theirs}.weight"
        made[f"{ours}.weight"] = (tensor(random, f"{ours}.weight", shape), name)
    return made


def in_halves(weight, heads):
    """Undoes the converter's order: row 2 i + j of each head becomes row j head_dim / 2 + i."""
    rows, columns = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def as_transformers_has_it(family, name, weight, heads):
    if family in TURNS_NEIGHBORS and name.endswith(("attn_q.weight", "attn_k.weight")):
        return in_halves(weight, heads[0] if "attn_q" in name else heads[1])
    # Gemma's norms multiply by 1 + w.
    return weight - 1 if family == "gemma3" and name.endswith("norm.weight") else weight


class Model:
    def __init__(self, name):
        self.family = name.split(",")[0]
        kind, config, self.heads, layers, more = FAMILIES[name]
        n_heads, n_kv_heads, head_dim = self.heads
        sizes = {"vocab_size": VOCAB, "hidden_size": DIM, "intermediate_size": FFN, "num_hidden_layers": layers}
        sizes.update({"num_attention_heads": n_heads, "num_key_value_heads": n_kv_heads, "head_dim": head_dim})
        settings = {"rms_norm_eps": NORM_EPSILON, "max_position_embeddings": 128, "attn_implementation": "eager"}
        settings = {"tie_word_embeddings": True, **settings, **more}
        self.model = kind(config(**sizes, **settings)).to(torch.float64).eval()
        layer_types = settings.get("layer_types", [GLOBAL] * layers)
        made = tensors(self.family, self.heads, layer_types, settings["tie_word_embeddings"])
        self.digest = sha256({name: weight for name, (weight, _) in made.items()})
        weights = {}
        for ours, (weight, theirs) in made.items():
            if ours.endswith("shortconv.conv.weight"):
                weight = weight[:, None]
            exact = as_transformers_has_it(self.family, ours, weight.astype(np.float64), self.heads)
            weights[theirs] = torch.from_numpy(np.ascontiguousarray(exact))
        missing, unexpected = self.model.load_state_dict(weights, strict=False)
        assert not unexpected and set(missing) <= {"lm_head.weight"}, (missing, unexpected)
        self.table = made["token_embd.weight"][0].astype(np.float64)
        self.values = []
        for layer in self.model.model.layers:
            if hasattr(layer, "self_attn"):
                layer.self_attn.v_proj.register_forward_hook(lambda _, __, output: self.values.append(output[0].numpy()))

    def log_distributions(self, shares):
        """As `log_distributions` of architectures.py."""
        embeddings = self.table[TOKENS] + shares[:, None] * (self.table[END_TOKEN] - self.table[TOKENS])
        if self.family == "gemma3":
            embeddings *= np.sqrt(DIM)
        self.values.clear()
        with torch.no_grad():
            found = self.model(inputs_embeds=torch.from_numpy(embeddings)[None], output_attentions=True, use_cache=False)
        log_p = torch.log_softmax(found.logits[0], -1).numpy()
        maps = [attention[0].numpy() for attention in found.attentions]
        return log_p, sum(attention.sum(0) for attention in maps), sum(map(self.flow, maps, self.values))

    def flow(self, maps, values):
        n_heads, n_kv_heads, head_dim = self.heads
        by_head = [values[:, i * head_dim : (i + 1) * head_dim] for i in range(n_kv_heads)]
        shared = [by_head[i // (n_heads // n_kv_heads)] for i in range(n_heads)]
        outputs = [weights @ head for weights, head in zip(maps, shared)]
        parts = [np.stack([weights[:, start:end] @ head[start:end] for start, end in RANGES]) for weights, head in zip(maps, shared)]
        return flow(outputs, parts)


def figures(name):
    model = Model(name)
    base, _, _ = model.log_distributions(np.zeros(len(TOKENS)))
    # What transformers makes of the tokens themselves.
    with torch.no_grad():
        logits = model.model(input_ids=torch.from_numpy(TOKENS)[None], use_cache=False).logits[0]
    assert np.abs(torch.log_softmax(logits, -1).numpy() - base).max() < 1e-6, name
    return figures_of(name, model.digest, model.log_distributions)


def main():
    text = json.dumps([figures(name) for name in FAMILIES]).replace('{"name"', '\n{"name"').replace('{"edit"', '\n  {"edit"')
    pathlib.Path(__file__).with_name("families.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

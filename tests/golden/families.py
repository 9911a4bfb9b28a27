#!/usr/bin/env python3
"""Writes families.json next to this file: float64 results of Hugging Face transformers for the random models of tests/models/mod.rs with
architectures that it supports.

    python3 tests/golden/families.py        (needs numpy, torch 2.15, transformers 5.23.0; takes seconds)

Weights, shapes, tokens, edits and results are as in architectures.py. Run this again when the models there change.
"""
import contextlib
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
    Qwen3_5ForCausalLM,
    Qwen3_5TextConfig,
    SmolLM3Config,
    SmolLM3ForCausalLM,
)

ROTATION = {"rope_type": "default"}
LOCAL, GLOBAL, CONVOLUTION, LINEAR = "sliding_attention", "full_attention", "conv", "linear_attention"


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


def qwen35(heads, layers, delta_net, tied):
    """`delta_net`: key heads, value heads, values per head."""
    key_heads, value_heads, dim = delta_net
    more = {"linear_num_key_heads": key_heads, "linear_num_value_heads": value_heads, "linear_conv_kernel_dim": 4}
    more.update({"linear_key_head_dim": dim, "linear_value_head_dim": dim, "layer_types": layers, "tie_word_embeddings": tied})
    rotation = {"rope_theta": 1e5, "partial_rotary_factor": 0.25, "mrope_section": [3, 3, 2], **ROTATION}
    return Qwen3_5ForCausalLM, Qwen3_5TextConfig, heads, len(layers), {"rope_parameters": rotation, **more}


# Same as in SHAPES of tests/models/mod.rs.
FAMILIES = {
    "granite": granite(),
    "smollm3": smollm3(),
    "olmo2": olmo2(),
    "gemma3": gemma3((4, 1, 64), [LOCAL] * 5 + [GLOBAL], 17, 5e3, ROTATION),
    "gemma3, scaled": gemma3((4, 2, 80), [LOCAL, GLOBAL, LOCAL], 9, 1e4, {"rope_type": "linear", "factor": 8.0}),
    "lfm2": lfm2([CONVOLUTION, CONVOLUTION, GLOBAL, CONVOLUTION, GLOBAL]),
    "qwen35": qwen35((4, 2, 64), [LINEAR, LINEAR, LINEAR, GLOBAL, LINEAR], (2, 6, 16), True),
    "qwen35, other layers": qwen35((4, 1, 32), [GLOBAL, LINEAR], (3, 3, 24), False),
}
# Families whose files store the values of a rotated pair next to each other.
TURNS_NEIGHBORS = {"granite", "smollm3"}
# Tensors of a layer in the order in which their numbers are generated, with their names in transformers. q and kv are widths.
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
QWEN35_NORMS = [("attn_norm", "input_layernorm", "dim"), ("post_attention_norm", "post_attention_layernorm", "dim")]
GATED_PROJECTIONS = [(ours, theirs, "gated q" if ours == "attn_q" else width) for ours, theirs, width in PROJECTIONS]
DELTA_NET = [("attn_qkv", "linear_attn.in_proj_qkv", "delta qkv"), ("attn_gate", "linear_attn.in_proj_z", "delta values")]
DELTA_NET += [("ssm_alpha", "linear_attn.in_proj_a", "delta heads"), ("ssm_beta", "linear_attn.in_proj_b", "delta heads")]
DELTA_NET += [("ssm_conv1d", "linear_attn.conv1d", "delta taps"), ("ssm_dt", "linear_attn.dt_bias", "delta head")]
DELTA_NET += [("ssm_a", "linear_attn.A_log", "delta head"), ("ssm_norm", "linear_attn.norm", "delta norm")]
DELTA_NET += [("ssm_out", "linear_attn.out_proj", "delta out")]
# Suffixes of tensors that are not named "NAME.weight".
OUR_SUFFIX = {"ssm_dt": ".bias", "ssm_a": ""}
THEIR_SUFFIX = {"linear_attn.dt_bias": "", "linear_attn.A_log": ""}
PARTS = {
    "qwen35": QWEN35_NORMS + GATED_PROJECTIONS + QK_NORMS + REST,
    "qwen35, linear_attention": QWEN35_NORMS + DELTA_NET + REST[1:],
    "granite": BEFORE + PROJECTIONS + REST,
    "smollm3": BEFORE + PROJECTIONS + REST,
    "olmo2": AFTER + PROJECTIONS + QK_NORMS + REST,
    "lfm2": LFM2_NORMS + LFM2_ATTENTION + LFM2_REST,
    "lfm2, conv": LFM2_NORMS + SHORT_CONVOLUTION + LFM2_REST,
    "gemma3": BEFORE_OF_BOTH + AFTER + PROJECTIONS + QK_NORMS + REST,
}


def tensors(family, heads, layer_types, tied, delta_net):
    """Tensors by name in the file: float32 tensor, and name in transformers."""
    n_heads, n_kv_heads, head_dim = heads
    q, kv = n_heads * head_dim, n_kv_heads * head_dim
    norms = (q, kv) if family == "olmo2" else (head_dim, head_dim)
    dims = {"dim": (DIM,), "q": (q, DIM), "kv": (kv, DIM), "output": (DIM, q), "ffn": (FFN, DIM), "down": (DIM, FFN)}
    dims.update({"q_norm": (norms[0],), "k_norm": (norms[1],)})
    dims.update({"conv_in": (3 * DIM, DIM), "taps": (DIM, 3), "conv_out": (DIM, DIM)})
    if delta_net is not None:
        key_heads, value_heads, dim = delta_net
        channels, values = (2 * key_heads + value_heads) * dim, value_heads * dim
        dims.update({"gated q": (2 * q, DIM), "delta qkv": (channels, DIM), "delta values": (values, DIM)})
        dims.update({"delta heads": (value_heads, DIM)})
        dims.update({"delta taps": (channels, 4), "delta head": (value_heads,), "delta norm": (dim,), "delta out": (DIM, values)})
    last_norm = ("token_embd_norm", "embedding_norm") if family == "lfm2" else ("output_norm", "norm")
    names = [("token_embd", "embed_tokens", (VOCAB, DIM)), (*last_norm, (DIM,))]
    names += [] if tied else [("output", None, (VOCAB, DIM))]
    for i, kind in enumerate(layer_types):
        parts = PARTS.get(f"{family}, {kind}", PARTS[family])
        names += [(f"blk.{i}.{ours}", f"layers.{i}.{theirs}", dims[width]) for ours, theirs, width in parts]
    if family == "qwen35" and not tied:
        # Tensors of a layer that predicts the token after the next.
        extra = [("attn_norm", (DIM,)), ("nextn.eh_proj", (DIM, 2 * DIM))]
        names += [(f"blk.{len(layer_types)}.{ours}", "", shape) for ours, shape in extra]
    random = Random(7)
    made = {}
    for ours, theirs, shape in names:
        ours += OUR_SUFFIX.get(ours.rpartition(".")[2], ".weight")
        if theirs:
            part = theirs.partition(".")[2].partition(".")[2]
            theirs = f"model.{theirs}" + THEIR_SUFFIX.get(part, ".weight")
        # transformers has no names for extra layers.
        made[ours] = (tensor(random, ours, shape), "lm_head.weight" if theirs is None else theirs)
    return made


def in_halves(weight, heads):
    """Undoes the converter's order: row 2 i + j of each head becomes row j head_dim / 2 + i."""
    rows, columns = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def grouped(weight, delta_net, axis):
    """Undoes the converter's order of value heads: groups them by key head. Only the last values along the axis are value heads."""
    key_heads, value_heads, _ = delta_net
    weight = np.moveaxis(weight, axis, 0)
    length = value_heads * (weight.shape[0] // value_heads if weight.shape[0] % value_heads == 0 else 1)
    heads = weight.reshape(value_heads // key_heads, key_heads, length // value_heads, *weight.shape[1:])
    return np.moveaxis(heads.swapaxes(0, 1).reshape(weight.shape), 0, axis)


def delta_net_as_transformers_has_it(name, weight, delta_net):
    part = name.split(".")[2]
    if part in ("attn_qkv", "ssm_conv1d"):
        keys = 2 * delta_net[0] * delta_net[2]
        weight = np.concatenate([weight[:keys], grouped(weight[keys:], delta_net, 0)])
        return weight[:, None] if part == "ssm_conv1d" else weight
    if part == "ssm_a":
        weight = np.log(-weight)
    return grouped(weight, delta_net, 1 if part == "ssm_out" else 0)


def as_transformers_has_it(family, name, weight, heads, delta_net):
    is_of_delta_net = ".ssm_" in name or "attn_qkv" in name or "attn_gate" in name
    if is_of_delta_net and "ssm_norm" not in name:
        return delta_net_as_transformers_has_it(name, weight, delta_net)
    if family in TURNS_NEIGHBORS and name.endswith(("attn_q.weight", "attn_k.weight")):
        return in_halves(weight, heads[0] if "attn_q" in name else heads[1])
    # Norms of Gemma multiply by 1 + w, as do those of Qwen 3.5 outside of recurrent layers.
    has_one = family in ("gemma3", "qwen35") and name.endswith("norm.weight") and "ssm_norm" not in name
    return weight - 1 if has_one else weight


@contextlib.contextmanager
def in_float64():
    """Makes transformers compute in float64 where its code uses float32 for all weights."""
    float32, to_float = torch.float32, torch.Tensor.float
    torch.float32, torch.Tensor.float = torch.float64, torch.Tensor.double
    try:
        yield
    finally:
        torch.float32, torch.Tensor.float = float32, to_float


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
        names = ["linear_num_key_heads", "linear_num_value_heads", "linear_key_head_dim"]
        delta_net = tuple(settings[name] for name in names) if names[0] in settings else None
        made = tensors(self.family, self.heads, layer_types, settings["tie_word_embeddings"], delta_net)
        self.digest = sha256({name: weight for name, (weight, _) in made.items()})
        weights = {}
        for ours, (weight, theirs) in made.items():
            if not theirs:
                continue
            if ours.endswith("shortconv.conv.weight"):
                weight = weight[:, None]
            exact = as_transformers_has_it(self.family, ours, weight.astype(np.float64), self.heads, delta_net)
            weights[theirs] = torch.from_numpy(np.ascontiguousarray(exact))
        missing, unexpected = self.model.load_state_dict(weights, strict=False)
        assert not unexpected and set(missing) <= {"lm_head.weight"}, (missing, unexpected)
        self.table = made["token_embd.weight"][0].astype(np.float64)
        self.values = []
        for layer in self.model.model.layers:
            if hasattr(layer, "self_attn"):
                layer.self_attn.v_proj.register_forward_hook(lambda _, __, output: self.values.append(output[0].numpy()))

    def log_distributions(self, shares):
        """Same as `log_distributions` of architectures.py."""
        embeddings = self.table[TOKENS] + shares[:, None] * (self.table[END_TOKEN] - self.table[TOKENS])
        if self.family == "gemma3":
            embeddings *= np.sqrt(DIM)
        self.values.clear()
        with torch.no_grad(), in_float64():
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
    # Result of transformers for the tokens themselves.
    with torch.no_grad(), in_float64():
        logits = model.model(input_ids=torch.from_numpy(TOKENS)[None], use_cache=False).logits[0]
    assert np.abs(torch.log_softmax(logits, -1).numpy() - base).max() < 1e-6, name
    return figures_of(name, model.digest, model.log_distributions)


def main():
    text = json.dumps([figures(name) for name in FAMILIES]).replace('{"name"', '\n{"name"').replace('{"edit"', '\n  {"edit"')
    pathlib.Path(__file__).with_name("families.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

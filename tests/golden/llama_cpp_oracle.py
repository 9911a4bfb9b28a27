#!/usr/bin/env python3
"""Compares the log-probs of llama.cpp with the float64 results of transformers and of the definitions, on the random models of
tests/models/mod.rs.

    python3 tests/golden/llama_cpp_oracle.py   (needs gguf, llama-cpp-python 0.3.36, and the packages of families.py; takes seconds)

A second oracle. Prints a table row for each model: the largest difference in nats for the text and for its edited copies. The files have no
tokenizer. llama.cpp uses float32 for weights, keys, values and activations, except for gemma3's GELU, which it looks up in a table of
16-bit numbers.
"""
import ctypes
import json
import pathlib
import tempfile

import architectures
import families
import gguf
import llama_cpp
import numpy as np
from architectures import DIM, END_TOKEN, FFN, NORM_EPSILON, TOKENS, VOCAB

HERE = pathlib.Path(__file__).parent
SCALES = {"embedding_scale": 6.0, "residual_scale": 0.25, "attention.scale": 0.0625, "logit_scale": 3.0}
WINDOW = {"attention.sliding_window": 17, "rope.freq_base_swa": 5e3}
SCALED = {"attention.sliding_window": 9, "attention.sliding_window_pattern": [True, False, True]}
SCALED |= {"rope.scaling.type": "linear", "rope.scaling.factor": 8.0, "rope.freq_base_swa": 1e4}
CONVOLUTIONS = {"attention.head_count_kv": [0, 0, 2, 0, 2], "shortconv.l_cache": 3}


def delta_net(key_heads, value_heads, dim, rotated):
    sizes = {"ssm.conv_kernel": 4, "ssm.state_size": dim, "ssm.group_count": key_heads, "ssm.time_step_rank": value_heads}
    sections = [rotated // 8 + 1, rotated // 8, rotated // 8, 0]
    return sizes | {"ssm.inner_size": value_heads * dim, "rope.dimension_count": rotated, "rope.dimension_sections": sections}


# Base of the rotary embedding and further metadata, as in SHAPES of tests/models/mod.rs.
SETTINGS = {
    "granite": (1e4, SCALES),
    "smollm3": (5e6, {}),
    "olmo2": (5e5, {}),
    "gemma3": (1e6, WINDOW),
    "gemma3, scaled": (1e6, SCALED),
    "lfm2": (1e6, CONVOLUTIONS),
    "qwen35": (1e5, delta_net(2, 6, 16, 16)),
    # Omits the layer that predicts the token after the next.
    "qwen35, other layers": (1e5, delta_net(3, 3, 24, 8) | {"attention.recurrent_layers": [False, True]}),
}


def models():
    """Name, architecture, heads, layers, base, metadata, tensors of each model."""
    for shape in architectures.SHAPES:
        heads = (shape.heads, shape.kv_heads, shape.head_dim)
        yield shape.name, shape.architecture, heads, shape.layers, shape.rope_base, {}, architectures.tensors(shape)
    for name, (_, _, heads, layers, more) in families.FAMILIES.items():
        family, (base, settings) = name.split(",")[0], SETTINGS[name]
        names = ["linear_num_key_heads", "linear_num_value_heads", "linear_key_head_dim"]
        net = tuple(more[name] for name in names) if names[0] in more else None
        tied = more.get("tie_word_embeddings", True)
        made = families.tensors(family, heads, more.get("layer_types", [families.GLOBAL] * layers), tied, net)
        tensors = {ours: weight for ours, (weight, _) in made.items() if not ours.startswith(f"blk.{layers}.")}
        yield name, family, heads, layers, base, settings, tensors


def write(path, architecture, heads, layers, base, settings, tensors):
    writer = gguf.GGUFWriter(path, architecture)
    sizes = {"block_count": layers, "embedding_length": DIM, "feed_forward_length": FFN, "context_length": 128, "vocab_size": VOCAB}
    sizes |= {"attention.head_count": heads[0], "attention.head_count_kv": heads[1], "attention.key_length": heads[2]}
    sizes |= {"attention.value_length": heads[2], "rope.dimension_count": heads[2]}
    sizes |= {"rope.freq_base": base, "attention.layer_norm_rms_epsilon": NORM_EPSILON}
    for key, value in (sizes | settings).items():
        add = {bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32, str: writer.add_string, list: writer.add_array}
        add[type(value)](f"{architecture}.{key}", value)
    writer.add_tokenizer_model("no_vocab")
    for name, weight in tensors.items():
        writer.add_tensor(name, np.ascontiguousarray(weight, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class Model:
    def __init__(self, path):
        params = llama_cpp.llama_model_default_params()
        # llama.cpp's AMX kernels fail on some machines.
        params.use_extra_bufts = False
        self.model = llama_cpp.llama_model_load_from_file(str(path).encode(), params)
        if not self.model:
            raise ValueError("llama.cpp does not load it")
        params = llama_cpp.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch, params.n_threads = 128, 128, 128, 1
        params.type_k = params.type_v = llama_cpp.GGML_TYPE_F32
        # Flash attention computes in f16.
        params.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
        self.context = llama_cpp.llama_init_from_model(self.model, params)

    def log_probs(self, tokens):
        """ln p of each token of the original text except the first, if the model reads `tokens`."""
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)
        batch = llama_cpp.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.seq_id[i][0], batch.logits[i] = int(token), i, 1, 0, True
        assert llama_cpp.llama_decode(self.context, batch) == 0
        logits = np.array([np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(self.context, i), (VOCAB,)) for i in range(len(tokens))])
        llama_cpp.llama_batch_free(batch)
        logits = logits.astype(np.float64)
        logits -= logits.max(1, keepdims=True)
        log_p = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        return log_p[np.arange(len(tokens) - 1), TOKENS[1:]]


def main():
    quiet = llama_cpp.llama_log_callback(lambda *_: None)
    llama_cpp.llama_log_set(quiet, ctypes.c_void_p(0))
    right = json.loads((HERE / "families.json").read_text()) + json.loads((HERE / "architectures.json").read_text())["shapes"]
    right = {figures["name"]: figures for figures in right}
    print("| model | text | edited |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name, *parts in models():
            path = pathlib.Path(folder) / "model.gguf"
            write(path, *parts)
            try:
                model = Model(path)
            except ValueError as error:
                print(f"| {name} | {error} | |", flush=True)
                continue
            text = np.abs(model.log_probs(TOKENS) - right[name]["log_probs"]).max()
            perturbed = [figures for figures in right[name]["perturbed"] if figures["edit"]["share"] == 1.0]
            print(f"| {name} | {text:.1e} | {max(difference(model, figures) for figures in perturbed):.1e} |", flush=True)


def difference(model, figures):
    """Largest difference in log-probability of the original tokens after a span of end tokens."""
    start, length = figures["edit"]["start"], figures["edit"]["length"]
    tokens = TOKENS.copy()
    tokens[start : start + length] = END_TOKEN
    return np.abs(model.log_probs(tokens)[start:] - figures["log_probs"]).max()


if __name__ == "__main__":
    main()

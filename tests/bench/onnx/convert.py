#!/usr/bin/env python3
"""Writes a Llama or a Qwen 3 in GGUF (Q8_0) as ONNX, for onnxruntime-web: FOLDER/f32.onnx, and FOLDER/q8.onnx with the same 8-bit blocks.

    python3 tests/bench/onnx/convert.py MODEL.gguf FOLDER        (needs requirements.txt; takes seconds)

The operators are those of onnxruntime's own exports of such models. Both files contain exactly the weights of the GGUF. Measurements
decided which matrices are f32: in WASM, f32 is always faster; on WebGPU, 8 bits are faster for layers, and f32 for the LM head. Before it
measures, the benchmark compares the results of the files with those of our engine.

Inputs: ids [1, n] after p past ones, rows [m] of these n whose next token is requested, seqlens_k [1] = n + p - 1, total_length = n + p,
past.LAYER.key and .value [1, kv_heads, p, head_dim]. Outputs: logits [m, vocabulary], present.*
"""
import sys
from pathlib import Path

import gguf
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BLOCK = 32
MICROSOFT = "com.microsoft"


class Decoder:
    """Builds the graph, in the order of computation."""

    def __init__(self, reader: gguf.GGUFReader, bits: int):
        """Builds layers with matrices of 8 or 32 bits."""
        self.bits = bits
        self.tensors = {tensor.name.removesuffix(".weight"): tensor for tensor in reader.tensors}
        prefix = f"{reader.fields['general.architecture'].contents()}."
        setting = {name.removeprefix(prefix): field.contents() for name, field in reader.fields.items() if name.startswith(prefix)}
        self.layers, self.dim = setting["block_count"], setting["embedding_length"]
        self.heads, self.kv_heads = setting["attention.head_count"], setting["attention.head_count_kv"]
        self.head_dim = setting.get("attention.key_length", self.dim // self.heads)
        unknown = {"output", "rope_freqs"} & self.tensors.keys()
        assert not unknown, f"this writes models with shared embeddings and plain RoPE, not with {', '.join(sorted(unknown))}"
        # GGUF has the pairs that RoPE turns next to each other in Llama, and half a head apart in Qwen 3.
        self.pairs_are_adjacent = prefix == "llama."
        self.context, self.rope_base = setting["context_length"], setting.get("rope.freq_base", 10_000.0)
        self.epsilon = setting["attention.layer_norm_rms_epsilon"]
        self.nodes, self.constants = [], []
        self.inputs = [value("ids", TensorProto.INT64, [1, "n"]), value("rows", TensorProto.INT64, ["m"])]
        self.inputs += [value("seqlens_k", TensorProto.INT32, [1]), value("total_length", TensorProto.INT32, [])]
        self.outputs = [value("logits", TensorProto.FLOAT, ["m", self.tensors["token_embd"].shape[1].item()])]

    def model(self) -> onnx.ModelProto:
        self.rope_tables()
        x, delta = self.op("Gather", [self.f32("token_embd"), "ids"], "embedding"), None  # [1, n, dim]
        for i in range(self.layers):
            x, normed = self.norm(x, delta, f"blk.{i}.attn_norm")
            delta = self.attention(i, normed)
            x, normed = self.norm(x, delta, f"blk.{i}.ffn_norm")
            delta = self.feed_forward(i, normed)
        _, normed = self.norm(x, delta, "output_norm")
        asked = self.op("Gather", [normed, "rows"], "asked", axis=1)
        asked = self.reshape(asked, [-1, self.dim])
        self.op("Gemm", [asked, "token_embd"], "logits", transB=1)
        graph = helper.make_graph(self.nodes, "decoder", self.inputs, self.outputs, self.constants)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def attention(self, i: int, x: str) -> str:
        q, k, v = (self.matmul(x, f"blk.{i}.attn_{part}") for part in "qkv")
        if f"blk.{i}.attn_q_norm" in self.tensors:
            q = self.head_norm(q, f"blk.{i}.attn_q_norm", self.heads)
            k = self.head_norm(k, f"blk.{i}.attn_k_norm", self.kv_heads)
        cache = [f"{i}.key", f"{i}.value"]
        past, present = ([f"{when}.{name}" for name in cache] for when in ("past", "present"))
        self.inputs += [value(name, TensorProto.FLOAT, [1, self.kv_heads, "p", self.head_dim]) for name in past]
        self.outputs += [value(name, TensorProto.FLOAT, [1, self.kv_heads, "t", self.head_dim]) for name in present]
        inputs = [q, k, v, *past, "seqlens_k", "total_length", "cos", "sin"]
        sizes = {"num_heads": self.heads, "kv_num_heads": self.kv_heads}
        rope = {"do_rotary": 1, "rotary_interleaved": int(self.pairs_are_adjacent)}
        mixed = self.op("GroupQueryAttention", inputs, f"blk.{i}.mixed", *present, domain=MICROSOFT, **sizes, **rope)
        return self.matmul(mixed, f"blk.{i}.attn_output")

    def feed_forward(self, i: int, x: str) -> str:
        """down(silu(gate(x)) * up(x))"""
        gate, up = self.matmul(x, f"blk.{i}.ffn_gate"), self.matmul(x, f"blk.{i}.ffn_up")
        silu = self.op("Mul", [gate, self.op("Sigmoid", [gate], f"{gate}.sigmoid")], f"{gate}.silu")
        return self.matmul(self.op("Mul", [silu, up], f"{gate}.up"), f"blk.{i}.ffn_down")

    def norm(self, x: str, delta: str | None, name: str) -> tuple[str, str]:
        """Returns x + delta, and its RMS norm."""
        if delta is None:
            return x, self.op("SimplifiedLayerNormalization", [x, self.f32(name)], f"{name}.out", axis=-1, epsilon=self.epsilon)
        total, inputs = f"{name}.sum", [x, delta, self.f32(name)]
        normed = self.op("SkipSimplifiedLayerNormalization", inputs, f"{name}.out", "", "", total, domain=MICROSOFT, epsilon=self.epsilon)
        return total, normed

    def head_norm(self, x: str, name: str, heads: int) -> str:
        """RMS norm of each head alone."""
        apart = self.reshape(x, [0, 0, heads, self.head_dim])
        normed = self.op("SimplifiedLayerNormalization", [apart, self.f32(name)], f"{name}.out", axis=-1, epsilon=self.epsilon)
        return self.reshape(normed, [0, 0, heads * self.head_dim])

    def matmul(self, x: str, name: str) -> str:
        if self.bits == 32:
            columns = self.constant(name, dequantized(self.tensors[name]).T)
            return self.op("MatMul", [x, columns], f"{name}.out")
        blocks, scales = blocks_of_8_bits(self.tensors[name])
        inputs = [x, self.constant(name, blocks), self.constant(f"{name}.scales", scales)]
        sizes = dict(zip("KN", self.tensors[name].shape.tolist())) | {"bits": 8, "block_size": BLOCK}
        return self.op("MatMulNBits", inputs, f"{name}.out", domain=MICROSOFT, **sizes)

    def rope_tables(self):
        """Cosine and sine of the angles of each position, [context, head_dim / 2]."""
        frequencies = self.rope_base ** -(np.arange(0, self.head_dim, 2) / self.head_dim)
        angles = np.outer(np.arange(self.context), frequencies)
        self.constant("cos", np.cos(angles).astype(np.float32))
        self.constant("sin", np.sin(angles).astype(np.float32))

    def f32(self, name: str) -> str:
        return self.constant(name, dequantized(self.tensors[name]))

    def reshape(self, x: str, shape: list[int]) -> str:
        return self.op("Reshape", [x, self.constant(f"{x}.shape", np.array(shape))], f"{x}.reshaped")

    def constant(self, name: str, array: np.ndarray) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def op(self, kind: str, inputs: list[str], *outputs: str, **attributes) -> str:
        """Adds a node and returns the name of its first output."""
        self.nodes.append(helper.make_node(kind, inputs, outputs, **attributes))
        return outputs[0]


def value(name: str, kind: int, shape: list) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def dequantized(tensor: gguf.ReaderTensor) -> np.ndarray:
    """The tensor as f32, rows first."""
    return gguf.dequantize(tensor.data, tensor.tensor_type).reshape(tensor.shape[::-1].tolist())


def blocks_of_8_bits(tensor: gguf.ReaderTensor) -> tuple[np.ndarray, np.ndarray]:
    """Q8_0 in the format of MatMulNBits: bytes with zero point 128 [rows, blocks, 32], and scales [rows, blocks]."""
    assert tensor.tensor_type == gguf.GGMLQuantizationType.Q8_0, f"{tensor.name} is no Q8_0"
    blocks = tensor.data.reshape(tensor.shape[1], -1, 2 + BLOCK)  # a scale in f16, and 32 signed bytes
    scales = np.ascontiguousarray(blocks[..., :2]).view(np.float16)[..., 0]
    return blocks[..., 2:] ^ 0x80, scales.astype(np.float32)


def main():
    model, folder = Path(sys.argv[1]), Path(sys.argv[2])
    reader = gguf.GGUFReader(model)
    architecture = reader.fields["general.architecture"].contents()
    assert architecture in ("llama", "qwen3"), f"this writes Llama and Qwen 3, not {architecture}"
    for name, bits in {"f32": 32, "q8": 8}.items():
        onnx.save(Decoder(reader, bits).model(), folder / f"{name}.onnx")


if __name__ == "__main__":
    main()

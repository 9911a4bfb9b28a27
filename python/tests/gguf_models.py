"""Loads this repository's models into transformers, for live measurements. The tests themselves do not need it."""

import pathlib
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

ROOT = pathlib.Path(__file__).parents[2]
DEMO = ROOT / "tests/fixtures/models/demo.gguf"
STORIES = ROOT / "tests/golden/stories260k/stories260k-f32.gguf"
# With models this small, more threads only wait for each other.
torch.set_num_threads(1)


def load(file: pathlib.Path, **options: Any) -> tuple[Any, Any]:
    """Loads the weights of a GGUF file, dequantized to f32, and its tokenizer."""
    where = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
    config = AutoConfig.from_pretrained(**where)
    if config.model_type == "qwen3":
        # transformers does not read `qwen3.attention.key_length`, which is 64 in this model.
        config.head_dim = 64
    model = AutoModelForCausalLM.from_pretrained(**where, config=config, dtype=torch.float32, **options)
    model.config.name_or_path = file.stem
    return model.eval(), AutoTokenizer.from_pretrained(**where)

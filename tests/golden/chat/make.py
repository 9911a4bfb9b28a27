#!/usr/bin/env python3
"""Renders the messages in rendered.json with the chat templates, and two messages with the lines of expressions.txt, as Hugging Face
transformers does, and writes the results. With folders, prints the results of the templates in them for typical conversations.

    python3 tests/golden/chat/make.py                               (needs transformers 5.24, jinja2 3.1.6, gguf 0.19.0)
    python3 tests/golden/chat/make.py FOLDER.. > cases.json
"""
import copy
import datetime
import json
import pathlib
import sys
import tempfile
import zlib

from gguf import GGUFReader
from transformers.utils.chat_template_utils import _compile_jinja_template

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
        # These templates differ only in their dates, which the cases set.
        "meta-llama-Llama-3.1-8B-Instruct": llama3,
        "meta-llama-Llama-3.2-3B-Instruct": llama3,
        **{name: (HERE / f"{name}.jinja").read_text(encoding="utf-8") for name in OF_FAMILIES},
    }


def rendered(template, case):
    variables = {**ALWAYS, **copy.deepcopy(case["variables"])}
    messages, add_generation_prompt = copy.deepcopy(case["messages"]), case["add_generation_prompt"]
    return _compile_jinja_template(template).render(messages=messages, add_generation_prompt=add_generation_prompt, **variables)


# Variables that transformers always sets, with a fixed clock.
ALWAYS = {"tools": None, "documents": None, "strftime_now": datetime.datetime(2024, 7, 26).strftime}
MESSAGES = [{"role": "system", "content": "Be brief. "}, {"role": "user", "content": "Why?\nWho's there?"}]


def rendered_if_possible(template, case):
    """Returns the rendered template, or None if Jinja2 rejects it."""
    try:
        return rendered(template, case)
    except Exception:
        return None


def expressions():
    """Parses lines. Each is a template, as it is or as a JSON string."""
    case = {"messages": MESSAGES, "add_generation_prompt": True, "variables": {"bos_token": "<s>", "eos_token": "</s>"}}
    lines = (HERE / "expressions.txt").read_text(encoding="utf-8").split("\n")[:-1]
    templates = [json.loads(line) if line.startswith('"') else line for line in lines]
    return [{"template": template, "rendered": rendered_if_possible(template, case)} for template in templates]


def conversations():
    """Texts of system, user, assistant, user and so on, with and without a system message."""
    texts = ["Be brief. ", "Why?\nWho's there?", "<think>\nHm.\n</think>\n\nI am.", " 2+2? <b>", "4", ""]
    for first in (0, 1):
        for end in range(first + 1, len(texts) + 1):
            roles = ["system", *["user", "assistant"] * 3]
            yield [{"role": role, "content": text} for role, text in list(zip(roles, texts))[first:end]]


def cases_of(folders):
    tools = [{"type": "function", "function": {"name": "add", "description": "a + b", "parameters": {"type": "object", "properties": {
        "a": {"type": "integer", "description": "\"a\" <é>"}}, "required": ["a"]}}}]
    tokens = {"bos_token": "<s>", "eos_token": "</s>"}
    for file in sorted(file for folder in folders for file in pathlib.Path(folder).rglob("*.jinja")):
        with open(file, newline="", encoding="utf-8") as text:
            template = text.read()
        for messages in conversations():
            for more in ({}, {"tools": tools}, {"enable_thinking": False}, {"documents": [{"title": "T", "text": "x"}]}):
                for add_generation_prompt in (True, False):
                    case = {"messages": messages, "add_generation_prompt": add_generation_prompt, "variables": {**tokens, **more}}
                    yield {"name": file.name, "template": template, **case, "rendered": rendered_if_possible(template, case)}


def main(folders):
    if folders:
        print(json.dumps(list(cases_of(folders)), ensure_ascii=False))
        return
    file, known = HERE / "rendered.json", templates()
    cases = json.loads(file.read_text(encoding="utf-8"))
    for case in cases:
        case["rendered"] = rendered(known[case["template"]], case)
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    file.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in expressions())
    (HERE / "expressions.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


main(sys.argv[1:])

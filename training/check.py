"""Compares our engine with PyTorch (F32 log-probs), and with llama.cpp if it is installed (greedy texts)."""

import argparse
import tempfile
from pathlib import Path

import gguf
import torch
from tokenizers import Tokenizer

import engine
from evaluate import first
from export import write_gguf
from model import load_trained
from make import MODELS
from model import Model
from problem import Problem
from tokenizer import IM_END, ChatEncoder
from train import add_arguments

PER_CONDITION = 6  # 102 problems in all
LARGEST_DIFFERENCE = 1e-4
LONGEST_ANSWER = 256


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    parser.add_argument("--engine", default=engine.DEFAULT_COMMAND, help="how to call glasscage")
    parser.add_argument("--models", type=Path, default=MODELS)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    command, shipped = arguments.engine, arguments.models / "demo.gguf"
    model, _ = load_trained(arguments.folder / "model.pt")
    encoder = ChatEncoder(Tokenizer.from_file(str(arguments.folder / "tokenizer.json")))
    problems = [problem for some in first(PER_CONDITION).values() for problem in some]
    with tempfile.TemporaryDirectory() as scratch:
        exact = Path(scratch) / "f32.gguf"
        write_gguf(arguments.folder / "model.pt", exact, gguf.GGMLQuantizationType.F32)
        check_tokens(command, shipped, encoder, problems)
        check_log_probs(command, exact, model, encoder, problems)
        for path in (exact, shipped):
            compare_with_llama_cpp(command, path, encoder, problems)


def check_tokens(command: str, path: Path, encoder: ChatEncoder, problems: list[Problem]):
    """Checks that the engine tokenizes every prompt and answer as the trainer does."""
    texts = [text for problem in problems for text in (problem.prompt, problem.answer_text)]
    ours = engine.token_ids(command, path, texts)
    same = sum(a == encoder.tokenizer.encode(text, add_special_tokens=False).ids for a, text in zip(ours, texts))
    print(f"tokens: the same for {same} of {len(texts)} texts")
    assert same == len(texts)


def check_log_probs(command: str, path: Path, model: Model, encoder: ChatEncoder, problems: list[Problem]):
    """Compares the ln p that the engine and PyTorch give every token of the prompt and the reference answer."""
    ids = [encoder.prompt_ids(problem.sentences) + encoder.answer_ids(problem) for problem in problems]
    largest = 0.0
    for row, ours in zip(ids, engine.log_probs(command, path, ids)):
        tokens = torch.tensor(row)
        with torch.inference_mode():
            theirs = model.logits(model(tokens[None, :-1]))[0].log_softmax(-1)[range(len(row) - 1), tokens[1:]]
        largest = max(largest, (torch.tensor(ours) - theirs).abs().max().item())
    print(f"F32 log-probs: engine and PyTorch differ by at most {largest:.1e} in {sum(map(len, ids))} tokens")
    assert largest <= LARGEST_DIFFERENCE


def compare_with_llama_cpp(command: str, path: Path, encoder: ChatEncoder, problems: list[Problem]):
    """Compares greedy texts for the file `path`. Rounding may decide between almost equal tokens, so quantized files may differ in a few
    texts."""
    try:
        import llama_cpp
    except ImportError:
        print("llama.cpp: llama-cpp-python is not installed, not compared")
        return
    f32 = 0  # GGML_TYPE_F32 for the K/V cache: the default, F16, changes log-probs by 2e-3
    llama = llama_cpp.Llama(str(path), n_ctx=1024, n_threads=1, verbose=False, type_k=f32, type_v=f32)
    same = 0
    for problem, ours in zip(problems, engine.answers(command, path, [problem.prompt for problem in problems])):
        prompt = encoder.prompt_ids(problem.sentences)
        ids: list[int] = []
        for token in llama.generate(prompt, temp=0.0, repeat_penalty=1.0):
            if token == IM_END or len(ids) == LONGEST_ANSWER:
                break
            ids.append(token)
        assert llama.tokenize(problem.prompt.encode(), add_bos=False) == encoder.tokenizer.encode(problem.prompt).ids
        if encoder.decode(ids) == ours:
            same += 1
        else:
            print(f"  differs: {problem.prompt}\n    llama.cpp {encoder.decode(ids)}\n    ours      {ours}")
    print(f"llama.cpp, {path.name}: the same greedy text for {same} of {len(problems)} problems")
    llama.close()


if __name__ == "__main__":
    main()

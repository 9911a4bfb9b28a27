"""Scores of the exported file on the held-out problems, the model card, and the example prompts of the page."""

import json
from collections import Counter
from pathlib import Path

from tokenizers import Tokenizer

from export import DESCRIPTION, NAME, load_trained, read_gguf
from generate import greedy
from model import Model
from problems import HELD_OUT_SEED, UNRELATED, Problem, held_out
from tokenizer import ChatEncoder

EVALUATED_PER_CONDITION = 100  # training keeps away from the first 200
COMPARED_TEXTS = 100


def answers(model: Model, encoder: ChatEncoder, problems: list[Problem]) -> list[str]:
    """Greedy answer texts."""
    return [encoder.decode(ids) for ids in greedy(model, [encoder.prompt_ids(p.sentences) for p in problems])]


def sentences_of(text: str) -> list[str]:
    """Splits an answer at full stops followed by a space."""
    return [part if part.endswith(".") else part + "." for part in text.split(". ")]


def is_right(problem: Problem, text: str) -> bool:
    """Facts: the wanted number of exact, different copies. Otherwise: the right last sentence."""
    listed = sentences_of(text)
    if problem.task != "facts":
        return listed[-1] == problem.answer[-1]
    given = problem.sentences[:-1]
    return len(listed) == problem.steps == len(set(listed)) and all(sentence in given for sentence in listed)


def scores(problems: list[Problem], texts: list[str]) -> dict:
    """Shares of right answers, and of texts (facts: of listed sentences) that are exact."""
    if problems[0].task == "facts":
        copies = [sentence in p.sentences for p, text in zip(problems, texts) for sentence in sentences_of(text)]
        exact = sum(copies) / len(copies)
    else:
        exact = sum(p.answer_text == text for p, text in zip(problems, texts)) / len(problems)
    right = sum(is_right(p, text) for p, text in zip(problems, texts)) / len(problems)
    return {"n": len(problems), "right": right, "exact": exact}


def report(folder: Path, gguf_path: Path, card_path: Path, examples_path: Path):
    """Evaluates the GGUF file as it is and writes the card and the example prompts beside it."""
    model, encoder = read_gguf(gguf_path)
    problems_by_condition = held_out(EVALUATED_PER_CONDITION)
    texts_by_condition = {name: answers(model, encoder, problems) for name, problems in problems_by_condition.items()}
    rows = {name: scores(problems, texts_by_condition[name]) for name, problems in problems_by_condition.items()}
    for name, row in rows.items():
        print(f"{name}: {row}", flush=True)
    (folder / "scores.json").write_text(json.dumps(rows, indent=1))
    (folder / "answers.json").write_text(json.dumps(texts_by_condition, indent=1))

    trained, summary = load_trained(folder)
    some = [p for problems in problems_by_condition.values() for p in problems[: 1 + COMPARED_TEXTS // len(problems_by_condition)]][:COMPARED_TEXTS]
    trained_texts = answers(trained, ChatEncoder(Tokenizer.from_file(str(folder / "tokenizer.json"))), some)
    same = sum(a == b for a, b in zip(trained_texts, answers(model, encoder, some)))
    card_path.write_text(card(model, rows, summary, gguf_path.stat().st_size, same))
    examples = page_examples(problems_by_condition, texts_by_condition)
    examples_path.write_text(json.dumps({"model": gguf_path.name, "examples": examples}, indent=2) + "\n")


# ---------------------------------------------------------------- example prompts

# title, condition, what the prompt must contain, number of prompt sentences
EXAMPLE_SLOTS = [
    ("Equal groups", "arithmetic, 2-5 steps, unrelated", "Each ", (6, 7)),
    ("Three steps and an unrelated sentence", "arithmetic, 2-5 steps, unrelated", "in the end", (6, 6)),
    ("Who has how many", "arithmetic, 2-5 steps, unrelated", " fewer ", (5, 7)),
    ("A quantity nobody asks for", "arithmetic, 2-5 steps, rival", "How many", (6, 7)),
    ("Two sentences to combine", "look-up, 2 hops", "?", (5, 7)),
    ("Three sentences to combine", "look-up, 3 hops", "?", (7, 7)),
    ("Three facts out of five", "facts, 3 of 5", "these facts", (6, 6)),
    ("Three facts out of nine", "facts, 3 of 9", "the facts", (10, 10)),
]


def page_examples(problems_by_condition: dict, texts_by_condition: dict) -> list[dict]:
    """The first held-out problem per slot, none twice, that the model gets right and that uses no invented word."""
    used_in = Counter(word for problems in problems_by_condition.values() for p in problems for word in set(words_of(p)))
    examples = []
    for title, condition, must_contain, (fewest, most) in EXAMPLE_SLOTS:
        for problem, text in zip(problems_by_condition[condition], texts_by_condition[condition]):
            if (
                fewest <= len(problem.sentences) <= most
                and problem.prompt not in (example["prompt"] for example in examples)
                and must_contain in problem.prompt
                and (problem.distractors != "unrelated" or UNRELATED in problem.sentences)
                and all(used_in[word] >= 5 for word in words_of(problem))
                and is_right(problem, text)
                and (problem.task == "facts" or text == problem.answer_text)
            ):
                relevant = problem.relevant
                if problem.task == "facts":  # the facts the model really lists, and the request
                    listed = sentences_of(text)
                    relevant = [i for i, s in enumerate(problem.sentences) if s in listed] + [len(problem.sentences) - 1]
                examples.append({"title": title, "task": problem.task, "prompt": problem.prompt, "relevant": relevant})
                break
        else:
            print(f"no held-out problem fits the example {title!r}")
    return examples


def words_of(problem: Problem) -> list[str]:
    return [word.strip(".,?") for word in problem.prompt.replace("'s", "").split() if word.strip(".,?").isalpha()]


# ---------------------------------------------------------------- the card


def readable(condition: str) -> str:
    return condition.replace(" 1 steps", " 1 step").replace(" 1 hops", " 1 hop")


def card(model: Model, rows: dict, summary: dict, file_bytes: int, same_texts: int) -> str:
    """The model card in Markdown."""
    c = model.config
    parameters = sum(p.numel() for p in model.parameters()) / 1e6
    table = "\n".join(f"| {readable(name)} | {r['n']} | {r['right']:.1%} | {r['exact']:.1%} |" for name, r in rows.items())
    return f"""# {NAME}

{DESCRIPTION} Author: Glasscage. Licence: Apache-2.0, weights and generated data.

**Model.** Qwen3 architecture, {parameters:.2f} M parameters: width {c.dim}, {c.n_layers} layers, {c.n_heads} heads and
{c.n_kv_heads} K/V heads of {c.head_dim}, feed-forward {c.ffn_dim}, tied embedding, context {c.context_length}. Byte-level BPE of
{c.vocab_size} tokens with the Qwen2 pre-tokenizer, single digits, ChatML, ends with `<|im_end|>`. GGUF, Q8_0 matrices, {file_bytes / 1e6:.2f} MB.

**Data.** Generated by `training/problems.py`, no text from elsewhere: arithmetic word problems 58 % (chains, comparisons,
groups, two people; 1 to 5 steps; numbers up to 999; distractors none 40 %, "Unrelated sentence." or a harmless remark
35 %, rival quantities 15 %, both 10 %), listing 1 to 5 of 3 to 9 facts 14 %, look-ups over 1 to 3 sentences with decoys
16 %, bare sums 12 %. Present and past tense, some 30 % invented names and 15 % invented nouns. In about 20 % of the
examples some irrelevant prompt sentences are replaced by end tokens, as the page's perturbations do.

**Recipe.** {summary['tokens'] / 1e6:.1f} M tokens (padding included) in {summary['steps']} steps, {summary['minutes']} minutes of wall time on one shared CPU
thread; Muon (0.02) on matrices, Adam (0.004) on the rest; learning rate constant for 60 % of the time, then linear to
zero; loss on the answer only; seed {summary['seed']}; last mean training loss {summary['loss']:.3f}.

**Scores.** Of this very file, dequantised, greedy, in PyTorch. Held-out problems come from the same templates with seed
{HELD_OUT_SEED}; training skips every problem that has one of these prompts. "Right": the last sentence is right (facts: the
wanted number of exact, different copies). "Exact": the whole text is as expected (facts: share of listed sentences that
are exact copies). With n = 100 the standard error is up to 5 points, about 3 near 90 %.

| condition | n | right | exact |
| --- | --- | --- | --- |
{table}

The exported file gives the same greedy text as the unquantised trained model on {same_texts} of {COMPARED_TEXTS} held-out problems.

**What it cannot do.** It knows only sentences much like those of its training: other verbs, other wordings, dates, times,
units, negative numbers and numbers above 999 fail; problems of more than five steps mostly fail. Held-out *wordings* were not
tested, only held-out problems. Invented or rare words are sometimes misspelled in the answer. Among facts it may copy a sentence
wrongly or list too few or too many. It has no general knowledge and cannot chat.
"""

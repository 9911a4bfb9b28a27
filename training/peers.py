"""Computes attributions with other methods on the shipped model, for `glasscage evaluate --attributions`.

python training/peers.py ANSWERS ATTRIBUTIONS.jsonl     (install training/peers-requirements.txt in a separate environment first)

ANSWERS is the folder of a `glasscage evaluate` run. Its records have the prompts, their sentences and the model's answers. After an
interruption, the script continues with the next problem. FlashTrace (arXiv 2602.01914) traces the whole answer and gives each prompt
token a score. The scores are summed by sentence. ContextCite (arXiv 2409.00729) removes a random half of the prompt sentences 64 times.
Then it fits a sparse linear model of the change in the log-odds of the selected text. It runs once for the whole answer, which is its
default, and once for the explained sentences.
"""

import argparse
import hashlib
import json
import logging
import os
import time
import warnings
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

os.environ["TQDM_DISABLE"] = "1"  # context-cite reads it at import
import nltk
import numpy as np
import torch
from gguf import GGUFReader
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

import engine

warnings.simplefilter("ignore")  # context-cite requests autocast on CUDA
nltk.download = lambda *_, **__: True  # context-cite downloads a sentence splitter at import; we split the sentences ourselves
from context_cite import ContextCiter
from context_cite.context_partitioner import BaseContextPartitioner
from flashtrace import FlashTrace

MODEL = engine.ROOT / "public" / "models" / "demo.gguf"
LARGEST_DIFFERENCE = 1e-4
CHECKED_ANSWERS = 10
LONGEST_ANSWER = 256


@dataclass
class Peers:
    """The model and its tokenizer, in the form that the other methods need."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase

    def chat(self, prompt: str) -> str:
        messages = [{"role": "user", "content": prompt}]
        return self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)

    def ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False)


# ---------------------------------------------------------------- the model


def load(path: Path) -> Peers:
    """Loads the GGUF file into Hugging Face's transformers as F32."""
    fields = GGUFReader(path).fields
    architecture = fields["general.architecture"].contents()
    model = AutoModelForCausalLM.from_pretrained(
        path.parent,
        gguf_file=path.name,
        dtype=torch.float32,
        attn_implementation="eager",  # FlashTrace needs attention weights
        head_dim=fields[f"{architecture}.rope.dimension_count"].contents(),  # transformers 5.23 does not read it
    )
    return Peers(model.eval(), AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name, padding_side="left"))


def check(peers: Peers, command: str, documents: list[dict]):
    """Checks that the tokens of all texts, and ln p of every prompt and answer token of some texts, match our engine."""
    texts = [document[part]["text"] for document in documents for part in ("prompt", "generation")]
    assert engine.token_ids(command, MODEL, texts) == [peers.ids(text) for text in texts], "tokens differ"
    some = documents[:CHECKED_ANSWERS]
    end = [peers.tokenizer.eos_token_id]
    rows = [peers.ids(peers.chat(d["prompt"]["text"])) + peers.ids(d["generation"]["text"]) + end for d in some]
    largest = 0.0
    for row, ours in zip(rows, engine.log_probs(command, MODEL, rows)):
        tokens = torch.tensor(row)
        with torch.inference_mode():
            logits = peers.model(tokens[None]).logits[0, :-1]
        theirs = logits.log_softmax(-1)[range(len(row) - 1), tokens[1:]]
        largest = max(largest, (torch.tensor(ours) - theirs).abs().max().item())
    print(f"log-probs: engine and transformers differ by at most {largest:.1e} in {sum(map(len, rows))} tokens", flush=True)
    assert largest <= LARGEST_DIFFERENCE


# ---------------------------------------------------------------- the methods


def flashtrace(peers: Peers, document: dict, hops: int) -> list[float]:
    """Returns the scores of the prompt tokens, summed by sentence. FlashTrace gets the prompt already formatted, because its own
    formatting would add words. Its hops cover the whole answer, even if a span of the answer is selected."""
    text = document["prompt"]["text"]
    chat = peers.chat(text)
    trace = FlashTrace(peers.model, peers.tokenizer).trace(prompt=chat, target=document["generation"]["text"], hops=hops)
    first = len(peers.ids(chat[: chat.index(text)]))
    counts = document["prompt"]["tokens"]
    assert "".join(trace.prompt_tokens[first : first + sum(counts)]) == text, "tokens are cut in another way"
    ends = first + np.cumsum(counts)
    return [float(sum(trace.scores[end - count : end])) for end, count in zip(ends, counts)]


class Sentences(BaseContextPartitioner):
    """The sentences of the prompt, split as the engine splits them."""

    def __init__(self, passage: dict):
        super().__init__(passage["text"])
        self.sentences = [passage["text"][start:end] for start, end in passage["sentences"]]

    @property
    def num_sources(self) -> int:
        return len(self.sentences)

    def split_context(self):
        """Does nothing: the sentences are already split."""

    def get_source(self, index: int) -> str:
        return self.sentences[index]

    def get_context(self, mask: np.ndarray | None = None) -> str:
        """Joins the sentences that the mask keeps, without the space at the end."""
        kept = self.sentences if mask is None else [s for s, keep in zip(self.sentences, mask) if keep]
        return self.context if mask is None else "".join(kept).rstrip()


def context_cite(peers: Peers, document: dict) -> ContextCiter:
    """Runs ContextCite with its default 64 ablations and LASSO. The whole prompt is the context, and the query is empty."""
    prompt, generation = document["prompt"], document["generation"]["text"]
    citer = ContextCiter(
        peers.model,
        peers.tokenizer,
        context=prompt["text"],
        query="",
        prompt_template="{context}",
        partitioner=Sentences(prompt),
        generate_kwargs={"max_new_tokens": LONGEST_ANSWER, "do_sample": False},
    )
    if citer.response.removesuffix(peers.tokenizer.eos_token) != generation:
        raise ValueError(f"it explains its own answer, which is another: {citer.response!r}, ours {generation!r}")
    return citer


def cited(citer: ContextCiter, document: dict, rows: list[int]) -> list[float]:
    """Returns the weights of the prompt sentences for the generated sentences `rows`. Negative weights are clipped to 0."""
    spans = [document["generation"]["sentences"][row] for row in rows]
    weights = citer.get_attributions(spans[0][0], spans[-1][1], verbose=False)
    return [max(0.0, float(weight)) for weight in weights]


def attributions(peers: Peers, document: dict) -> dict[str, tuple[list[float], float]]:
    """Returns the attribution and CPU seconds of each method."""
    found = {}
    for hops, name in ((1, "FlashTrace, 1 hop"), (2, "FlashTrace, 2 hops")):
        began = time.process_time()
        found[name] = flashtrace(peers, document, hops), time.process_time() - began
    try:
        found |= cited_attributions(context_cite(peers, document), document)
    except ValueError as error:  # a different answer, or a probability of 1 in F32, whose log-odds are infinite
        print(f"left out, ContextCite of {document['prompt']['text']!r}: {error}", flush=True)
    return found


def cited_attributions(citer: ContextCiter, document: dict) -> dict[str, tuple[list[float], float]]:
    """Explains the whole answer and the explained sentences with the same ablations, so both get the same seconds. The time to generate
    the answer is not counted."""
    all_rows = list(range(len(document["generation"]["sentences"])))
    began = time.process_time()
    whole = cited(citer, document, all_rows)
    some = cited(citer, document, document["output"])
    seconds = time.process_time() - began
    return {"ContextCite, whole answer": (whole, seconds), "ContextCite, explained sentences": (some, seconds)}


# ---------------------------------------------------------------- the run


def read_documents(folder: Path) -> dict[int, dict]:
    """Returns one document for each explained problem, by problem number."""
    records = [record for path in sorted(folder.glob("records-*.jsonl")) for record in engine.json_lines(path.read_text())]
    scored = {record["item"]: record["outcome"]["scored"] for record in records if "scored" in record["outcome"]}
    return {item: scored[item]["documents"][0] for item in sorted(scored)}


def lines_of(path: Path) -> list[dict]:
    """Reads the lines of an earlier run. If the file ends with an incomplete line, it drops the problem of the last complete line, so
    that this problem is measured again."""
    if not path.exists():
        return []
    whole, _, cut = path.read_text().rpartition("\n")
    lines = engine.json_lines(whole)
    if cut:
        lines = [line for line in lines if line["item"] != lines[-1]["item"]]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", type=Path, help="folder of `glasscage evaluate`")
    parser.add_argument("out", type=Path, help="JSON lines: item, method, attribution, cpu_seconds")
    parser.add_argument("--engine", default=engine.DEFAULT_COMMAND, help="how to call glasscage")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    documents = read_documents(arguments.answers)
    shipped = hashlib.sha256(MODEL.read_bytes()).hexdigest()
    assert {document["manifest"]["model"]["sha256"] for document in documents.values()} == {shipped}, f"answers are not of {MODEL}"
    peers = load(MODEL)
    check(peers, arguments.engine, list(documents.values()))
    done = {line["item"] for line in lines_of(arguments.out)}
    with arguments.out.open("a") as file:
        for item, document in documents.items():
            if item in done:
                continue
            lines = [
                {"item": item, "method": method, "attribution": numbers, "cpu_seconds": round(seconds, 4)}
                for method, (numbers, seconds) in attributions(peers, document).items()
            ]
            file.write("".join(json.dumps(line, allow_nan=False) + "\n" for line in lines))
            file.flush()
    seconds = defaultdict(list)
    for line in lines_of(arguments.out):
        seconds[line["method"]].append(line["cpu_seconds"])
    for method, values in seconds.items():
        print(f"{method}: {mean(values):.3f} CPU-s an explanation, {len(values)} of them")


if __name__ == "__main__":
    main()

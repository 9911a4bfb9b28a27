"""Writes `answers.jsonl`: answers of a model to questions about short texts, with the measured support of their sentences.

    cargo build --release
    python3 tests/golden/support/answers.py SmolLM2-135M-Instruct.Q4_1.gguf

Each line of `texts.jsonl` has a text, a question that the text answers, words of which the answer has one, and a question about something
that the text does not mention. Each text gives three prompts: `asked` and `unmentioned` have one of its questions, and `elsewhere` has the
question that another text answers. Needs the command line (`target/release/glasscage`) and only Python's standard library.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator

HERE = pathlib.Path(__file__).parent
PROGRAM = HERE.parents[2] / "target" / "release" / "glasscage"


def prompts() -> Iterator[tuple[str, str, str, list[str]]]:
    """Yields the kind of each prompt, its text, its question, and the words of the right answer."""
    texts = [json.loads(line) for line in (HERE / "texts.jsonl").read_text(encoding="utf-8").splitlines()]
    for number, text in enumerate(texts):
        # Texts of a kind are neighbors, so this is a text of another kind.
        other = texts[(number + len(texts) // 2) % len(texts)]
        yield "asked", text["text"], text["question"], text["answer"]
        yield "unmentioned", text["text"], text["unmentioned"], []
        yield "elsewhere", other["text"], text["question"], []


def explained(program: pathlib.Path, model: str, prompt: str) -> dict:
    """Returns the explanation of the model's answer. Attention is the fastest method, and the support does not depend on the method."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "explanation.json"
        command = [program, "explain", "--model", model, "--method", "attention", "--max-tokens", "80", "--prompt", prompt, "--json", file]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        document: dict = json.loads(file.read_text(encoding="utf-8"))
        return document


def main() -> None:
    program = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else PROGRAM
    with (HERE / "answers.jsonl").open("w", encoding="utf-8") as lines:
        for kind, text, question, words in prompts():
            document = explained(program, sys.argv[1], f"{text} {question}")
            answer = document["generation"]["text"]
            sentences = [answer[start:end].strip() for start, end in document["generation"]["sentences"]]
            support = [round(nats, 3) for nats in document["support"]]
            record = {"kind": kind, "text": text, "question": question, "words": words, "sentences": sentences, "support": support}
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")
            lines.flush()


if __name__ == "__main__":
    main()

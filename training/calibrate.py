"""Fits the model's own check: which answers are doubtful, and which prompts are out of its scope.

Two logistic regressions over the signs that `glasscage answer --signs` reports (src/session/signs.rs), fitted on the development
half of the problems in visitors' words and of the foreign prompts. The result is the JSON of `glasscage.answer_check` in the file.

`python training/calibrate.py [--gguf FILE]` prints how well the check does on both halves of the data with `--half test`.
"""

import argparse
import json
from pathlib import Path

import numpy as np

import engine
from scoring import gives_answer
from visitors import FOLDER, problems

RIGHT_MARKED = 0.08  # the share of right answers that may be marked as doubtful (10 % are allowed)
FALSE_ALARMS = 0.035  # the share of problems that may be called out of scope (5 % are allowed)
OF_PROMPT = ("prompt_", "answer_mean", "answer_low", "answer_least", "no_final_sentence", "mangled_words")
PENALTY = 2.0


def foreign(half: str) -> list[str]:
    """Prompts of other kinds than the model's: questions of knowledge, code, other languages, ..."""
    return [json.loads(line)["prompt"] for line in (FOLDER / f"foreign-{half}.jsonl").read_text().splitlines()]


def answered(command: str, gguf_path: Path, prompts: list[str]) -> list[dict]:
    """{"answer", "signs", "warning"} for each prompt; without signs where it could not be answered."""
    return engine.run(command, ["answer", "--model", str(gguf_path), "--signs"], [{"prompt": prompt} for prompt in prompts])


class Data:
    """Signs of one half: of problems, with whether the answer is right, and of foreign prompts."""

    def __init__(self, command: str, gguf_path: Path, half: str):
        some = problems(half)
        lines = answered(command, gguf_path, [problem["prompt"] for problem in some])
        self.lines = [line for line in lines if "signs" in line]
        self.right = np.array([gives_answer(p["answer"], line["answer"]) for p, line in zip(some, lines) if "signs" in line])
        self.foreign = [line for line in answered(command, gguf_path, foreign(half)) if "signs" in line]


def matrix(lines: list[dict], names: list[str]) -> np.ndarray:
    return np.array([[line["signs"][name] for name in names] for line in lines])


def fit(lines: list[dict], labels: np.ndarray, names: list[str], share: float, negatives: np.ndarray) -> dict:
    """Weights and bias of a logistic regression with an L2 penalty on standardized signs; the bias is set so that `share` of
    `negatives` are above 0."""
    x = matrix(lines, names)
    mean, spread = x.mean(0), x.std(0) + 1e-9
    z = np.hstack([(x - mean) / spread, np.ones((len(x), 1))])
    weights = np.zeros(z.shape[1])
    penalty = PENALTY * np.diag([1.0] * len(names) + [0.0])
    for _ in range(50):  # Newton's method
        p = 1 / (1 + np.exp(-z @ weights))
        hessian = z.T * (p * (1 - p)) @ z + penalty
        weights -= np.linalg.solve(hessian, z.T @ (p - labels) + penalty @ weights)
    raw = weights[:-1] / spread
    scores = x[negatives] @ raw
    return {"bias": -float(np.quantile(scores, 1 - share)), "weights": {n: round(float(w), 5) for n, w in zip(names, raw)}}


def calibrate(data: Data) -> dict:
    names = sorted(data.lines[0]["signs"])
    of_prompt = [name for name in names if name.startswith(OF_PROMPT)]
    both = data.lines + data.foreign
    is_foreign = np.array([0] * len(data.lines) + [1] * len(data.foreign))
    return {
        "doubtful": fit(data.lines, ~data.right * 1.0, names, RIGHT_MARKED, data.right),
        "out_of_scope": fit(both, is_foreign, of_prompt, FALSE_ALARMS, is_foreign == 0),
    }


def applies(check: dict, lines: list[dict]) -> np.ndarray:
    return check["bias"] + matrix(lines, list(check["weights"])) @ np.array(list(check["weights"].values())) > 0


def report(check: dict, data: Data) -> str:
    """How the check does, in the words of the card."""
    out, out_foreign = applies(check["out_of_scope"], data.lines), applies(check["out_of_scope"], data.foreign)
    warned = out | applies(check["doubtful"], data.lines)
    return (
        f"of {(~data.right).sum()} wrong answers {warned[~data.right].mean():.0%} are marked, of {data.right.sum()} right ones "
        f"{warned[data.right].mean():.0%}; of {len(data.foreign)} foreign prompts {out_foreign.mean():.0%} are noticed, and "
        f"{out.mean():.0%} of {len(data.lines)} problems are taken for foreign ones"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gguf", type=Path, default=engine.ROOT / "public/models/demo.gguf")
    parser.add_argument("--half", choices=("dev", "test"), default="dev")
    parser.add_argument("--engine", default=engine.DEFAULT_COMMAND)
    parser.add_argument("--out", type=Path, help="where the JSON goes")
    arguments = parser.parse_args()
    data = Data(arguments.engine, arguments.gguf, "dev")
    check = calibrate(data)
    print("development half:", report(check, data))
    if arguments.half == "test":
        print("test half:", report(check, Data(arguments.engine, arguments.gguf, "test")))
    if arguments.out:
        arguments.out.write_text(json.dumps(check))


if __name__ == "__main__":
    main()

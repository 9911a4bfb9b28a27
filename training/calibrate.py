"""Fits the answer classifiers of the model: which answers are doubtful, and which prompts are out of scope.

Both classifiers are logistic regressions over the features that `glasscage answer --features` reports
(crates/session/src/answer_features.rs, other_answers.rs). The one for doubtful answers is fitted on the development half of the problems in
visitors' words and on generated problems. The model answers most of the generated problems right. The one for prompts is fitted on the same
half and on out-of-scope prompts. The results of all models are in crates/session/src/answer_checks.json, and not in their files, so that
fitting them again does not change a large file.

`python training/calibrate.py [--gguf FILE] [--write]` prints the quality of the classifiers, cross-validated on tenths of the development
half. With `--half test` it also prints their quality on the test half. `--write` writes the classifiers.
"""

import argparse
import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import engine
import problems as generator
from evaluate import first
from scoring import gives_answer, is_right
from visitors import FOLDER, problems

RIGHT_MARKED = 0.045  # share of right answers that may be marked as doubtful (the limit is 10 %, with those taken for out of scope)
FALSE_ALARMS = 0.035  # share of in-scope problems that may be marked as out of scope (the limit is 5 %)
VISITOR_WEIGHT = 10.0  # weight of a problem in visitors' words; a generated problem has weight 1
OF_PROMPT = ("prompt_", "answer_mean", "answer_low", "answer_least", "no_final_sentence", "mangled_words")
PENALTY_OF_DOUBT = 100.0  # few answers are wrong, so weights that few answers decide would fit by chance
PENALTY_OF_SCOPE = 1.0
ORDINARY = 10  # generated problems per condition
FOLDS = 10
CHECKS = engine.ROOT / "crates/session/src/answer_checks.json"


def out_of_scope_prompts(half: str) -> list[str]:
    """Returns out-of-scope prompts: general knowledge, code, other languages and so on."""
    return [record["prompt"] for record in engine.json_lines((FOLDER / f"out-of-scope-{half}.jsonl").read_text())]


def answered(command: str, gguf_path: Path, prompts: list[str]) -> list[dict]:
    """Returns {"answer", "features", "warning"} for each prompt. If the engine could not answer a prompt, its record has no "features"."""
    return engine.answer_lines(command, gguf_path, prompts, "--features")


@dataclass
class Data:
    """The features of problems, whether each answer is right, whether the problem is in visitors' words, and the features of out-of-scope
    prompts."""

    lines: list[dict]
    right: np.ndarray
    by_visitor: np.ndarray
    outside: list[dict]

    def part(self, lines: np.ndarray, outside: np.ndarray) -> "Data":
        """Returns the lines and out-of-scope prompts that the two masks select."""
        some, some_outside = [self.lines[i] for i in np.flatnonzero(lines)], [self.outside[i] for i in np.flatnonzero(outside)]
        return Data(some, self.right[lines], self.by_visitor[lines], some_outside)


def measured(command: str, gguf_path: Path, half: str) -> Data:
    """Measures one half of the problems in visitors' words, plus generated problems. In the test half these are the held-out problems."""
    some = problems(half)
    ordinary = generator.familiar(ORDINARY) if half == "dev" else first(ORDINARY)
    ordinary = [problem for problems_of_a_kind in ordinary.values() for problem in problems_of_a_kind]
    lines = answered(command, gguf_path, [problem["prompt"] for problem in some] + [problem.prompt for problem in ordinary])
    right = [gives_answer(p["answer"], line.get("answer", "")) for p, line in zip(some, lines)]
    right += [is_right(p, line.get("answer", "")) for p, line in zip(ordinary, lines[len(some) :])]
    kept = [i for i, line in enumerate(lines) if "features" in line]
    of_outside = [line for line in answered(command, gguf_path, out_of_scope_prompts(half)) if "features" in line]
    by_visitor = np.array([i < len(some) for i in kept])
    return Data([lines[i] for i in kept], np.array([right[i] for i in kept]), by_visitor, of_outside)


def matrix(lines: list[dict], names: list[str]) -> np.ndarray:
    return np.array([[line["features"][name] for name in names] for line in lines])


def fit(x: np.ndarray, labels: np.ndarray, row_weights: np.ndarray, penalty: float) -> np.ndarray:
    """Returns the weights of a logistic regression of `labels` on `x` [rows, features], with an L2 penalty on standardized features."""
    mean, spread = x.mean(0), x.std(0) + 1e-9
    z = np.hstack([(x - mean) / spread, np.ones((len(x), 1))])
    weights = np.zeros(z.shape[1])
    penalties = penalty * np.diag([1.0] * x.shape[1] + [0.0])
    for _ in range(50):  # Newton's method
        p = 1 / (1 + np.exp(-z @ weights))
        hessian = z.T * (row_weights * p * (1 - p)) @ z + penalties
        weights -= np.linalg.solve(hessian, z.T @ (row_weights * (p - labels)) + penalties @ weights)
    return weights[:-1] / spread


def classifier(names: list[str], weights: np.ndarray, negatives: list[np.ndarray], share: float) -> dict:
    """Sets the bias so that at most `share` of each group of `negatives` [rows, features] are above 0."""
    bias = -max(float(np.quantile(group @ weights, 1 - share)) for group in negatives if len(group))
    return {"bias": bias, "weights": {name: round(float(weight), 5) for name, weight in zip(names, weights)}}


def calibrate(data: Data) -> dict:
    names = sorted(data.lines[0]["features"])
    x, visitor = matrix(data.lines, names), data.by_visitor
    doubtful = fit(x, ~data.right * 1.0, np.where(visitor, VISITOR_WEIGHT, 1.0), PENALTY_OF_DOUBT)
    of_prompt = [name for name in names if name.startswith(OF_PROMPT)]
    x_prompt = matrix(data.lines, of_prompt)
    both = np.vstack([x_prompt[visitor], matrix(data.outside, of_prompt)])
    is_outside = np.arange(len(both)) >= visitor.sum()
    out_of_scope = fit(both, is_outside * 1.0, np.ones(len(both)), PENALTY_OF_SCOPE)
    scope = classifier(of_prompt, out_of_scope, [x_prompt[visitor], x_prompt[~visitor]], FALSE_ALARMS)
    right = data.right & ~applies(scope, data.lines)
    return {"doubtful": classifier(names, doubtful, [x[right & visitor], x[right & ~visitor]], RIGHT_MARKED), "out_of_scope": scope}


def applies(check: dict, lines: list[dict]) -> np.ndarray:
    return check["bias"] + matrix(lines, list(check["weights"])) @ np.array(list(check["weights"].values())) > 0


class Verdicts:
    """The output of a classifier for some data: whether each answer gets a warning, and whether each prompt is classified as out of
    scope."""

    def __init__(self, check: dict, data: Data):
        self.out, self.out_outside = applies(check["out_of_scope"], data.lines), applies(check["out_of_scope"], data.outside)
        self.warned = self.out | applies(check["doubtful"], data.lines)


def cross_validated(data: Data) -> Verdicts:
    """Classifies each tenth of the data with the classifier that was fitted without that tenth."""
    draw = np.random.default_rng(1)
    fold, fold_outside = draw.permutation(len(data.lines)) % FOLDS, draw.permutation(len(data.outside)) % FOLDS
    verdicts = Verdicts(calibrate(data), data)
    for i in range(FOLDS):
        check = calibrate(data.part(fold != i, fold_outside != i))
        some = Verdicts(check, data.part(fold == i, fold_outside == i))
        verdicts.out[fold == i], verdicts.warned[fold == i] = some.out, some.warned
        verdicts.out_outside[fold_outside == i] = some.out_outside
    return verdicts


def report(verdicts: Verdicts, data: Data) -> str:
    """Describes the quality of the classifier in the words of the model card."""
    lines = []
    for name, some in (("visitors' words", data.by_visitor), ("the generator's words", ~data.by_visitor)):
        wrong, right = some & ~data.right, some & data.right
        lines.append(
            f"{name}: of {wrong.sum()} wrong answers {verdicts.warned[wrong].mean():.0%} are marked, of {right.sum()} right ones "
            f"{verdicts.warned[right].mean():.0%}; {verdicts.out[some].mean():.0%} of {some.sum()} problems are taken to be out of scope"
        )
    return "\n".join([*lines, f"of {len(data.outside)} out-of-scope prompts {verdicts.out_outside.mean():.0%} are noticed"])


def write(check: dict, gguf_path: Path):
    """Writes the classifiers where the engine finds them by the hash of the file. A file may have several parts."""
    import gguf

    count = re.search(r"(.*-)00001(-of-\d+\.gguf)", gguf_path.name)
    parts = sorted(gguf_path.parent.glob(f"{count[1]}*{count[2]}")) if count else [gguf_path]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.read_bytes())
    name = gguf.GGUFReader(gguf_path).fields["general.name"].contents()
    others = {key: other for key, other in json.loads(CHECKS.read_text()).items() if other["name"] != name}
    checks = others | {digest.hexdigest(): {"name": name, **check}}
    CHECKS.write_text(json.dumps(checks, indent=1, sort_keys=True) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gguf", type=Path, default=engine.ROOT / "public/models/demo.gguf")
    parser.add_argument("--half", choices=("dev", "test"), default="dev")
    parser.add_argument("--engine", default=engine.DEFAULT_COMMAND)
    parser.add_argument("--write", action="store_true", help="keep the classifiers")
    arguments = parser.parse_args()
    data = measured(arguments.engine, arguments.gguf, "dev")
    check = calibrate(data)
    print("development half, cross-validated", report(cross_validated(data), data), sep="\n")
    if arguments.half == "test":
        test = measured(arguments.engine, arguments.gguf, "test")
        print("test half", report(Verdicts(check, test), test), sep="\n")
    if arguments.write:
        write(check, arguments.gguf)


if __name__ == "__main__":
    main()

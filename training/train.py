"""Trains the model on newly generated problems, for a given time or number of steps. Muon updates the matrices, Adam updates the rest.

The learning rate is constant for 60 % of the budget, then falls linearly to zero. An interrupted run resumes from its checkpoint. On a
GPU the batches are larger.
"""

import argparse
import json
import time
from collections.abc import Container
from dataclasses import asdict
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from draw import Draw
import visitors
from generate import answers_by
from model import Config, Model
from problem import Problem
from problems import held_out, training_problem
from scoring import is_right
from start import make_start
from tokenizer import END_OF_TEXT, IM_END, ChatEncoder

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
ON_GPU = DEVICE == "cuda"
TOKENS_PER_STEP = 49_152 if ON_GPU else 6144
# torch.compile compiles one graph per sequence length, so lengths are fixed. On a GPU there are fewer lengths, because compilation there
# takes as long as training.
BUCKETS = (96, 128, 176, 256, 320) if ON_GPU else (64, 80, 96, 128, 160, 192, 224, 256, 320)
PROMPT_WEIGHT = 0.1  # weight of a prompt token in the loss. So the probability of a prompt shows whether it is out of scope.
CONSTANT_SHARE = 0.6
BLANKED_SHARE = 0.33  # share among problems with irrelevant sentences; about 20 % of all problems
SCORES = 4  # number of scorings per run
SCORED_PER_CONDITION = 20 if ON_GPU else 4
MUON_RATE, MUON_MOMENTUM, ADAM_RATE = 0.02, 0.95, 1e-3


def learning_rate_factor(progress: float) -> float:
    """Returns 1 until CONSTANT_SHARE of the budget is spent, then falls linearly to 0."""
    return min(1.0, max(0.0, (1 - progress) / (1 - CONSTANT_SHARE)))


class Batches(IterableDataset):
    """Endless batches (tokens, targets, weights). All rows of a batch are padded to one bucket length. Each worker process draws
    different problems. Training never sees the prompts in `forbidden`."""

    def __init__(self, encoder: ChatEncoder, seed: str, forbidden: Container[str], buckets=BUCKETS, n_tokens: int = TOKENS_PER_STEP):
        self.encoder, self.seed, self.forbidden, self.buckets, self.n_tokens = encoder, seed, forbidden, buckets, n_tokens

    def __iter__(self):
        worker = get_worker_info()
        draw = Draw(f"{self.seed}/{worker.id}" if worker else self.seed)
        waiting: dict[int, list[tuple[list[int], int]]] = {length: [] for length in self.buckets}
        while True:
            problem = training_problem(draw)
            if problem.prompt in self.forbidden:
                continue
            prompt = self.encoder.prompt_ids(problem.sentences, blanked(draw, problem))
            ids = prompt + self.encoder.answer_ids(problem)
            bucket = next((length for length in self.buckets if len(ids) <= length + 1), None)
            if bucket is None:
                continue
            rows = waiting[bucket]
            rows.append((ids, len(prompt)))
            if len(rows) == self.n_tokens // bucket:
                waiting[bucket] = []
                yield collate(rows, bucket)


def blanked(draw: Draw, problem: Problem) -> frozenset[int]:
    """Chooses irrelevant sentences to blank, in some of the problems."""
    if not problem.irrelevant or draw.random() >= BLANKED_SHARE:
        return frozenset()
    some = {i for i in problem.irrelevant if draw.random() < 0.6}
    return frozenset(some or {draw.choice(problem.irrelevant)})


def collate(rows: list[tuple[list[int], int]], length: int) -> tuple[Tensor, Tensor, Tensor]:
    """Turns rows of (ids, prompt length) into tokens, targets and their loss weights, each [batch, length]."""
    tokens = torch.full((len(rows), length), END_OF_TEXT)
    targets = torch.full((len(rows), length), END_OF_TEXT)
    weights = torch.zeros(len(rows), length)
    for row, (ids, prompt_length) in enumerate(rows):
        count = len(ids) - 1
        tokens[row, :count] = torch.tensor(ids[:-1])
        targets[row, :count] = torch.tensor(ids[1:])
        weights[row, : prompt_length - 1] = PROMPT_WEIGHT
        weights[row, targets[row] == IM_END] = 0  # tokens of blanked sentences
        weights[row, prompt_length - 1 : count] = 1
    return tokens, targets, weights


def on_device(batch: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return tuple(tensor.to(DEVICE, non_blocking=True) for tensor in batch)


class Muon(torch.optim.Optimizer):
    """Momentum with updates that five Newton-Schulz steps orthogonalize (Jordan et al., 2024)."""

    def __init__(self, parameters, lr: float, momentum: float):
        super().__init__(parameters, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[Tensor]] = {}
            for parameter in group["params"]:
                by_shape.setdefault(parameter.shape, []).append(parameter)
            for shape, parameters in by_shape.items():
                updates = []
                for parameter in parameters:
                    momentum = self.state[parameter].setdefault("momentum", torch.zeros_like(parameter))
                    momentum.lerp_(parameter.grad, 1 - group["momentum"])
                    updates.append(parameter.grad.lerp(momentum, group["momentum"]))
                scale = max(1.0, shape[0] / shape[1]) ** 0.5
                for parameter, update in zip(parameters, orthogonalise(torch.stack(updates))):
                    parameter.add_(update, alpha=-group["lr"] * scale)


def orthogonalise(matrices: Tensor) -> Tensor:
    """Returns approximately the nearest semi-orthogonal matrices to [count, rows, columns], by a quintic iteration in bf16."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = matrices.bfloat16()
    if tall := x.shape[1] > x.shape[2]:
        x = x.transpose(1, 2)
    x = x / (x.float().norm(dim=(1, 2), keepdim=True) + 1e-7).bfloat16()
    for _ in range(5):
        gram = x @ x.transpose(1, 2)
        x = a * x + (b * gram + c * gram @ gram) @ x
    return (x.transpose(1, 2) if tall else x).float()


def loss_function(model: Model, compile_it: bool):
    """Returns `model.loss` in bf16. It is compiled with torch.compile if that works on this machine."""

    def loss(tokens: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
        with torch.autocast(DEVICE, torch.bfloat16):
            return model.loss(tokens, targets, weights)

    if not compile_it:
        return loss
    try:
        torch._dynamo.config.recompile_limit = 2 * len(BUCKETS)  # one graph per bucket
        if ON_GPU:  # compiles each layer separately: one graph for all layers takes several times as long to compile
            for block in model.blk:
                block.compile(dynamic=False)
            model.cross_entropy = torch.compile(model.cross_entropy, dynamic=False)
            compiled = loss
        else:
            compiled = torch.compile(loss, dynamic=False)
        for length in BUCKETS:
            compiled(*on_device(collate([([0] * length, 1)] * (TOKENS_PER_STEP // length), length))).backward()
        return compiled
    except Exception as problem:  # the compiler may lack something; train without it
        print(f"torch.compile does not work here ({type(problem).__name__}); training without it", flush=True)
        return loss


def train(folder: Path, minutes: float, steps: int | None, seed: int, compile_it: bool, workers: int, muon_rate: float):
    """Trains for `minutes` of wall time or for exactly `steps` steps, and writes `model.pt` to `folder`. `workers` processes make the
    problems. With 0 workers, the main process makes them."""
    folder.mkdir(parents=True, exist_ok=True)
    start_path, checkpoint_path = folder / "start.pt", folder / "checkpoint.pt"
    if not start_path.exists():
        make_start(folder)
    torch.manual_seed(seed)
    encoder = ChatEncoder(Tokenizer.from_file(str(folder / "tokenizer.json")))
    unseen = held_out()
    forbidden = {problem.prompt for problems in unseen.values() for problem in problems}
    model = Model(Config())
    model.load_state_dict(torch.load(start_path))
    model = model.to(DEVICE)
    matrices = [p for p in model.blk.parameters() if p.ndim == 2]
    others = [p for p in model.parameters() if not any(p is m for m in matrices)]
    muon = Muon(matrices, muon_rate, MUON_MOMENTUM)
    adam = torch.optim.Adam(others, lr=ADAM_RATE, betas=(0.9, 0.95))
    step, elapsed, tokens_seen, mean_loss = 0, 0.0, 0, None
    if checkpoint_path.exists():
        saved = torch.load(checkpoint_path, map_location=DEVICE, weights_only=False)
        model.load_state_dict(saved["model"])
        muon.load_state_dict(saved["muon"])
        adam.load_state_dict(saved["adam"])
        step, elapsed, tokens_seen, mean_loss = saved["step"], saved["elapsed"], saved["tokens_seen"], saved["mean_loss"]
        print(f"going on from step {step}", flush=True)
    # A resumed run sees different problems from those before.
    source = Batches(encoder, f"{seed}/{step}", forbidden)
    ahead = 8 if workers else None
    batches = iter(DataLoader(source, batch_size=None, num_workers=workers, prefetch_factor=ahead, pin_memory=ON_GPU))
    loss_of = loss_function(model, compile_it)
    budget_seconds = minutes * 60
    scores = int((step / steps if steps else elapsed / budget_seconds) * SCORES)
    last, next_report, next_save = time.monotonic(), elapsed, elapsed + 120
    while (progress := step / steps if steps else elapsed / budget_seconds) < 1:
        for optimizer, rate in ((muon, muon_rate), (adam, ADAM_RATE)):
            optimizer.param_groups[0]["lr"] = rate * learning_rate_factor(progress)
            optimizer.zero_grad()
        tokens, targets, weights = on_device(next(batches))
        loss = loss_of(tokens, targets, weights)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        muon.step()
        adam.step()
        step += 1
        tokens_seen += tokens.numel()
        # The mean stays on the device, so that the loop need not wait for the device.
        mean_loss = loss.detach() if mean_loss is None else torch.lerp(mean_loss, loss.detach(), 0.02)
        now = time.monotonic()
        elapsed, last = elapsed + now - last, now
        if elapsed >= next_report:
            left = elapsed * (1 - progress) / max(progress, 1e-6) if steps else budget_seconds - elapsed
            print(
                f"step {step}  loss {mean_loss:.4f}  {tokens_seen / 1e6:.2f} M tokens  "
                f"{tokens_seen / elapsed:.0f} tokens/s  {left / 60:.1f} min left",
                flush=True,
            )
            next_report = elapsed + 20
        if progress * SCORES >= scores + 1:
            scores += 1
            _score(folder, model, encoder, unseen, {"steps": step, "tokens": tokens_seen, "loss": mean_loss.item()})
            last = time.monotonic()  # scoring is not training
        if elapsed >= next_save:
            save(checkpoint_path, model, muon=muon.state_dict(), adam=adam.state_dict(),
                 step=step, elapsed=elapsed, tokens_seen=tokens_seen, mean_loss=mean_loss)  # fmt: skip
            next_save = elapsed + 120
    counts = {"steps": step, "tokens": tokens_seen, "minutes": round(elapsed / 60, 1)}
    summary = {**counts, "loss": mean_loss.item(), "seed": seed, "device": DEVICE}
    save(folder / "model.pt", model, summary=summary)
    print(f"trained: {summary}", flush=True)
    _score(folder, model, encoder, unseen, summary)


def _score(folder: Path, model: Model, encoder: ChatEncoder, unseen: dict[str, list[Problem]], summary: dict):
    """Adds a line to the run's learning curve, `curve.jsonl`: `summary`, and (right, all) for held-out problems and for problems in
    visitors' words."""
    some = [problem for problems in unseen.values() for problem in problems[:SCORED_PER_CONDITION]]
    texts = answers_by(model, encoder, [problem.prompt for problem in some])
    words = visitors.problems("dev")
    shares = visitors.shares(words, answers_by(model, encoder, [problem["prompt"] for problem in words]))
    line = summary | {"held out": (sum(map(is_right, some, texts)), len(some)), "plain": shares["plain"], "free": shares["free"]}
    with (folder / "curve.jsonl").open("a") as curve:
        curve.write(json.dumps(line) + "\n")
    print(f"right: {line}", flush=True)


def save(path: Path, model: Model, **extra):
    """Writes the file atomically: to a `.part` file first, then renames it."""
    part = path.with_suffix(".part")
    torch.save({"config": asdict(model.config), "model": model.state_dict(), **extra}, part)
    part.replace(path)


def add_arguments(parser: argparse.ArgumentParser):
    """Adds the options of a run."""
    parser.add_argument("--folder", type=Path, default=Path.home() / ".cache/glasscage/training-run")
    parser.add_argument("--minutes", type=float, default=66, help="wall time for training, compilation not counted")
    parser.add_argument("--steps", type=int, help="a step budget instead of minutes: the same schedule every time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--workers", type=int, default=0, help="processes that make the problems, in addition to the one that trains")
    parser.add_argument("--muon-rate", type=float, default=MUON_RATE, help="the learning rate of matrices")
    parser.add_argument("--no-compile", action="store_true")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    train(
        arguments.folder, arguments.minutes, arguments.steps, arguments.seed,
        not arguments.no_compile, arguments.workers, arguments.muon_rate,
    )  # fmt: skip


if __name__ == "__main__":
    main()

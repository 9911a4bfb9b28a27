"""Fine-tunes SmolLM2-135M-Instruct (its vocabulary cut to 8,192 tokens) on the generated problems. The result is the model "Standard".

    python training/finetune.py RUN --minutes 8 --workers 14        # a CUDA GPU
    python training/finetune.py RUN --minutes 160                   # two CPU cores with bf16 units: 1,250 tokens/s

RUN has init.pt and tokenizer.json (`python training/parts.py from-gguf`). Training writes model.pt to it: float32 weights. In the last
part of the training, the forward pass uses weights rounded to the blocks of the exported file (Q4_0, and Q8_0 for the embedding). The
gradient passes straight through the rounding. So the exported file answers as the trained model does.

For speed, all matrices are views into one buffer, so one fused AdamW step and one rounding kernel cover all of them. The operations on
single tokens are compiled for a fixed number of tokens per step. Only attention depends on the sequence length, so few graphs are
compiled.
"""

import argparse
import hashlib
import json
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor
from torch.utils.data import DataLoader

import problems as problem_mix
import visitors
from generate import answers_by
from model import Config, Model
from tokenizer import ChatEncoder
from train import Batches, save

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
ON_GPU = DEVICE == "cuda"
BUCKETS = (64, 96, 128, 192, 256, 384)  # sequence lengths; each divides the number of tokens per step
BLOCK = 32  # number of weights that share a scale in Q4_0 and Q8_0
WARM_UP_STEPS, CONSTANT_SHARE, MIN_RATE = 100, 0.35, 0.01


class HeldOutPrompts:
    """The prompts of the held-out problems. RUN/forbidden.txt caches their fingerprints, because generating the problems takes a
    minute."""

    def __init__(self, folder: Path):
        file = folder / "forbidden.txt"
        if not file.exists():
            unseen = problem_mix.held_out()
            file.write_text("\n".join(sorted({fingerprint(p.prompt) for some in unseen.values() for p in some})))
        self.fingerprints = set(file.read_text().split())

    def __contains__(self, prompt: str) -> bool:
        return fingerprint(prompt) in self.fingerprints


def fingerprint(prompt: str) -> str:
    return hashlib.sha256(prompt.encode()).hexdigest()[:16]


def round_q4_0(x: Tensor) -> Tensor:
    """Rounds blocks [n, 32] as gguf-py does for Q4_0: 16 multiples of a float16 scale, and the largest weight becomes -8."""
    largest = x.gather(1, x.abs().argmax(1, keepdim=True))
    scale = largest / -8
    inverse = torch.where(scale == 0, 0.0, 1 / scale)
    codes = torch.trunc(x * inverse + 8.5).clamp(0, 15) - 8
    return codes * scale.half().float()


def round_q8_0(x: Tensor) -> Tensor:
    """Rounds blocks [n, 32] as gguf-py does for Q8_0."""
    scale = x.abs().amax(1, keepdim=True) / 127
    inverse = torch.where(scale == 0, 0.0, 1 / scale)
    codes = torch.round(x * inverse)
    return codes * scale.half().float()


class FlatModel:
    """The Llama model. One buffer holds float32 master weights. Another holds bf16 weights, which the forward and backward passes use."""

    def __init__(self, config: Config, state: dict[str, Tensor], compile_it: bool):
        self.config = config
        matrices = {name: tensor for name, tensor in state.items() if tensor.ndim == 2}
        vectors = {name: tensor for name, tensor in state.items() if tensor.ndim == 1}
        matrices = {"token_embd.weight": matrices.pop("token_embd.weight"), **matrices}
        self.n_embedding = matrices["token_embd.weight"].numel()
        self.master = torch.cat([tensor.float().flatten() for tensor in matrices.values()]).to(DEVICE)
        self.work = torch.empty_like(self.master, dtype=torch.bfloat16)
        self.gradient = torch.zeros_like(self.work)
        self.first, self.second = torch.zeros_like(self.master), torch.zeros_like(self.master)
        self.weights: dict[str, Tensor] = {}
        self.masters: dict[str, Tensor] = {}
        at = 0
        for name, tensor in matrices.items():
            place = slice(at, at := at + tensor.numel())
            weight = self.work[place].view(tensor.shape).requires_grad_()
            weight.grad = self.gradient[place].view(tensor.shape)
            self.weights[name], self.masters[name] = weight, self.master[place].view(tensor.shape)
        self.vectors = {name: tensor.float().to(DEVICE).requires_grad_() for name, tensor in vectors.items()}
        self.vector_optimizer = torch.optim.AdamW(list(self.vectors.values()), lr=0.0, betas=(0.9, 0.95), weight_decay=0.0)
        angles = torch.outer(
            torch.arange(config.context_length).float(),
            config.rope_theta ** (-torch.arange(0, config.head_dim, 2).float() / config.head_dim),
        )
        self.cos, self.sin = angles.cos().to(DEVICE), angles.sin().to(DEVICE)
        wrap = (lambda f: torch.compile(f, dynamic=False)) if compile_it else (lambda f: f)
        self.before, self.after, self.loss_of = wrap(self._before_attention), wrap(self._after_attention), wrap(self._cross_entropy)
        self._adam, self._round = wrap(_adam), wrap(_rounded)
        self.steps = 0
        self.refresh(False)

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        x = x.float()
        return (x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.config.rms_eps) * weight).bfloat16()

    def _before_attention(self, x, norm, q, k, v, cos, sin):
        """Maps x [tokens, dim] to q, k, v [tokens, heads, head_dim] and rotates q and k by cos, sin [tokens, head_dim / 2]."""
        c = self.config
        h = self._norm(x, norm)

        def rotated(y: Tensor) -> Tensor:
            a, b = y.view(x.shape[0], -1, c.head_dim).float().chunk(2, -1)
            return torch.cat((a * cos[:, None] - b * sin[:, None], b * cos[:, None] + a * sin[:, None]), -1).bfloat16()

        return rotated(F.linear(h, q)), rotated(F.linear(h, k)), F.linear(h, v).view(x.shape[0], -1, c.head_dim)

    def _after_attention(self, x, mixed, output, norm, gate, up, down):
        x = x + F.linear(mixed, output)
        h = self._norm(x, norm)
        return x + F.linear(F.silu(F.linear(h, gate)) * F.linear(h, up), down)

    def _cross_entropy(self, x, norm, embedding, targets, weights):
        logits = F.linear(self._norm(x, norm), embedding).float()
        losses = F.cross_entropy(logits, targets, reduction="none")
        return (losses * weights).sum() / (weights == 1).sum()

    def loss(self, tokens: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
        """Returns the loss of a batch [rows, length]: the weighted sum, divided by the number of tokens with weight 1."""
        c, w, n = self.config, self.weights, self.vectors
        rows, length = tokens.shape
        cos, sin = (t[:length].repeat(rows, 1) for t in (self.cos, self.sin))
        x = F.embedding(tokens.flatten(), w["token_embd.weight"]).float()
        group = c.n_heads // c.n_kv_heads
        for i in range(c.n_layers):
            p = f"blk.{i}."
            q, k, v = self.before(
                x, n[p + "attn_norm.weight"], w[p + "attn_q.weight"], w[p + "attn_k.weight"], w[p + "attn_v.weight"], cos, sin
            )
            q, k, v = (t.view(rows, length, -1, c.head_dim).transpose(1, 2) for t in (q, k, v))
            k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            mixed = mixed.transpose(1, 2).reshape(rows * length, -1)
            x = self.after(
                x, mixed, w[p + "attn_output.weight"], n[p + "ffn_norm.weight"],
                w[p + "ffn_gate.weight"], w[p + "ffn_up.weight"], w[p + "ffn_down.weight"],
            )  # fmt: skip
        return self.loss_of(x, n["output_norm.weight"], w["token_embd.weight"], targets.flatten(), weights.flatten())

    @torch.no_grad()
    def refresh(self, rounded: bool):
        """Computes the working weights from the master weights. With `rounded`, it rounds them as the exported file does."""
        self.work.copy_(self._round(self.master, self.n_embedding) if rounded else self.master)

    @torch.no_grad()
    def step(self, rate: float):
        """Takes one AdamW step with gradients clipped to norm 1, and then sets the gradients to zero."""
        self.steps += 1
        vector_gradients = [v.grad for v in self.vectors.values()]
        norm = (self.gradient.float().square().sum() + sum(g.square().sum() for g in vector_gradients)).sqrt()
        scale = (1 / (norm + 1e-6)).clamp(max=1.0)
        corrections = torch.tensor([1 - 0.9**self.steps, 1 - 0.95**self.steps, rate], device=DEVICE)
        self._adam(self.master, self.gradient, self.first, self.second, scale, corrections)
        torch._foreach_mul_(vector_gradients, scale)
        self.vector_optimizer.param_groups[0]["lr"] = rate
        self.vector_optimizer.step()
        self.vector_optimizer.zero_grad(set_to_none=True)
        self.gradient.zero_()

    def state(self, rounded: bool) -> dict[str, Tensor]:
        """Returns the weights by name as float32: the master weights, or with `rounded` those of the exported file."""
        flat = (_rounded(self.master, self.n_embedding) if rounded else self.master).clone()
        state, at = {}, 0
        for name, tensor in self.masters.items():
            state[name] = flat[at : at + tensor.numel()].view(tensor.shape)
            at += tensor.numel()
        return state | {name: v.detach().clone() for name, v in self.vectors.items()}


def _rounded(master: Tensor, n_embedding: int) -> Tensor:
    embedding = round_q8_0(master[:n_embedding].view(-1, BLOCK))
    return torch.cat((embedding.flatten(), round_q4_0(master[n_embedding:].view(-1, BLOCK)).flatten()))


def _adam(master, gradient, first, second, scale, corrections):
    g = gradient.float() * scale
    first.lerp_(g, 0.1)
    second.lerp_(g * g, 0.05)
    update = (first / corrections[0]) / ((second / corrections[1]).sqrt() + 1e-8)
    master.sub_(update * corrections[2])


def rate_factor(progress: float, step: int) -> float:
    decay = (1 - progress) / (1 - CONSTANT_SHARE)
    return min(1.0, (step + 1) / WARM_UP_STEPS) * min(1.0, max(MIN_RATE, decay))


def train(folder: Path, minutes: float, workers: int, rate: float, n_tokens: int, seed: str, rounded_from: float, scores: int,
          compile_it: bool, start: Path):
    encoder = ChatEncoder(Tokenizer.from_file(str(folder / "tokenizer.json")))
    batches = iter(DataLoader(
        Batches(encoder, seed, HeldOutPrompts(folder), BUCKETS, n_tokens), batch_size=None, num_workers=workers,
        prefetch_factor=8 if workers else None, pin_memory=ON_GPU,
    ))  # fmt: skip
    saved = torch.load(start, map_location="cpu", weights_only=False)
    config = Config(**saved["config"])
    model = FlatModel(config, saved["model"], compile_it)
    print(f"{model.master.numel() / 1e6:.1f} M weights on {DEVICE}", flush=True)
    budget, elapsed, tokens_seen, mean = minutes * 60, 0.0, 0, None
    step, next_report, next_score = 0, 0.0, 1
    last = time.monotonic()
    while elapsed < budget:
        progress = elapsed / budget
        tokens, targets, weights = (t.to(DEVICE, non_blocking=True) for t in next(batches))
        loss = model.loss(tokens, targets, weights)
        loss.backward()
        model.step(rate * rate_factor(progress, step))
        model.refresh(progress >= rounded_from)
        step += 1
        tokens_seen += tokens.numel()
        mean = loss.detach() if mean is None else torch.lerp(mean, loss.detach(), 0.02)
        if ON_GPU and step % 8 == 0:
            torch.cuda.synchronize()
        now = time.monotonic()
        elapsed, last = elapsed + now - last, now
        if elapsed >= next_report:
            speed = tokens_seen / elapsed
            print(f"step {step} loss {mean.item():.4f} {tokens_seen / 1e6:.2f} M tokens {speed:.0f} tok/s {elapsed:.0f} s", flush=True)
            next_report = elapsed + (10 if ON_GPU else 60)
        if elapsed / budget * (scores + 1) >= next_score and elapsed < budget:
            next_score += 1
            summary = {"steps": step, "tokens": tokens_seen, "loss": mean.item(), "seconds": round(elapsed)}
            score(folder, model, encoder, False, summary)
            last = time.monotonic()
    summary = {"steps": step, "tokens": tokens_seen, "minutes": round(elapsed / 60, 1), "loss": mean.item(), "device": DEVICE}
    holder = Model(config)
    holder.load_state_dict(model.state(False))
    save(folder / "model.pt", holder, summary=summary)
    holder.load_state_dict(model.state(True))
    save(folder / "rounded.pt", holder, summary=summary)
    print(f"trained: {summary}", flush=True)
    if scores:
        score(folder, model, encoder, True, summary)


@torch.no_grad()
def score(folder: Path, model: FlatModel, encoder: ChatEncoder, rounded: bool, summary: dict):
    """Scores the visitors' problems (dev half) and appends the shares of right answers to RUN/curve.jsonl."""
    answering = Model(model.config).to(DEVICE)
    answering.load_state_dict(model.state(rounded))
    for parameter in answering.parameters():
        parameter.data = parameter.data.bfloat16()
    some = visitors.problems("dev")
    with torch.autocast(DEVICE, torch.bfloat16):
        texts = answers_by(answering, encoder, [problem["prompt"] for problem in some])
    shares = visitors.shares(some, texts)
    line = summary | {"rounded": rounded, "plain": shares["plain"], "free": shares["free"]}
    with (folder / "curve.jsonl").open("a") as curve:
        curve.write(json.dumps(line) + "\n")
    print(f"right: {line}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of the run")
    parser.add_argument("--minutes", type=float, required=True, help="of training; the learning rate follows the time")
    parser.add_argument("--start", type=Path, help="weights to begin with; RUN/init.pt if not given")
    parser.add_argument("--workers", type=int, default=0, help="processes that make problems; 0: this one")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rate", type=float, default=4e-4, help="the highest learning rate")
    parser.add_argument("--tokens", type=int, default=24_576 if ON_GPU else 6_144, help="per step")
    parser.add_argument("--rounded-from", type=float, default=0.5, help="the share of the time after which weights are rounded")
    parser.add_argument("--scores", type=int, default=2, help="how often visitors' problems are answered on the way")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--no-compile", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.set_float32_matmul_precision("high")
    train(
        arguments.folder, arguments.minutes, arguments.workers, arguments.rate, arguments.tokens, arguments.seed,
        arguments.rounded_from, arguments.scores, not arguments.no_compile, arguments.start or arguments.folder / "init.pt",
    )  # fmt: skip


if __name__ == "__main__":
    main()

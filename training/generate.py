"""Decodes many prompts at once with greedy decoding."""

from pathlib import Path

import torch
from tokenizers import Tokenizer

from model import Model, load_trained
from tokenizer import END_OF_TEXT, IM_END, ChatEncoder

MAX_NEW_TOKENS = 256
ROWS = 512 if torch.cuda.is_available() else 64  # prompts per batch


@torch.inference_mode()
@torch.compiler.set_stance("force_eager")  # the compiled code is for training
def greedy(model: Model, prompts: list[list[int]]) -> list[list[int]]:
    """Returns greedy answers without the end token. Prompts are padded on the left. The padding does not change the answers, because the
    mask hides it and rotary positions are relative."""
    rows, longest, device = len(prompts), max(map(len, prompts)), model.mask.device
    tokens = torch.tensor([[END_OF_TEXT] * (longest - len(p)) + p for p in prompts], device=device)
    padded = torch.tensor([[column < longest - len(p) for column in range(longest)] for p in prompts], device=device)
    hidden_columns = torch.zeros(rows, longest + MAX_NEW_TOKENS, device=device).masked_fill_(
        torch.nn.functional.pad(padded, (0, MAX_NEW_TOKENS)), -1e30
    )
    caches: list[dict] = [{} for _ in model.blk]
    answers: list[list[int]] = [[] for _ in prompts]
    running = set(range(rows))
    done = 0
    for _ in range(MAX_NEW_TOKENS):
        length, total = tokens.shape[1], done + tokens.shape[1]
        mask = hidden_columns[:, None, :total] + model.mask[done:total, :total].clamp(min=-1e30)
        mask = mask.repeat_interleave(model.config.n_heads, 0)
        x = model.token_embd(tokens)
        for block, cache in zip(model.blk, caches):
            x = block(x, model.cos[done:total], model.sin[done:total], mask, cache)
        tokens = model.logits(model.output_norm(x[:, -1:])).argmax(-1)
        done += length
        drawn = tokens[:, 0].tolist()
        for row in list(running):
            token = drawn[row]
            if token == IM_END:
                running.discard(row)
            else:
                answers[row].append(token)
        if not running:
            break
    return answers


def answers_of(checkpoint: Path, prompts: list[str]) -> list[str]:
    """Returns the greedy answers of a checkpoint to plain prompts."""
    model, _ = load_trained(checkpoint)
    return answers_by(model, ChatEncoder(Tokenizer.from_file(str(checkpoint.parent / "tokenizer.json"))), prompts)


def answers_by(model: Model, encoder: ChatEncoder, prompts: list[str]) -> list[str]:
    """Returns greedy answers to plain prompts. A batch has prompts of similar length."""
    ids = [encoder.prompt_ids([prompt]) for prompt in prompts]
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    texts = [""] * len(ids)
    for start in range(0, len(order), ROWS):
        batch = order[start : start + ROWS]
        for i, answer in zip(batch, greedy(model, [ids[i] for i in batch])):
            texts[i] = encoder.decode(answer)
    return texts

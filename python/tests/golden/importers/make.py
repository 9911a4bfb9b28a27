#!/usr/bin/env python3
"""Records what the real packages measure in the built-in model, as far as the importers read it: `make.py inseq captum ...`

    inseq, captum, shap      pip install inseq==0.7.1 captum==0.9.0 shap==0.54.1 (SHAP: Python 3.12 or later)
    context_cite, flashtrace pip install context-cite==0.0.4 flashtrace==0.1.1
    interpreto               pip install interpreto==0.5.2
                             (ContextCite needs NLTK's data `punkt_tab`, where NLTK_DATA says)
    shapiq                   pip install shapiq==1.8.0 (Python 3.12 or later)
    at2                      pip install --no-deps at2==0.0.1; pip install datasets nltk pandas spacy
    icx360                   pip install --no-deps icx360==0.1.0; pip install bert_score evaluate nltk openai scikit-learn
                             sentence-transformers spacy toma
    circuit_tracer           pip install --no-deps circuit-tracer==0.5.0 (its classes of graph files, on a graph made here)

and besides transformers, torch, gguf and accelerate. Each writes NAME.json next to this file.
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


def at2() -> dict:
    from at2 import AT2Attributor, AT2FeatureExtractor, AT2ScoreEstimator
    from at2.tasks import SimpleContextAttributionTask

    context, _, query = PROMPT.rpartition(". ")
    options = {"source_type": "token", "generate_kwargs": {"max_new_tokens": 60, "do_sample": False}}
    # AT2 tells the architecture from the name. It does not know Qwen 3: its attention is that of Qwen 2, without norms.
    MODEL.name_or_path = "qwen"
    task = SimpleContextAttributionTask(context + ".", query, MODEL, TOKENIZER, **options)
    task.template = "{context} {query}"
    # An estimator that is not trained: the mean over all heads.
    attributor = AT2Attributor(task, AT2ScoreEstimator(AT2FeatureExtractor.from_model(MODEL)))
    tokens = task.get_tokens()
    return {
        "text": task.text,
        "chars": [list(tokens.token_to_chars(token)) for token in range(len(tokens["input_ids"]))],
        "prompt_tokens": task.prompt_range_to_token_range(0, len(task.prompt)),
        "sources": task.source_token_ranges,
        "generation_tokens": [task.generation_token_start, task.generation_token_end],
        "target_tokens": task.target_token_range,
        "scores": [rounded(attributor.get_attribution_scores(token_start=i, token_end=i + 1)) for i in range(len(task.target_ids))],
    }


def shapiq() -> dict:
    import numpy as np
    from shapiq.game_theory.exact import ExactComputer

    from glasscage import sentence_texts

    def game(answer: str, earlier: str) -> ExactComputer:
        """The log-probability of a sentence, when sentences of the prompt are left out."""

        def value(coalitions: np.ndarray) -> np.ndarray:
            return np.array([log_probability(kept, earlier, answer) for kept in np.atleast_2d(coalitions)])

        return ExactComputer(value, n_players=len(players))

    def log_probability(kept: np.ndarray, earlier: str, answer: str) -> float:
        text = " ".join(player for player, is_kept in zip(players, kept, strict=True) if is_kept)
        frame = CHAT.replace(PROMPT, text) + earlier
        start, ids = len(TOKENIZER(frame)["input_ids"]), TOKENIZER(frame + answer, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            logits = MODEL(ids).logits[0, start - 1 : -1].log_softmax(dim=-1)
        return float(logits.gather(1, ids[0, start:, None]).sum())

    players, answers = sentence_texts(PROMPT), sentence_texts(ANSWER)
    edges = [ANSWER.index(answer) + len(answer) for answer in answers]
    games = [game(ANSWER[start:end], ANSWER[:start]) for start, end in zip([0, *edges], edges, strict=False)]
    orders = {"SV": 1, "k-SII": 2, "STII": 2, "SII": 2, "BV": 1, "FBII": 3, "IGV": 2}
    return {"players": players, "values": {index: [written(game(index, order)) for game in games] for index, order in orders.items()}}


def written(values: object) -> dict:
    """`InteractionValues` as lists."""
    kept = {name: getattr(values, name) for name in ("index", "n_players", "min_order", "max_order")}
    return kept | {"dict_values": [[list(players), rounded(value)] for players, value in values.dict_values.items()]}


def icx360() -> dict:
    import tempfile

    import spacy
    from icx360.algorithms.mexgen import CLIME, LSHAP
    from icx360.algorithms.token_highlighter.th_llm import TokenHighlighter
    from icx360.utils.model_wrappers import HFModel

    from glasscage import sentence_texts

    english = spacy.blank("en")
    english.add_pipe("sentencizer")
    with tempfile.TemporaryDirectory() as folder:
        english.to_disk(folder)
        clime, lshap = (kind(HFModel(MODEL, TOKENIZER), segmenter=folder) for kind in (CLIME, LSHAP))
        highlighter = TokenHighlighter(MODEL, TOKENIZER, folder)
    options = {"model_params": {"chat_template": True}, "segment_type": "s"}
    answers = sentence_texts(ANSWER)

    def result(explainer: object, i: int) -> dict:
        earlier = [" " + answer for answer in answers[:i]]
        units, types = [PROMPT, *earlier], ["p"] + ["n"] * i
        segment = [True] + [False] * i
        return attributions(explainer.explain_instance(units, types, ind_segment=segment, output_orig=answers[i], **options))

    return {
        "results": [result(lshap, i) for i in range(len(answers))],
        "single": attributions(clime.explain_instance(PROMPT, model_params={"chat_template": True, "max_new_tokens": 7})),
        "highlighter": attributions(highlighter.explain_instance(PROMPT, "p", True, "s")),
    }


def attributions(result: dict) -> dict:
    """What ICX360 returns, with the text of its output alone."""
    scores = {key: rounded(value) if key not in ("units", "unit_types") else value for key, value in result["attributions"].items()}
    output = {"output_orig": {"output_text": result["output_orig"].output_text}} if "output_orig" in result else {}
    return {"attributions": scores} | output


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

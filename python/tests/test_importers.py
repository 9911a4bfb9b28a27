"""Converts results of the real packages, which golden/importers/make.py recorded, to documents."""

import json
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from recordings import Tensor, array, block_means, check, recorded

from glasscage import importers, span_scores, token_scores
from glasscage.importers.pieces import located, text_of, texts_of


def test_inseq() -> None:
    data = recorded("inseq")
    tokens, start = data["target"], data["attr_pos_start"]
    sequence = SimpleNamespace(
        source=[],
        target=[SimpleNamespace(token=token) for token in tokens],
        source_attributions=None,
        target_attributions=Tensor(data["target_attributions"]),
        attr_pos_start=start,
        attr_pos_end=data["attr_pos_end"],
    )
    out = SimpleNamespace(info=data["info"], sequence_attributions=[sequence])
    document = importers.from_inseq(out, prompt=data["prompt"], generation=data["answer"])
    assert document.data["method"]["id"] == "Inseq saliency" and document.is_complete
    expected = block_means(tokens[:start], tokens[start:], array(data["target_attributions"]).T, data["prompt"], data["answer"])
    check(document, expected, data, "inseq")


def test_inseq_of_an_encoder_and_a_decoder() -> None:
    tokens = [SimpleNamespace(token=token) for token in ("▁Eins", ".")]
    target = [SimpleNamespace(token=token) for token in ("<pad>", "▁One", ".")]
    sequence = SimpleNamespace(
        source=tokens,
        target=target,
        source_attributions=Tensor([[[3.0], [1.0]], [[1.0], [0.0]]]),
        target_attributions=None,
        attr_pos_start=1,
        attr_pos_end=3,
    )
    aggregated = SimpleNamespace(**vars(sequence) | {"source_attributions": Tensor([[3.0, 1.0], [1.0, 0.0]])})
    sequence.aggregate = lambda: aggregated
    document = importers.from_inseq(SimpleNamespace(sequence_attributions=[sequence]))
    assert (document.prompt.text, document.generation.text) == (" Eins.", " One.")
    assert document.table[0, 0] == 1.25 and document.context_attribution().tolist() == [1.0]


def test_captum() -> None:
    data = recorded("captum")
    scores = array(data["token_attr"])
    result = SimpleNamespace(**{key: data[key] for key in ("input_tokens", "output_tokens")}, seq_attr=Tensor(data["seq_attr"]))
    result.token_attr = Tensor(scores)
    document = importers.from_captum(result, method="feature ablation", prompt=data["prompt"], generation=data["answer"])
    assert not document.is_complete, "what earlier sentences do is unknown"
    names = spaced(data["output_tokens"], data["answer"])
    check(document, block_means(data["input_tokens"], names, scores, data["prompt"], data["answer"]), data, "captum")
    assert np.isnan(document.table[:, 4:]).all() and not np.isnan(document.table[:, :4]).any()
    result.token_attr = None
    with pytest.raises(ValueError, match="several sentences"):
        importers.from_captum(result, prompt=data["prompt"], generation=data["answer"])


def test_shap() -> None:
    data = recorded("shap")
    explanation = SimpleNamespace(data=data["data"], values=[array(values) for values in data["values"]], output_names=data["output_names"])
    document = importers.from_shap(explanation, prompt=data["prompt"], generation=data["answer"])
    names = spaced(data["output_names"], data["answer"])
    expected = block_means(data["data"][0], names, array(data["values"][0]).T, data["prompt"], data["answer"])
    check(document, expected, data, "shap")


def spaced(names: list[str], text: str) -> list[str]:
    """Tokens with the white space before them in the text."""
    found, at = [], 0
    for name in names:
        end = text.index(name, at) + len(name)
        found.append(text[at:end])
        at = end
    return found


def test_interpreto() -> None:
    data = recorded("interpreto")
    result = SimpleNamespace(elements=data["elements"], attributions=Tensor(data["attributions"]))
    document = importers.from_interpreto(result, method="Occlusion", prompt=data["prompt"], generation=data["answer"])
    n = len(data["elements"]) - len(data["attributions"])
    expected = block_means(data["elements"][:n], data["elements"][n:], array(data["attributions"]), data["prompt"], data["answer"])
    assert document.is_complete
    check(document, expected, data, "interpreto")


def test_context_cite() -> None:
    data = recorded("context_cite")
    asked = {tuple(span): weights for span, weights in data["attributions"]}
    citer = SimpleNamespace(
        **{key: data[key] for key in ("sources", "response", "query")},
        partitioner=SimpleNamespace(context=data["context"]),
        get_attributions=lambda start_idx, end_idx, verbose: array(asked[start_idx, end_idx]),
    )
    document = importers.from_context_cite(citer, end_token="<|im_end|>")
    weights = array([weights for _, weights in data["attributions"]])
    n_sources = len(data["sources"])
    np.testing.assert_array_equal(document.table[:, :n_sources], weights)
    assert np.isnan(document.table[:, n_sources:]).all(), "neither the query nor earlier sentences were measured"
    assert document.prompt.text == data["context"] + "\n\n" + data["query"] and document.data["method"]["unit"] == "log-odds"


def test_flashtrace() -> None:
    data = recorded("flashtrace")
    for result in (data, SimpleNamespace(to_dict=lambda: data)):
        document = importers.from_flashtrace(result, prompt=data["prompt"], generation=data["answer"])
        scores = array([data["scores"]] * len(data["generation_tokens"]))
        expected = block_means(data["prompt_tokens"], data["generation_tokens"], scores, data["prompt"], data["answer"])
        expected[:-1] = np.nan
        assert document.output == [len(expected) - 1]
        check(document, expected, data, "flashtrace")


def test_flashtrace_span_explains_its_last_sentence() -> None:
    trace = {"prompt_tokens": ["A", "."], "generation_tokens": ["One", ".", " Two", ".", " "], "scores": [1.0, 0.5], "output_span": [0, 1]}
    assert importers.from_flashtrace(trace).output == [0]
    assert importers.from_flashtrace(trace | {"output_span": None}).output == [1]


def test_the_reference_code_of_cage() -> None:
    # Made by hand from the documented format: NaN at a token itself and after it, the end token last.
    nan = np.nan
    matrix = [
        [1.0, 3.0, nan, nan, nan, nan],
        [2.0, 2.0, 1.0, nan, nan, nan],
        [0.0, 4.0, 6.0, 2.0, nan, nan],
        [9.0, 9.0, 9.0, 9.0, 9.0, nan],
    ]
    result = SimpleNamespace(
        prompt_tokens=[" Tom", "."],
        generation_tokens=["One.", " Two", ".", "</s>"],
        attribution_matrix=Tensor(matrix),
        tokenizer=SimpleNamespace(eos_token="</s>"),
    )
    document = importers.from_cage(result)
    np.testing.assert_array_equal(document.table, [[2.0, nan, nan], [2.0, 3.5, nan]])
    with pytest.raises(ValueError, match="row"):
        importers.from_cage(SimpleNamespace(**vars(result) | {"attribution_matrix": Tensor(matrix[:2])}))


def test_circuit_tracer() -> None:
    data = recorded("circuit_tracer")
    document = importers.from_circuit_tracer(data["graph"])
    assert document.prompt.text == data["prompt"] and document.generation.text == " Tom"
    influence = array([data["influence"]])
    tokens = data["graph"]["metadata"]["prompt_tokens"]
    # The values that circuit-tracer computes for this graph, in f32.
    expected = block_means(tokens, [" Tom"], influence, data["prompt"], "Tom")
    np.testing.assert_allclose(document.table[:, :-1], expected[:, :-1], rtol=1e-5)
    assert document.data["manifest"]["model"]["name"] == "gemma-2-2b"
    data["graph"]["links"].append({"source": tokens_node(data), "target": tokens_node(data), "weight": 1.0})
    with pytest.raises(ValueError, match="cycle"):
        importers.from_circuit_tracer(data["graph"])
    with pytest.raises(ValueError, match="logit"):
        importers.from_circuit_tracer({"nodes": [], "links": [], "metadata": {}})


def tokens_node(data: dict[str, Any]) -> str:
    return next(str(node["node_id"]) for node in data["graph"]["nodes"] if node["feature_type"] == "embedding" and node["ctx_idx"] == 2)


# Same format as the published step_importance.json and chunks_labeled.json, with other texts.
CHUNKS = [
    {"chunk": "We add 2 and 3.", "chunk_idx": 0, "depends_on": [], "counterfactual_importance_kl": 0.5},
    {"chunk": "That is 5. Good.", "chunk_idx": 1, "depends_on": ["0"], "counterfactual_importance_kl": -0.25},
    {"chunk": "The answer is 5.", "chunk_idx": 2, "depends_on": ["1"], "counterfactual_importance_kl": None},
]
STEPS = [
    {"source_chunk_idx": 0, "source_chunk_text": "..", "target_impacts": [{"target_chunk_idx": 1, "importance_score": 0.75}]},
    {"source_chunk_idx": 1, "source_chunk_text": "..", "target_impacts": [{"target_chunk_idx": 2, "importance_score": -0.125}]},
]


def test_thought_anchors() -> None:
    nan = np.nan
    document = importers.from_thought_anchors("What is 2 + 3?", CHUNKS, STEPS)
    assert [text.strip() for text in document.sources[1:]] == ["We add 2 and 3.", "That is 5.", "Good.", "The answer is 5."]
    # "Good." is part of a chunk that begins before it, so it has no measurement of its own.
    expected = [[nan] * 5, [nan, 0.75, nan, nan, nan], [nan] * 5, [nan, nan, -0.125, nan, nan]]
    np.testing.assert_array_equal(document.table, expected)
    document = importers.from_thought_anchors("What is 2 + 3?", CHUNKS)
    np.testing.assert_array_equal(document.table[-1], [nan, 0.5, -0.25, nan, nan])
    assert np.isnan(document.table[:-1]).all()


def test_tokens_are_read_as_tokenizers_print_them() -> None:
    assert text_of(["ĠZ", "o", "Ã", "«", "Ċ", "!"]) == (" Zoë\n!", [(0, 2), (2, 3), (3, 3), (3, 4), (4, 5), (5, 6)])
    assert text_of(["▁Zo", "<0xC3>", "<0xAB>", "<0x0A>"]) == (" Zoë\n", [(0, 3), (3, 3), (3, 4), (4, 5)])
    assert text_of(["Zo", "ë", " is"]) == ("Zoë is", [(0, 2), (2, 3), (3, 6)])
    text, spans = text_of(["ĠA", "Ã", "B"])
    assert spans[-1][1] == len(text) == 4


def test_the_prompt_is_found_in_its_frame() -> None:
    text, spans = text_of(["<user>", "\n", "Tom", " has", "?\n", "<model>"])
    assert located(text, spans, " Tom  has?") == (" Tom  has?", [(1, 4), (6, 9), (9, 10)], [2, 3, 4])
    assert located("Ahasno.", [(0, 1), (1, 4), (4, 4), (4, 7)], "A has no.") == (
        "A has no.",
        [(0, 1), (2, 5), (5, 5), (6, 9)],
        [0, 1, 2, 3],
    )
    with pytest.raises(ValueError, match="contain"):
        located(text, spans, "Ann")


def test_blocks_are_means_of_what_was_measured() -> None:
    rng = random.Random(4)
    for _ in range(40):
        words = [rng.choice([" A", " b", ".", "! C", " 3", "?", "\n"]) for _ in range(24)]
        prompt_tokens, answer_tokens = ["X", *words[:12]], ["Y", *words[12:]]
        prompt, answer = "".join(prompt_tokens).strip(), "".join(answer_tokens).strip()
        scores = array([[rng.gauss(0, 1) if rng.random() < 0.8 else np.nan for _ in range(26)] for _ in range(13)])
        document = token_scores(prompt_tokens, answer_tokens, scores, method="x", prompt=prompt, generation=answer)
        np.testing.assert_allclose(document.table, block_means(prompt_tokens, answer_tokens, scores, prompt, answer), rtol=1e-12)


@pytest.mark.parametrize(
    ("spans", "words"),
    [
        ([(6, 9), (0, 6)], r"of the prompt are not ascending: \(0, 6\) comes after \(6, 9\)"),
        ([(0, 6), (2, 4)], r"of the prompt overlap: \(2, 4\) is inside \(0, 6\)"),
        ([(0, 6), (6, 12)], r"span \(6, 12\) is outside the prompt, which has 11 characters"),
        ([(-1, 6), (6, 9)], "outside"),
        ([(0, 6), (9, 6)], "outside"),
    ],
)
def test_wrong_spans_are_refused(spans: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        span_scores("It is. Yes.", spans, "So.", [(0, 3)], [[1.0, 2.0]], method="m")
    with pytest.raises(ValueError, match="generation"):
        span_scores("It is. Yes.", [(0, 6)], "So.", [(0, 4)], [[1.0]], method="m")


def test_tokens_of_one_character_have_same_span() -> None:
    # Tokenizers give each byte of a character the span of the character, and a separate space before a word belongs to both.
    document = span_scores("A. \u20ac.", [(0, 2), (2, 3), (2, 4), (3, 4), (4, 5)], "So.", [(0, 3)], [[1.0, 2.0, 4.0, 6.0, 8.0]], method="m")
    assert document.table.tolist()[0][:2] == [1.5, 6.0]


def test_scores_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="scores of"):
        token_scores(["A"], ["B"], [[1.0, 2.0, 3.0]], method="x")


def spelled(text: str) -> str:
    """Bytes in the spelling of byte-level tokenizers."""
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in own]
    table = {byte: chr(byte) for byte in own} | {byte: chr(0x100 + i) for i, byte in enumerate(others)}
    return "".join(table[byte] for byte in text.encode())


def texts(prompt_tokens: list[str], answer_tokens: list[str], prompt: str | None = None, answer: str | None = None) -> tuple[str, str]:
    scores = np.ones((len(answer_tokens), len(prompt_tokens)))
    document = token_scores(prompt_tokens, answer_tokens, scores, method="x", prompt=prompt, generation=answer)
    return document.prompt.text, document.generation.text


def test_spellings_of_prompt_and_answer_are_decided_together() -> None:
    question = [spelled(piece) for piece in ("Where", " is", " it", "?")]
    zurich = ["Z", spelled("ür"), "ich", "."]
    assert texts(question, zurich) == ("Where is it?", "Zürich.")
    assert texts(question, zurich, None, "Zürich.")[1] == "Zürich."
    assert texts(zurich, question) == ("Zürich.", "Where is it?")
    chinese = [spelled(piece) for piece in ("他", "吃了", "两个", "。")]
    assert texts(chinese, ["3", "."]) == ("他吃了两个。", "3.")
    assert texts(["Zürich", " is", "."], ["Ja", "."])[0] == "Zürich is."
    # Captum prints the prompt tokens as named by the tokenizer, and decodes the answer tokens.
    assert texts(question, ["Z", "ür", "ich", "."]) == ("Where is it?", "Zürich.")
    assert texts(question, ["in", "Z", "ür", "ich", "."], None, "in Zürich.")[1] == "in Zürich."
    assert texts(["▁Where", "?"], ["<0xC3>", "<0x9C>", "ber", "."]) == (" Where?", "Über.")
    assert texts(["<0xE4>", "<0xBB>", "<0x96>", "?"], ["Yes", "."])[0] == "他?"
    assert texts(["Ġimgħa", " is"], ["Yes", "."])[0] == "Ġimgħa is"


def test_characters_in_pieces_come_from_the_text() -> None:
    pieces = ["I", " like", " ", "\ufffd", "\ufffd", "\ufffd", "."]
    assert texts(pieces, ["Yes", "."], "I like 🦙.")[0] == "I like 🦙."
    framed = ["<user>", *pieces, "</user>", "\ufffd", "\ufffd"]
    assert texts(framed, ["Yes", "."], "I like 🦙.")[0] == "I like 🦙."
    _, (text, spans) = texts_of(["A"], pieces, None, "I like 🦙.")
    assert [text[a:b] for a, b in spans] == ["I", " like", " ", "", "", "🦙", "."]
    assert texts(["A", "."], ["\ufffd", "\ufffd", "\ufffd", "\ufffd", "!"], None, "他吃!")[1] == "他吃!"
    with pytest.raises(ValueError, match="prompt="):
        texts(pieces, ["Yes", "."])
    with pytest.raises(ValueError, match="generation="):
        texts(["A", "."], pieces)
    with pytest.raises(ValueError, match="contain"):
        texts(pieces, ["Yes", "."], "I hate 🦙.")


def test_captum_of_a_template_asks_for_the_prompt() -> None:
    result = SimpleNamespace(
        input_tokens=["Tom", 5, "2"], output_tokens=["He", "has", "3", "."], seq_attr=np.ones(3), token_attr=np.arange(12.0).reshape(4, 3)
    )
    prompt = "Tom has 15 pens and 5 figs. He eats 2. How many are left?"
    document = importers.from_captum(result, generation="He has 3.", prompt=prompt)
    assert document.prompt.text == prompt
    np.testing.assert_array_equal(document.table, [[5.0, 6.5, np.nan, np.nan]])
    with pytest.raises(ValueError, match="prompt="):
        importers.from_captum(result, generation="He has 3.")


def test_captum_of_overlapping_tokens() -> None:
    result = SimpleNamespace(
        input_tokens=["What", "?"], output_tokens=["Ü", "Ü [OVERLAP]", "ber", "."], seq_attr=np.ones(2), token_attr=np.ones((4, 2))
    )
    assert importers.from_captum(result, generation="Über.").generation.text == "Über."


def test_single_items_of_a_batch() -> None:
    item = SimpleNamespace(data=np.array(["Tom ", "has ", "2."], dtype=object), values=np.ones((3, 2)), output_names=["He", "has"])
    assert importers.from_shap(item, generation="He has").prompt.text == "Tom has 2."
    token = SimpleNamespace
    sequence = SimpleNamespace(
        source=[], target=[token(token="A"), token(token=" b"), token(token="C")], source_attributions=None,
        target_attributions=array([[1.0, 1.0], [1.0, 1.0], [np.nan, 1.0]]), attr_pos_start=1, attr_pos_end=3,
    )  # fmt: skip
    with_info = importers.from_inseq(sequence)
    assert (with_info.prompt.text, with_info.generation.text) == ("A", " bC")
    result = SimpleNamespace(elements=["A", " b", "."], attributions=np.ones((2, 3)))
    assert importers.from_interpreto([result]).prompt.text == "A"
    with pytest.raises(ValueError, match="several"):
        importers.from_interpreto([result, result])


NAN = float("nan")
NUMBERS = [[1.0, 1.0], [1.0, NAN]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: token_scores(["A", "."], ["B", "."], np.full((2, 2), NAN), method="x"),
        lambda: token_scores(["A", "."], ["B", "."], [[1.0, 1.0], [1.0, float("inf")]], method="x"),
        lambda: importers.from_captum(
            SimpleNamespace(input_tokens=["A", "."], output_tokens=["B", "."], seq_attr=None, token_attr=NUMBERS), generation="B."
        ),
        lambda: importers.from_captum(
            SimpleNamespace(input_tokens=["A", "."], output_tokens=["B", "."], seq_attr=[NAN, 1.0], token_attr=None), generation="B."
        ),
        lambda: importers.from_shap(SimpleNamespace(data=["A", "."], output_names=["B", "."], values=array(NUMBERS)), generation="B."),
        lambda: importers.from_interpreto(
            SimpleNamespace(elements=["A", "B", "."], attributions=array([[NAN, 0.0, 0.0], [1.0, 1.0, 0.0]]))
        ),
        lambda: importers.from_inseq(
            SimpleNamespace(
                source=[],
                target=[SimpleNamespace(token=token) for token in "AB."],
                source_attributions=None,
                target_attributions=array([[1.0, NAN], [NAN, 1.0], [NAN, NAN]]),
                attr_pos_start=1,
                attr_pos_end=3,
            )
        ),
        lambda: importers.from_cage(
            SimpleNamespace(prompt_tokens=["A"], generation_tokens=["B"], attribution_matrix=array([[NAN, NAN]])), end_token=""
        ),
        lambda: importers.from_flashtrace({"prompt_tokens": ["A", "."], "generation_tokens": ["B."], "scores": [NAN, 1.0]}),
        lambda: importers.from_context_cite(
            SimpleNamespace(
                sources=["A."],
                response="B.",
                query="",
                partitioner=SimpleNamespace(context="A."),
                get_attributions=lambda **_: array([NAN]),
            )
        ),
        lambda: importers.from_thought_anchors("A?", [CHUNKS[0] | {"counterfactual_importance_kl": NAN}, CHUNKS[1]]),
    ],
    ids=range(11),
)
def test_nan_score_is_an_error(make: Any) -> None:
    with pytest.raises(ValueError, match="half precision"):
        make()


def test_unit_of_method_is_kept_in_file() -> None:
    document = token_scores(["A."], ["B."], [[1.0]], method="m", unit="sentence")
    data = json.loads(document.to_json())
    assert data["method"]["unit"] == "sentence" and "unit" not in data


def test_masked_scores_are_not_measured() -> None:
    scores = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, True]])
    assert token_scores(["A.", " B."], ["C", "."], scores, method="m").table.tolist()[0][0] == 2.0
    with pytest.raises(ValueError, match="no score is a number"):
        token_scores(["A."], ["C."], np.ma.masked_all((1, 1)), method="m")

#!/usr/bin/env python3
"""Writes claims.jsonl: effects of passages on sentences whose passage is known, measured with SmolLM2-135M-Instruct.

python3 tests/golden/citations/claims.py SmolLM2-135M-Instruct.Q4_1.gguf

Each prompt has three passages. Each answer has two sentences that a passage states and one that no passage states, each with a citation.
Half of the answers repeat the words of the passages, the other half do not. Needs the packages of `python/tests/test_live.py`.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "python/src"), str(ROOT / "python/tests")]

import gguf_models

import glasscage

# Passages, question, sentences in the words of the passages, other sentences, and the passage of each sentence.
TEXTS = [
    (
        [
            "The Harbor Museum opens at ten in the morning and closes at six.",
            "A ticket for adults costs twelve euros. Children pay half of that.",
            "The ferry to the island leaves every two hours from pier three.",
        ],
        "How do I visit the museum and the island?",
        ["The museum opens at ten in the morning [1].", "The ferry leaves from pier three [3].", "Dogs are welcome on the upper deck [2]."],
        ["You can go in from ten o'clock [1].", "Boats to the island go from pier three [3].", "Pets may sit on the top deck [2]."],
        [0, 2, None],
    ),
    (
        [
            "Maria Keller founded the bakery in 1952 with her sister.",
            "The rye bread rests for eighteen hours before it is baked.",
            "In 2010 the bakery moved to a larger house on Mill Road.",
        ],
        "Tell me about the bakery.",
        [
            "Maria Keller founded the bakery in 1952 [1].",
            "The rye bread rests for eighteen hours [2].",
            "Its cakes won a prize in Vienna [3].",
        ],
        [
            "Two sisters started the bakery [1].",
            "The dough for the rye bread needs eighteen hours [2].",
            "Students get a discount there [3].",
        ],
        [0, 1, None],
    ),
    (
        [
            "The new phone has a battery of 5,000 mAh and charges in forty minutes.",
            "Its screen is made of curved glass and breaks easily.",
            "The camera takes sharp pictures in the dark.",
        ],
        "Should I buy the phone?",
        ["The battery charges in forty minutes [1].", "The curved glass breaks easily [2].", "It is available in red and green [3]."],
        ["The phone is full after forty minutes [1].", "Be careful, since the screen is fragile [2].", "It comes with a free case [3]."],
        [0, 1, None],
    ),
    (
        [
            "The river Lomo rises in the northern hills and is 310 kilometers long.",
            "Salmon swim up the river in October.",
            "A dam was built near Tarn in 1974 to make electricity.",
        ],
        "What should I know about the river?",
        ["The river is 310 kilometers long [1].", "A dam was built near Tarn in 1974 [3].", "Many tourists paddle on it in summer [2]."],
        ["It is more than 300 kilometers long [1].", "Electricity comes from a dam near Tarn [3].", "Children learn to swim in it [2]."],
        [0, 2, None],
    ),
    (
        [
            "Patients should take one tablet after breakfast.",
            "The tablets may cause a dry mouth and headaches.",
            "Keep the box away from light and below 25 degrees.",
        ],
        "How do I use the tablets?",
        ["Take one tablet after breakfast [1].", "The tablets may cause headaches [2].", "They taste of strawberries [3]."],
        ["You should take it in the morning after eating [1].", "Your head may hurt [2].", "It was invented in Sweden [3]."],
        [0, 1, None],
    ),
    (
        [
            "The meeting was moved from Tuesday to Friday at nine.",
            "Jonas will present the budget for next year.",
            "Lunch is served in the garden if it does not rain.",
        ],
        "What changes at the meeting?",
        ["The meeting is on Friday at nine [1].", "Jonas will present the budget [2].", "All guests get a book as a present [3]."],
        ["We now meet at the end of the week [1].", "Somebody will talk about the budget [2].", "The room will be painted blue [3]."],
        [0, 1, None],
    ),
    (
        [
            "Emperor penguins keep their eggs warm on their feet for two months.",
            "The smallest penguin lives in Australia and weighs one kilogram.",
            "Leopard seals hunt penguins near the ice.",
        ],
        "What do we know about penguins?",
        [
            "Emperor penguins keep their eggs warm on their feet [1].",
            "Leopard seals hunt penguins [3].",
            "Penguins once lived in Spain [2].",
        ],
        ["Their parents hold the eggs on their feet [1].", "Seals are their enemies [3].", "They sleep standing up [2]."],
        [0, 2, None],
    ),
    (
        [
            "The apartment has two bedrooms and a balcony to the south.",
            "The rent is 900 euros, and heating costs 80 more.",
            "The previous tenant complained about noise from the bar below.",
        ],
        "Is the apartment good?",
        ["The apartment has a balcony to the south [1].", "The rent is 900 euros [2].", "The owner lives in Canada [3]."],
        ["You can sit outside in the sun [1].", "You pay 980 euros in all [2].", "The kitchen was renovated last year [3]."],
        [0, 1, None],
    ),
    (
        [
            "Glaciers in the valley lost a third of their ice since 1980.",
            "Farmers there now grow grapes, which was impossible before.",
            "The lake below the glacier floods the road each spring.",
        ],
        "How has the valley changed?",
        ["Farmers now grow grapes there [2].", "The lake floods the road each spring [3].", "A new airport was opened [1]."],
        ["There are vineyards in the valley now [2].", "The street is under water in spring [3].", "A school was closed there [1]."],
        [1, 2, None],
    ),
    (
        [
            "The recipe needs 200 grams of flour and three eggs.",
            "Bake the cake at 180 degrees for fifty minutes.",
            "Let the cake cool before you cut it, or it falls apart.",
        ],
        "How do I make the cake?",
        ["Bake the cake at 180 degrees [2].", "Let the cake cool before you cut it [3].", "Serve it with vanilla ice cream [1]."],
        ["The oven must be at 180 degrees [2].", "Wait until it is cold, then slice it [3].", "My grandmother invented it [1]."],
        [1, 2, None],
    ),
    (
        [
            "The study followed 4,000 nurses for ten years.",
            "Nurses who worked at night slept two hours less.",
            "The authors did not ask about coffee.",
        ],
        "What did the study find?",
        ["The study followed 4,000 nurses [1].", "Nurses who worked at night slept less [2].", "The hospital paid higher wages [3]."],
        ["It observed thousands of nurses [1].", "Those with night shifts were short of sleep [2].", "Most of them were married [3]."],
        [0, 1, None],
    ),
    (
        [
            "The violin was made in Cremona in 1715.",
            "It was stolen from a train in 1980 and found in an attic.",
            "An experienced player says that its sound is dark and warm.",
        ],
        "What is special about the violin?",
        ["The violin was made in Cremona in 1715 [1].", "It was stolen from a train in 1980 [2].", "Its case is made of silver [3]."],
        ["It is more than 300 years old [1].", "A thief took it from a train [2].", "It costs two million dollars [3]."],
        [0, 1, None],
    ),
]

model, tokenizer = gguf_models.load(pathlib.Path(sys.argv[1]))
lines = []
for passages, question, *answers, owners in TEXTS:
    prompt = "".join(f"[{k + 1}] {passage}\n" for k, passage in enumerate(passages)) + f"\n{question} Cite the passages."
    for claims in answers:
        document = glasscage.explain(model, tokenizer, prompt, answer=" ".join(claims), progress=False)
        for i, (claim, passage) in enumerate(zip(claims, owners, strict=True)):
            effects = [round(float(group.effects[i]), 4) for group in document.groups]
            lines.append(json.dumps({"claim": claim, "passage": passage, "effects": effects}))
pathlib.Path(__file__).with_name("claims.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")

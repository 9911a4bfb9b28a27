"""Short everyday problems, as a teacher might put them: a table of patterns, each with its steps.

A pattern has three parts: the ranges of numbers that differ from the default ranges, the prompt sentences, and the
steps. Alternatives and tenses are written as in `Draw.say`. `{N}` and `{M}` are names, `{He}` and `{he}` the pronoun of
N,
`{things}` and `{foods}` plurals, `<a>` an amount of money. A step is "text; expression". If the text is the index of a
prompt sentence, the step repeats that sentence. The results are called x, y, z. A step without an expression only
repeats a
sentence.
"""

import operator
import re

from arithmetic import LARGEST, LARGEST_PRODUCT
from draw import Draw
from problem import Problem, insert, unrelated_sentences
from words import ANIMALS, CONTAINERS, pronoun

LEFT = (
    "[How many {X} (are/were) left?|How many {X} (does/did) [{he}|{N}] have left?|How many {X} (does/did) [{he}|{N}] have [(now/then)|]?"
    "~How many {X} (remain/remained)?]"
)
TOTAL = "How many {X} (does/did) [{he}|{N}] have [altogether|in total|(now/then)|in all|~by the end]?"
BOTH = "How many {X} (do/did) they have [altogether|in total|together|in all|~between them]?"

# fmt: off
PATTERNS = [
    # give and take
    ("", ["{N} (has/had) {a} {X}.",
     "{He} [(buys/bought)|(gets/got)|(finds/found)|(picks/picked)|(wins/won)|(bakes/baked)~(adds/added)] {b} more[| {X}].", TOTAL],
      ["0", "1; a + b"]),
    ("", ["{N} (has/had) {a} {X}.",
     "{He} [(eats/ate)|(sells/sold)|(loses/lost)|(uses/used)|(gives/gave) away~(donates/donated)] {b}[ of them|| {X}| of the {X}].", LEFT],
      ["0", "1; a - b"]),
    ("", ["{N} (has/had) {a} {X}.", "{He} (gives/gave) {b}[| {X}| of them] to {M}.", LEFT], ["0", "1; a - b"]),
    ("", ["{N} (has/had) {a} {X}.", "{He} (gives/gave) {M} {b} {X}.", LEFT], ["0", "1; a - b"]),
    ("", ["{N} (has/had) {a} {X}.", "{M} (gives/gave) [{him}|{N}] {b} more {X}.", TOTAL], ["0", "1; a + b"]),
    ("", ["{N} (has/had) {a} {X} and [(buys/bought)|(gets/got)|(finds/found)] {b} more[| {X}].", TOTAL], ["0; a + b"]),
    ("", ["{N} (has/had) {a} {X} and [(eats/ate)|(loses/lost)|(sells/sold)|(gives/gave) away] {b}[ of them|].", LEFT], ["0; a - b"]),
    ("b=1-20 d=1-20", ["{N} (has/had) {a} {X}.", "{He} [(eats/ate)|(sells/sold)|(loses/lost)] {b} and (gives/gave) {d} to {M}.", LEFT],
     ["0", "1; b + d", "{N} (has/had) {a}; a - x"]),
    ("", ["{N} [(buys/bought)|(picks/picked)|(bakes/baked)|(makes/made)] {a} {X} on [Monday|Friday] and {b} {X} on [Tuesday|Sunday].",
     "How many {X} (does/did) {he} [buy|have|get] [altogether|in total|in all]?"], ["0; a + b"]),
    ("", ["{N} (has/had) {a} {X} and {M} (has/had) {b} {X}.", BOTH], ["0; a + b"]),
    ("", ["{N} (has/had) {a} {X} and {M} (has/had) {b} {X}.", "How many more {X} (does/did) {N} have than {M}?"], ["0; a - b"]),
    ("", ["{N} (has/had) {b} {X} and {M} (has/had) {a} {X}.", "How many fewer {X} (does/did) {N} have than {M}?"], ["0; a - b"]),
    ("", ["{N} (has/had) {a} {X}.", "{M} (has/had) {b} more {X} than {N}.", BOTH],
     ["0", "1; a + b", "{N} (has/had) {a} and {M} (has/had) {x}; a + x"]),
    ("", ["{N} (has/had) {a} {X}.", "{M} (has/had) {b} fewer {X} than {N}.", "How many {X} (does/did) {M} have?"], ["0", "1; a - b"]),
    ("c=2-4", ["{N} (has/had) {a} {X}.", "{M} (has/had) {c} times as many.", "How many {X} (does/did) {M} have?"], ["0", "1; a * c"]),
    ("", ["{N} (needs/needed) {a} {X}.", "{He} [(has/had)|already (has/had)|only (has/had)] {b}.",
     "How many more {X} (does/did) {he} need?"], ["0", "1; a - b"]),
    ("", ["{N} (wants/wanted) to [collect|make|sell] {a} {X}.", "So far {he} (has/had) {b} {X}.",
     "How many {X} (are/were) [missing|still missing]?"], ["0", "1; a - b"]),
    ("", ["{N} had {a} {X}.", "Now {he} has {b} {X}.", "How many {X} did {he} [lose|use|give away|sell]?"], ["0", "1; a - b"]),
    ("", ["{N} had {b} {X}.", "Now {he} has {a} {X}.", "How many {X} did {he} [get|buy|find]?"], ["0", "1; a - b"]),
    ("", ["{N} and {M} (have/had) {a} {X} together.", "{N} (has/had) {b} of them.", "How many {X} (does/did) {M} have?"],
     ["0", "1; a - b"]),
    ("", ["{N} and {M} (have/had) {a} {X}.", "They [(eat/ate)|(use/used)|(lose/lost)|(sell/sold)] {b} of them.",
     "How many {X} [(are/were) left|(do/did) they have left]?"], ["0", "1; a - b"]),
    ("", ["{N} and {M} (have/had) {a} {X}.", "They [(buy/bought)|(find/found)|(get/got)] {b} more.",
     "How many {X} (do/did) they have (now/then)?"], ["0", "1; a + b"]),
    ("", ["There (are/were) {a} {X} [on the table|in the box|in the kitchen|in a bag].",
     "{N} [(takes/took)|(eats/ate)|(removes/removed)] {b} of them.",
      "How many {X} [(are/were) left|(are/were) there (now/then)~(stay/stayed) there]?"], ["0", "1; a - b"]),
    ("", ["There (are/were) {a} {X} [on the table|in the box|in the kitchen|in a bag].", "{N} (puts/put) {b} more [there|in].",
     "How many {X} (are/were) there [(now/then)|altogether|in total]?"], ["0", "1; a + b"]),
    ("", ["{N} (has/had) {a} {X}.", "{He} (buys/bought) {b} more and (gives/gave) {d} to {M}.", LEFT],
     ["0", "{He} (buys/bought) {b} more; a + b", "{He} (gives/gave) {d} to {M}; x - d"]),
    ("", ["{N} (has/had) {a} {X}.", "{He} (eats/ate) {d} and then (buys/bought) {b} more.", TOTAL],
     ["0", "{He} (eats/ate) {d}; a - d", "{He} (buys/bought) {b} more; x + b"]),
    ("", ["{N} (has/had) {a} {X}.", "{He} (finds/found) {b} and (loses/lost) {d}.", LEFT],
     ["0", "{He} (finds/found) {b}; a + b", "{He} (loses/lost) {d}; x - d"]),
    ("", ["{N} (has/had) {a} {X} and {M} (has/had) {b}.", "{M} (gives/gave) {N} {d} {X}.", "How many {X} (does/did) {N} have (now/then)?"],
     ["0", "1; a + d"]),
    ("a=2-40", ["{N} (has/had) {a} {X}.", "{M} (has/had) twice as many.", BOTH],
     ["0", "1; a * 2", "{N} (has/had) {a} and {M} (has/had) {x}; a + x"]),
    ("a=2-40", ["{N} (has/had) {a} {X}.", "{M} (has/had) twice as many [{X} |]as {N}.", "How many {X} (does/did) {M} have?"],
     ["0", "1; a * 2"]),
    ("", ["{N} (has/had) {a} {X}.", "{M} (has/had) half as many [{X} as {N}|].", "How many {X} (does/did) {M} have?"], ["0", "1; a / 2"]),
    ("", ["{N} (has/had) {a} {X}.", "{He} (gives/gave) half of them to {M}.", LEFT], ["0", "1; a / 2"]),
    ("a=2-40 b=2-40 e=2-40", ["{N} (has/had) {a} red {X}, {b} blue {X} and {e} green {X}.",
     "How many {X} (does/did) {he} have [altogether|in total|in all]?"], ["0; a + b", "With the {e} green {X}; x + e"]),
    ("", ["{c} [children|friends|pupils] (have/had) {d} {X} each.", "How many {X} (do/did) they have [altogether|in total|together]?"],
     ["0; c * d"]),
    # shopping
    ("d=2-20", ["{N} (has/had) <a>.", "{He} (buys/bought) a {thing} for <b> and a {other} for <d>.",
     "How much [money |](does/did) {he} have left?"], ["0", "1; b + d", "{N} (has/had) <a>; a - x"]),
    ("d=2-40", ["{N} (buys/bought) a {thing} for <b> and a {other} for <d>.",
     "How much (does/did) {he} [pay|spend] [in total|altogether|]?"], ["0; b + d"]),
    ("", ["{N} (has/had) <a>.", "{He} (buys/bought) [a {thing}|a book|a hat|lunch|a ticket] for <b>.",
     "[How much money (does/did) {he} have left?|How much (does/did) {N} have left?|How much money (is/was) left?~How much money "
     "(remains/remained)?]"], ["0", "1; a - b"]),
    ("", ["{N} (has/had) <a> and (spends/spent) <b>.", "How much [money |](does/did) {he} have left?"], ["0; a - b"]),
    ("", ["{N} (has/had) <a>.", "{He} [(earns/earned)|(gets/got)|(receives/received)|(finds/found)] <b>.",
     "How much [money |](does/did) {N} have [(now/then)|altogether|in total]?"], ["0", "1; a + b"]),
    ("", ["{N} (buys/bought) {c} {X} for <d> each.",
     "How much [does {N} pay|did {N} pay|do they cost|does {he} spend|money does {he} need~must {N} pay]?"], ["0; c * d"]),
    ("", ["[A|One] {thing} (costs/cost) <d>.", "{N} (buys/bought) {c} {things}.",
     "How much (does/did) {he} [pay|spend|pay in total|pay altogether]?"], ["0", "1; c * d"]),
    ("", ["[A|One] {thing} (costs/cost) <d>.", "How much (do/did) {c} {things} cost?"], ["0", "{c} {things} (cost/cost) <d> each; c * d"]),
    ("q=20,30,50,60,80,100,120", ["{N} (buys/bought) {c} {X} for <d> each.", "{He} (pays/paid) with <q>.",
     "[How much change (does/did) {he} get?|How much change (does/did) {N} get [back|]?|How much money (does/did) {he} get back?~What "
     "(is/was) the change?]"], ["0; c * d", "1; q - x"]),
    ("q=20,30,50,60,80,100", ["{N} (buys/bought) [a {thing}|a book|a hat|lunch] for <b>.", "{He} (pays/paid) with <q>.",
     "[How much change (does/did) {he} get?|How much money (does/did) {N} get back?~What (is/was) the change?]"], ["0", "1; q - b"]),
    ("", ["[A|One] {thing} (costs/cost) <c> and a {other} (costs/cost) <b>.", "{N} (buys/bought) {d} {things} and one {other}.",
     "How much (does/did) {he} pay [in total|altogether|]?"],
      ["{d} {things} (cost/cost) <c> each; d * c", "The {other} (costs/cost) <b>; x + b"]),
    ("", ["[A|The] {thing} (costs/cost) <a> and a {other} (costs/cost) <b>.",
     "How much (do/did) they cost [together|in total|altogether]?"], ["0; a + b"]),
    ("", ["[A|The] {thing} (costs/cost) <a> and a {other} (costs/cost) <b>.",
     "How much more (does/did) the {thing} cost than the {other}?"], ["0; a - b"]),
    ("", ["[A|The] {thing} (costs/cost) <a>.", "A {other} (is/was) <b> cheaper.", "How much (does/did) the {other} cost?"],
     ["0", "1; a - b"]),
    ("", ["[A|The] {thing} (costs/cost) <a>.", "A {other} (costs/cost) <b> more.", "How much (does/did) the {other} cost?"],
     ["0", "1; a + b"]),
    ("", ["{c} {things} (cost/cost) <a>.", "How much (does/did) one {thing} cost?"], ["0; a / c"]),
    ("", ["{N} (has/had) <a>.", "Each {thing} (costs/cost) <c>.", "How many {things} can {he} buy?"], ["0", "1; a / c"]),
    ("", ["{N} (wants/wanted) a {thing} that (costs/cost) <a>.", "{He} has <b>.", "How much more money (does/did) {he} need?"],
     ["0", "1; a - b"]),
    ("", ["{N} (sells/sold) {c} {X} for <d> each and {M} (sells/sold) {X} for <b>.", "How much (do/did) they earn [together|in total]?"],
     ["{N} (sells/sold) {c} {X} for <d> each; c * d", "{M} (gets/got) <b>; x + b"]),
    # rates, saving, time
    ("", ["{N} (walks/walked) {d} {K} [each|every|a] {D}.", "How [many {K}|far] (does/did) {he} walk in {c} {D}s?"], ["0; c * d"]),
    ("", ["{N} (runs/ran) {d} {K} [each|every|a] {D}.", "How [many {K}|far] (does/did) {he} run in {c} {D}s?"], ["0; c * d"]),
    ("", ["{N} (drinks/drank) {d} glasses of water [each|every|a] day.", "How many glasses (does/did) {he} drink in {c} days?"],
     ["0; c * d"]),
    ("", ["{N} (makes/made) {d} {X} [each|every|a] {D}.", "How many {X} (does/did) {he} make in {c} {D}s?"], ["0; c * d"]),
    ("", ["{N} (learns/learned) {d} words [each|every|a] {D}.", "How many words (does/did) {he} learn in {c} {D}s?"], ["0; c * d"]),
    ("", ["{N} [(sells/sold)|(buys/bought)|(eats/ate)~(picks/picked)] {d} {X} [each|every|a|per] day.",
     "How many {X} [is|are] that in {c} days?"], ["0; c * d"]),
    ("", ["{N} (reads/read) {d} pages [each|every|a] {D}.", "How many pages (does/did) {he} read in {c} {D}s?"], ["0; c * d"]),
    ("", ["{N} (earns/earned) <d> [each|every|an|per] hour.", "How much (does/did) {he} earn in {c} hours?"], ["0; c * d"]),
    ("", ["{N} (saves/saved) <d> [each|every] [week|month].", "How much (does/did) {he} save in {c} [weeks|months]?"], ["0; c * d"]),
    ("", ["{N} (has/had) <b>.", "{He} (saves/saved) <d> every week.", "How much (does/did) {he} have after {c} weeks?"],
     ["{He} (saves/saved) <d> for {c} weeks; c * d", "{N} (has/had) <b>; b + x"]),
    ("", ["{N} (needs/needed) <a>.", "{He} (saves/saved) <c> [each|every] week.", "How many weeks (does/did) it take?"], ["0", "1; a / c"]),
    ("", ["A book (has/had) {a} pages.", "{N} (reads/read) {b} pages.",
     "How many pages [(are/were) left|(does/did) {he} still have to read]?"], ["0", "1; a - b"]),
    ("", ["A book (has/had) {a} pages.", "{N} (reads/read) {c} pages [each|every|a] day.", "How many days (does/did) {he} need?"],
     ["0", "1; a / c"]),
    ("c=1-8 d=1-4", ["[The|A] [train|bus|film|lesson|party|show|game~concert] [starts|begins|leaves] at {c} o'clock.",
     "It [takes|lasts] {d} hours.", "[At what time|When] does it [end|arrive]?"], ["0", "1; c + d"]),
    ("c=1-8 e=9-12", ["[The|A] [train|film|lesson|party|show|game~concert] starts at {c} o'clock and ends at {e} o'clock.",
     "How [many hours|long] [does it last|is it]?"], ["0; e - c"]),
    ("c=2-3", ["[The|A] [film|trip|lesson|game|flight~concert] [takes|lasts|took|lasted] {c} hours.", "How many minutes is that?"],
     ["One hour has 60 minutes; c * 60"]),
    ("", ["{N} (is/was) [away|on holiday|in hospital] for {c} weeks.", "How many days is that?"], ["One week has 7 days; c * 7"]),
    ("c=2-5", ["{N} [(sleeps/slept)|(waits/waited)|(travels/travelled)] for {c} days.", "How many hours is that?"],
     ["One day has 24 hours; c * 24"]),
    ("b=5-60",
     ["{N} [(reads/read)|(runs/ran)|(swims/swam)|(works/worked)|(plays/played)|(sings/sang)~(dances/danced)] for {a} minutes and {M} for "
     "{b} minutes.", "How many minutes longer (does/did) {N} [do it|take]?"], ["0; a - b"]),
    ("", ["{N} [(reads/read)|(runs/ran)|(swims/swam)|(works/worked)|(plays/played)|(sings/sang)~(dances/danced)] for {d} [hours|minutes] "
     "[each|every] {D}.", "How [long|much time] is that in {c} {D}s?"], ["0; c * d"]),
    ("", ["{N} (works/worked) for {a} minutes and then (rests/rested) for {b} minutes.", "How many minutes is that [in total|altogether]?"],
     ["0; a + b"]),
    ("a=10-110 d=2-8", ["A [car|train|bus|bike] (drives/drove) {b} km in one hour.",
     "How [far|many km] (does/did) it [go|drive] in {d} hours?"], ["0; d * b"]),
    # lengths, weights, volumes
    ("", ["[A|The] [rope|ribbon|board|cable|stick|plank~pipe] (is/was) {a} {U} long.", "{N} (cuts/cut) off {b} {U}.",
     "How [long is the rest|many {U} are left|long is it now]?"], ["0", "1; a - b"]),
    ("", ["[A|The] [rope|ribbon|board|cable|stick|plank~pipe] (is/was) {a} {U} long.", "{N} (cuts/cut) it into {c} equal pieces.",
     "How long (is/was) each piece?"], ["0", "1; a / c"]),
    ("", ["{N} (walks/walked) {a} {K} and then [another |]{b} {K}.", "How far (does/did) {he} walk [in total|altogether|]?"], ["0; a + b"]),
    ("", ["{N} [(runs/ran)|(walks/walked)|(drives/drove)|(cycles/cycled)] {a} km and {M} {b} km.",
     "How many km more (is/was) that for {N}?"], ["0; a - b"]),
    ("", ["[A|The] {thing} (weighs/weighed) {a} {W} and [a|the] {other} (weighs/weighed) {b} {W}.",
     "How much (do/did) they weigh together?"], ["0; a + b"]),
    ("", ["The {thing} (weighs/weighed) {a} {W}.", "The {other} (weighs/weighed) {b} {W} more.",
     "How [much|many {W}] (does/did) the {other} weigh?"], ["0", "1; a + b"]),
    ("", ["The {thing} (weighs/weighed) {a} {W}.", "The {other} (weighs/weighed) {b} {W} less.",
     "How [much|many {W}] (does/did) the {other} weigh?"], ["0", "1; a - b"]),
    ("", ["[A|One] [box|bag|sack|bottle] (weighs/weighed) {c} {W}.", "How much (do/did) {d} of them weigh?"],
     ["0", "{d} of them with {c} {W} each; d * c"]),
    ("", ["[A|The] [tank|barrel|bucket|pool|bath] (holds/held) {a} litres [of water|].",
     "{N} [(uses/used)|(takes/took) out|(pours/poured) out] {b} litres.", "How many litres (are/were) left?"], ["0", "1; a - b"]),
    ("", ["[A|The] [tank|barrel|bucket|pool|bath] (holds/held) {a} litres [of water|].", "{N} [(adds/added)|(pours/poured) in] {b} litres.",
     "How many litres (are/were) in it (now/then)?"], ["0", "1; a + b"]),
    ("a=50-150", ["{N} (is/was) {a} cm tall.", "{M} (is/was) {b} cm taller.", "How tall (is/was) {M}?"], ["0", "1; a + b"]),
    # sharing and grouping
    ("", ["{N} (shares/shared) {a} {X} [equally |]among {c} [friends|children|pupils|people].",
     "How many {X} (does/did) each [of them|one] get?"], ["0; a / c"]),
    ("", ["There (are/were) {a} {X}.", "{c} [friends|children|people] (share/shared) them equally.",
     "How many {X} (does/did) each [of them|one|person] get?"], ["0", "1; a / c"]),
    ("", ["{N} (has/had) {a} {X} and {M} (has/had) {b} {X}.", "They (share/shared) all of them equally between the two of them.",
     "How many {X} (does/did) each [of them|one] get?"], ["0; a + b", "1; x / 2"]),
    ("", ["{N} (puts/put) {a} {X} into {boxes} of {c}.", "How many {boxes} (does/did) {he} [need|fill|get]?"], ["0; a / c"]),
    ("", ["{N} (puts/put) {a} {X} into {c} {boxes}.", "How many {X} (are/were) in each {box}?"], ["0; a / c"]),
    ("", ["[Each|Every|A|One] {box} [(holds/held)|(has/had)|(contains/contained)] {c} {X}.",
     "How many {X} (are/were) [there |]in {d} {boxes}?"], ["0", "{d} {boxes} with {c} each; d * c"]),
    ("", ["{N} (has/had) {d} {boxes} [with|of] {c} {X} each.", "How many {X} (does/did) {he} have [in total|altogether|in all|]?"],
     ["0; d * c"]),
    ("", ["{N} (has/had) {d} {boxes} [with|of] {c} {X} each.", "{He} [(eats/ate)|(sells/sold)|(loses/lost)|(gives/gave) away] {b} {X}.",
     LEFT], ["0; d * c", "1; x - b"]),
    ("", ["There (are/were) {d} rows with {c} [chairs|trees|seats|desks|plants] in each row.",
     "How many (are/were) there [in total|altogether|in all|]?"], ["0; d * c"]),
    # groups of people and animals, ages
    ("", ["There (are/were) {a} [boys|men|cats|adults] and {b} [girls|women|dogs|children] in [a class|a room|a park|the hall|a club].",
     "How many (are/were) there [in total|altogether|in all|together]?"], ["0; a + b"]),
    ("", ["[A|The] class (has/had) {a} pupils.", "{b} of them (are/were) [boys|girls|ill|away|late].",
     "How many [are not|of them are not]?"], ["0", "1; a - b"]),
    ("", ["There (are/were) {a} [people|passengers|children] on a [bus|train|boat].", "{b} of them (get/got) off.",
     "How many [people |]are [left|still on it]?"], ["0", "1; a - b"]),
    ("", ["There (are/were) {a} [people|passengers|children] on a [bus|train|boat].", "{b} (get/got) off and {d} (get/got) on.",
     "How many [people |]are on it [now|then]?"], ["0", "{b} (get/got) off; a - b", "{d} (get/got) on; x + d"]),
    ("", ["There (are/were) {a} {animals} [in a tree|in a field|on a farm|in the park].",
     "{b} of them [(run/ran) away|(leave/left)|(go/went) home~(escape/escaped)].", "How many {animals} (are/were) left?"],
      ["0", "1; a - b"]),
    ("", ["There (are/were) {a} {animals} [in a tree|in a field|on a farm|in the park].", "{b} more [(come/came)|(arrive/arrived)].",
     "How many {animals} (are/were) there (now/then)?"], ["0", "1; a + b"]),
    ("", ["[A|The] farmer (has/had) {a} {animals} and {b} {animals2}.", "How many animals (are/were) there [in total|altogether|in all]?"],
     ["0; a + b"]),
    ("a=5-80", ["{N} is {a} years old.", "{M} is {b} years older [than {N}|].", "How old is {M}?"], ["0", "1; a + b"]),
    ("a=5-80", ["{N} is {a} years old.", "{M} is {b} years younger [than {N}|].", "How old is {M}?"], ["0", "1; a - b"]),
    ("a=5-80", ["{N} is {a} years old.", "How old will {he} be in {b} years?"], ["0", "In {b} years {N} will be {b} years older; a + b"]),
    ("a=5-80", ["{N} is {a} years old.", "How old was {he} {b} years ago?"], ["0", "{b} years ago {N} was {b} years younger; a - b"]),
    ("a=5-80 c=2-4", ["{N} is {a} years old.", "{M} is {c} times as old.", "How old is {M}?"], ["0", "1; a * c"]),
    ("a=5-80", ["{N} is {a} years old and {M} is {b}.", "How many years older is {N}?"], ["0; a - b"]),
]
# fmt: on

# The ranges of the numbers in a pattern: a and b are amounts, c and d factors, e a time, q a bank note.
DOMAINS = {"a": range(2, 91), "b": range(2, 41), "c": range(2, 11), "d": range(2, 13), "e": range(2, 13), "q": range(10, 101)}
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
UNITS = {"U": "metres cm feet inches".split(), "K": "km metres miles".split(), "W": "kg grams pounds".split()}
MONEY = ("${}", "${}", "{} euros", "{} pounds", "{} dollars")
_SLOT = re.compile(r"\{(\w+)\}|<(\w)>")


def everyday(draw: Draw, distractors: str) -> Problem:
    """Makes a problem from one of the patterns, with one to three steps."""
    draw.begin()
    domains, templates, steps = draw.choice(PATTERNS)
    sentences = [draw.say(template) for template in templates]
    slots = _words(draw, edible=re.search(r"\b(eats?|ate|bakes?|baked)\b", " ".join(sentences)) is not None)
    numbers = _numbers(draw, domains, " ".join(templates), steps)
    spelled: dict[str, int | str] = dict(numbers)
    if draw.random() >= 0.85:
        spelled = {letter: NUMBER_WORDS[n] if n < len(NUMBER_WORDS) else n for letter, n in numbers.items()}

    def filled(text: str) -> str:
        values = slots | spelled
        text = _SLOT.sub(lambda m: str(values[m[1]]) if m[1] else slots["money"].format(numbers[m[2]]), text)
        text = re.sub(r" +(?=[ .?])", "", text)  # removes the spaces around empty alternatives
        text = re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)
        return text[0].upper() + text[1:]

    sentences = [filled(sentence) for sentence in sentences]
    answer = []
    for name, step in zip(_result_names(steps), steps):
        text, _, expression = step.partition("; ")
        text = sentences[int(text)][:-1] if text.isdigit() else filled(draw.say(text))
        worked = " ".join(str(numbers.get(part, part)) for part in expression.split())
        answer.append(f"{text}, so {worked} = {numbers[name]}." if expression else f"{text}.")
    extra = unrelated_sentences(draw, draw.randint(1, 2)) if distractors == "unrelated" else []
    operations = sum("; " in step for step in steps)
    answer.append(f"The answer is {numbers['xyz'[operations - 1]]}.")
    sentences, relevant = insert(draw, sentences, extra, [])
    return Problem("everyday", operations, distractors, sentences, answer, relevant)


def _result_names(steps: list[str]) -> list[str]:
    """Returns the letter of each step's result: x, y, z for the steps with an expression, "" for the others."""
    names = iter("xyz")
    return [next(names) if "; " in step else "" for step in steps]


def _words(draw: Draw, edible: bool) -> dict[str, str]:
    """Chooses words for all slots of a pattern."""
    name, other_name = draw.names(2)
    (thing, things), (other, _) = draw.things(2, edible=edible)
    box, boxes = draw.choice(CONTAINERS)
    he = pronoun(name, draw)
    animals, animals2 = draw.sample(ANIMALS, 2)
    return {
        "N": name, "M": other_name, "he": he, "He": he.capitalize(), "him": {"he": "him", "she": "her"}[he],
        "X": things, "thing": thing, "things": things, "other": other, "box": box, "boxes": boxes,
        "animals": animals, "animals2": animals2, "D": draw.choice("day week month evening morning".split()),
        "money": draw.choice(MONEY), **{unit: draw.choice(names) for unit, names in UNITS.items()},
    }  # fmt: skip


def _numbers(draw: Draw, domains: str, text: str, steps: list[str]) -> dict[str, int]:
    """Chooses numbers for the slots so that every result is a whole number in range."""
    choices = dict(DOMAINS)
    for letter, spec in (entry.split("=") for entry in domains.split()):
        low, _, high = spec.partition("-")
        choices[letter] = range(int(low), int(high) + 1) if high else [int(n) for n in spec.split(",")]
    letters = sorted(set(re.findall(r"[{<]([a-eq])[}>]", text)))
    while True:
        numbers = {letter: draw.choice(choices[letter]) for letter in letters}
        for name, step in zip(_result_names(steps), steps):
            expression = step.partition("; ")[2]
            if not expression:
                continue
            first, sign, second = expression.split()
            result = OPERATORS[sign](numbers[first], numbers.get(second) or int(second))
            if not (1 <= result <= (LARGEST_PRODUCT if sign == "*" else LARGEST) and result == int(result)):
                break
            numbers[name] = int(result)
        else:
            return numbers

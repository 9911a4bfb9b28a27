//! Sources other than sentences and words, with the built-in model: lines, paragraphs, sections, and parts in double brackets.

use std::ops::ControlFlow;

use glasscage::explanation::{Document, SentenceRule, Unit, from_fragment, to_fragment};
use glasscage::request::{BackendChoice, Question};

use crate::sessions::{DEMO, explain, outcome, session};

/// Each paragraph, section and line is one sentence.
const FACTS: &str = "Ann has 3 figs.\n\nBob has 4 nuts.\n\nWhat does Bob have?";
const ANSWER: &str = "Bob has 4 nuts. The answer is 4.";

fn question(prompt: &str, unit: Unit, method: &str) -> Question {
    let sentence_rule = SentenceRule::AnyScript;
    Question { answer: Some(ANSWER.into()), unit, method: method.into(), sentence_rule, ..Question::greedy(prompt) }
}

#[test]
fn unit_of_one_sentence_measures_like_sentence() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    for method in ["pert", "pairs", "clp", "flow"] {
        let by_sentences = explain(&mut session, &question(FACTS, Unit::Sentence, method));
        assert_eq!((by_sentences.table.n_prompt(), by_sentences.version), (3, 3));
        let marked = FACTS.split("\n\n").map(|fact| format!("[[{fact}]]")).collect::<Vec<_>>().join("\n\n");
        for (unit, prompt) in [(Unit::Line, FACTS), (Unit::Paragraph, FACTS), (Unit::Bracket, &marked), (Unit::Bracket, FACTS)] {
            let document = explain(&mut session, &question(prompt, unit, method));
            assert_eq!(document.unit, unit);
            // Lines also split the answer.
            if unit != Unit::Line {
                assert_eq!(Document { unit: Unit::Sentence, ..document }, by_sentences, "{unit:?} {method}");
            }
        }
    }
    let by_lines = |unit| {
        let answer = Some(ANSWER.replace(". ", ".\n"));
        explain(&mut session, &Question { answer, ..question(FACTS, unit, "pert") })
    };
    let [lines, sentences] = [Unit::Line, Unit::Sentence].map(by_lines);
    assert_eq!(Document { unit: Unit::Sentence, ..lines }, sentences);
}

#[test]
fn long_units_hold_several_sentences() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let prompt = "# Ann\nAnn has 3 figs. She eats 1.\n\n# Bob\nBob has 4 nuts.\nWhat does Bob have?";
    let n_units = |document: &Document| (document.prompt.sentences.len(), document.generation.sentences.len());
    for (unit, expected) in
        [(Unit::Sentence, (6, 2)), (Unit::Line, (5, 1)), (Unit::Paragraph, (2, 2)), (Unit::Section, (2, 2)), (Unit::Word, (19, 8))]
    {
        let document = explain(&mut session, &question(prompt, unit, "pert"));
        assert_eq!(n_units(&document), expected, "{unit:?}");
        assert_eq!(document.prompt.sentence_texts().concat(), prompt);
        assert_eq!((document.support.is_empty(), document.check()), (unit == Unit::Word, Ok(())));
        let linked = from_fragment(&to_fragment(&document)).expect("a link");
        assert_eq!((linked.unit, linked.prompt.clone(), n_units(&linked)), (unit, document.prompt.clone(), expected));
    }
    // Support blanks all statements, whatever the unit.
    let supports =
        [Unit::Sentence, Unit::Paragraph, Unit::Section].map(|unit| explain(&mut session, &question(prompt, unit, "pert")).support);
    assert!(supports[0].iter().all(|&support| support > 1.0) && supports.iter().all(|support| *support == supports[0]), "{supports:?}");
}

#[test]
fn paragraph_splits_into_its_words() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let prompt = "Ann has 3 figs. Bob has 4 nuts.\n\nWhat does Bob have?";
    let question = question(prompt, Unit::Paragraph, "pert");
    let mut go_on = async |_| ControlFlow::Continue(());
    let words = pollster::block_on(session.words(&question, 0, &mut go_on)).expect("it can be opened").expect("nothing stopped it");
    assert_eq!(words.iter().map(|word| word.text.trim()).collect::<Vec<_>>(), prompt.split_whitespace().take(8).collect::<Vec<_>>());
    assert!(words.iter().all(|word| word.scores.len() == 2));
    let long = Question { prompt: format!("{}\nWhy?", "Ann has 3 figs. ".repeat(70)), ..question };
    let problem = pollster::block_on(session.words(&long, 0, &mut go_on)).unwrap_err();
    assert!(problem.what.to_string().contains("281 words"), "{problem:?}");
}

#[test]
fn model_does_not_read_brackets() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let marked = "[[Ann has 3 figs. Bob has 4 nuts.]] What does Bob have?";
    let document = explain(&mut session, &question(marked, Unit::Bracket, "pert"));
    assert_eq!(document.prompt.sentence_texts(), ["Ann has 3 figs. Bob has 4 nuts. ", "What does Bob have?"]);
    let again = explain(&mut session, &question(&document.prompt.bracketed(), Unit::Bracket, "pert"));
    assert_eq!(again, document);
    // The model answers the prompt without marks, and the answer is remembered.
    let plain = Question { answer: None, ..question(&document.prompt.text, Unit::Sentence, "pert") };
    let answered = Question { prompt: marked.into(), unit: Unit::Bracket, ..plain.clone() };
    let texts = [plain, answered].map(|question| explain(&mut session, &question).generation.text.clone());
    assert_eq!(texts[0], texts[1]);
    for (wrong, what) in [("[[a", "after it"), ("a]]", "before it"), ("[[a [[b]] c]]", "between"), ("[[ ]] a", "nothing between")] {
        let problem = outcome(&mut session, &question(wrong, Unit::Bracket, "pert")).unwrap_err();
        assert!(problem.what.to_string().contains(what) && problem.remedy.to_string().starts_with("Put [["), "{problem:?}");
    }
}

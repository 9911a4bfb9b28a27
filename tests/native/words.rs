//! Words as sources: graphs of words, and sentences split into words, with the built-in model.

use std::ops::ControlFlow;

use glasscage::attribution::deletion::RANDOM_ORDERS;
use glasscage::attribution::methods;
use glasscage::engine::Engine;
use glasscage::explanation::Unit;
use glasscage::lm::LanguageModel;
use glasscage::request::{BackendChoice, Question, Word};
use glasscage::session::Session;

use crate::sessions::{DEMO, explain, session};

const PROMPT: &str = "Stop. Ann has 3 figs. Bob has 4 nuts. What does Bob have?";
const ANSWER: &str = "Bob has 4 nuts. The answer is 4.";

fn question(unit: Unit) -> Question {
    Question { answer: Some(ANSWER.into()), unit, method: "pert".into(), ..Question::greedy(PROMPT) }
}

fn words(session: &mut Session<Engine>, question: &Question, source: usize) -> Vec<Word> {
    pollster::block_on(session.words(question, source, &mut async |_| ControlFlow::Continue(())))
        .expect("it can be opened")
        .expect("nothing stopped it")
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-4
}

#[test]
fn one_word_sentence_splits_into_itself() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    // Skip methods that need a masked language model.
    for method in methods().filter(|method| !method.needs_masked_lm()) {
        let question = Question { method: method.id.to_string(), ..question(Unit::Sentence) };
        let document = explain(&mut session, &question);
        let words = words(&mut session, &question, 0);
        assert_eq!(words.iter().map(|word| word.text.trim()).collect::<Vec<_>>(), ["Stop."]);
        // Words are measured alone.
        let table = document.alone.as_ref().unwrap_or(&document.table);
        let column: Vec<f64> = table.rows().map(|row| row[0].unwrap()).collect();
        let are_close = words[0].scores.iter().zip(&column).all(|(&word, &sentence)| close(word, sentence));
        assert!(are_close && words[0].scores.len() == column.len(), "{}: {words:?} {column:?}", method.id);
    }
}

#[test]
fn split_sentences_agree_with_word_graph() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let by_sentences = explain(&mut session, &question(Unit::Sentence));
    let by_words = explain(&mut session, &question(Unit::Word));
    assert_eq!((by_words.unit, by_words.table.n_prompt()), (Unit::Word, PROMPT.split_whitespace().count()));
    assert_eq!(by_words.prompt.sentence_texts().concat(), PROMPT);
    let [n_prompt, n_prompt_words] = [&by_sentences, &by_words].map(|document| document.prompt.sentences.len());
    // The mean over a sentence's tokens equals the mean of its words' means, weighted by their tokens.
    let on_sentence = |i: usize, k: usize| {
        let [start, end] = by_sentences.generation.sentences[i];
        let spans = by_words.generation.sentences.iter().zip(&by_words.generation.tokens).enumerate();
        let inside = spans.filter(|(_, (span, _))| span[0] >= start && span[1] <= end);
        let (sum, tokens) = inside.fold((0.0, 0), |(sum, all), (w, (_, &tokens))| {
            (sum + by_words.table.row(w)[k].expect("it was measured") * tokens as f64, all + tokens)
        });
        sum / tokens as f64
    };
    for source in 0..n_prompt + 1 {
        let words = words(&mut session, &question(Unit::Sentence), source);
        assert_eq!(words.iter().map(|word| word.text.as_str()).collect::<String>(), by_sentences.source(source));
        let before: usize = (0..source).map(|j| by_sentences.source(j).split_whitespace().count()).sum();
        for (k, word) in words.iter().enumerate() {
            let first = (source + 1).saturating_sub(n_prompt);
            assert_eq!(word.scores.len(), by_sentences.table.n_generated() - first);
            let node = before + k;
            assert!(node < n_prompt_words + by_words.table.n_generated());
            for (i, &score) in (first..).zip(&word.scores) {
                assert!(close(score, on_sentence(i, node)), "{} on G{}: {score} {}", word.text, i + 1, on_sentence(i, node));
            }
        }
    }
}

/// Tokens through the transformer for words, a deletion test, and an explanation by another method.
fn follow_up_tokens(session: &mut Session<Engine>, question: &Question) -> [usize; 3] {
    let start = session.lm.counters().forward_tokens;
    words(session, question, 0);
    let after_words = session.lm.counters().forward_tokens;
    let mut go_on = async |_| ControlFlow::Continue(());
    let curves = session.deletion_curves(question, &[], &mut go_on);
    assert_eq!(pollster::block_on(curves).unwrap().unwrap().random.len(), RANDOM_ORDERS, "the usual number of random orders");
    let after_curves = session.lm.counters().forward_tokens;
    explain(session, &Question { method: "clp".into(), ..question.clone() });
    [after_words - start, after_curves - after_words, session.lm.counters().forward_tokens - after_curves]
}

#[test]
fn answer_is_generated_once_for_all_requests() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let question = Question::greedy(PROMPT);
    let document = explain(&mut session, &question);
    let given = Question { answer: Some(document.generation.text.clone()), ..question.clone() };
    let of_given_answer = follow_up_tokens(&mut session, &given);
    assert_eq!(follow_up_tokens(&mut session, &question), of_given_answer);
    // Another limit may end the answer elsewhere, so it is generated again, once.
    let shorter = Question { max_tokens: question.max_tokens - 1, ..question };
    let [words, curves, method] = follow_up_tokens(&mut session, &shorter);
    assert!(words > of_given_answer[0], "{words}");
    assert_eq!([curves, method], of_given_answer[1..]);
}

#[test]
fn word_explanation_beyond_limit_reports_cost() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let long = Question { prompt: "Ann has 3 figs. ".repeat(100), ..question(Unit::Word) };
    let problem = pollster::block_on(session.explain(&long, &mut async |_| ControlFlow::Continue(()))).unwrap_err();
    assert!(problem.what.to_string().contains("407 forward passes") && problem.remedy.to_string().contains("sentences"), "{problem:?}");
    // The model must not generate an answer first.
    let unanswered = Question { answer: None, ..long };
    let problem = pollster::block_on(session.explain(&unanswered, &mut async |_| panic!("a token"))).unwrap_err();
    assert!(problem.what.to_string().contains("400 forward passes"), "{problem:?}");
    let long_sentence = Question { prompt: "Ann has 3 figs and ".repeat(70) + "no nuts. How many?", ..question(Unit::Sentence) };
    let problem = pollster::block_on(session.words(&long_sentence, 0, &mut async |_| panic!("a pass"))).unwrap_err();
    assert!(problem.what.to_string().contains("352 words"), "{problem:?}");
    let question = question(Unit::Sentence);
    let mut go_on = async |_| ControlFlow::Continue(());
    let last = session.words(&question, 5, &mut go_on);
    assert!(pollster::block_on(last).unwrap_err().what.to_string().contains("No sentence comes after"));
}

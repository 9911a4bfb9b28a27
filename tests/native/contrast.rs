//! Contrasts: compared with float64, and with themselves where the two texts change places.

use std::ops::ControlFlow;

use glasscage::engine::Engine;
use glasscage::explanation::Contrast;
use glasscage::problem::Problem;
use glasscage::request::{BackendChoice, PassProgress, Question};
use glasscage::session::Session;
use serde_json::Value;

use crate::sessions::{DEMO, STORIES, session};

const PROMPT: &str = "Ann has 3 figs. Bob has 4 nuts. What does Bob have?";

fn given(prompt: &str, answer: &str) -> Question {
    Question { answer: Some(answer.into()), method: "pert".into(), ..Question::greedy(prompt) }
}

/// Compares the first occurrence of `text` in the answer with `other`.
fn contrast(session: &mut Session<Engine>, question: &Question, text: &str, other: &str) -> Result<Contrast, Problem> {
    let answer = question.answer.as_deref().expect("a given answer");
    let mark = answer.find(text).map_or([0, 0], |at| [at, at + text.len()].map(|byte| answer[..byte].chars().count()));
    let measured = pollster::block_on(session.contrast(question, mark, other, &mut async |_| ControlFlow::Continue(())));
    measured.map(|contrast| contrast.expect("nothing stopped it"))
}

#[test]
fn contrast_matches_float64() {
    let golden: Value = serde_json::from_str(include_str!("../golden/contrast.json")).expect("JSON");
    let text = |name: &str| golden[name].as_str().expect("a text");
    let question = Question { use_template: false, ..given(text("prompt"), text("answer")) };
    for backend in [BackendChoice::Cpu, BackendChoice::Gpu] {
        let mut session = session(STORIES, backend);
        for expected in golden["contrasts"].as_array().expect("a list") {
            let [mark, other] = ["mark", "alternative"].map(|name| expected[name].as_str().expect("a text"));
            let found = contrast(&mut session, &question, mark, other).expect("it is measured");
            let [log_probabilities, effects] =
                ["log_probabilities", "effects"].map(|name| serde_json::from_value::<Vec<f64>>(expected[name].clone()).expect("numbers"));
            assert_eq!(found.effects.len(), effects.len(), "{mark}");
            let all = found.log_probabilities.iter().chain(&found.effects).zip(log_probabilities.iter().chain(&effects));
            for (found, exact) in all {
                assert!((found - exact).abs() < 1e-4, "{mark}, {backend:?}: {found} instead of {exact}");
            }
        }
    }
}

#[test]
fn exchanged_texts_flip_every_effect() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let answer = |number: &str| format!("Bob has {number} nuts. The answer is {number}.");
    for (text, other) in [("4", "3"), ("4", "38")] {
        let [one, back] = [(text, other), (other, text)].map(|(text, other)| {
            contrast(&mut session, &given(PROMPT, &answer(text)), &format!(" {text}"), other).expect("it is measured")
        });
        assert_eq!((one.effects.len(), back.effects.len()), (3, 3), "prompt sentences before the first sentence of the answer");
        assert!(one.effects.iter().any(|effect| effect.abs() > 0.5), "{one:?}");
        let flipped = one.effects.iter().zip(&back.effects).all(|(effect, back)| (effect + back).abs() < 1e-4);
        assert!(flipped && (one.log_probabilities[0] - back.log_probabilities[1]).abs() < 1e-4, "{one:?} {back:?}");
    }
}

#[test]
fn units_before_the_mark_have_effects() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let question = given(PROMPT, "Bob has 4 nuts. The answer is 4.");
    let whole = contrast(&mut session, &question, "The answer is 4.", "The answer is 3.").expect("it is measured");
    assert_eq!(whole.effects.len(), 4, "the first sentence of the answer is before the second");
    assert!(whole.effects[3] > 0.0, "it says 4: {whole:?}");
    let words = Question { unit: glasscage::explanation::Unit::Word, ..question };
    let by_words = contrast(&mut session, &words, "4.", "3.").expect("it is measured");
    assert_eq!(by_words.effects.len(), PROMPT.split_whitespace().count() + 7);
}

#[test]
fn impossible_contrasts_are_problems() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let question = given(PROMPT, "Bob has 4 nuts.");
    let mut says = |text: &str, other: &str| contrast(&mut session, &question, text, other).expect_err("it is refused").what.to_string();
    assert_eq!(says("4", "4"), "both texts are the same, so there is nothing to compare");
    assert_eq!(says("4", "  "), "there is no text to compare with");
    assert_eq!(says("figs", "nuts"), "the marked text is not in the answer");
    let beyond = pollster::block_on(session.contrast(&question, [12, 99], "x", &mut async |_| ControlFlow::Continue(())));
    assert_eq!(beyond.expect_err("it is refused").what.to_string(), "the marked text is not in the answer");
}

#[test]
fn contrast_can_be_stopped() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let question = given(PROMPT, "Bob has 4 nuts.");
    let mut told = Vec::new();
    let mut on_pass = async |pass: PassProgress| {
        told.push(pass);
        if pass.done < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let stopped = pollster::block_on(session.contrast(&question, [8, 9], "3", &mut on_pass));
    assert_eq!((stopped, told.last()), (Ok(None), Some(&PassProgress { done: 2, planned: 6 })));
}

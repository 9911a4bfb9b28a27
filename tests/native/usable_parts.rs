//! A model file with one unusable part: the other parts stay usable.

use std::ops::ControlFlow;

use glasscage::engine::Engine;
use glasscage::model::source::BytesInMemory;
use glasscage::problem::Problem;
use glasscage::request::{BackendChoice, Question, Reading};
use glasscage::session::{AnswerResult, Session};

const DEMO: &[u8] = include_bytes!("../fixtures/models/demo.gguf");

/// The built-in model with changed bytes after each of these keys.
fn changed(changes: &[(&str, &str)]) -> Session<Engine> {
    let mut bytes = DEMO.to_vec();
    for (key, value) in changes {
        let at = bytes.windows(key.len()).position(|window| window == key.as_bytes()).unwrap() + key.len();
        bytes[at..at + value.len()].copy_from_slice(value.as_bytes());
    }
    let (source, mut go_on) = (BytesInMemory(bytes), async |_| ControlFlow::Continue(()));
    let session = Session::load(&source, BackendChoice::Cpu, &mut go_on);
    pollster::block_on(session).expect("it loads").expect("nothing stopped it")
}

fn answer(session: &mut Session<Engine>, use_template: bool) -> Result<AnswerResult, Problem> {
    let question = Question { answer: Some("Bob.".into()), use_template, ..Question::greedy("Who has figs?") };
    pollster::block_on(session.answer(&question, &mut async |_| ControlFlow::Continue(())))
}

#[test]
fn unusable_template_leaves_model_usable() {
    let mut session = changed(&[("{% for message in messages %}{{ '<|im_start|>' + message['role']", "|odd    + ")]);
    let model = session.loaded_model();
    let notices: Vec<String> = model.notices.iter().map(|notice| notice.to_sentence()).collect();
    assert!(model.has_template);
    assert_eq!(notices, ["The chat template of this model cannot be used: it has an unknown filter: odd."]);
    assert!(matches!(answer(&mut session, false), Ok(AnswerResult::Answered(_))));
    let problem = answer(&mut session, true).err().expect("a problem");
    assert!(problem.is_of_template && model.notices.contains(&problem.what), "{problem}");
    assert_eq!(
        (session.count_tokens("Who?", Reading::Text, true), session.count_tokens("Who?", Reading::Text, false).is_some()),
        (None, true)
    );
}

#[test]
fn expected_tokens_grow_with_sentences() {
    let session = changed(&[]);
    let [short, long] = ["Who has figs?", "Ann has figs. Bob has none. Who has figs?"].map(|prompt| {
        let tokens = session.count_tokens(prompt, Reading::Text, true).expect("a template");
        (tokens, session.expected_tokens(&Question::greedy(prompt)))
    });
    // The answer counts as one more sentence.
    assert_eq!([short.1, long.1], [2 * short.0, 4 * long.0]);
}

#[test]
fn guessed_rules_and_missing_tokens_are_noticed() {
    let session = changed(&[("tokenizer.ggml.pr", "3"), ("tokenizer.ggml.eos_token_id\x04\0\0\0", "\u{7f}\u{7f}\u{7f}\u{7f}")]);
    let lines: Vec<String> = session.loaded_model().notices.iter().map(|notice| notice.to_sentence()).collect();
    assert!(lines.iter().any(|line| line.contains("tokenizer.ggml.pre")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("token 2139062143 by tokenizer.ggml.eos_token_id")), "{lines:?}");
}

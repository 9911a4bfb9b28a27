//! Tests of changed prompts and of continuations, and of token counts while the visitor types.

use super::tests::{Page, asked, requests};
use crate::app::analysis::example::document;
use crate::app::analysis::variant::VariantAnswer;
use crate::app::state::State;
use crate::app::state::message::{EditorMessage, Effect, ExplanationMessage, Message};
use crate::explanation::{Alternative, Answer, AnswerStop, Branch, Derivation, Document, Manifest, Sampling, Token};
use crate::graph::Normalization;
use crate::problem::Problem;
use crate::request::BranchPoint;
use crate::worker::engine::protocol::{EngineEvent, EngineRequest};
use crate::worker::envelope::Envelope;
use glasscage_message::message;

#[test]
fn an_answer_without_sentences_that_is_stopped_keeps_its_words() {
    let mut page = Page::explained();
    page.send(ExplanationMessage::LeaveOut(vec![0]));
    let run = asked(&page.send(Message::AnswerVariant));
    page.token(run, "So 5");
    page.engine(run, EngineEvent::Stopped);
    let variants = page.look(|state| state.explanation.variants.clone());
    assert!(variants.len() == 1 && !variants[0].is_growing() && !variants[0].is_empty());
    assert!(page.look(|state| state.editor.given_answer.is_empty()), "it is not the answer to the whole prompt");
}

#[test]
fn passage_is_left_out_without_changing_edits() {
    let mut page = Page::explained();
    page.send(ExplanationMessage::Reword { source: 1, words: "Z.".into() });
    let effects = page.send(Message::AnswerWithout(vec![0]));
    let EngineRequest::Answer(question) = &requests(&effects)[0].body else { panic!("{effects:?}") };
    assert_eq!((&*question.prompt, &question.answer), ("B.", &None));
    page.engine(asked(&effects), EngineEvent::Answered(Box::new(document())));
    let (variants, edits) = page.look(|state| (state.explanation.variants.clone(), state.explanation.edits.clone()));
    assert_eq!((&variants[0].edits.left_out[..], edits.left_out.len(), edits.reworded.len()), (&[0][..], 0, 1));
    assert!(page.send(Message::AnswerWithout(vec![0, 1])).is_empty(), "nothing of the prompt is left");
}

#[test]
fn a_changed_prompt_is_answered_explained_and_opened() {
    let mut page = Page::explained();
    page.send(ExplanationMessage::Reword { source: 0, words: "Z.".into() });
    let effects = page.send(Message::AnswerVariant);
    let run = asked(&effects);
    page.engine(run, EngineEvent::Answered(Box::new(document())));
    let run = asked(&page.send(Message::ExplainVariant(0)));
    page.engine(run, EngineEvent::Explained { document: Box::new(document()), problem: None });
    assert!(page.look(|state| state.explanation.variants[0].explanation.is_some() && state.explanation.comparisons.is_empty()));
    let derivation = Derivation { normalization: Normalization::None, ..document().method.derivation() };
    page.send(ExplanationMessage::Derive(derivation));
    let derived = |state: &State| state.explanation.variants[0].explanation.as_ref().map(|graph| graph.document().method.derivation());
    assert_eq!(page.look(derived), Some(derivation), "before and after stay comparable");
    let effects = page.send(Message::OpenVariant(0));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::PushEntry { .. })), "Back leads to the original");
    let mut other = document();
    other.manifest.model.sha256 = "another".into();
    page.opens(other.to_json());
    assert!(page.look(|state| state.explanation.variants.is_empty()));
    page.opens(document().to_json());
    assert_eq!(page.look(|state| (state.explanation.variants.len(), state.explanation.edits.reworded.len())), (1, 1));
}

/// The example as if the model had written it, with one alternative of each token.
fn generated(branches: Vec<Branch>) -> Document {
    let (sampling, stop) = (Sampling::GREEDY, AnswerStop::End);
    let answer = Answer::Generated { sampling, max_tokens: 64, thinking: None, stop, warning: None, branches };
    let alternatives = vec![Alternative { text: "X".into(), log_probability: -1.0 }];
    let ends = [1, 3, 4, 6, 7, 9, 10, 11];
    let token = |(k, &end): (usize, &usize)| {
        let start = k.checked_sub(1).map_or(0, |before| ends[before]);
        Token { span: [start, end], log_probability: -0.5, alternatives: alternatives.clone() }
    };
    let manifest = Manifest { answer, ..document().manifest };
    Document { manifest, tokens: ends.iter().enumerate().map(token).collect(), ..document() }
}

/// The branches of the only question.
fn asked_branches(effects: &[Effect]) -> Vec<BranchPoint> {
    match requests(effects)[..] {
        [Envelope { body: EngineRequest::Answer(question) | EngineRequest::Explain(question), .. }] => {
            assert_eq!((question.prompt.as_str(), &question.answer, question.max_tokens), ("A. B.", &None, 64));
            question.branches.clone()
        }
        _ => panic!("one question: {effects:?}"),
    }
}

#[test]
fn answer_is_continued_from_alternative_explained_and_opened() {
    let mut page = Page::ready();
    page.opens(generated(Vec::new()).to_json());
    for nothing in [(8, 1), (2, 0), (2, 2)] {
        assert_eq!(page.send(Message::ContinueFrom { token: nothing.0, rank: nothing.1 }), [], "there is no such alternative");
    }
    let effects = page.send(Message::ContinueFrom { token: 2, rank: 1 });
    let point = BranchPoint { token: 2, rank: 1, text: Some("X".into()), before: Some("C. ".into()) };
    assert_eq!(asked_branches(&effects), std::slice::from_ref(&point));
    let run = asked(&effects);
    page.token(run, "C. X");
    let variant = page.look(|state| state.explanation.variants[0].clone());
    assert_eq!((variant.answer.text().as_str(), variant.continuation.map(|found| found.original)), ("C. X", Some("D".into())));
    let branch = Branch { token: 2, rank: 1, text: "X".into() };
    page.engine(run, EngineEvent::Answered(Box::new(generated(vec![branch.clone()]))));
    let effects = page.send(Message::ExplainVariant(0));
    assert_eq!(asked_branches(&effects), [point]);
    page.engine(asked(&effects), EngineEvent::Explained { document: Box::new(generated(vec![branch.clone()])), problem: None });
    page.send(Message::OpenVariant(0));
    assert_eq!(page.look(|state| state.explanation.document().unwrap().manifest.answer.branches().to_vec()), std::slice::from_ref(&branch));

    // From a later token the earlier choice stays; from an earlier one it does not.
    let known = BranchPoint::from(&branch);
    let later = page.send(Message::ContinueFrom { token: 4, rank: 1 });
    assert_eq!(asked_branches(&later)[0], known);
    page.engine(asked(&later), EngineEvent::Stopped);
    assert_eq!(page.look(|state| state.explanation.variants.len()), 1, "one stopped before its first token is dropped");
    assert_eq!(asked_branches(&page.send(Message::ContinueFrom { token: 1, rank: 1 })).len(), 1);
}

#[test]
fn explanation_by_another_method_says_who_wrote_the_answer() {
    let mut page = Page::ready();
    let run = asked(&page.send(Message::Explain));
    page.engine(run, EngineEvent::Explained { document: Box::new(generated(Vec::new())), problem: None });
    let run = asked(&page.send(Message::CompareMethod("clp".into())));
    let mut by_clp = document();
    by_clp.method.id = "clp".into();
    page.engine(run, EngineEvent::Explained { document: Box::new(by_clp), problem: None });
    page.send(Message::ShowMethod("clp".into()));
    let answer = page.look(|state| state.explanation.document().map(|document| document.manifest.answer.clone()));
    assert_eq!((page.shown().as_deref(), answer), (Some("clp"), Some(generated(Vec::new()).manifest.answer)));
}

#[test]
fn stopped_continuation_keeps_its_words() {
    let mut page = Page::ready();
    page.opens(generated(Vec::new()).to_json());
    let run = asked(&page.send(Message::ContinueFrom { token: 0, rank: 1 }));
    page.token(run, "X");
    page.engine(run, EngineEvent::Stopped);
    assert_eq!(page.look(|state| state.explanation.variants[0].answer.clone()), VariantAnswer::Stopped("X".into()));
    let run = asked(&page.send(Message::ContinueFrom { token: 0, rank: 1 }));
    page.engine(
        run,
        EngineEvent::Failed(Problem::new(message!("on this device the model starts its answer differently"), message!("Recompute it"))),
    );
    assert!(page.problem().starts_with("On this device the model starts its answer differently"), "{}", page.problem());
    assert_eq!(page.look(|state| state.explanation.variants.len()), 1);
}

#[test]
fn recomputed_explanation_takes_same_alternatives() {
    let mut page = Page::ready();
    let branch = Branch { token: 2, rank: 1, text: "X".into() };
    page.opens(generated(vec![branch.clone()]).to_json());
    let effects = page.send(Message::Recompute);
    assert_eq!(asked_branches(&effects), [BranchPoint::from(&branch)]);
    page.token(asked(&effects), "C. X");
    page.engine(asked(&effects), EngineEvent::Stopped);
    assert!(page.look(|state| state.engine.unfinished.is_none()), "its tokens are not those of the answer alone");
}

#[test]
fn provided_answers_are_not_continued() {
    let mut page = Page::ready();
    page.opens(Document { tokens: generated(Vec::new()).tokens, ..document() }.to_json());
    assert_eq!(page.send(Message::ContinueFrom { token: 2, rank: 1 }), []);
}

#[test]
fn tokens_are_counted_after_a_pause_in_typing() {
    let mut page = Page::ready();
    let pause = |effects: &[Effect]| {
        effects.iter().find_map(|effect| match effect {
            Effect::After { message, .. } => Some(Message::clone(message)),
            _ => None,
        })
    };
    let early = pause(&page.send(EditorMessage::PromptTyped("A".into()))).unwrap();
    let late = pause(&page.send(EditorMessage::PromptTyped("A. B".into()))).unwrap();
    assert_eq!(page.send(early), [], "the visitor typed on");
    let count = asked(&page.send(late));
    page.engine(count, EngineEvent::TokensCounted(Some(7)));
    assert_eq!(page.look(|state| *state.editor.tokens), Some(7));
    page.send(EditorMessage::PromptTyped("A. B.".into()));
    assert_eq!(page.look(|state| *state.editor.tokens), None, "those of another prompt");
    assert_eq!(pause(&Page::new().send(EditorMessage::PromptTyped("A".into()))), None, "there is no model to count");
}

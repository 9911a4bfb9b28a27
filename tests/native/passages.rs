//! Named passages: their units, and their effects compared with texts in which the blanked tokens are spelled out.

use std::ops::{ControlFlow, Range};

use glasscage::engine::Engine;
use glasscage::explanation::{CitationState, Document, SentenceRule, Unit, citations, from_fragment, to_fragment};
use glasscage::lm::ScoreRequest;
use glasscage::model::tokenizer::{TokenId, Tokenizer};
use glasscage::request::{BackendChoice, ExplainProgress, Question};
use glasscage::session::{AnswerResult, AnsweredQuestion, ExplainResult, Session};

use crate::readouts::readouts;
use crate::sessions::{DEMO, STORIES, session};

const PROMPT: &str = "Read.\n[1] Lily had a big cat. The cat was black.\n[2] Ben had a red ball.\n\nWho played?";
const ANSWER: &str = "Lily played with the black cat [1]. Ben lost his red ball [1]. They were happy [2].";

fn given(prompt: &str, answer: &str) -> Question {
    let question = Question { answer: Some(answer.into()), method: "pert".into(), ..Question::greedy(prompt) };
    Question { use_template: false, sentence_rule: SentenceRule::AnyScript, ..question }
}

fn answered(session: &mut Session<Engine>, question: &Question) -> AnsweredQuestion {
    match pollster::block_on(session.answer(question, &mut async |_| ControlFlow::Continue(()))).expect("an answer") {
        AnswerResult::Answered(answered) => *answered,
        AnswerResult::Stopped { .. } => panic!("nothing stopped it"),
    }
}

/// The document, and the passes that were reported: those done and those planned.
fn explain(session: &mut Session<Engine>, question: &Question, most_passes: usize) -> (Document, Vec<[usize; 2]>) {
    let mut reported = Vec::new();
    let mut on_progress = async |progress: ExplainProgress| {
        let (ExplainProgress::Pass { done, planned } | ExplainProgress::Column { done, planned, .. }) = progress else {
            return ControlFlow::Continue(());
        };
        reported.push([done, planned]);
        if done < most_passes { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    match pollster::block_on(session.explain(question, &mut on_progress)) {
        Ok(ExplainResult::Explained(document)) => (*document, reported),
        other => panic!("{other:?}"),
    }
}

/// Indices of the tokens whose first visible byte is in `bytes` of `text`, which `ids` spell.
fn tokens_in(text: &str, ids: &[TokenId], tokenizer: &Tokenizer, bytes: &Range<usize>) -> Vec<usize> {
    let spelled: Vec<u8> = ids.iter().flat_map(|&id| tokenizer.bytes(id).to_vec()).collect();
    // A tokenizer may add a space before the text.
    let added = spelled.len() - text.len();
    assert_eq!(&spelled[added..], text.as_bytes(), "the tokens spell the text");
    let mut start = 0;
    let mut first_visible = |&id: &TokenId| {
        let piece = tokenizer.bytes(id);
        let visible = start + piece.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
        start += piece.len();
        visible
    };
    let starts: Vec<usize> = ids.iter().map(&mut first_visible).collect();
    (0..ids.len()).filter(|&k| starts[k] >= added && bytes.contains(&(starts[k] - added))).collect()
}

/// ln p of the tokens from `start` on.
fn log_probs(session: &mut Session<Engine>, ids: &[TokenId], start: usize) -> Vec<f64> {
    let request = ScoreRequest::new(ids, start..ids.len(), &[]);
    pollster::block_on(readouts(&mut session.lm, &request)).expect("it scores").remove(0).log_probs
}

fn place(text: &str, part: &str) -> Range<usize> {
    let start = text.find(part).expect("it is a part");
    start..start + part.len()
}

#[test]
fn effects_match_spelled_out_texts() {
    // White space belongs to the sentence before it.
    let passages = ["Lily had a big cat. The cat was black.\n", "Ben had a red ball.\n\n"];
    let claims = [["Lily played with the black cat ", "."], ["Ben lost his red ball ", "."], ["They were happy ", "."]];
    for backend in [BackendChoice::Cpu, BackendChoice::Gpu] {
        let mut session = session(STORIES, backend);
        let question = given(PROMPT, ANSWER);
        let tokens = answered(&mut session, &question).transcript;
        let start = tokens.generation.start;
        let (document, _) = explain(&mut session, &question, usize::MAX);
        let unchanged = log_probs(&mut session, &tokens.tokens, start);
        // The first token begins the text.
        let (prompt_ids, answer_ids) = (&tokens.tokens[1..start], &tokens.tokens[start..]);
        let mut counted = Vec::new();
        let mut after = 0;
        for [claim, stop] in claims {
            let words = place(&ANSWER[after..], claim);
            let end = after + words.end + ANSWER[after + words.end..].find(stop).expect("a full stop");
            // The full stop may share a token with the bracket, which is of the mark.
            let of_words = tokens_in(ANSWER, answer_ids, &session.tokenizer, &(after + words.start..after + words.end));
            let of_stop = tokens_in(ANSWER, answer_ids, &session.tokenizer, &(end..end + 1));
            counted.push([of_words, of_stop].concat());
            after = end + 1;
        }
        for (group, passage) in document.groups.iter().zip(passages) {
            let mut ids = tokens.tokens.clone();
            let blanked = tokens_in(PROMPT, prompt_ids, &session.tokenizer, &place(PROMPT, passage));
            assert!(blanked.len() > 4, "{blanked:?}");
            blanked.iter().for_each(|&k| ids[k + 1] = session.tokenizer.eos());
            let without = log_probs(&mut session, &ids, start);
            for (i, counted) in counted.iter().enumerate() {
                let exact = counted.iter().map(|&t| unchanged[t] - without[t]).sum::<f64>() / counted.len() as f64;
                let found = group.effects[i];
                assert!((found - exact).abs() < 1e-4, "{} on {i}, {backend:?}: {found} instead of {exact}", group.name);
            }
        }
    }
}

#[test]
fn passes_of_groups_are_counted() {
    let mut session = session(STORIES, BackendChoice::Cpu);
    let question = given(PROMPT, ANSWER);
    let (document, reported) = explain(&mut session, &question, usize::MAX);
    let n = document.table.n_sources() - 1;
    assert_eq!((document.method.passes, reported.last()), ([n + 2, n + 2], Some(&[n + 2, n + 2])));
    assert!(reported.iter().enumerate().all(|(k, passes)| *passes == [k + 1, n + 2]), "{reported:?}");
    let (stopped, _) = explain(&mut session, &question, n + 1);
    assert_eq!((stopped.method.passes, stopped.is_complete()), ([n + 1, n + 2], true));
    assert_eq!((stopped.groups[0].effects.clone(), stopped.groups[1].effects.len()), (document.groups[0].effects.clone(), 0));
    let (stopped, _) = explain(&mut session, &question, 2);
    assert!(stopped.groups.len() == 2 && stopped.groups.iter().all(|group| group.effects.is_empty()));
    assert_eq!(stopped.check(), Ok(()));
}

#[test]
fn units_lie_within_passages() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let prompt = "# Facts\n[1] Ann has 3 figs. She eats 1.\n# More\n[2] Bob has 4 nuts.\n\n# Question\nWhat does Bob have?";
    let passages = ["[1] Ann has 3 figs. She eats 1.\n# More\n", "[2] Bob has 4 nuts.\n\n"];
    let of_unit = |unit| Question { unit, ..given(prompt, "Bob has 4 nuts [2].") };
    for unit in Unit::ALL {
        let (document, _) = explain(&mut session, &of_unit(unit), usize::MAX);
        let text = |sources: [usize; 2]| (sources[0]..sources[1]).map(|j| document.prompt.sentence(j)).collect::<String>();
        let found: Vec<String> = document.groups.iter().map(|group| text(group.sources)).collect();
        assert_eq!(found, passages, "{unit:?}");
        assert_eq!((document.version, document.check()), (3, Ok(())));
        assert_eq!(from_fragment(&to_fragment(&document)).map(|linked| linked.groups.len()), Ok(2));
        let cited: Vec<usize> = citations(&document).iter().map(|citation| citation.group).collect();
        assert_eq!(cited, if unit.is_word() { vec![] } else { vec![1] }, "{unit:?}");
    }
    let marked = Question { prompt: format!("[[{prompt}]]"), ..of_unit(Unit::Bracket) };
    let (document, _) = explain(&mut session, &marked, usize::MAX);
    assert_eq!(document.groups.iter().map(|group| group.sources).collect::<Vec<_>>(), [[1, 2], [2, 3]], "a mark ends with its passage");
}

#[test]
fn answer_depends_on_passage_that_it_repeats() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let prompt = "[1] Ann has 3 figs.\n[2] Bob has 4 nuts.\n\nHow many nuts does Bob have?";
    let question = |answer: &str| Question { use_template: true, ..given(prompt, answer) };
    let states = |session: &mut Session<Engine>, answer: &str| {
        let (document, _) = explain(session, &question(answer), usize::MAX);
        citations(&document).iter().map(|citation| citation.state).collect::<Vec<_>>()
    };
    assert_eq!(states(&mut session, "Bob has 4 nuts [2]."), [CitationState::Supported]);
    assert_eq!(states(&mut session, "Bob has 4 nuts [1]."), [CitationState::Misplaced(1)]);
}

//! Answers that continue from alternatives of their tokens: compared with plain decoding from the same tokens, by another implementation.

use std::ops::ControlFlow;

use glasscage::engine::Engine;
use glasscage::explanation::{Answer, AnswerStop, Branch, Document, Sampling};
use glasscage::lm::{N_TOP_TOKENS, ScoreRequest};
use glasscage::model::source::BytesInMemory;
use glasscage::model::tokenizer::TokenId;
use glasscage::problem::Problem;
use glasscage::request::{BackendChoice, BranchPoint, Question};
use glasscage::session::{AnswerResult, AnsweredQuestion, Session};

use crate::readouts::readouts;
use crate::sessions::{DEMO, STORIES, explain, session};
use crate::split_model::demo_that_thinks;

fn story(max_tokens: usize) -> Question {
    let prompt = "Once upon a time, there was a girl. Her name was Lily.";
    Question { use_template: false, method: "pert".into(), max_tokens, ..Question::greedy(prompt) }
}

fn sum() -> Question {
    Question { method: "pert".into(), ..Question::greedy("Tom has 5 figs. Ann gives Tom 3 figs. How many figs does Tom have?") }
}

fn point(token: usize, rank: usize) -> BranchPoint {
    BranchPoint { token, rank, text: None, before: None }
}

fn with(question: &Question, branches: &[BranchPoint]) -> Question {
    Question { branches: branches.to_vec(), ..question.clone() }
}

fn try_answer(session: &mut Session<Engine>, question: &Question) -> Result<AnsweredQuestion, Problem> {
    match pollster::block_on(session.answer(question, &mut async |_| ControlFlow::Continue(())))? {
        AnswerResult::Answered(answered) => Ok(*answered),
        AnswerResult::Stopped { .. } => panic!("nothing stopped it"),
    }
}

fn answer(session: &mut Session<Engine>, question: &Question) -> AnsweredQuestion {
    try_answer(session, question).expect("an answer")
}

fn prompt_and_ids(answered: &AnsweredQuestion) -> (Vec<TokenId>, Vec<TokenId>) {
    let transcript = &answered.transcript;
    (transcript.tokens[..transcript.generation.start].to_vec(), transcript.tokens[transcript.generation.clone()].to_vec())
}

fn branches(document: &Document) -> &[Branch] {
    document.manifest.answer.branches()
}

/// The most likely tokens after `tokens`, the most likely first, from a pass over the whole text and not from a step of decoding.
fn ranked(session: &mut Session<Engine>, tokens: &[TokenId]) -> Vec<TokenId> {
    // The last token is predicted, whatever it is.
    let tokens = [tokens, &[0]].concat();
    let request = ScoreRequest { top_tokens: true, ..ScoreRequest::new(&tokens, tokens.len() - 1..tokens.len(), &[]) };
    let readouts = pollster::block_on(readouts(&mut session.lm, &request)).expect("it scores");
    readouts[0].top_tokens[0].iter().map(|ranked| ranked.token).collect()
}

/// `start`, continued greedily to `length` tokens, or to the end of the answer: one pass over the whole text for each token.
fn continued(session: &mut Session<Engine>, prompt: &[TokenId], start: &[TokenId], length: usize) -> Vec<TokenId> {
    let mut ids = start.to_vec();
    while ids.len() < length {
        let next = ranked(session, &[prompt, &ids].concat())[0];
        if session.tokenizer.is_end_of_generation(next) {
            break;
        }
        ids.push(next);
    }
    ids
}

#[test]
fn alternative_is_followed_by_plain_greedy_continuation() {
    for backend in [BackendChoice::Cpu, BackendChoice::Gpu] {
        let (mut session, mut reference) = (session(STORIES, backend), session(STORIES, BackendChoice::Cpu));
        let question = story(24);
        let (prompt, ids) = prompt_and_ids(&answer(&mut session, &question));
        assert_eq!(ids, continued(&mut reference, &prompt, &[], 24), "the answer is greedy on {backend:?}");
        for (token, rank) in [(0, 1), (5, 1), (5, 4), (23, 2)] {
            let branched = answer(&mut session, &with(&question, &[point(token, rank)]));
            let mut others = ranked(&mut reference, &[&prompt[..], &ids[..token]].concat());
            others.retain(|other| *other != ids[token]);
            let start = [&ids[..token], &[others[rank - 1]]].concat();
            assert_eq!(prompt_and_ids(&branched).1, continued(&mut reference, &prompt, &start, 24), "{token}:{rank} on {backend:?}");
            let name = session.tokenizer.name(others[rank - 1]);
            assert_eq!(branches(&branched.document), [Branch { token, rank, text: name }]);
        }
    }
}

/// The words of the last sentence of an answer.
fn conclusion(session: &Session<Engine>, ids: &[TokenId]) -> String {
    let text: Vec<u8> = ids.iter().flat_map(|&id| session.tokenizer.bytes(id).to_vec()).collect();
    String::from_utf8(text).expect("whole characters").trim_end_matches('.').rsplit(". ").next().unwrap_or_default().to_lowercase()
}

#[test]
fn other_answers_are_likely_alternatives_with_another_conclusion() {
    let prompt = "The bakery baked 48 rolls this morning. By noon 19 of them had been sold, and in the afternoon 12 more went. \
                  How many rolls remained?";
    let question = Question { method: "pert".into(), ..Question::greedy(prompt) };
    let mut reference = session(DEMO, BackendChoice::Cpu);
    let answered = answer(&mut reference, &question);
    let (prompt_ids, ids) = prompt_and_ids(&answered);
    let tokens = [&prompt_ids[..], &ids].concat();
    let request = ScoreRequest { top_tokens: true, ..ScoreRequest::new(&tokens, prompt_ids.len()..tokens.len(), &[]) };
    let readout = pollster::block_on(readouts(&mut reference.lm, &request)).expect("it scores").remove(0);
    let alternative = |at: usize| {
        let other = readout.top_tokens[at].iter().find(|other| other.token != ids[at]).expect("another token");
        let probability = (readout.log_probs[..at].iter().sum::<f64>() + other.log_prob).exp();
        (probability, [&ids[..at], &[other.token]].concat())
    };
    let mut alternatives: Vec<(f64, Vec<TokenId>)> = (0..ids.len()).map(alternative).filter(|(p, _)| *p >= 0.02).collect();
    alternatives.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (concludes, limit) = (conclusion(&reference, &ids), ids.len() + 40);
    let mut expected = 0.0;
    for (probability, start) in alternatives.iter().take(6) {
        let continued = continued(&mut reference, &prompt_ids, start, limit);
        // A longer continuation has no end, and so no conclusion.
        if continued.len() < limit && conclusion(&reference, &continued) != concludes {
            expected += probability;
        }
    }
    assert!(expected > 0.02, "the model could have answered otherwise: {expected}");
    for backend in [BackendChoice::Cpu, BackendChoice::Gpu] {
        let mut session = session(DEMO, backend);
        let features = session.answer_features(prompt, &answered.document.generation.text);
        let others = pollster::block_on(features).expect("features")["other_answers"];
        assert!((others - expected).abs() < 1e-3, "{others} {expected} on {backend:?}");
    }
}

#[test]
fn forced_token_of_answer_changes_nothing() {
    let mut session = session(STORIES, BackendChoice::Cpu);
    let sampled = Question { sampling: Sampling { temperature: 0.8, top_k: Some(20), top_p: Some(0.9), seed: 7 }, ..story(16) };
    for question in [story(16), sampled] {
        let free = answer(&mut session, &question);
        let ids = prompt_and_ids(&free).1;
        for token in 0..ids.len() {
            let text = Some(session.tokenizer.name(ids[token]));
            let forced = answer(&mut session, &with(&question, &[BranchPoint { text, ..point(token, 9) }]));
            assert_eq!(prompt_and_ids(&forced).1, ids, "token {token}");
            assert_eq!(forced.document, free.document, "the model chose that token itself");
        }
    }
}

#[test]
fn tokens_before_branches_stay() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let question = sum();
    let ids = prompt_and_ids(&answer(&mut session, &question)).1;
    let (mut n_different, last) = (0, ids.len() - 1);
    for token in [0, 3, last / 2, last] {
        let found = try_answer(&mut session, &with(&question, &[point(token, 1)]));
        // An alternative may end the answer before it has a sentence.
        let Ok(branched) = found else { continue };
        let own = prompt_and_ids(&branched).1;
        assert_eq!(own[..token], ids[..token], "{token}");
        assert_ne!(own.get(token), Some(&ids[token]), "{token}");
        n_different += 1;
    }
    assert!(n_different >= 3);
}

#[test]
fn branch_of_branch_belongs_to_answer_before_it() {
    let mut session = session(STORIES, BackendChoice::Cpu);
    let question = story(20);
    let once = answer(&mut session, &with(&question, &[point(4, 2)]));
    let (prompt, ids) = prompt_and_ids(&once);
    let points = [point(4, 2), point(9, 1)];
    let twice = answer(&mut session, &with(&question, &points));
    let mut others = ranked(&mut session, &[&prompt[..], &ids[..9]].concat());
    others.retain(|other| *other != ids[9]);
    let start = [&ids[..9], &others[..1]].concat();
    assert_eq!(prompt_and_ids(&twice).1, continued(&mut session, &prompt, &start, 20));
    assert_eq!(branches(&twice.document).iter().map(|branch| (branch.token, branch.rank)).collect::<Vec<_>>(), [(4, 2), (9, 1)]);
    // What a document says is enough to make the same answer again, also with a model that remembers nothing.
    let again = branches(&twice.document).iter().map(BranchPoint::from).collect::<Vec<_>>();
    let mut other = self::session(STORIES, BackendChoice::Cpu);
    assert_eq!(answer(&mut other, &with(&question, &again)).document, twice.document);
}

#[test]
fn explained_continuation_says_where_it_was_chosen() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let free = explain(&mut session, &sum());
    let (token, rank) = (free.tokens.len() / 2, 1);
    let alternative = free.tokens[token].alternatives[0].text.clone();
    let document = explain(&mut session, &with(&sum(), &[point(token, rank)]));
    assert_eq!(branches(&document), [Branch { token, rank, text: alternative.clone() }]);
    assert_eq!(document.tokens[..token], free.tokens[..token], "the same tokens with the same alternatives");
    let own: String = document.generation.text.chars().skip(document.tokens[token].span[0]).collect();
    assert!(own.starts_with(&alternative), "{own:?} {alternative:?}");
    assert_eq!(document.version, 3);
    assert_eq!(Document::from_json(&document.to_json()).as_ref(), Ok(&document));
    // Rows of sentences before the branch are those of the answer that it leaves.
    let same = document.generation.sentences.iter().zip(&free.generation.sentences).take_while(|(a, b)| a == b).count();
    let is_before = |i: usize| document.generation.sentences[i][1] <= document.tokens[token].span[0];
    for i in (0..same).filter(|&i| is_before(i)) {
        for (own, free) in document.table.row(i).iter().zip(free.table.row(i)) {
            let same = own.zip(*free).is_none_or(|(own, free)| (own - free).abs() < 1e-4);
            assert!(same, "{own:?} {free:?}");
        }
    }
}

#[test]
fn branches_count_tokens_of_sentences_after_thinking() {
    let source = BytesInMemory(demo_that_thinks());
    let mut go_on = async |_| ControlFlow::Continue(());
    let session = Session::load(&source, BackendChoice::Cpu, &mut go_on);
    let mut session = pollster::block_on(session).expect("it loads").expect("nothing stopped it");
    let question = Question { thinking: Some(12), max_tokens: 30, ..sum() };
    let free = explain(&mut session, &question);
    let thought = free.generation.tokens[..free.generation.sections()[0].1.end].iter().sum::<usize>();
    for token in [3, thought + 1] {
        let document = explain(&mut session, &with(&question, &[point(token, 1)]));
        assert_eq!(document.tokens[..token], free.tokens[..token], "{token}");
        let alternative = &free.tokens[token].alternatives[0].text;
        let own: String = document.generation.text.chars().skip(document.tokens[token].span[0]).collect();
        assert!(own.starts_with(&alternative[..]), "{token}: {own:?} {alternative:?}");
        assert!(matches!(document.manifest.answer, Answer::Generated { thinking: Some(12), .. }));
    }
}

#[test]
fn chosen_end_token_ends_answer() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let free = explain(&mut session, &sum());
    let ends = |text: &str| text == session.tokenizer.name(session.tokenizer.eos());
    let place = free.tokens.iter().enumerate().skip(1).find_map(|(token, found)| {
        let rank = found.alternatives.iter().position(|alternative| ends(&alternative.text))? + 1;
        Some((token, rank))
    });
    let (token, rank) = place.expect("the model could have ended its answer earlier");
    let document = explain(&mut session, &with(&sum(), &[point(token, rank)]));
    assert_eq!(document.tokens.len(), token);
    assert!(matches!(document.manifest.answer, Answer::Generated { stop: AnswerStop::End, .. }));
}

#[test]
fn impossible_branches_are_problems() {
    let mut session = session(STORIES, BackendChoice::Cpu);
    let question = story(12);
    let mut says = |point: BranchPoint| {
        let found = try_answer(&mut session, &with(&question, &[point]));
        found.map(|_| ()).expect_err("it is refused").what.to_string()
    };
    assert_eq!(says(point(12, 1)), "the answer has no token 13");
    assert_eq!(says(point(3, 0)), "there is no alternative 0 at that token, only 5");
    assert_eq!(says(point(3, N_TOP_TOKENS)), "there is no alternative 6 at that token, only 5");
    let other = BranchPoint { text: Some("figs".into()), ..point(3, 1) };
    assert_eq!(says(other), "\"figs\" is not among the tokens that the model finds most likely there");
    let before = BranchPoint { before: Some("No".into()), ..point(3, 1) };
    assert!(says(before).starts_with("on this device the model starts its answer differently"));
    let given = Question { answer: Some("Lily has figs.".into()), ..with(&question, &[point(99, 9)]) };
    assert!(branches(&answer(&mut session, &given).document).is_empty(), "a given answer has none");
}

#[test]
fn continuation_can_be_stopped_before_its_branch() {
    let mut session = session(STORIES, BackendChoice::Cpu);
    let question = with(&story(12), &[point(6, 1)]);
    let mut pieces = Vec::new();
    let mut stop = async |piece: Option<String>| {
        pieces.push(piece);
        if pieces.len() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let stopped = pollster::block_on(session.answer(&question, &mut stop)).expect("it is stopped");
    assert!(matches!(stopped, AnswerResult::Stopped { answer } if answer.is_empty()));
    assert_eq!(pieces, [None, None, None], "the answer that the branch belongs to is not reported");
    let mut text = String::new();
    let mut keep = async |piece: Option<String>| {
        text.push_str(&piece.unwrap_or_default());
        ControlFlow::Continue(())
    };
    let answered = pollster::block_on(session.answer(&question, &mut keep)).expect("an answer");
    assert!(matches!(answered, AnswerResult::Answered(answered) if answered.document.generation.text == text));
}

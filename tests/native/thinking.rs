//! Models with thinking sections: their delimiters, their length limit, and their place in the document.

use std::ops::ControlFlow;

use glasscage::engine::Engine;
use glasscage::explanation::{Answer, Document, SectionKind};
use glasscage::model::chat::{ChatTemplate, ThoughtTokens, frame_within, knows_thinking};
use glasscage::model::source::BytesInMemory;
use glasscage::model::tokenizer::TokenId;
use glasscage::request::{BackendChoice, EarlierAnswers, Question, Reading, ThinkingSupport};
use glasscage::session::{AnswerResult, AnsweredQuestion, ExplainResult, Session};

use crate::chat::{day, model};
use crate::split_model::{demo_that_always_thinks, demo_that_thinks};
use crate::tokenizer::tokenizer_of;
use crate::vocabulary::vocabulary;

const PROMPT: &str = "Tom has 5 figs. Ann gives Tom 3 figs. How many figs does Tom have?";
const QWEN35: &str = include_str!("../golden/chat/qwen3.5.jinja");

#[test]
fn delimiters_match_template_and_vocabulary() {
    let (tokenizer, qwen3) = model("qwen3");
    let qwen35 = ChatTemplate::new(QWEN35, "", "").expect("it can be read");
    // Whether the frame of the prompt opens a thinking section, with and without thinking. Qwen3 lets the model open it, Qwen3.5 opens
    // it.
    for (template, opens) in [(&qwen3, [false, false]), (&qwen35, [true, false])] {
        let thoughts = ThoughtTokens::of(template, &tokenizer).expect("it thinks");
        assert!(knows_thinking(template, day()));
        let is_open = |prompt: &str, thinks: bool| {
            let framed = frame_within(1000, Some(template), &tokenizer, prompt, day(), thinks).expect("it can be framed");
            let last_of_prompt = framed.tokens.iter().rposition(|token| token.content.is_some()).expect("the prompt has tokens");
            let end: Vec<TokenId> = framed.ids()[last_of_prompt + 1..].to_vec();
            thoughts.is_open_after(&end)
        };
        // Regardless of the text that the user writes.
        for prompt in ["Why?", "What does <think> mean?", "Is </think> a word?"] {
            assert_eq!([is_open(prompt, true), is_open(prompt, false)], opens, "{prompt}");
        }
    }
    let (llama3, template) = model("llama-3");
    assert_eq!(ThoughtTokens::of(&template, &llama3), None);
    let gpt2 = tokenizer_of(&vocabulary("gpt-2"));
    assert_eq!(ThoughtTokens::of(&qwen35, &gpt2), None, "its vocabulary has no such tokens");
}

fn session() -> Session<Engine> {
    loaded(demo_that_thinks())
}

fn loaded(model: Vec<u8>) -> Session<Engine> {
    let source = BytesInMemory(model);
    let mut go_on = async |_| ControlFlow::Continue(());
    let session = Session::load(&source, BackendChoice::Cpu, &mut go_on);
    pollster::block_on(session).expect("it loads").expect("nothing stopped it")
}

fn explained(session: &mut Session<Engine>, thinking: Option<usize>) -> Document {
    explained_answer(session, thinking, None)
}

fn explained_answer(session: &mut Session<Engine>, thinking: Option<usize>, answer: Option<&str>) -> Document {
    let answer = answer.map(str::to_owned);
    let question = Question { thinking, answer, method: "pert".into(), max_tokens: 40, ..Question::greedy(PROMPT) };
    match pollster::block_on(session.explain(&question, &mut async |_| ControlFlow::Continue(()))) {
        Ok(ExplainResult::Explained(document)) => *document,
        other => panic!("{other:?}"),
    }
}

#[test]
fn thought_ends_at_limit_and_is_section() {
    let mut session = session();
    assert_eq!(session.loaded_model().thinking, ThinkingSupport::Chosen);
    let document = explained(&mut session, Some(12));
    let sections = document.generation.sections();
    let [(SectionKind::Thought, thought), (SectionKind::Answer, answer)] = &sections[..] else { panic!("{sections:?}") };
    assert!(thought.start == 0 && thought.end == answer.start && answer.end == document.generation.sentences.len());
    // The line break before the delimiter ends the thought.
    let n_tokens: usize = document.generation.tokens[thought.clone()].iter().sum();
    assert!((12..=13).contains(&n_tokens), "{n_tokens}");
    assert!(!document.generation.text.contains("think>"), "no sentence contains a delimiter: {:?}", document.generation.text);
    assert!(matches!(document.manifest.answer, Answer::Generated { thinking: Some(12), .. }));
    // Thoughts are sources like others, and the document is valid.
    assert!(document.table.rows().flatten().all(Option::is_some));
    assert_eq!(Document::from_json(&document.to_json()).as_ref(), Ok(&document));
    assert_eq!(explained(&mut session, Some(12)), document, "the answer is cached with its thought");
}

#[test]
fn explained_answer_precedes_thinking_section() {
    let prompt = "User: Tom has 5 figs.\nAssistant: So 5.\nUser: Ann gives Tom 3 figs. How many figs does Tom have?";
    let (reading, earlier_answers) = (Reading::Conversation, EarlierAnswers::Explained);
    let asked = Question { thinking: Some(12), method: "pert".into(), max_tokens: 40, ..Question::greedy(prompt) };
    let question = Question { reading, earlier_answers, ..asked };
    let outcome = pollster::block_on(session().explain(&question, &mut async |_| ControlFlow::Continue(())));
    let Ok(ExplainResult::Explained(document)) = outcome else { panic!("{outcome:?}") };
    let kinds: Vec<SectionKind> = document.generation.sections().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [SectionKind::Answer, SectionKind::Thought, SectionKind::Answer]);
    assert_eq!((document.check(), document.is_complete(), document.last_answer().row), (Ok(()), true, 1));
    assert!(document.generation.text.starts_with("So 5.\n\n") && !document.generation.text.contains("think>"));
    assert_eq!(document.tokens.len(), document.generation.tokens.iter().sum::<usize>());
}

#[test]
fn model_without_thinking_answers_at_once() {
    let mut session = session();
    let document = explained(&mut session, None);
    assert!(document.generation.sections.is_empty());
    assert!(matches!(document.manifest.answer, Answer::Generated { thinking: None, .. }));
}

#[test]
fn given_answer_has_no_thought() {
    let mut session = session();
    let answer = Some("Tom has 8 figs. So it is 8.");
    assert_eq!(explained_answer(&mut session, Some(12), answer), explained_answer(&mut session, None, answer));
}

fn answered(session: &mut Session<Engine>, question: &Question) -> AnsweredQuestion {
    match pollster::block_on(session.answer(question, &mut async |_| ControlFlow::Continue(()))) {
        Ok(AnswerResult::Answered(answered)) => *answered,
        _ => panic!("no answer"),
    }
}

#[test]
fn given_answer_follows_closed_thinking_section() {
    let mut session = loaded(demo_that_always_thinks());
    assert_eq!(session.loaded_model().thinking, ThinkingSupport::Always);
    let given = Question { answer: Some("Tom has 8 figs. So it is 8.".into()), ..Question::greedy(PROMPT) };
    let AnsweredQuestion { transcript, segments, document, .. } = answered(&mut session, &given);
    let before = &transcript.tokens[transcript.generation.start..segments.generation[0].start];
    let text: Vec<u8> = before.iter().flat_map(|&token| session.tokenizer.bytes(token).to_vec()).collect();
    assert_eq!(
        (String::from_utf8_lossy(&text).as_ref(), document.generation.text.as_str()),
        ("\n</think>\n\n", "Tom has 8 figs. So it is 8.")
    );
}

#[test]
fn forced_end_of_thought_is_reported() {
    let mut session = session();
    let question = Question { thinking: Some(12), max_tokens: 40, ..Question::greedy(PROMPT) };
    let mut report = || {
        let mut pieces: Vec<String> = Vec::new();
        let mut on_token = async |piece: Option<String>| {
            pieces.extend(piece);
            ControlFlow::Continue(())
        };
        assert!(matches!(pollster::block_on(session.answer(&question, &mut on_token)), Ok(AnswerResult::Answered(_))));
        pieces
    };
    let generated = report();
    assert!(generated.concat().contains("</think>"), "{generated:?}");
    assert_eq!(report(), generated, "the remembered answer");
}

#[test]
fn tokens_match_sentences_after_thinking_section() {
    let mut session = session();
    for (thinking, answer) in [(Some(12), None), (None, Some("Tom has 8 figs. So it is 8.".to_owned()))] {
        let question = Question { thinking, answer, max_tokens: 40, ..Question::greedy(PROMPT) };
        let AnsweredQuestion { document, transcript, segments, spans, .. } = answered(&mut session, &question);
        assert_eq!(spans.len(), transcript.generation.len());
        let mut end = 0;
        for (sentence, tokens) in document.generation.sentence_texts().into_iter().zip(&segments.generation) {
            let start = end;
            end += sentence.len();
            for at in tokens.clone() {
                let span = &spans[at - transcript.generation.start];
                let text = &document.generation.text[span.clone()];
                assert_eq!(text.as_bytes(), session.tokenizer.bytes(transcript.tokens[at]));
                // A token belongs to the sentence of its first visible character.
                let visible = span.end - text.trim_start().len();
                assert!(start <= visible && visible <= end, "{text:?} is not in {start}..{end}");
            }
        }
    }
}

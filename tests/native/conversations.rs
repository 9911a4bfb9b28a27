//! Conversations as prompts: in chat templates of several families, and explained with the built-in model.

use std::ops::{ControlFlow, Range};

use glasscage::engine::Engine;
use glasscage::engine::lm::{ScoreRequest, score_base};
use glasscage::explanation::{METHODS, Speaker, Turn, Unit, from_fragment, to_fragment};
use glasscage::model::chat::{ChatError, ChatMessage, ChatTemplate, Framed, Variables, frame, frame_messages};
use glasscage::model::tokenizer::Tokenizer;
use glasscage::request::{BackendChoice, EarlierAnswers, Question, Reading};
use glasscage::session::{AnswerResult, AnsweredQuestion, Session};
use proptest::prelude::*;

use crate::chat::{OF_FAMILIES, day, message, model};
use crate::sessions::{DEMO, explain, outcome, session};

const CONVERSATION: &str = "System: Be brief. Say numbers.\n\nUser: Ann has 3 figs. Bob has 4 nuts.\n\nAssistant: Ann has 3. Bob has 4.\n\n\
    User: Ann eats 1 fig. How many figs does Ann have?";
const ANSWER: &str = "Ann has 3 - 1 = 2 figs. The answer is 2.";

fn frame_all(template: &ChatTemplate, tokenizer: &Tokenizer, messages: &[ChatMessage<'_>]) -> Result<Framed, ChatError> {
    frame_messages(usize::MAX, Some(template), tokenizer, messages, day(), false)
}

#[test]
fn conversations_are_rendered_like_transformers() {
    let (qwen3, llama3) = (model("qwen3"), model("llama-3"));
    let of_families = OF_FAMILIES.map(|(name, source, bos)| (name, ChatTemplate::new(source, bos, "").expect("a template")));
    let cases: Vec<serde_json::Value> = serde_json::from_str(include_str!("../golden/chat/rendered.json")).expect("JSON");
    let mut names = std::collections::BTreeSet::new();
    for case in &cases {
        let messages: Vec<ChatMessage<'_>> = case["messages"].as_array().expect("a list").iter().map(message).collect();
        let name = case["template"].as_str().expect("a name");
        let (tokenizer, template) = match name {
            "Qwen-Qwen3-0.6B" => (&qwen3.0, &qwen3.1),
            "meta-llama-Llama-3.1-8B-Instruct" => (&llama3.0, &llama3.1),
            _ => match of_families.iter().find(|(family, _)| *family == name) {
                Some((_, template)) => (&qwen3.0, template),
                None => continue,
            },
        };
        let is_asked = case["add_generation_prompt"] == true && messages.last().is_some_and(|message| message.role == "user");
        let has_texts = messages.len() > 1 && messages.iter().all(|message| !message.content.trim().is_empty());
        let variables = &case["variables"];
        let is_plain = variables["enable_thinking"] != true && variables["keep_past_thinking"] != true;
        if !is_asked || !has_texts || !is_plain || case["case"] == "assistant_think" {
            continue;
        }
        let framed = frame_all(template, tokenizer, &messages).unwrap_or_else(|error| panic!("{error}: {case}"));
        let rendered = case["rendered"].as_str().expect("a text");
        // Templates that think by default differ from those that are asked not to.
        let unthinking = Variables::from([("enable_thinking".to_owned(), false.into())]);
        let expected = template.render(&messages, true, &unthinking, day()).expect("it can be rendered");
        assert_eq!(framed.text, expected, "{case}");
        if expected == rendered {
            names.insert(name);
        }
        for (message, content) in messages.iter().zip(&framed.contents) {
            assert_eq!(framed.text[content.clone()].trim(), message.content.trim(), "{case}");
        }
        let all = tokenizer.encode_with_special(&framed.text);
        let begins_twice = all.len() > 1 && tokenizer.adds_bos() && all[0] == all[1];
        assert_eq!(framed.ids(), all[usize::from(begins_twice)..], "{case}");
    }
    let expected =
        ["Qwen-Qwen3-0.6B", "granite-3.3", "granite-4.0", "like-gemma3", "like-lfm2.5", "meta-llama-Llama-3.1-8B-Instruct", "qwen3.5"];
    assert!(expected.iter().all(|name| names.contains(name)), "{names:?}");
}

#[test]
fn single_message_has_tokens_of_prompt() {
    for name in ["qwen3", "llama-3"] {
        let (tokenizer, template) = model(name);
        for prompt in ["Hi. Who?", " \n Say <|im_end|> and <|eot_id|>. "] {
            let messages = [ChatMessage { role: "user", content: prompt }];
            let alone = frame(Some(&template), &tokenizer, prompt, day()).expect("it can be framed");
            assert_eq!(frame_all(&template, &tokenizer, &messages).expect("it can be framed"), alone);
        }
    }
}

#[test]
fn unsuitable_templates_say_why() {
    let (tokenizer, qwen3) = model("qwen3");
    let all = |role: &str, content: &str| format!("{{% for m in messages %}}{role}{{{{ {content} }}}}{{% endfor %}}");
    let spoken = [("system", "S."), ("user", "U."), ("assistant", "A."), ("user", "V.")];
    let messages: Vec<ChatMessage<'_>> = spoken.iter().map(|&(role, content)| ChatMessage { role, content }).collect();
    let error = |source: &str, messages: &[ChatMessage<'_>]| {
        let template = ChatTemplate::new(source, "", "").expect("a template");
        frame_all(&template, &tokenizer, messages).map(|framed| framed.text).expect_err(source)
    };
    let refuses_system = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}";
    let drops_system = "{% for m in messages if m.role != 'system' %}{{ m.content }}|{% endfor %}";
    for source in [&[refuses_system, &all("", "m.content")].concat(), drops_system] {
        assert!(matches!(error(source, &messages), ChatError::NoSystem), "{source}");
        assert!(frame_all(&ChatTemplate::new(source, "", "").expect("a template"), &tokenizer, &messages[1..]).is_ok());
    }
    assert!(matches!(error("{{ messages[-1].content }}", &messages[1..]), ChatError::NotEveryTurn));
    assert!(matches!(error(&all("", "m.content ~ m.content"), &messages[1..]), ChatError::NotEveryTurn));
    let refuses = "{% if messages | length > 2 %}{{ raise_exception('take turns') }}{% endif %}{{ messages[0].content }}";
    assert!(error(refuses, &messages[1..]).to_string().ends_with("refuses this conversation: take turns"));
    let nothing = frame_messages(usize::MAX, None, &tokenizer, &messages, day(), false);
    assert!(matches!(nothing, Err(ChatError::NoTemplate)));
    // The template of Qwen3 drops thinking sections of earlier answers.
    let thought = [messages[1], ChatMessage { role: "assistant", content: "<think>\nhm\n</think>\n\nA." }, messages[3]];
    let error = frame_all(&qwen3, &tokenizer, &thought).map(|framed| framed.text).expect_err("a thinking section is taken out");
    assert!(error.to_string().contains("takes \u{201c}<think>\nhm\n</think>\u{201d} out"), "{error}");
}

#[test]
fn no_turn_contains_control_tokens() {
    let (tokenizer, template) = model("qwen3");
    // Contents of conversations have no white space at their ends.
    let texts = prop::collection::vec("x(<\\|im_(start|end)\\|>|[a-z .\n]){1,4}x", 1..5);
    proptest!(|(contents in texts)| {
        let roles = ["user", "assistant"].into_iter().cycle();
        let messages: Vec<ChatMessage<'_>> = contents.iter().zip(roles).map(|(content, role)| ChatMessage { role, content }).collect();
        let framed = frame_all(&template, &tokenizer, &messages).unwrap();
        for token in &framed.tokens {
            prop_assert!(token.content.is_none() || !tokenizer.is_control(token.id));
        }
        for (k, content) in framed.contents.iter().enumerate() {
            prop_assert_eq!(framed.text[content.clone()].trim(), contents[k].trim());
            let ranges = framed.tokens.iter().filter_map(|token| token.content.clone()).filter(|(turn, _)| *turn == k);
            let mut end = 0;
            for (_, Range { start, end: next }) in ranges {
                prop_assert!(start <= end, "no gap");
                end = next;
            }
            prop_assert_eq!(end, contents[k].len());
        }
    });
}

fn question(prompt: &str, unit: Unit) -> Question {
    Question { answer: Some(ANSWER.into()), reading: Reading::Conversation, unit, method: "pert".into(), ..Question::greedy(prompt) }
}

fn turns(counts: [usize; 4]) -> Vec<Turn> {
    let roles = [Speaker::System, Speaker::User, Speaker::Assistant, Speaker::User];
    roles.into_iter().zip(counts).map(|(role, sentences)| Turn::given(role, sentences)).collect()
}

#[test]
fn units_stay_within_turns() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    for (unit, counts) in [(Unit::Sentence, [2, 2, 2, 2]), (Unit::Paragraph, [1; 4]), (Unit::Section, [1; 4]), (Unit::Word, [4, 8, 6, 10])]
    {
        let document = explain(&mut session, &question(CONVERSATION, unit));
        assert_eq!(document.turns, turns(counts), "{unit:?}");
        assert_eq!((document.check(), document.version, document.is_complete()), (Ok(()), 3, true));
        assert!(document.prompt.text.starts_with("Be brief. Say numbers.\n\nAnn has 3 figs."), "{}", document.prompt.text);
        assert!(document.prompt.tokens.iter().all(|&tokens| tokens > 0), "{:?}", document.prompt.tokens);
        let linked = from_fragment(&to_fragment(&document)).expect("a link");
        assert_eq!((linked.turns, linked.prompt), (document.turns, document.prompt));
    }
}

#[test]
fn scores_are_those_of_spelled_out_tokens() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let question = question(CONVERSATION, Unit::Sentence);
    let document = explain(&mut session, &question);
    let answered = pollster::block_on(session.answer(&question, &mut async |_| ControlFlow::Continue(())));
    let Ok(AnswerResult::Answered(answered)) = answered else { panic!("an answer") };
    let AnsweredQuestion { transcript, segments, .. } = *answered;
    let contents = [["Be brief.", " Say numbers."], ["Ann has 3 figs.", " Bob has 4 nuts."], ["Ann has 3.", " Bob has 4."]];
    let last = ["Ann eats 1 fig.", " How many figs does Ann have?"];
    let roles = ["system", "user", "assistant", "user"];
    // The template of this model is ChatML.
    let (mut tokens, mut units) = (Vec::new(), Vec::new());
    let special = |text: &str| session.tokenizer.encode_with_special(text);
    for (role, sentences) in roles.into_iter().zip(contents.into_iter().chain([last])) {
        tokens.extend(special(&format!("<|im_start|>{role}\n")));
        for sentence in sentences {
            let ids = special(sentence);
            units.push(tokens.len()..tokens.len() + ids.len());
            tokens.extend(ids);
        }
        tokens.extend(special("<|im_end|>\n"));
    }
    tokens.extend(special("<|im_start|>assistant\n"));
    assert_eq!((transcript.generation.start, &segments.prompt), (tokens.len(), &units));
    tokens.extend(special(ANSWER));
    assert_eq!(transcript.tokens, tokens);
    let mut log_probs = |tokens: &[u32]| {
        let scored = pollster::block_on(score_base(&mut session.lm, &ScoreRequest::new(tokens, transcript.generation.clone(), &[])));
        scored.expect("it can be scored").log_probs
    };
    let base = log_probs(&tokens);
    for (j, unit) in units.iter().enumerate() {
        let mut blanked = tokens.clone();
        blanked[unit.clone()].fill(transcript.end_token);
        let without = log_probs(&blanked);
        for (i, target) in segments.generation.iter().enumerate() {
            let of = |t: usize| t - transcript.generation.start;
            let drops: f64 = target.clone().map(|t| base[of(t)] - without[of(t)]).sum();
            let score = document.table.get(i, j).copied().flatten().expect("a score");
            assert!((score - drops / target.len() as f64).abs() < 1e-4, "{i} {j}");
        }
    }
}

/// The same tokens as if the earlier answer were given. Each row has the scores of an explanation of its answer alone.
#[test]
fn explained_answers_have_rows_of_spelled_out_tokens() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let given = question(CONVERSATION, Unit::Sentence);
    let question = Question { earlier_answers: EarlierAnswers::Explained, ..given.clone() };
    let document = explain(&mut session, &question);
    assert_eq!((document.check(), document.version, document.is_complete()), (Ok(()), 3, true));
    let turn = |role, explained| Turn { role, sentences: 2, explained };
    let expected = [(Speaker::System, false), (Speaker::User, false), (Speaker::Assistant, true), (Speaker::User, false)];
    assert_eq!(document.turns, expected.map(|(role, explained)| turn(role, explained)));
    assert_eq!(document.generation.text, format!("Ann has 3. Bob has 4.\n\n{ANSWER}"));
    assert_eq!((document.last_answer_text(), document.last_answer().row), (ANSWER, 2));
    let answered = |session: &mut Session<Engine>, question: &Question| {
        let answered = pollster::block_on(session.answer(question, &mut async |_| ControlFlow::Continue(())));
        let Ok(AnswerResult::Answered(answered)) = answered else { panic!("an answer") };
        *answered
    };
    let AnsweredQuestion { transcript, segments, answer, .. } = answered(&mut session, &question);
    let plain = answered(&mut session, &given);
    assert_eq!((&transcript.tokens, answer), (&plain.transcript.tokens, plain.transcript.generation));
    let units = &plain.segments;
    assert_eq!(segments.prompt, [&units.prompt[..4], &units.prompt[6..]].concat());
    assert_eq!(segments.generation, [&units.prompt[4..6], &units.generation].concat());
    let targets = transcript.generation.start..transcript.tokens.len();
    let mut log_probs = |tokens: &[u32]| {
        let scored = pollster::block_on(score_base(&mut session.lm, &ScoreRequest::new(tokens, targets.clone(), &[])));
        scored.expect("it can be scored").log_probs
    };
    let base = log_probs(&transcript.tokens);
    let spelled_out: f64 = document.tokens.iter().map(|token| token.log_probability).sum();
    let of_units = segments.generation.iter().cloned().flatten().map(|position| base[position - targets.start]).sum::<f64>();
    assert!((spelled_out - of_units).abs() < 1e-4, "{spelled_out} {of_units}");
    for j in 0..document.table.n_sources() - 1 {
        let mut blanked = transcript.tokens.clone();
        blanked[segments.source(j).clone()].fill(transcript.end_token);
        let without = log_probs(&blanked);
        for (i, target) in segments.generation.iter().enumerate().filter(|(i, _)| j < document.prompt.sentences.len() + i) {
            let of = |t: usize| t - targets.start;
            let drops: f64 = target.clone().map(|t| base[of(t)] - without[of(t)]).sum();
            let score = document.table.get(i, j).copied().flatten().expect("a score");
            assert!((score - drops / target.len() as f64).abs() < 1e-4, "{i} {j}");
            assert_eq!(score == 0.0, !document.is_before(j, i), "{i} {j}: {score}");
        }
    }
}

#[test]
fn every_method_explains_earlier_answers() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let short = "User: Ann has 3.\nAssistant: So 3.\nUser: How many?";
    let question = Question { answer: Some("3.".into()), earlier_answers: EarlierAnswers::Explained, ..question(short, Unit::Sentence) };
    for method in METHODS.iter().filter(|method| method.id != "reagent-mlm") {
        let document = explain(&mut session, &Question { method: method.id.into(), ..question.clone() });
        assert_eq!((document.check(), document.is_complete(), document.turns[1].explained), (Ok(()), true, true), "{}", method.id);
        assert!(document.support.len() == 2 && document.tokens.len() == document.generation.tokens.iter().sum::<usize>(), "{}", method.id);
    }
}

#[test]
fn explained_answers_are_split_like_answers() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    for (unit, counts) in
        [(Unit::Paragraph, [1, 1, 2, 1]), (Unit::Section, [1, 1, 2, 1]), (Unit::Word, [4, 8, 6, 10]), (Unit::Line, [1; 4])]
    {
        let document = explain(&mut session, &Question { earlier_answers: EarlierAnswers::Explained, ..question(CONVERSATION, unit) });
        assert_eq!(document.turns.iter().map(|turn| turn.sentences).collect::<Vec<_>>(), counts, "{unit:?}");
        assert_eq!((document.check(), document.is_complete()), (Ok(()), true), "{unit:?}");
    }
}

#[test]
fn first_answer_and_text_are_given() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let begun = "Assistant: Hello. Who asks?\nUser: Ann. How are you?";
    for (prompt, reading) in [(begun, Reading::Conversation), ("Ann has 3 figs. How many?", Reading::Text)] {
        let given = Question { reading, ..question(prompt, Unit::Sentence) };
        let explained = Question { earlier_answers: EarlierAnswers::Explained, ..given.clone() };
        assert_eq!(explain(&mut session, &explained), explain(&mut session, &given), "{prompt}");
    }
}

#[test]
fn contrast_may_be_in_earlier_answer() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let question = Question { earlier_answers: EarlierAnswers::Explained, ..question(CONVERSATION, Unit::Sentence) };
    let mut document = explain(&mut session, &question);
    let mut contrast = |mark: [usize; 2]| {
        let mut on_pass = async |_| ControlFlow::Continue(());
        pollster::block_on(session.contrast(&question, mark, "9", &mut on_pass))
    };
    let found = document.generation.text.find("4.").expect("in the earlier answer");
    let earlier = contrast([found, found + 1]).expect("it can be compared").expect("nothing stopped it");
    // Four units of the prompt come before the earlier answer, and two after it. Its first sentence comes before the second.
    assert!(earlier.effects.len() == 7 && earlier.effects[4..6] == [0.0; 2], "{:?}", earlier.effects);
    assert!(earlier.effects[..4].iter().any(|effect| *effect != 0.0));
    document.contrasts.push(earlier);
    assert_eq!(document.check(), Ok(()));
    let across = document.last_answer().start - 4;
    assert!(contrast([across, across + 8]).is_err(), "a part of two answers");
}

#[test]
fn deletion_test_is_about_last_answer() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let given = question(CONVERSATION, Unit::Sentence);
    let mut curves = |question: &Question, orders: &[Vec<usize>]| {
        let curves = pollster::block_on(session.deletion_curves(question, orders, &mut async |_| ControlFlow::Continue(())));
        curves.expect("it can be tested").expect("nothing stopped it").curves
    };
    // Sources 4 and 5 are those of the earlier answer, which stays if it is explained.
    let explained = curves(&Question { earlier_answers: EarlierAnswers::Explained, ..given.clone() }, &[vec![5, 2, 0, 1, 3, 4]]);
    let all = curves(&given, &[vec![7, 2, 0, 1, 3, 6, 4, 5]]);
    for (one, other) in explained[0].iter().zip(&all[0]) {
        assert!((one - other).abs() < 1e-4, "{explained:?} {all:?}");
    }
}

#[test]
fn conversation_of_one_turn_is_a_prompt() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let prompt = "Ann has 3 figs. Bob has 4 nuts. How many figs does Ann have?";
    let plain = explain(&mut session, &Question { reading: Reading::Text, ..question(prompt, Unit::Sentence) });
    let json = format!("[{{\"role\": \"user\", \"content\": \"{prompt}\"}}]");
    assert_eq!(explain(&mut session, &question(&json, Unit::Sentence)), plain);
}

#[test]
fn conversations_that_cannot_be_asked_are_refused() {
    let mut session = session(DEMO, BackendChoice::Cpu);
    let problem = |session: &mut Session<Engine>, question: &Question| outcome(session, question).expect_err("it is refused").to_string();
    let ends = problem(&mut session, &question("User: Hi.\nAssistant: Hello.", Unit::Sentence));
    assert!(ends.contains("ends with an answer") && ends.contains("answer of your own"), "{ends}");
    let plain = Question { use_template: false, ..question(CONVERSATION, Unit::Sentence) };
    assert!(problem(&mut session, &plain).contains("turned off"));
    let long = format!("User: {}\nAssistant: So.\nUser: Why?", "No. ".repeat(1_000));
    assert!(problem(&mut session, &question(&long, Unit::Sentence)).contains("tokens"));
    assert_eq!(session.count_tokens("User: Hi.\nAssistant: Hello.", Reading::Conversation, true), None);
    let [as_text, as_turns] = [Reading::Text, Reading::Conversation].map(|reading| session.count_tokens(CONVERSATION, reading, true));
    assert!(as_text.is_some() && as_turns.is_some() && as_text != as_turns);
}

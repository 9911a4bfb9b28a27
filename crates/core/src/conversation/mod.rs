//! Conversations as text: reads what people paste, and writes it again. (It is in this crate because the page needs it, too.)
//!
//! ```text
//! labels   System: Be brief.        ChatML   <|im_start|>system             JSON   [{"role": "system", "content": "Be brief."},
//!          User: Hi.                         Be brief.<|im_end|>                    {"role": "user", "content": "Hi."}]
//! ```
//!
//! Contents lose the white space at their ends, so that writing and reading keeps them. A last label of the assistant without text only
//! asks for the answer and is not a turn.

mod chatml;
mod error;
mod json;
mod labels;
mod turn;

use std::ops::Range;

pub use self::error::ConversationError;
pub use self::turn::ChatTurn;
use crate::explanation::{Document, Speaker, Unit};

/// The forms in which a conversation is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Labels,
    ChatMl,
    Json,
}

impl Form {
    /// The form of a text. `None` if the text does not look like a conversation.
    fn of(text: &str) -> Option<Self> {
        let text = text.trim_start();
        if text.starts_with(chatml::BEGIN) {
            return Some(Self::ChatMl);
        }
        let is_json = text.starts_with('[') || text.starts_with('{') && text.contains(json::LIST);
        if is_json && json::NAMES.iter().all(|name| text.contains(name)) {
            return Some(Self::Json);
        }
        labels::read(text).map(|_| Self::Labels)
    }
}

/// The number of turns of a text that looks like a conversation, even if [`read`] refuses it. `None` for any other text. Costs two passes
/// over the text.
///
/// ```
/// use glasscage_core::conversation::n_turns;
///
/// assert_eq!(n_turns("User: Hi.\nAssistant: Hello.\nUser: Bye."), Some(3));
/// assert_eq!(n_turns("The user said: Hi."), None);
/// ```
pub fn n_turns(text: &str) -> Option<usize> {
    match Form::of(text)? {
        Form::Labels => labels::read(text).map(|turns| turns.len()),
        Form::ChatMl => Some(chatml::count(text)),
        Form::Json => Some(text.matches(json::NAMES[0]).count()),
    }
}

/// Whether the text is a conversation with an answer after its first turn, even if [`read`] refuses it because its last turn is empty.
pub fn has_answer(text: &str) -> bool {
    turns(text).is_ok_and(|turns| turns.iter().skip(1).any(|turn| turn.speaker == Speaker::Assistant))
}

/// Reads a conversation. Errors if it cannot be answered: it ends with an answer, a turn is empty, a role is unknown, or a system message
/// is not the first turn.
pub fn read(text: &str) -> Result<Vec<ChatTurn>, ConversationError> {
    let turns = turns(text)?;
    check(&turns)?;
    Ok(turns)
}

fn turns(text: &str) -> Result<Vec<ChatTurn>, ConversationError> {
    match Form::of(text).ok_or(ConversationError::NoTurns)? {
        Form::Labels => labels::read(text).ok_or(ConversationError::NoTurns),
        Form::ChatMl => chatml::read(text),
        Form::Json => json::read(text),
    }
}

fn check(turns: &[ChatTurn]) -> Result<(), ConversationError> {
    for (turn, ChatTurn { speaker, content }) in turns.iter().enumerate() {
        if content.is_empty() {
            return Err(ConversationError::EmptyTurn { turn: turn + 1 });
        }
        if turn > 0 && *speaker == Speaker::System {
            return Err(ConversationError::SystemNotFirst { turn: turn + 1 });
        }
    }
    match turns.last().map(|turn| turn.speaker) {
        Some(Speaker::User) => Ok(()),
        Some(Speaker::Assistant) => Err(ConversationError::EndsWithAnswer),
        Some(Speaker::System) | None => Err(ConversationError::NoUserTurn),
    }
}

/// Splits the answer at the end off the conversation. `None` if there is none.
pub fn without_answer(text: &str) -> Option<(String, String)> {
    let turns = turns(text).ok()?;
    let (last, before) = turns.split_last()?;
    (last.speaker == Speaker::Assistant).then(|| (written(before), last.content.clone()))
}

/// Writes turns, so that [`read`] finds the same ones: with labels, or as JSON if a content has lines that look like labels.
pub fn written(turns: &[ChatTurn]) -> String {
    let text = labels::write(turns);
    let is_same = !text.contains('\r') && labels::read(&text).is_some_and(|read| read == turns);
    if is_same { text } else { json::write(turns) }
}

/// Writes turns with labels, and a last one for the user to write. A space goes before lines that would look like labels.
pub fn to_be_continued(turns: &[ChatTurn]) -> String {
    let marked = turns.iter().map(|turn| ChatTurn { content: labels::hidden(&turn.content), ..turn.clone() });
    format!("{}\n\n{}: ", labels::write(&marked.collect::<Vec<_>>()), Speaker::User.label())
}

/// The conversation with `before` at the start of its last turn. `None` if the text is not a conversation that ends with a turn of the
/// user, which may be empty.
pub fn before_last_turn(text: &str, before: &str) -> Option<String> {
    let mut turns = turns(text).ok()?;
    let last = turns.last_mut().filter(|turn| turn.speaker == Speaker::User)?;
    last.content = format!("{before}{}", last.content).trim().to_owned();
    Some(written(&turns))
}

/// Whether a text is a conversation of these turns, written with labels or by [`written`].
pub fn has_turns(text: &str, turns: &[ChatTurn]) -> bool {
    labels::read(text).is_some_and(|read| read == turns) || text == written(turns)
}

/// The turns of a document before its last answer, explained answers included. Empty if the document is not about a conversation.
pub fn turns_of(document: &Document) -> Vec<ChatTurn> {
    turns_with(document, document.prompt.sentence_texts().into_iter().map(str::to_owned).collect())
}

/// Like [`turns_of`], with double brackets around the parts that the reader marked. Explained answers have no marks.
pub fn marked_turns_of(document: &Document) -> Vec<ChatTurn> {
    match document.unit {
        Unit::Bracket => turns_with(document, document.prompt.bracketed_texts()),
        _ => turns_of(document),
    }
}

/// The turns, where `texts` are those of the units of the prompt.
fn turns_with(document: &Document, mut texts: Vec<String>) -> Vec<ChatTurn> {
    texts.extend(document.generation.sentence_texts().into_iter().map(str::to_owned));
    let turn = |(speaker, units): (Speaker, Range<usize>)| {
        let content = texts.get(units).unwrap_or_default().concat();
        ChatTurn { speaker, content: content.trim().to_owned() }
    };
    document.units_of_turns().into_iter().map(turn).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::example::{example, with_explained_turns};
    use crate::explanation::{Passage, Turn};

    fn turn(speaker: Speaker, content: &str) -> ChatTurn {
        ChatTurn { speaker, content: content.into() }
    }

    fn conversation() -> [ChatTurn; 4] {
        use Speaker::{Assistant, System, User};
        [turn(System, "Be brief."), turn(User, "Hi.\nWho is it?"), turn(Assistant, "I: a model."), turn(User, "Bye.")]
    }

    #[test]
    fn three_forms_read_the_same() {
        let chatml = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi.\nWho is it?<|im_end|>\n\
                      <|im_start|>assistant\nI: a model.<|im_end|>\n<|im_start|>user\nBye.<|im_end|>\n<|im_start|>assistant\n";
        let labels = "SYSTEM: Be brief.\n\nHuman: Hi.\nWho is it?\n**Model:** I: a model. \nuser:\nBye.\nAI:";
        let json = r#"{"model": "x", "messages": [{"role": "developer", "content": " Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Hi.\n"}, {"type": "text", "text": "Who is it?"}]},
            {"role": "assistant", "content": "I: a model.", "name": "x"}, {"role": "user", "content": "Bye.\n"}]}"#;
        for text in [chatml, labels, json, &written(&conversation())] {
            assert_eq!(read(text).as_deref(), Ok(&conversation()[..]), "{text}");
            assert_eq!(n_turns(text), Some(4), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_conversations() {
        for text in [
            "",
            "User: Hi.\nUser: Hello?",
            "Look:\nUser: Hi.\nAssistant: Hello.",
            "Users: Hi.\nAssistants: Hello.",
            "[[Ann has 3 figs.]] Who is a \"user\"?",
            "[1, 2]",
            "{\"role\": \"admin\"}",
            "Model train: a toy.\nUser guide: a book.",
        ] {
            assert_eq!((n_turns(text), read(text)), (None, Err(ConversationError::NoTurns)), "{text}");
        }
    }

    #[test]
    fn conversations_that_cannot_be_answered_say_why() {
        use ConversationError as E;
        let labelled = "User: Hi.\nAssistant: Hello.";
        for (text, error) in [
            (labelled, E::EndsWithAnswer),
            (&format!("{labelled}\nUser: "), E::EmptyTurn { turn: 3 }),
            (&format!("{labelled}\nSystem: No.\nUser: Hi."), E::SystemNotFirst { turn: 3 }),
            ("System: Hi.\nAssistant:", E::NoUserTurn),
            ("<|im_start|>tool\nx<|im_end|>", E::UnknownRole("tool".into())),
            ("<|im_start|>user\nx<|im_end|> y\n<|im_start|>assistant\n", E::AfterEnd { turn: 1 }),
            ("<|im_start|>system\nx", E::NoUserTurn),
            (r#"[{"role": "user", "content": null}]"#, E::EmptyTurn { turn: 1 }),
            (r#"[{"role": "user", "content": [{"type": "image"}]}]"#, E::NotText { turn: 1 }),
            (r#"[{"role": "user", "content": "x"}, {"role": "critic", "content": "y"}]"#, E::UnknownRole("critic".into())),
            (r#"{"role": "user", "content": "x"}"#, E::NoTurns),
        ] {
            assert_eq!(read(text), Err(error), "{text}");
        }
        assert!(matches!(read(r#"[{"role": "user", "content": "x"]"#), Err(E::Json(_))));
    }

    #[test]
    fn answers_after_first_turn_are_found() {
        let with_answer = [&written(&conversation()), "User: Hi.\n\nAssistant: Hello.\n\nUser: "];
        assert!(with_answer.into_iter().all(has_answer));
        for text in ["System: Be brief.\nUser: Hi.", "Assistant: Hello.\nUser: Hi.", "User: Hi.\nAssistant:", "Hi."] {
            assert!(!has_answer(text), "{text}");
        }
    }

    #[test]
    fn answer_at_end_can_be_split_off() {
        let text = format!("{}\n\nAssistant: Bye, bye.", written(&conversation()));
        assert_eq!(without_answer(&text), Some((written(&conversation()), "Bye, bye.".into())));
        assert_eq!(without_answer(&written(&conversation())), None);
    }

    #[test]
    fn text_is_added_to_last_turn() {
        let added = |text: &str| before_last_turn(text, "[a.md]\nA.\n\n");
        let begun = "User: Hi.\n\nAssistant: Hello.\n\nUser: ";
        assert_eq!(added(begun).as_deref(), Some("User: Hi.\n\nAssistant: Hello.\n\nUser: [a.md]\nA."));
        assert_eq!(added(&format!("{begun}Who?")).as_deref(), Some("User: Hi.\n\nAssistant: Hello.\n\nUser: [a.md]\nA.\n\nWho?"));
        assert_eq!([added("User: Hi.\nAssistant: Hello."), added("Hi.")], [None, None]);
    }

    #[test]
    fn lines_like_labels_are_kept() {
        let turns = [turn(Speaker::User, "Read:\nAssistant: no"), turn(Speaker::Assistant, "a\r\nb"), turn(Speaker::User, "So?")];
        assert!(written(&turns).starts_with("[{"));
        assert_eq!(read(&written(&turns)).as_deref(), Ok(&turns[..]));
        assert_eq!(read(&written(&turns[2..])).as_deref(), Ok(&turns[2..]), "one turn");
        let text = to_be_continued(&turns);
        assert!(text.contains("\n Assistant: no\n") && text.ends_with("\n\nUser: "), "{text}");
        assert_eq!(n_turns(&text), Some(4));
    }

    #[test]
    fn document_has_contents_of_turns() {
        let prompt = Passage::new("Be brief.\n\nHi. Who?\n\nI.\n\nBye.", &[0..11, 11..15, 15..21, 21..25, 25..29], vec![2; 5]);
        let turns = [(Speaker::System, 1), (Speaker::User, 2), (Speaker::Assistant, 1), (Speaker::User, 1)];
        let turns = turns.map(|(role, sentences)| Turn::given(role, sentences));
        let document = Document { prompt: prompt.into(), turns: turns.into(), ..example() };
        let contents = |turns: Vec<ChatTurn>| turns.into_iter().map(|turn| turn.content).collect::<Vec<_>>();
        assert_eq!(contents(turns_of(&document)), ["Be brief.", "Hi. Who?", "I.", "Bye."]);
        assert_eq!(marked_turns_of(&document), turns_of(&document));
        let text = "System: Be brief.\nHuman: Hi. Who?\nAI: I.\nUser: Bye.";
        assert!(has_turns(text, &turns_of(&document)) && !has_turns(text, &turns_of(&document)[1..]));
        let marked = Document { unit: Unit::Bracket, ..document };
        assert_eq!(contents(marked_turns_of(&marked)), ["[[Be brief.]]", "[[Hi.]] [[Who?]]", "[[I.]]", "[[Bye.]]"]);
    }

    #[test]
    fn explained_answers_are_turns_without_marks() {
        let document = Document { unit: Unit::Bracket, ..with_explained_turns() };
        let contents = |turns: Vec<ChatTurn>| turns.into_iter().map(|turn| turn.content).collect::<Vec<_>>();
        assert_eq!(contents(turns_of(&document)), ["Be brief.", "Zoë has 2 figs.", "Good. She has 2.", "She finds 1."]);
        assert_eq!(contents(marked_turns_of(&document)), ["[[Be brief.]]", "[[Zoë has 2 figs.]]", "Good. She has 2.", "[[She finds 1.]]"]);
    }
}

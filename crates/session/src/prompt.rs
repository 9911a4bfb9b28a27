//! Reads a prompt as one text or as a conversation.

use std::ops::Range;

use super::problems;
use glasscage_core::conversation::{self, ConversationError};
use glasscage_core::explanation::{Speaker, Unit};
use glasscage_model::chat::ChatMessage;
use glasscage_protocol::problem::Problem;
use glasscage_protocol::request::{EarlierAnswers, Question, Reading};
use glasscage_text::brackets::Bracketed;
use glasscage_text::given::given_text;
use glasscage_text::sentences::sentences;

/// Between the turns of a conversation in the text of a document.
const BETWEEN_TURNS: &str = "\n\n";

/// A prompt as the model reads it.
pub struct ReadPrompt {
    /// The whole prompt, or the contents of all turns that are not explained, with blank lines between them.
    pub text: String,
    /// The contents of the explained turns, each with a blank line after it.
    pub answers: String,
    /// The turns of a conversation, or the prompt as a single part.
    pub parts: Vec<PromptPart>,
}

/// A part of a prompt. No unit spans two of them.
pub struct PromptPart {
    /// `None` if the prompt is not a conversation.
    pub speaker: Option<Speaker>,
    /// Without the marks around parts in brackets.
    pub content: Bracketed,
    /// Whether the part is an earlier answer that is explained.
    pub is_explained: bool,
    /// Bytes of [`ReadPrompt::text`], or of [`ReadPrompt::answers`] if the part is explained: the content, and the blank line after it.
    pub bytes: Range<usize>,
}

impl ReadPrompt {
    /// A prompt that is one text.
    pub fn plain(content: Bracketed) -> Self {
        let part = PromptPart { speaker: None, bytes: 0..content.text.len(), content, is_explained: false };
        Self { text: part.content.text.clone(), answers: String::new(), parts: vec![part] }
    }

    /// The prompt of a question. Errors if the question asks for a conversation and the prompt is none, or if marks are not valid.
    pub fn of(question: &Question) -> Result<Self, Problem> {
        let content = |text: &str| match question.unit {
            Unit::Bracket => Bracketed::new(text).map_err(problems::wrong_brackets),
            _ => Ok(Bracketed::plain(text)),
        };
        if question.reading == Reading::Text {
            return content(&question.prompt).map(Self::plain);
        }
        let turns = conversation::read(&question.prompt).map_err(|error| problems::wrong_conversation(&error))?;
        let mut prompt = Self { text: String::new(), answers: String::new(), parts: Vec::with_capacity(turns.len()) };
        for (k, turn) in turns.iter().enumerate() {
            // Nothing comes before the first turn that could explain it.
            let is_explained = question.earlier_answers == EarlierAnswers::Explained && turn.speaker == Speaker::Assistant && k > 0;
            // JSON can contain line ends of other programs as escapes.
            let content = content(&given_text(&turn.content))?;
            // An answer is split into sentences. Marks in it have no meaning.
            let content = if is_explained { Bracketed::plain(&content.text) } else { content };
            if sentences(&content.text).is_empty() {
                return Err(problems::wrong_conversation(&ConversationError::EmptyTurn { turn: k + 1 }));
            }
            let text = if is_explained { &mut prompt.answers } else { &mut prompt.text };
            let start = text.len();
            text.push_str(&content.text);
            if k + 1 < turns.len() {
                text.push_str(BETWEEN_TURNS);
            }
            let bytes = start..text.len();
            prompt.parts.push(PromptPart { speaker: Some(turn.speaker), content, is_explained, bytes });
        }
        Ok(prompt)
    }

    /// The text that contains this part.
    pub fn text_of(&self, part: &PromptPart) -> &str {
        if part.is_explained { &self.answers } else { &self.text }
    }

    /// The contents of all parts with blank lines between them, explained or not.
    pub fn whole_text(&self) -> String {
        self.parts.iter().map(|part| part.content.text.as_str()).collect::<Vec<_>>().join(BETWEEN_TURNS)
    }

    /// The messages of a conversation. `None` if the prompt is one text.
    pub fn messages<'a>(&'a self) -> Option<Vec<ChatMessage<'a>>> {
        let message = |part: &'a PromptPart| Some(ChatMessage { role: part.speaker?.name(), content: &part.content.text });
        self.parts.iter().map(message).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(prompt: &str, unit: Unit) -> Result<ReadPrompt, Problem> {
        ReadPrompt::of(&Question { reading: Reading::Conversation, unit, ..Question::greedy(prompt) })
    }

    #[test]
    fn contents_of_turns_have_blank_lines_between_them() {
        let prompt = read("System: Be brief.\nUser: Hi. \nAssistant: Hello.\nUser: Bye.", Unit::Sentence).expect("a conversation");
        assert_eq!(prompt.text, "Be brief.\n\nHi.\n\nHello.\n\nBye.");
        let parts: Vec<&str> = prompt.parts.iter().map(|part| &prompt.text[part.bytes.clone()]).collect();
        assert_eq!(parts, ["Be brief.\n\n", "Hi.\n\n", "Hello.\n\n", "Bye."]);
        let roles = prompt.messages().map(|messages| messages.iter().map(|message| message.role).collect::<Vec<_>>());
        assert_eq!(roles, Some(vec!["system", "user", "assistant", "user"]));
    }

    #[test]
    fn explained_answers_are_apart() {
        let text = "Assistant: Yes?\nUser: [[Hi.]]\nAssistant: [[1]].\nUser: So?\nAssistant: Yes.\nUser: Bye.";
        let question = Question { reading: Reading::Conversation, unit: Unit::Bracket, ..Question::greedy(text) };
        let prompt = ReadPrompt::of(&Question { earlier_answers: EarlierAnswers::Explained, ..question.clone() }).expect("a conversation");
        assert_eq!((&*prompt.text, &*prompt.answers), ("Yes?\n\nHi.\n\nSo?\n\nBye.", "1.\n\nYes.\n\n"));
        let explained: Vec<bool> = prompt.parts.iter().map(|part| part.is_explained).collect();
        assert_eq!(explained, [false, false, true, false, true, false], "not the first turn");
        let given = ReadPrompt::of(&question).expect("a conversation");
        assert_eq!(given.text, "Yes?\n\nHi.\n\n1.\n\nSo?\n\nYes.\n\nBye.");
        assert_eq!([prompt.whole_text(), given.whole_text()], [given.text.clone(), given.text]);
    }

    #[test]
    fn escapes_of_json_are_cleaned() {
        let of_json = |content: &str| read(&format!(r#"[{{"role": "user", "content": "{content}"}}]"#), Unit::Sentence);
        assert_eq!(of_json(r"A.\r\nB.").expect("a conversation").text, "A.\nB.");
        assert!(of_json(r"\u001c").is_err(), "no visible character");
    }

    #[test]
    fn marks_are_read_within_turns() {
        let prompt = read("System: [[Be brief.]] Yes?\nUser: Hi.", Unit::Bracket).expect("a conversation");
        assert_eq!((prompt.text.as_str(), prompt.parts[0].content.parts.len()), ("Be brief. Yes?\n\nHi.", 1));
        assert!(read("System: [[Be\nUser: brief]].", Unit::Bracket).is_err());
        assert!(read("System: [[Be\nUser: brief]].", Unit::Sentence).is_ok());
    }

    #[test]
    fn text_has_no_messages() {
        let prompt = ReadPrompt::of(&Question::greedy("User: Hi.\nAssistant: Hello.")).expect("a text");
        assert_eq!((prompt.messages().is_none(), prompt.parts.len()), (true, 1));
    }
}

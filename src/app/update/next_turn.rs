//! Continues the conversation on screen in the editor.

use crate::app::state::State;
use crate::conversation::{ChatTurn, to_be_continued, turns_of};
use crate::explanation::{Document, SectionKind, Speaker};
use crate::request::Reading;

impl State {
    /// Puts the conversation so far into the editor, with the start of the user's next turn. Saves the visitor's own texts for later.
    pub(super) fn next_turn(&mut self) {
        let Some(text) = self.explanation.document().map(conversation_so_far) else { return };
        self.editor.replace_texts([&text, ""], Reading::Conversation, &self.engine, &mut self.outbox);
        // Without the chat template, the turns would be one text.
        self.editor.settings.use_template = true;
        *self.editor.is_open = true;
    }
}

/// The turns of a document's prompt, or the prompt as a turn, then the answer, and the start of another turn. Thinking sections are left
/// out, as chat programs do.
fn conversation_so_far(document: &Document) -> String {
    let turn = |speaker, text: &str| ChatTurn { speaker, content: text.trim().to_owned() };
    let mut turns = turns_of(document);
    if turns.is_empty() {
        turns.push(turn(Speaker::User, &document.prompt.text));
    }
    let (texts, sections) = (document.generation.sentence_texts(), document.sections_of_last_answer());
    let answers = sections.into_iter().filter(|(kind, _)| *kind == SectionKind::Answer);
    let answer: String = answers.flat_map(|(_, rows)| texts.get(rows).unwrap_or_default().to_vec()).collect();
    turns.push(turn(Speaker::Assistant, &answer));
    to_be_continued(&turns)
}

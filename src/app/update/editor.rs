//! Changes the texts and settings of the editor, and counts the tokens of the prompt while the visitor types.

use crate::app::state::editor::{Editor, OwnTexts};
use crate::app::state::engine::Engine;
use crate::app::state::message::{EditorMessage, Effect};
use crate::app::state::outbox::Outbox;
use crate::app::state::settings::Settings;
use crate::app::state::storage_keys;
use crate::conversation::{self, ChatTurn};
use crate::request::{EarlierAnswers, Question, Reading};
use crate::worker::engine::protocol::{EngineEvent, EngineRequest};

/// Pause in typing after which the tokens are counted, in ms.
const PAUSE_MILLIS: u32 = 300;

impl Editor {
    /// Handles an action of the visitor. If `engine` has a model, that counts the tokens of the prompt.
    pub(super) fn update(&mut self, message: EditorMessage, engine: &Engine, outbox: &mut Outbox) {
        match message {
            EditorMessage::PromptTyped(prompt) => {
                if *self.is_plain || !*self.explains_earlier {
                    self.end_choices(&prompt);
                }
                self.set_prompt(prompt, engine, outbox);
            }
            EditorMessage::ReadAsText(is_plain) => {
                *self.is_plain = is_plain;
                self.recount_tokens(engine, outbox);
            }
            EditorMessage::ExplainEarlier(is_on) => *self.explains_earlier = is_on,
            EditorMessage::GivenAnswerTyped(answer) => self.set_given_answer(answer, outbox),
            EditorMessage::SettingsChanged(settings) => self.change_settings(settings, engine, outbox),
            EditorMessage::CountTokens(changes) => self.count_tokens(changes, engine, outbox),
            EditorMessage::Toggled(is_open) => *self.is_open = is_open,
            EditorMessage::EditPrompt(prompt) => {
                self.replace_texts([&prompt, ""], Reading::Conversation, engine, outbox);
                *self.is_open = true;
            }
            EditorMessage::RestoreSetAside => {
                let own = self.own_texts();
                if let Some(OwnTexts { prompt, given_answer, explains_earlier }) = std::mem::replace(&mut *self.set_aside, own) {
                    self.from_page = Default::default();
                    outbox.remember_in_tab(storage_keys::REPLACED_TEXTS, self.replaced_texts());
                    *self.is_plain = false;
                    *self.explains_earlier = explains_earlier;
                    self.set_prompt(prompt, engine, outbox);
                    self.set_given_answer(given_answer, outbox);
                }
            }
        }
    }

    /// Ends the choices about the conversation in the form if `prompt` is another one, that is, if its first turn is another.
    fn end_choices(&mut self, prompt: &str) {
        if conversation::n_turns(prompt).is_none() {
            *self.is_plain = false;
            *self.explains_earlier = true;
        } else if first_turn(&self.prompt).zip(first_turn(prompt)).is_some_and(|(before, now)| before != now) {
            *self.explains_earlier = true;
        }
    }

    fn set_prompt(&mut self, prompt: String, engine: &Engine, outbox: &mut Outbox) {
        outbox.remember_in_tab(storage_keys::PROMPT, prompt.clone());
        *self.prompt = prompt;
        self.recount_tokens(engine, outbox);
    }

    fn set_given_answer(&mut self, answer: String, outbox: &mut Outbox) {
        outbox.remember_in_tab(storage_keys::GIVEN_ANSWER, answer.clone());
        *self.given_answer = answer;
    }

    fn change_settings(&mut self, settings: Settings, engine: &Engine, outbox: &mut Outbox) {
        let changes_template = self.settings.use_template != settings.use_template;
        *self.settings = settings;
        if changes_template {
            self.recount_tokens(engine, outbox);
        }
    }

    /// Puts a prompt and a given answer, which may be empty, into the editor. Saves the visitor's own texts for later. With
    /// [`Reading::Text`], a prompt that looks like a conversation stays one text.
    pub(super) fn replace_texts(&mut self, texts: [&str; 2], reading: Reading, engine: &Engine, outbox: &mut Outbox) {
        let [prompt, given_answer] = texts;
        let is_kept = [&*self.prompt, &*self.given_answer] == texts || *self.prompt == prompt && self.given_answer.trim().is_empty();
        if let Some(own) = self.own_texts().filter(|_| !is_kept) {
            *self.set_aside = Some(own);
        }
        if !is_kept {
            self.from_page = texts.map(str::to_owned);
            outbox.remember_in_tab(storage_keys::REPLACED_TEXTS, self.replaced_texts());
        }
        *self.is_plain = reading == Reading::Text && conversation::n_turns(prompt).is_some();
        *self.explains_earlier = true;
        self.set_prompt(prompt.to_owned(), engine, outbox);
        self.set_given_answer(given_answer.to_owned(), outbox);
    }

    /// Puts the prompt of a question and this answer, which may be empty, into the editor, to be read as the question says.
    pub(super) fn replace_question(&mut self, question: &Question, answer: &str, engine: &Engine, outbox: &mut Outbox) {
        self.replace_texts([&question.prompt, answer], question.reading, engine, outbox);
        *self.explains_earlier = question.earlier_answers == EarlierAnswers::Explained || !self.has_earlier_answers();
    }

    /// Drops the token count, because the prompt, the model or the use of the template has changed, and schedules a new count.
    pub(super) fn recount_tokens(&mut self, engine: &Engine, outbox: &mut Outbox) {
        *self.tokens = None;
        self.token_count = None;
        self.token_changes += 1;
        if engine.loaded().is_some() && !self.prompt.trim().is_empty() {
            let message = Box::new(EditorMessage::CountTokens(self.token_changes).into());
            outbox.emit(Effect::After { millis: PAUSE_MILLIS, message });
        }
    }

    /// Asks the model, unless the prompt has changed again. The count waits for a run, because the worker handles one request at a time.
    fn count_tokens(&mut self, changes: u32, engine: &Engine, outbox: &mut Outbox) {
        if changes == self.token_changes && engine.loaded().is_some() {
            let (prompt, reading, use_template) = (self.prompt.clone(), self.reading(), self.settings.use_template);
            self.token_count = Some(outbox.ask_engine(EngineRequest::CountTokens { prompt, reading, use_template }, Vec::new()));
        }
    }

    pub(super) fn tokens_counted(&mut self, event: EngineEvent) {
        if let EngineEvent::TokensCounted(tokens) = event {
            *self.tokens = tokens;
        }
        self.token_count = None;
    }
}

/// The first turn of a conversation that is to be answered, or that is answered already. Its last turn may still be empty.
fn first_turn(text: &str) -> Option<ChatTurn> {
    let without_answer = conversation::without_answer(text).map(|(before, _)| before);
    // A turn that is not empty can be read.
    let text = without_answer.or_else(|| conversation::before_last_turn(text, "."))?;
    conversation::read(&text).ok()?.into_iter().next()
}

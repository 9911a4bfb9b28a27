//! State of the form in which a visitor asks.

use super::reactive::Reactive;
use super::settings::Settings;
use crate::app::examples::Example;
use crate::conversation;
use crate::explanation::{Document, Unit};
use crate::request::{EarlierAnswers, Reading};
use crate::worker::envelope::RequestId;

/// The texts to explain, and how.
pub struct Editor {
    pub prompt: Reactive<String>,
    /// Whether a prompt that looks like a conversation is read as plain text, because the visitor chose so.
    pub is_plain: Reactive<bool>,
    /// Whether earlier answers of a conversation are explained, too.
    pub explains_earlier: Reactive<bool>,
    /// The answer to explain instead of generating one.
    pub given_answer: Reactive<String>,
    /// A replaced prompt and given answer, and whether earlier answers are explained, saved for later.
    pub set_aside: Reactive<Option<(String, String, bool)>>,
    pub settings: Reactive<Settings>,
    pub examples: Reactive<Vec<Example>>,
    pub is_open: Reactive<bool>,
    /// Number of tokens of the prompt in its rendered chat template, once the loaded model has counted them.
    pub tokens: Reactive<Option<usize>>,
    /// The pending request to count the tokens.
    pub(in crate::app) token_count: Option<RequestId>,
    /// How many times the token count has become outdated.
    pub(in crate::app) token_changes: u32,
    pub(in crate::app) examples_are_requested: bool,
}

impl Default for Editor {
    fn default() -> Self {
        Self::new(String::new(), String::new())
    }
}

impl Editor {
    pub fn new(prompt: String, given_answer: String) -> Self {
        Self {
            prompt: Reactive::new(prompt),
            is_plain: Reactive::default(),
            explains_earlier: Reactive::new(true),
            given_answer: Reactive::new(given_answer),
            set_aside: Reactive::default(),
            settings: Reactive::default(),
            examples: Reactive::default(),
            is_open: Reactive::new(true),
            tokens: Reactive::default(),
            token_count: None,
            token_changes: 0,
            examples_are_requested: false,
        }
    }

    /// Whether the prompt in the form is that of the document. Documents do not contain the marks around the visitor's own parts.
    pub fn is_prompt_of(&self, document: &Document) -> bool {
        match document.unit {
            _ if !document.turns.is_empty() => conversation::has_turns(&self.prompt, &conversation::marked_turns_of(document)),
            Unit::Bracket => self.prompt.replace("[[", "").replace("]]", "") == document.prompt.text,
            _ => *self.prompt == document.prompt.text,
        }
    }

    /// The number of turns if the prompt looks like a conversation. `None` for other texts, and if no chat template may be used.
    pub fn n_turns(&self) -> Option<usize> {
        if self.settings.use_template { conversation::n_turns(&self.prompt) } else { None }
    }

    /// How the prompt is read.
    pub fn reading(&self) -> Reading {
        if self.n_turns().is_some() && !*self.is_plain { Reading::Conversation } else { Reading::Text }
    }

    /// Whether the prompt is read as a conversation with earlier answers of the model.
    pub fn has_earlier_answers(&self) -> bool {
        self.reading() == Reading::Conversation && conversation::has_answer(&self.prompt)
    }

    /// How to treat the earlier answers in the prompt.
    pub fn earlier_answers(&self) -> EarlierAnswers {
        let are_explained = *self.explains_earlier && self.has_earlier_answers();
        if are_explained { EarlierAnswers::Explained } else { EarlierAnswers::Given }
    }

    /// Whether the prompt is one of the page's examples.
    pub fn is_example(&self, prompt: &str) -> bool {
        self.example(prompt).is_some()
    }

    /// The example with this prompt.
    pub fn example(&self, prompt: &str) -> Option<&Example> {
        self.examples.iter().find(|example| example.prompt == prompt)
    }
}

//! The form in which a visitor asks.

use super::reactive::Reactive;
use super::settings::Settings;
use crate::app::examples::Example;
use crate::worker::envelope::RequestId;

/// The texts to explain, and how.
pub struct Editor {
    pub prompt: Reactive<String>,
    /// The answer to explain instead of generating one.
    pub given_answer: Reactive<String>,
    /// A prompt and given answer that others took the place of.
    pub set_aside: Reactive<Option<(String, String)>>,
    pub settings: Reactive<Settings>,
    pub examples: Reactive<Vec<Example>>,
    pub is_open: Reactive<bool>,
    /// Tokens of the prompt in its chat frame, once the loaded model has counted them.
    pub tokens: Reactive<Option<usize>>,
    /// The request that counts them, and how often they had to be counted anew.
    pub(in crate::app) token_count: Option<RequestId>,
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

    /// Whether the prompt is one of the page's own.
    pub fn is_example(&self, prompt: &str) -> bool {
        self.example(prompt).is_some()
    }

    /// The example of this prompt.
    pub fn example(&self, prompt: &str) -> Option<&Example> {
        self.examples.iter().find(|example| example.prompt == prompt)
    }
}

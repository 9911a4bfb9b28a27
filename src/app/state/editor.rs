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
    /// Texts of the visitor that the page replaced, saved for later.
    pub set_aside: Reactive<Option<OwnTexts>>,
    /// The prompt and the given answer that the page itself put into the form last.
    pub(in crate::app) from_page: [String; 2],
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

/// Texts of the visitor, and how they are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnTexts {
    pub prompt: String,
    pub given_answer: String,
    pub explains_earlier: bool,
}

impl Default for Editor {
    fn default() -> Self {
        Self::new(String::new(), String::new(), None)
    }
}

impl Editor {
    /// The form with these texts, and with the texts that [`Self::replaced_texts`] described earlier in this tab.
    pub fn new(prompt: String, given_answer: String, replaced_texts: Option<&str>) -> Self {
        let replaced: Vec<String> = replaced_texts.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
        let mut texts = replaced.into_iter();
        let from_page = std::array::from_fn(|_| texts.next().unwrap_or_default());
        let set_aside = texts.next().map(|prompt| OwnTexts {
            prompt,
            given_answer: texts.next().unwrap_or_default(),
            explains_earlier: texts.next().is_none(),
        });
        Self {
            prompt: Reactive::new(prompt),
            is_plain: Reactive::default(),
            explains_earlier: Reactive::new(true),
            given_answer: Reactive::new(given_answer),
            set_aside: Reactive::new(set_aside),
            from_page,
            settings: Reactive::default(),
            examples: Reactive::default(),
            is_open: Reactive::new(true),
            tokens: Reactive::default(),
            token_count: None,
            token_changes: 0,
            examples_are_requested: false,
        }
    }

    /// Whether the prompt in the form is that of the document.
    pub fn is_prompt_of(&self, document: &Document) -> bool {
        is_prompt_of(&self.prompt, document)
    }

    /// As a JSON array: the texts of the page, and those of the visitor that they replaced. A last item stands for earlier answers that are
    /// not explained.
    pub(in crate::app) fn replaced_texts(&self) -> String {
        let mut texts = self.from_page.to_vec();
        if let Some(OwnTexts { prompt, given_answer, explains_earlier }) = &*self.set_aside {
            texts.extend([prompt.clone(), given_answer.clone()]);
            texts.extend((!explains_earlier).then(|| "given".to_owned()));
        }
        serde_json::to_string(&texts).unwrap_or_default()
    }

    /// The visitor's own texts in the form. `None` if both texts are empty, or the page's.
    pub(in crate::app) fn own_texts(&self) -> Option<OwnTexts> {
        let [prompt, given_answer] = &self.from_page;
        let is_own_prompt = !self.prompt.trim().is_empty() && *self.prompt != *prompt && !self.is_example(&self.prompt);
        let is_own_answer = !self.given_answer.trim().is_empty() && *self.given_answer != *given_answer;
        (is_own_prompt || is_own_answer).then(|| OwnTexts {
            prompt: self.prompt.clone(),
            given_answer: self.given_answer.clone(),
            explains_earlier: *self.explains_earlier,
        })
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

/// Whether this is the prompt of the document. Documents do not contain the marks around the visitor's own parts.
pub(in crate::app) fn is_prompt_of(prompt: &str, document: &Document) -> bool {
    match document.unit {
        _ if !document.turns.is_empty() => conversation::has_turns(prompt, &conversation::marked_turns_of(document)),
        Unit::Bracket => prompt.replace("[[", "").replace("]]", "") == document.prompt.text,
        _ => prompt == document.prompt.text,
    }
}

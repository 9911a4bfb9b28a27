//! The chat template of a model: a Jinja template, rendered as Hugging Face transformers does (`apply_chat_template`).

use std::collections::BTreeMap;

use super::Date;
use super::jinja::{self, Budget, Function, JinjaError, Value};
use crate::model::gguf::{Metadata, WrongType};
use crate::model::tokenizer::Tokenizer;

/// Bytes that a rendering may read and write at least; a step counts as 32. One message takes some ten thousand.
const WORK: usize = 4 << 20;
/// How often it may read and write what it is given.
const WORK_PER_BYTE: usize = 64;

pub struct ChatTemplate {
    source: String,
    bos: String,
    eos: String,
}

/// Names that a template may use, beyond the ones that every template has.
pub type Variables = BTreeMap<String, serde_json::Value>;

#[derive(Clone, Copy, Debug)]
pub struct ChatMessage<'a> {
    pub role: &'a str,
    pub content: &'a str,
}

/// Why a prompt could not be put into the frame of the model.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    #[error("the chat template of this model cannot be used: {0}")]
    Template(#[from] JinjaError),
    #[error("the chat template of this model cannot be used: {0}")]
    NoText(#[from] WrongType),
    #[error("the chat template of this model does not repeat the prompt word for word")]
    NotVerbatim,
    #[error("the prompt has {tokens} tokens, more than the {limit} that there is room for")]
    TooLong { tokens: usize, limit: usize },
    #[error("the prompt has at least {fewest} tokens, more than the {limit} that there is room for")]
    FarTooLong { fewest: usize, limit: usize },
}

impl ChatTemplate {
    /// The template in the metadata; none for base models.
    pub fn from_metadata(metadata: &Metadata, tokenizer: &Tokenizer) -> Result<Option<Self>, ChatError> {
        let Some(source) = metadata.str("tokenizer.chat_template")?.filter(|source| !source.trim().is_empty()) else {
            return Ok(None);
        };
        let bos = tokenizer.bos().map(|bos| tokenizer.name(bos)).unwrap_or_default();
        Self::new(source, &bos, &tokenizer.name(tokenizer.eos())).map(Some)
    }

    /// Reads a template that writes these tokens at the beginning and the end of a text.
    pub fn new(source: &str, bos: &str, eos: &str) -> Result<Self, ChatError> {
        jinja::check(source)?;
        Ok(Self { source: source.to_owned(), bos: bos.to_owned(), eos: eos.to_owned() })
    }

    /// Whether it has these words, in whatever it writes.
    pub fn says(&self, words: &str) -> bool {
        self.source.contains(words)
    }

    /// Writes a conversation on a day. Work, memory and nesting are bounded, whatever the template says.
    pub fn render(
        &self,
        messages: &[ChatMessage<'_>],
        add_generation_prompt: bool,
        variables: &Variables,
        date: Date,
    ) -> Result<String, ChatError> {
        let given = messages.iter().map(|message| message.role.len() + message.content.len()).sum::<usize>();
        let budget = Budget::new(WORK.saturating_add(given.saturating_mul(WORK_PER_BYTE)));
        let messages = messages.iter().map(|message| message.value(&budget)).collect::<Result<Vec<_>, _>>()?;
        let mut globals = vec![
            ("messages", Value::list(messages, &budget)?),
            ("add_generation_prompt", Value::Bool(add_generation_prompt)),
            ("bos_token", Value::text(&self.bos)),
            ("eos_token", Value::text(&self.eos)),
            ("range", Value::Function(Function::Range)),
            ("dict", Value::Function(Function::Dict)),
            ("namespace", Value::Function(Function::Namespace)),
            ("raise_exception", Value::Function(Function::RaiseException)),
            ("strftime_now", Value::Function(Function::StrftimeNow(date))),
        ];
        for (name, value) in variables {
            globals.push((name, Value::from_json(value, &budget)?));
        }
        Ok(jinja::render(&self.source, globals, budget)?)
    }
}

impl ChatMessage<'_> {
    fn value(&self, budget: &Budget) -> Result<Value, JinjaError> {
        let pair = |name, text| (Value::text(name), Value::text(text));
        Value::map(vec![pair("role", self.role), pair("content", self.content)], budget)
    }
}

//! The chat template of a model: a Jinja template, rendered as Hugging Face transformers does (`apply_chat_template`).

use std::collections::BTreeMap;

use super::Date;
use super::error::ChatError;
use crate::gguf::Metadata;
use crate::tokenizer::{TokenId, Tokenizer};
use glasscage_template::{Budget, JinjaError, Source, Value, functions};

/// Bytes that every rendering may read and write; a step counts as 32. One message takes about ten thousand.
const WORK: usize = 4 << 20;
/// Additional bytes of work for each byte of input.
const WORK_PER_BYTE: usize = 64;

/// Special tokens other than those that begin and end a text: their names in templates, and their keys in model files.
const SPECIAL_TOKENS: [(&str, &str); 5] = [
    ("unk_token", "tokenizer.ggml.unknown_token_id"),
    ("sep_token", "tokenizer.ggml.seperator_token_id"),
    ("pad_token", "tokenizer.ggml.padding_token_id"),
    ("cls_token", "tokenizer.ggml.cls_token_id"),
    ("mask_token", "tokenizer.ggml.mask_token_id"),
];

pub struct ChatTemplate {
    source: Source,
    /// Texts of special tokens, by their names in templates. As in transformers, tokens that a model lacks are undefined.
    tokens: Vec<(&'static str, String)>,
}

/// Variables for a template, in addition to those that every template has.
pub type Variables = BTreeMap<String, serde_json::Value>;

#[derive(Clone, Copy, Debug)]
pub struct ChatMessage<'a> {
    pub role: &'a str,
    pub content: &'a str,
}

/// Form in which a template receives the content of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentStyle {
    Text,
    /// A list of typed parts: `[{"type": "text", "text": ".."}]`.
    Typed,
}

impl ChatTemplate {
    /// The template in the metadata; `None` for base models.
    pub fn from_metadata(metadata: &Metadata, tokenizer: &Tokenizer) -> Result<Option<Self>, ChatError> {
        let Some(source) = metadata.str("tokenizer.chat_template")?.filter(|source| !source.trim().is_empty()) else {
            return Ok(None);
        };
        let bos = tokenizer.bos().map(|bos| tokenizer.name(bos)).unwrap_or_default();
        let mut template = Self::new(source, &bos, &tokenizer.name(tokenizer.eos()))?;
        for (name, key) in SPECIAL_TOKENS {
            let id = metadata.u64(key)?.filter(|&id| id < tokenizer.vocab_size() as u64);
            template.tokens.extend(id.map(|id| (name, tokenizer.name(id as TokenId))));
        }
        Ok(Some(template))
    }

    /// Parses a template. `bos` and `eos` are the tokens that begin and end a text.
    pub fn new(source: &str, bos: &str, eos: &str) -> Result<Self, ChatError> {
        Ok(Self { source: Source::new(source)?, tokens: vec![("bos_token", bos.to_owned()), ("eos_token", eos.to_owned())] })
    }

    /// Whether its source contains these words.
    pub fn says(&self, words: &str) -> bool {
        self.source.contains(words)
    }

    /// Renders a conversation on a day. Work, memory and nesting are limited for every template.
    pub fn render(
        &self,
        messages: &[ChatMessage<'_>],
        add_generation_prompt: bool,
        variables: &Variables,
        date: Date,
    ) -> Result<String, ChatError> {
        Ok(self.render_content(messages, ContentStyle::Text, add_generation_prompt, variables, date)?)
    }

    /// Like [`ChatTemplate::render`], with message contents in this style.
    pub fn render_content(
        &self,
        messages: &[ChatMessage<'_>],
        style: ContentStyle,
        add_generation_prompt: bool,
        variables: &Variables,
        date: Date,
    ) -> Result<String, JinjaError> {
        let given = messages.iter().map(|message| message.role.len() + message.content.len()).sum::<usize>();
        let budget = Budget::new(WORK.saturating_add(given.saturating_mul(WORK_PER_BYTE)));
        let messages = messages.iter().map(|message| message.value(style, &budget)).collect::<Result<Vec<_>, _>>()?;
        let mut globals = Vec::new();
        for (name, value) in variables {
            globals.push((name.as_str(), Value::from_json(value, &budget)?));
        }
        globals.extend(self.tokens.iter().map(|(name, text)| (*name, Value::text(text))));
        globals.extend([
            ("messages", Value::list(messages, &budget)?),
            ("add_generation_prompt", Value::Bool(add_generation_prompt)),
            ("tools", Value::None),
            ("documents", Value::None),
        ]);
        globals.extend(functions(date));
        self.source.render(globals, budget)
    }
}

impl ChatMessage<'_> {
    fn value(&self, style: ContentStyle, budget: &Budget) -> Result<Value, JinjaError> {
        let pair = |name, value| (Value::text(name), value);
        let content = match style {
            ContentStyle::Text => Value::text(self.content),
            ContentStyle::Typed => {
                let part = vec![pair("type", Value::text("text")), pair("text", Value::text(self.content))];
                Value::list(vec![Value::map(part, budget)?], budget)?
            }
        };
        Value::map(vec![pair("role", Value::text(self.role)), pair("content", content)], budget)
    }
}

//! The chat template of a model: a Jinja template, rendered as Hugging Face transformers does (`apply_chat_template`).

use std::collections::BTreeMap;

use minijinja::machinery::{self, Token};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Kwargs;
use minijinja::{Environment, Error, ErrorKind, Value};
use minijinja_contrib::pycompat;
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use super::Date;
use crate::model::gguf::Metadata;
use crate::model::tokenizer::Tokenizer;

const NAME: &str = "chat_template";
/// Steps that a rendering may take; one message takes hundreds. It also bounds how deep values nest, which are dropped by recursion.
const FUEL: u64 = 20_000;
/// Nesting of macro calls.
const MAX_RECURSION: usize = 50;
/// Words and signs in one tag; the longest in use have about 50. minijinja compiles a chain of operators by recursion.
const MAX_TAG: usize = 500;

pub struct ChatTemplate {
    environment: Environment<'static>,
}

/// Names that a template may use, beyond the ones that every template has.
pub type Variables = BTreeMap<String, Value>;

#[derive(Clone, Copy, Debug)]
pub struct ChatMessage<'a> {
    pub role: &'a str,
    pub content: &'a str,
}

/// Why a prompt could not be put into the frame of the model.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    #[error("the chat template of this model cannot be used: {}", reason(.0))]
    Template(#[source] Error),
    #[error("the chat template of this model takes too many steps")]
    Endless,
    #[error("the chat template of this model has a tag that is too long")]
    TooLong,
    #[error("the chat template of this model does not repeat the prompt word for word")]
    NotVerbatim,
}

impl ChatTemplate {
    /// The template in the metadata; none for base models.
    pub fn from_metadata(metadata: &Metadata, tokenizer: &Tokenizer) -> Result<Option<Self>, ChatError> {
        let Some(source) = metadata.str("tokenizer.chat_template").filter(|source| !source.trim().is_empty()) else {
            return Ok(None);
        };
        let bos = tokenizer.bos().map(|bos| tokenizer.name(bos)).unwrap_or_default();
        Self::new(source, &bos, &tokenizer.name(tokenizer.eos())).map(Some)
    }

    /// Compiles a template that writes these tokens at the beginning and the end of a text.
    pub fn new(source: &str, bos: &str, eos: &str) -> Result<Self, ChatError> {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?;
        check_tags(source, syntax.clone())?;
        environment.set_syntax(syntax);
        environment.set_fuel(Some(FUEL));
        environment.set_recursion_limit(MAX_RECURSION);
        environment.set_unknown_method_callback(pycompat::unknown_method_callback);
        environment.add_filter("tojson", tojson);
        environment.add_function("raise_exception", raise_exception);
        environment.add_global("bos_token", bos);
        environment.add_global("eos_token", eos);
        environment.add_template_owned(NAME, source.to_owned())?;
        Ok(Self { environment })
    }

    /// Writes a conversation. The number of steps and their nesting are bounded, whatever the template says; the size of a text that it
    /// makes in one step is not.
    pub fn render(&self, messages: &[ChatMessage<'_>], add_generation_prompt: bool, mut variables: Variables) -> Result<String, ChatError> {
        let messages: Vec<Value> = messages.iter().copied().map(Value::from).collect();
        variables.insert("messages".to_owned(), messages.into());
        variables.insert("add_generation_prompt".to_owned(), add_generation_prompt.into());
        Ok(self.environment.get_template(NAME)?.render(variables)?)
    }
}

impl From<ChatMessage<'_>> for Value {
    fn from(message: ChatMessage<'_>) -> Self {
        Self::from_pairs([("role", message.role), ("content", message.content)])
    }
}

impl From<Error> for ChatError {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::OutOfFuel => Self::Endless,
            _ => Self::Template(error),
        }
    }
}

/// `strftime_now(format)`, on a given day.
pub fn strftime_now(date: Date) -> Value {
    Value::from_function(move |format: String| {
        date.strftime(&format).ok_or_else(|| Error::new(ErrorKind::InvalidOperation, format!("unknown date format {format:?}")))
    })
}

fn check_tags(source: &str, syntax: SyntaxConfig) -> Result<(), ChatError> {
    let mut length = 0;
    for token in machinery::tokenize(source, false, syntax) {
        match token?.0 {
            Token::VariableStart | Token::BlockStart => length = 0,
            _ => length += 1,
        }
        if length > MAX_TAG {
            return Err(ChatError::TooLong);
        }
    }
    Ok(())
}

fn reason(error: &Error) -> String {
    error.detail().map_or_else(|| error.kind().to_string(), str::to_owned)
}

/// How a template refuses a conversation.
fn raise_exception(message: String) -> Result<String, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, message))
}

/// Python's `json.dumps(value, ensure_ascii=False, indent=indent)`.
fn tojson(value: Value, options: Kwargs) -> Result<String, Error> {
    let indent: Option<usize> = options.get("indent")?;
    let json = match indent {
        Some(indent) if indent <= 16 => json_in(&value, PrettyFormatter::with_indent(" ".repeat(indent).as_bytes())),
        Some(_) => return Err(Error::new(ErrorKind::InvalidOperation, "an indent of tojson is too large")),
        None => json_in(&value, PythonFormatter),
    };
    json.ok_or_else(|| Error::new(ErrorKind::BadSerialization, "a value cannot be written as JSON"))
}

fn json_in(value: &Value, formatter: impl Formatter) -> Option<String> {
    let mut json = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut json, formatter)).ok()?;
    String::from_utf8(json).ok()
}

/// Writes `{"a": 1, "b": 2}`.
struct PythonFormatter;

impl Formatter for PythonFormatter {
    fn begin_array_value<W: ?Sized + std::io::Write>(&mut self, writer: &mut W, first: bool) -> std::io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: ?Sized + std::io::Write>(&mut self, writer: &mut W, first: bool) -> std::io::Result<()> {
        self.begin_array_value(writer, first)
    }

    fn begin_object_value<W: ?Sized + std::io::Write>(&mut self, writer: &mut W) -> std::io::Result<()> {
        writer.write_all(b": ")
    }
}

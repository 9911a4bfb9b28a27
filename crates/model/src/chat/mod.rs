//! Renders the visitor's prompt in the model's chat template, as tokens.

mod error;
mod placed;
mod template;
mod thoughts;

use std::ops::Range;

pub use glasscage_template::{Date, JinjaError};

pub use self::error::ChatError;
use self::placed::{Placed, PlacedContent, Rendering, Surroundings};
pub use self::template::{ChatMessage, ChatTemplate, ContentStyle, Variables};
pub use self::thoughts::{GeneratedPart, ThoughtTokens};
use super::gguf::Metadata;
use super::tokenizer::{Token, TokenId, Tokenizer};

/// Input of the model before it answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Framed {
    /// The rendered template, or the prompt alone.
    pub text: String,
    /// For each message, the bytes of `text` that are its content. Some templates trim it.
    pub contents: Vec<Range<usize>>,
    pub tokens: Vec<FramedToken>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FramedToken {
    pub id: TokenId,
    /// Bytes of [`Framed::text`].
    pub span: Range<usize>,
    /// The message whose content the token overlaps, and the bytes of this content as the visitor wrote it. `None` for tokens of the
    /// template alone. Contents come between other text, so a token that overlaps two of them counts for the first one.
    pub content: Option<(usize, Range<usize>)>,
}

/// Renders a prompt in the chat template: one user message, no thinking, ready for the answer. Without a template (a base model), adds only
/// the beginning-of-text token, if the model requires it.
///
/// Only the template creates control tokens; their names in the prompt are plain text. Between two control tokens, template and prompt are
/// tokenized as one text, as in llama.cpp. (Tokens of type `USER_DEFINED` are recognized in the prompt too; see [`Tokenizer::encode`].)
pub fn frame(template: Option<&ChatTemplate>, tokenizer: &Tokenizer, prompt: &str, date: Date) -> Result<Framed, ChatError> {
    frame_within(usize::MAX, template, tokenizer, prompt, date, false)
}

/// Like [`frame`], but errors above `limit` tokens. Does not tokenize a text that must be too long. `thinks` asks a template with thinking
/// sections for one.
pub fn frame_within(
    limit: usize,
    template: Option<&ChatTemplate>,
    tokenizer: &Tokenizer,
    prompt: &str,
    date: Date,
    thinks: bool,
) -> Result<Framed, ChatError> {
    let placed = match template {
        Some(template) => Placed::in_template(Rendering { template, date, thinks }, &[ChatMessage { role: "user", content: prompt }])?,
        None => Placed::plain(prompt),
    };
    framed(placed, tokenizer, limit)
}

/// Like [`frame_within`], for the messages of a conversation. Errors if there is no template, or if the template does not repeat all of
/// them in order. Contents with white space at their ends must be trimmed by the template completely or not at all.
pub fn frame_messages(
    limit: usize,
    template: Option<&ChatTemplate>,
    tokenizer: &Tokenizer,
    messages: &[ChatMessage<'_>],
    date: Date,
    thinks: bool,
) -> Result<Framed, ChatError> {
    let template = template.ok_or(ChatError::NoTemplate)?;
    framed(Placed::in_template(Rendering { template, date, thinks }, messages)?, tokenizer, limit)
}

fn framed(placed: Placed, tokenizer: &Tokenizer, limit: usize) -> Result<Framed, ChatError> {
    let fewest = tokenizer.fewest_tokens(placed.text.len());
    if fewest > limit {
        return Err(ChatError::FarTooLong { fewest, limit });
    }
    let contents: Vec<Range<usize>> = placed.contents.iter().map(|content| content.range.clone()).collect();
    let tokens = tokenizer.encode_partly_plain(&placed.text, &contents);
    let begins = tokenizer.bos().is_some_and(|bos| tokens.first().is_some_and(|token| token.id == bos));
    let added = tokenizer.bos().filter(|_| tokenizer.adds_bos() && !begins).map(|id| Token { id, span: 0..0 });
    let tokens: Vec<Token> = added.into_iter().chain(tokens).collect();
    if tokens.len() > limit {
        return Err(ChatError::TooLong { tokens: tokens.len(), limit });
    }
    let tokens = tokens.into_iter().map(|token| framed_token(token, &placed.contents)).collect();
    Ok(Framed { tokens, text: placed.text, contents })
}

fn framed_token(Token { id, span }: Token, contents: &[PlacedContent]) -> FramedToken {
    let message = contents.partition_point(|content| content.range.end <= span.start);
    let overlap = contents.get(message).and_then(|PlacedContent { range, trimmed }| {
        let (start, end) = (span.start.max(range.start), span.end.min(range.end));
        (start < end).then(|| (message, start - range.start + trimmed..end - range.start + trimmed))
    });
    FramedToken { id, span, content: overlap }
}

impl Framed {
    pub fn ids(&self) -> Vec<TokenId> {
        self.tokens.iter().map(|token| token.id).collect()
    }
}

/// Date for chat templates that print one. It is fixed (that of Llama 3.1's template), so that results are reproducible.
pub fn template_date() -> Date {
    Date::new(2024, 7, 26).expect("a day of the calendar")
}

/// Whether the template renders differently if the model is to think.
pub fn knows_thinking(template: &ChatTemplate, date: Date) -> bool {
    let [with, without] = [true, false].map(|thinks| Surroundings::of_prompt(Rendering { template, date, thinks }).ok());
    let texts = |found: Option<Surroundings>| found.map(Surroundings::into_pieces);
    texts(with) != texts(without)
}

/// The template in the metadata; `None` for base models. Errors if it cannot render any prompt.
pub fn usable_template(metadata: &Metadata, tokenizer: &Tokenizer) -> Result<Option<ChatTemplate>, ChatError> {
    let template = ChatTemplate::from_metadata(metadata, tokenizer)?;
    let rendering = template.as_ref().map(|template| Rendering { template, date: template_date(), thinks: false });
    rendering.map_or(Ok(()), |rendering| Surroundings::of_prompt(rendering).map(|_| ()))?;
    Ok(template)
}

//! Renders the visitor's prompt in the model's chat template, as tokens.

mod template;
mod thoughts;

use std::ops::Range;

pub use glasscage_template::{Date, JinjaError};

pub use self::template::{ChatError, ChatMessage, ChatTemplate, ContentStyle, Variables};
pub use self::thoughts::{GeneratedPart, ThoughtTokens};
use super::gguf::Metadata;
use super::tokenizer::{Token, TokenId, Tokenizer};

/// Input of the model before it answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Framed {
    /// The rendered template, or the prompt alone.
    pub text: String,
    /// The bytes of `text` that are the prompt. Some templates trim it.
    pub prompt: Range<usize>,
    pub tokens: Vec<FramedToken>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FramedToken {
    pub id: TokenId,
    /// Bytes of [`Framed::text`].
    pub span: Range<usize>,
    /// Bytes of the prompt as the visitor wrote it; `None` for tokens of the template alone.
    pub prompt: Option<Range<usize>>,
}

/// A text around a prompt. The template may have trimmed the ends of the prompt.
struct Placed {
    text: String,
    prompt: Range<usize>,
    /// Number of bytes of the prompt that are missing before `prompt`.
    trimmed: usize,
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
        Some(template) => Placed::in_template(template, prompt, date, thinks)?,
        None => Placed { text: prompt.to_owned(), prompt: 0..prompt.len(), trimmed: 0 },
    };
    let fewest = tokenizer.fewest_tokens(placed.text.len());
    if fewest > limit {
        return Err(ChatError::FarTooLong { fewest, limit });
    }
    let tokens = tokenizer.encode_partly_plain(&placed.text, &placed.prompt);
    let begins = tokenizer.bos().is_some_and(|bos| tokens.first().is_some_and(|token| token.id == bos));
    let added = tokenizer.bos().filter(|_| tokenizer.adds_bos() && !begins).map(|id| Token { id, span: 0..0 });
    let tokens: Vec<Token> = added.into_iter().chain(tokens).collect();
    if tokens.len() > limit {
        return Err(ChatError::TooLong { tokens: tokens.len(), limit });
    }
    let tokens = tokens.into_iter().map(|token| placed.framed(token)).collect();
    Ok(Framed { tokens, text: placed.text, prompt: placed.prompt })
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

/// The text that a template writes around any prompt.
struct Surroundings {
    /// The content style that it reads.
    style: ContentStyle,
    before: String,
    after: String,
}

impl Surroundings {
    /// Renders the template with a placeholder for the prompt: as text, or as typed content if that fails.
    fn of(template: &ChatTemplate, date: Date, thinks: bool) -> Result<Self, ChatError> {
        Self::in_style(ContentStyle::Text, template, date, thinks)
            .or_else(|error| Self::in_style(ContentStyle::Typed, template, date, thinks).map_err(|_| error))
    }

    fn in_style(style: ContentStyle, template: &ChatTemplate, date: Date, thinks: bool) -> Result<Self, ChatError> {
        const STAND_IN: &str = "\u{E000}\u{E001}\u{E002}";
        let model = render(template, style, STAND_IN, date, thinks)?;
        let [before, after] = model.split(STAND_IN).collect::<Vec<_>>()[..] else {
            return Err(ChatError::NotVerbatim);
        };
        Ok(Self { style, before: before.to_owned(), after: after.to_owned() })
    }

    /// Finds the prompt in `text`. Returns its range, and the number of bytes missing at its start.
    fn locate(&self, text: &str, prompt: &str) -> Result<(Range<usize>, usize), ChatError> {
        let rest = text.strip_prefix(self.before.as_str()).and_then(|rest| rest.strip_suffix(self.after.as_str()));
        let written = rest.ok_or(ChatError::NotVerbatim)?;
        let trimmed = prompt.find(written).filter(|&trimmed| {
            let rest = [&prompt[..trimmed], &prompt[trimmed + written.len()..]];
            rest.iter().all(|part| part.trim().is_empty())
        });
        let start = self.before.len();
        trimmed.map(|trimmed| (start..start + written.len(), trimmed)).ok_or_else(|| taken_out(prompt.trim(), written.trim()))
    }
}

impl Placed {
    fn in_template(template: &ChatTemplate, prompt: &str, date: Date, thinks: bool) -> Result<Self, ChatError> {
        let surroundings = Surroundings::of(template, date, thinks)?;
        let text = render(template, surroundings.style, prompt, date, thinks).map_err(ChatError::RefusesPrompt)?;
        let (prompt, trimmed) = surroundings.locate(&text, prompt)?;
        Ok(Self { text, prompt, trimmed })
    }

    fn framed(&self, token: Token) -> FramedToken {
        let start = token.span.start.max(self.prompt.start);
        let end = token.span.end.min(self.prompt.end);
        let in_prompt = |at: usize| at - self.prompt.start + self.trimmed;
        FramedToken { id: token.id, prompt: (start < end).then(|| in_prompt(start)..in_prompt(end)), span: token.span }
    }
}

/// Whether the template renders differently if the model is to think.
pub fn knows_thinking(template: &ChatTemplate, date: Date) -> bool {
    let [with, without] = [true, false].map(|thinks| Surroundings::of(template, date, thinks).ok());
    let texts = |found: Option<Surroundings>| found.map(|found| (found.before, found.after));
    texts(with) != texts(without)
}

/// The template in the metadata; `None` for base models. Errors if it cannot render any prompt.
pub fn usable_template(metadata: &Metadata, tokenizer: &Tokenizer) -> Result<Option<ChatTemplate>, ChatError> {
    let template = ChatTemplate::from_metadata(metadata, tokenizer)?;
    template.as_ref().map_or(Ok(()), |template| Surroundings::of(template, template_date(), false).map(|_| ()))?;
    Ok(template)
}

fn render(template: &ChatTemplate, style: ContentStyle, prompt: &str, date: Date, thinks: bool) -> Result<String, JinjaError> {
    let message = ChatMessage { role: "user", content: prompt };
    template.render_content(&[message], style, true, &Variables::from([("enable_thinking".to_owned(), thinks.into())]), date)
}

/// The error for a template that writes `written` instead of `prompt`. Names the missing part, if nothing replaces it.
fn taken_out(prompt: &str, written: &str) -> ChatError {
    const MOST_SHOWN: usize = 60;
    let same = |a: char, b: char| (a == b).then_some(a.len_utf8());
    let start: usize = prompt.chars().zip(written.chars()).map_while(|(a, b)| same(a, b)).sum();
    let (prompt, written) = (&prompt[start..], &written[start..]);
    let end: usize = prompt.chars().rev().zip(written.chars().rev()).map_while(|(a, b)| same(a, b)).sum();
    let (missing, instead) = (&prompt[..prompt.len() - end], &written[..written.len() - end]);
    let mut chars = missing.chars();
    let is_only_shorter = instead.chars().all(|c| chars.any(|other| other == c));
    let missing = if is_only_shorter { missing.trim() } else { "" };
    match missing.char_indices().nth(MOST_SHOWN) {
        _ if missing.is_empty() => ChatError::NotVerbatim,
        Some((at, _)) => ChatError::TakesOut(format!("{}…", &missing[..at])),
        None => ChatError::TakesOut(missing.to_owned()),
    }
}

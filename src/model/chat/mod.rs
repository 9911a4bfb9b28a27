//! The visitor's prompt in the frame that a chat model was trained on, as tokens.

mod date;
mod jinja;
mod template;
mod thoughts;

use std::ops::Range;

pub use self::date::Date;
pub use self::jinja::JinjaError;
pub use self::template::{ChatError, ChatMessage, ChatTemplate, Variables};
pub use self::thoughts::{GeneratedPart, ThoughtTokens};
use super::tokenizer::{Token, TokenId, Tokenizer};

/// What the model reads before it answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Framed {
    /// The rendered template, or the prompt alone.
    pub text: String,
    /// The bytes of `text` that are the visitor's prompt, or what the template left of it: some trim it.
    pub prompt: Range<usize>,
    pub tokens: Vec<FramedToken>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FramedToken {
    pub id: TokenId,
    /// Bytes of [`Framed::text`].
    pub span: Range<usize>,
    /// Bytes of the prompt as the visitor wrote it; none for tokens of the template alone.
    pub prompt: Option<Range<usize>>,
}

/// A text around a prompt of which the template may have trimmed the ends.
struct Placed {
    text: String,
    prompt: Range<usize>,
    /// How many bytes of the prompt are left out before `prompt`.
    trimmed: usize,
}

/// Puts a prompt into its chat frame: one user message, no thinking, the answer to begin next. Without a template (a base model)
/// the frame is the beginning-of-text token, where the model asks for one.
///
/// Control tokens are made by the template only: in the prompt their names are plain text. Between two control tokens, template
/// and prompt are tokenized as one text, as llama.cpp does. (Tokens of type `USER_DEFINED` are recognized in the prompt too; see
/// [`Tokenizer::encode`].)
pub fn frame(template: Option<&ChatTemplate>, tokenizer: &Tokenizer, prompt: &str, date: Date) -> Result<Framed, ChatError> {
    frame_within(usize::MAX, template, tokenizer, prompt, date, false)
}

/// As [`frame`], of at most `limit` tokens: a text that is too long for that in any case is not made into tokens at all. Where the
/// template knows thoughts, it asks for one if the model is to think.
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

impl Placed {
    /// Renders the template twice, first with a stand-in for the prompt to learn what stands before and after it.
    fn in_template(template: &ChatTemplate, prompt: &str, date: Date, thinks: bool) -> Result<Self, ChatError> {
        const STAND_IN: &str = "\u{E000}\u{E001}\u{E002}";
        let model = render(template, STAND_IN, date, thinks)?;
        let [before, after] = model.split(STAND_IN).collect::<Vec<_>>()[..] else {
            return Err(ChatError::NotVerbatim);
        };
        let text = render(template, prompt, date, thinks)?;
        let (prompt, trimmed) = locate(&text, before, after, prompt).ok_or(ChatError::NotVerbatim)?;
        Ok(Self { text, prompt, trimmed })
    }

    fn framed(&self, token: Token) -> FramedToken {
        let start = token.span.start.max(self.prompt.start);
        let end = token.span.end.min(self.prompt.end);
        let in_prompt = |at: usize| at - self.prompt.start + self.trimmed;
        FramedToken { id: token.id, prompt: (start < end).then(|| in_prompt(start)..in_prompt(end)), span: token.span }
    }
}

/// Whether the template frames a prompt otherwise where the model is to think.
pub fn knows_thinking(template: &ChatTemplate, date: Date) -> bool {
    let [with, without] = [true, false].map(|thinks| render(template, "?", date, thinks).ok());
    with != without
}

fn render(template: &ChatTemplate, prompt: &str, date: Date, thinks: bool) -> Result<String, ChatError> {
    let message = ChatMessage { role: "user", content: prompt };
    template.render(&[message], true, &Variables::from([("enable_thinking".to_owned(), thinks.into())]), date)
}

/// Where the prompt stands in `text`, and how many of its bytes are missing at its start.
fn locate(text: &str, before: &str, after: &str, prompt: &str) -> Option<(Range<usize>, usize)> {
    let written = text.strip_prefix(before)?.strip_suffix(after)?;
    let trimmed = prompt.find(written)?;
    let rest = [&prompt[..trimmed], &prompt[trimmed + written.len()..]];
    let only_blanks_are_missing = rest.iter().all(|part| part.trim().is_empty());
    only_blanks_are_missing.then_some((before.len()..before.len() + written.len(), trimmed))
}

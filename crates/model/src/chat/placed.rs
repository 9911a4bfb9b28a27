//! Where the contents of messages are in the rendered chat template.

use std::ops::Range;

use super::error::ChatError;
use super::template::{ChatMessage, ChatTemplate, ContentStyle, Variables};
use glasscage_template::{Date, JinjaError};

/// Starts the text that stands in for a content, and occurs in no template.
const MARK: &str = "\u{E000}\u{E001}";

/// How a conversation is rendered.
#[derive(Clone, Copy)]
pub struct Rendering<'a> {
    pub template: &'a ChatTemplate,
    /// The day that templates may print.
    pub date: Date,
    /// Asks a template with thinking sections for one.
    pub thinks: bool,
}

/// A rendered template, or a prompt alone, and the contents in it.
pub struct Placed {
    pub text: String,
    /// One for each message, in order.
    pub contents: Vec<PlacedContent>,
}

/// A content in the text. The template may have trimmed its ends.
pub struct PlacedContent {
    /// Bytes of the text.
    pub range: Range<usize>,
    /// Number of bytes of the content that are missing before `range`.
    pub trimmed: usize,
}

impl Placed {
    /// The text as it is.
    pub fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), contents: vec![PlacedContent { range: 0..text.len(), trimmed: 0 }] }
    }

    /// Renders messages, ready for an answer.
    pub fn in_template(rendering: Rendering<'_>, messages: &[ChatMessage<'_>]) -> Result<Self, ChatError> {
        let surroundings = Surroundings::of(rendering, messages)?;
        let refused = |error| if messages.len() == 1 { ChatError::RefusesPrompt(error) } else { ChatError::RefusesConversation(error) };
        let text = rendering.render(surroundings.style, messages).map_err(refused)?;
        let contents = surroundings.locate(&text, messages)?;
        Ok(Self { text, contents })
    }
}

impl Rendering<'_> {
    fn render(self, style: ContentStyle, messages: &[ChatMessage<'_>]) -> Result<String, JinjaError> {
        let variables = Variables::from([("enable_thinking".to_owned(), self.thinks.into())]);
        self.template.render_content(messages, style, true, &variables, self.date)
    }
}

/// The text that a template writes around the contents of messages with these roles.
pub struct Surroundings {
    /// The content style that it reads.
    style: ContentStyle,
    /// The text before each content, and the text after the last one.
    pieces: Vec<String>,
}

impl Surroundings {
    /// The text around a single prompt.
    pub fn of_prompt(rendering: Rendering<'_>) -> Result<Self, ChatError> {
        Self::of(rendering, &[ChatMessage { role: "user", content: "" }])
    }

    pub fn into_pieces(self) -> Vec<String> {
        self.pieces
    }

    /// Renders the template with other contents: as text, or as typed content if that fails.
    fn of(rendering: Rendering<'_>, messages: &[ChatMessage<'_>]) -> Result<Self, ChatError> {
        let found = Self::in_style(ContentStyle::Text, rendering, messages)
            .or_else(|error| Self::in_style(ContentStyle::Typed, rendering, messages).map_err(|_| error));
        let Err(error) = found else { return found };
        // Say so if the only problem is the system message.
        match messages {
            [first, others @ ..] if first.role == "system" && !others.is_empty() && Self::of(rendering, others).is_ok() => {
                Err(ChatError::NoSystem)
            }
            _ => Err(error),
        }
    }

    fn in_style(style: ContentStyle, rendering: Rendering<'_>, messages: &[ChatMessage<'_>]) -> Result<Self, ChatError> {
        let stand_ins: Vec<String> = (0..messages.len()).map(stand_in).collect();
        let marked: Vec<ChatMessage<'_>> =
            messages.iter().zip(&stand_ins).map(|(message, content)| ChatMessage { role: message.role, content }).collect();
        let is_single = messages.len() == 1;
        let refused = |error| if is_single { ChatError::Template(error) } else { ChatError::RefusesConversation(error) };
        let rendered = rendering.render(style, &marked).map_err(refused)?;
        let changed = || if is_single { ChatError::NotVerbatim } else { ChatError::NotEveryTurn };
        let mut pieces = Vec::with_capacity(messages.len() + 1);
        let mut rest = rendered.as_str();
        for stand_in in &stand_ins {
            let (before, after) = rest.split_once(stand_in.as_str()).ok_or_else(changed)?;
            pieces.push(before.to_owned());
            rest = after;
        }
        pieces.push(rest.to_owned());
        if pieces.iter().any(|piece| piece.contains(MARK)) {
            return Err(changed());
        }
        Ok(Self { style, pieces })
    }

    /// Finds the contents in `text`.
    fn locate(&self, text: &str, messages: &[ChatMessage<'_>]) -> Result<Vec<PlacedContent>, ChatError> {
        match (messages, &self.pieces[..]) {
            ([message], [before, after]) => Ok(vec![locate_between(text, message.content, before, after)?]),
            _ => self.locate_all(text, messages),
        }
    }

    /// Finds several contents, each after the text before it. The template may trim either end of a content.
    fn locate_all(&self, text: &str, messages: &[ChatMessage<'_>]) -> Result<Vec<PlacedContent>, ChatError> {
        let mut contents = Vec::with_capacity(messages.len());
        let mut end = 0;
        for (k, (message, neighbors)) in messages.iter().zip(self.pieces.windows(2)).enumerate() {
            let (before, after) = (neighbors[0].as_str(), neighbors[1].as_str());
            let rest = text[end..].strip_prefix(before).ok_or(ChatError::NotEveryTurn)?;
            let start = end + before.len();
            let is_last = k + 1 == messages.len();
            let is_written = |written: &str| {
                rest.strip_prefix(written).is_some_and(|rest| if is_last { rest == after } else { rest.starts_with(after) })
            };
            let content = message.content;
            let trimmed = content.len() - content.trim_start().len();
            let ways = [(0, content), (0, content.trim_end()), (trimmed, content.trim_start()), (trimmed, content.trim())];
            let Some((trimmed, written)) = ways.into_iter().find(|(_, written)| is_written(written)) else {
                let written = rest.split_once(after).map_or(rest, |(written, _)| written);
                return Err(taken_out(content.trim(), written.trim()).unwrap_or(ChatError::NotEveryTurn));
            };
            end = start + written.len();
            contents.push(PlacedContent { range: start..end, trimmed });
        }
        Ok(contents)
    }
}

/// Stands in for the content of message `k`.
fn stand_in(k: usize) -> String {
    // Characters for private use.
    let number = u32::try_from(k).ok().and_then(|k| char::from_u32(0xE100 + k % 0x1700)).unwrap_or_default();
    if k == 0 { format!("{MARK}\u{E002}") } else { format!("{MARK}{number}\u{E002}") }
}

/// Finds the content between `before` and `after`.
fn locate_between(text: &str, content: &str, before: &str, after: &str) -> Result<PlacedContent, ChatError> {
    let rest = text.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    let written = rest.ok_or(ChatError::NotVerbatim)?;
    let trimmed = content.find(written).filter(|&trimmed| {
        let rest = [&content[..trimmed], &content[trimmed + written.len()..]];
        rest.iter().all(|part| part.trim().is_empty())
    });
    let start = before.len();
    trimmed
        .map(|trimmed| PlacedContent { range: start..start + written.len(), trimmed })
        .ok_or_else(|| taken_out(content.trim(), written.trim()).unwrap_or(ChatError::NotVerbatim))
}

/// The error for a template that writes `written` instead of `content`. `None` if something replaces the missing part.
fn taken_out(content: &str, written: &str) -> Option<ChatError> {
    const MAX_SHOWN: usize = 60;
    let same = |a: char, b: char| (a == b).then_some(a.len_utf8());
    let start: usize = content.chars().zip(written.chars()).map_while(|(a, b)| same(a, b)).sum();
    let (content, written) = (&content[start..], &written[start..]);
    let end: usize = content.chars().rev().zip(written.chars().rev()).map_while(|(a, b)| same(a, b)).sum();
    let (missing, instead) = (&content[..content.len() - end], &written[..written.len() - end]);
    let mut chars = missing.chars();
    let is_only_shorter = instead.chars().all(|c| chars.any(|other| other == c));
    let missing = if is_only_shorter { missing.trim() } else { "" };
    match missing.char_indices().nth(MAX_SHOWN) {
        _ if missing.is_empty() => None,
        Some((at, _)) => Some(ChatError::TakesOut(format!("{}…", &missing[..at]))),
        None => Some(ChatError::TakesOut(missing.to_owned())),
    }
}

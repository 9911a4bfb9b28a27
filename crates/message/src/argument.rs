//! The arguments of messages.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use super::{Message, ToMessage};

/// Maximum length of a text, and the lengths of the parts that stay of a longer one, in characters. Files contain names of any length.
const KEPT: [usize; 2] = [360, 120];

/// What fills a placeholder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Argument {
    /// A name, a number, or words of another program. Not translated.
    Text(String),
    /// An amount of memory in bytes.
    Gigabytes(u64),
    Message(Message),
}

impl Argument {
    /// A text without the middle of one that is too long to read.
    pub fn text(text: &dyn Display) -> Self {
        let text = text.to_string();
        let [start, end] = KEPT;
        if text.chars().nth(start + end).is_none() {
            return Self::Text(text);
        }
        let chars: Vec<char> = text.chars().collect();
        let (start, end) = (&chars[..start], &chars[chars.len() - end..]);
        Self::Text(start.iter().chain(&[' ', '\u{2026}', ' ']).chain(end).collect())
    }
}

/// In English.
impl Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Gigabytes(bytes) => Gigabytes(*bytes).fmt(f),
            Self::Message(message) => message.fmt(f),
        }
    }
}

/// An amount of memory in bytes, shown in gigabytes with the decimal separator of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gigabytes(pub u64);

/// In English: "1.9 GB".
impl Display for Gigabytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} GB", self.0 as f64 / 1e9)
    }
}

impl ToMessage for Gigabytes {
    fn to_message(&self) -> Message {
        Message::new("{amount}", vec![Argument::Gigabytes(self.0)])
    }
}

/// The value of a placeholder. The macros call its method `argument` on a reference. The compiler finds [`ArgumentOfMessage`] first, which
/// types have that implement [`ToMessage`], and else [`ArgumentOfText`], one reference further.
pub struct Value<'a, T: ?Sized>(pub &'a T);

pub trait ArgumentOfMessage {
    fn argument(&self) -> Argument;
}

impl<T: ToMessage + ?Sized> ArgumentOfMessage for Value<'_, T> {
    fn argument(&self) -> Argument {
        Argument::Message(self.0.to_message())
    }
}

pub trait ArgumentOfText {
    fn argument(&self) -> Argument;
}

impl<T: Display> ArgumentOfText for &Value<'_, T> {
    fn argument(&self) -> Argument {
        Argument::text(self.0)
    }
}

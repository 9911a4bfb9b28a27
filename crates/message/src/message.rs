//! Messages and their arguments, which may be messages again.

use std::borrow::Cow;
use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use super::fill::{self, fill};
use super::sentence::sentence;

/// Maximum length of a text, and the lengths of the parts that stay of a longer one, in characters. Files contain names of any length.
const KEPT: [usize; 2] = [360, 120];

/// The value of a placeholder.
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

/// A text for users: its template, and an argument for each placeholder of the template, in this order. Serialized as a pair.
/// Boxed, because results with errors should be small.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Message(Box<(Cow<'static, str>, Vec<Argument>)>);

impl Message {
    /// See [`message!`], which checks that there is one argument for each placeholder.
    pub fn new(template: &'static str, arguments: Vec<Argument>) -> Self {
        Self(Box::new((Cow::Borrowed(template), arguments)))
    }

    /// A text that is not translated, such as one of the browser.
    pub fn verbatim(text: &dyn Display) -> Self {
        Self::new("{text}", vec![Argument::text(text)])
    }

    /// The English text with named placeholders: "tensor {name} ends at byte {end}".
    pub fn template(&self) -> &str {
        &self.0.0
    }

    /// The message in English, as a sentence.
    pub fn to_sentence(&self) -> String {
        sentence(&self.to_string(), ".")
    }

    /// Fills `template`, a translation of this message's template, with the arguments as `show` writes them.
    pub fn filled(&self, template: &str, show: &dyn Fn(&Argument) -> String) -> String {
        fill(template, &|name| {
            let index = fill::names(self.template()).position(|known| known == name)?;
            self.0.1.get(index).map(show)
        })
    }
}

/// In English.
impl Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.filled(self.template(), &Argument::to_string))
    }
}

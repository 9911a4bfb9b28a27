//! What a user reads, as data until it is shown. A [`Message`] has a template in English, which is also its key in the catalogs of other
//! languages, and the arguments that fill it. Messages cross the workers' borders, and the page fills in the translated template. Command
//! line and tests print them in English.
//!
//! An error type derives [`ToMessage`](derive@ToMessage) from the texts that it has for thiserror. [`message!`] makes every other message.
//!
//! ```
//! use glasscage_message::{ToMessage, message};
//!
//! #[derive(Debug, thiserror::Error, ToMessage)]
//! enum HeaderError {
//!     #[error("tensor {name} ends at byte {end}")]
//!     CutOff { name: String, end: u64 },
//! }
//!
//! let error = HeaderError::CutOff { name: "output".into(), end: 17 };
//! let message = message!("the model was not loaded: {error}", error);
//! assert_eq!(message.template(), "the model was not loaded: {error}");
//! assert_eq!(message.to_string(), "the model was not loaded: tensor output ends at byte 17");
//! ```

mod argument;
mod fill;
mod sentence;

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use argument::{Argument, ArgumentOfMessage, ArgumentOfText, Gigabytes, Value};
pub use fill::fill;
/// Implements [`trait@ToMessage`] by the attributes that thiserror reads: `#[error("row {row} has {n} cells")]` and
/// `#[error(transparent)]`. The values of placeholders have names: `#[error("step {number}", number = .0 + 1)]`. Arguments that implement
/// [`trait@ToMessage`] become messages in the message, and others become texts.
pub use glasscage_message_derive::ToMessage;
/// Makes a [`Message`]: `message!("there is no method {name}")`, `message!("row {row} has {n} cells", row, n = cells.len())`. A placeholder
/// without a value names a variable.
pub use glasscage_message_derive::message;
pub use sentence::sentence;

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
    pub fn verbatim(text: &dyn fmt::Display) -> Self {
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
impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.filled(self.template(), &Argument::to_string))
    }
}

/// What can be shown to users.
pub trait ToMessage {
    fn to_message(&self) -> Message;
}

impl ToMessage for Message {
    fn to_message(&self) -> Message {
        self.clone()
    }
}

impl<T: ToMessage + ?Sized> ToMessage for &T {
    fn to_message(&self) -> Message {
        (**self).to_message()
    }
}

impl<T: ToMessage + ?Sized> ToMessage for Box<T> {
    fn to_message(&self) -> Message {
        (**self).to_message()
    }
}

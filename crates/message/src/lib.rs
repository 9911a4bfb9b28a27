//! Messages for users, which stay data until they are shown. A [`Message`] has a template in English, which is also its key in the catalogs
//! of other languages, and the arguments that fill it. Messages cross the workers' borders, and the page fills in the translated template.
//! Command line and tests print them in English.
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

mod fill;
mod message;
mod sentence;
mod to_message;

pub use fill::fill;
/// Implements [`trait@ToMessage`] by the attributes that thiserror reads: `#[error("row {row} has {n} cells")]` and
/// `#[error(transparent)]`. The values of placeholders have names: `#[error("step {number}", number = .0 + 1)]`. Arguments that implement
/// [`trait@ToMessage`] become messages in the message, and others become texts.
pub use glasscage_message_derive::ToMessage;
/// Makes a [`Message`]: `message!("there is no method {name}")`, `message!("row {row} has {n} cells", row, n = cells.len())`. A placeholder
/// without a value names a variable.
pub use glasscage_message_derive::message;
pub use message::{Argument, Gigabytes, Message};
pub use sentence::sentence;
pub use to_message::{ArgumentOfMessage, ArgumentOfText, ToMessage, Value};

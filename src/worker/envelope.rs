//! Pairs each message with the id of its request.
//!
//! The page numbers its requests to a worker from 1 on and never reuses a number. The worker posts every event under the id of the
//! request that it answers, so the id alone determines the meaning of an event. The page ignores events under an id for which it no
//! longer waits. They are late answers, from a dropped request or from a replaced worker. Unsolicited events have the id
//! [`RequestId::UNSOLICITED`].

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A request to a worker, or an event from it, with their shared id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope<T> {
    pub id: RequestId,
    pub body: T,
}

/// Requests are JavaScript values, with the files that the user chose. Events are JSON, because the page reads documents from JSON anyway
/// (files and links). A second decoder would double that code.
impl<T: Serialize> Envelope<T> {
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("messages have only string keys and finite numbers")
    }
}

impl<T: DeserializeOwned> Envelope<T> {
    /// Decodes a message. `None` if it comes from another version.
    pub fn from_json(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }
}

/// Number of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RequestId(pub u32);

impl RequestId {
    /// Id of events that do not answer a request.
    pub const UNSOLICITED: Self = Self(0);

    /// Id of the next request.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_start_at_one_and_differ_from_news() {
        assert_eq!(RequestId::UNSOLICITED.next(), RequestId(1));
    }

    #[test]
    fn id_is_serialized_as_number() {
        let envelope = Envelope { id: RequestId(3), body: "a".to_owned() };
        assert_eq!(envelope.to_json(), r#"{"id":3,"body":"a"}"#);
        assert_eq!(Envelope::from_json(r#"{"id":3,"body":"a"}"#), Some(envelope));
    }

    #[test]
    fn message_of_another_version_is_rejected() {
        assert_eq!(Envelope::<u32>::from_json(r#"{"id":3,"body":"a"}"#), None);
    }
}

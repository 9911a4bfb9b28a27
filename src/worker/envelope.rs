//! Which request a message belongs to.
//!
//! The page numbers its requests to a worker from 1 on and never uses a number twice. The worker posts every event that answers a
//! request under that request's id, so what an event is for follows from the id alone, whatever else goes on. An event under an id
//! that the page does not wait for any more is a late answer, of a request that was dropped or of a worker that was replaced
//! meanwhile: it is ignored. What nobody asked for comes under [`RequestId::NEWS`].

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A request to a worker or an event from it, and the id that they share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope<T> {
    pub id: RequestId,
    pub body: T,
}

/// Requests are JavaScript values, beside the files that the visitor chose. Events are JSON: the documents in them are read from JSON
/// anyway, as files and links are, and the code that reads them in another way would be twice as much.
impl<T: Serialize> Envelope<T> {
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("messages have only string keys and finite numbers")
    }
}

impl<T: DeserializeOwned> Envelope<T> {
    /// The message in `json`; `None` where it is of another version.
    pub fn from_json(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }
}

/// The number of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RequestId(pub u32);

impl RequestId {
    /// The id of events that answer no request.
    pub const NEWS: Self = Self(0);

    /// The id of the next request.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_numbered_from_one_on_so_that_none_is_news() {
        assert_eq!(RequestId::NEWS.next(), RequestId(1));
    }

    #[test]
    fn an_id_is_a_plain_number_on_the_way() {
        let envelope = Envelope { id: RequestId(3), body: "a".to_owned() };
        assert_eq!(envelope.to_json(), r#"{"id":3,"body":"a"}"#);
        assert_eq!(Envelope::from_json(r#"{"id":3,"body":"a"}"#), Some(envelope));
    }

    #[test]
    fn a_message_of_another_version_is_none() {
        assert_eq!(Envelope::<u32>::from_json(r#"{"id":3,"body":"a"}"#), None);
    }
}

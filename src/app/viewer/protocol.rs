//! Messages between the viewer and the embedding page: objects with `"glasscage": 1` and a `"type"`. `docs/embedding.md` describes them for
//! authors of such pages.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::state::message::HostRequest;
use crate::explanation::title;
use crate::shares::Shares;

/// Version of the protocol. Messages with other versions are ignored.
const VERSION: u32 = 1;
/// Maximum length of a message in bytes. Documents have their own limits.
const MAX_LENGTH: usize = 1 << 24;

/// A message from the embedding page.
#[derive(Debug, PartialEq)]
pub enum Incoming {
    /// The embedding page listens and accepts messages.
    Hello,
    Asked(HostRequest),
}

#[derive(Deserialize)]
struct Versioned {
    glasscage: u32,
    #[serde(flatten)]
    content: Content,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Content {
    Hello,
    Open { document: Value },
    Choose { output: Vec<usize> },
}

impl Incoming {
    /// Parses a message from JSON. `None` if it does not follow the protocol.
    pub fn from_json(json: &str) -> Option<Self> {
        if json.len() > MAX_LENGTH {
            return None;
        }
        let Versioned { glasscage, content } = serde_json::from_str(json).ok()?;
        let incoming = match content {
            Content::Hello => Self::Hello,
            Content::Open { document: Value::String(text) } => Self::Asked(HostRequest::Open(text)),
            Content::Open { document } => Self::Asked(HostRequest::Open(document.to_string())),
            Content::Choose { output } => Self::Asked(HostRequest::Choose(output)),
        };
        (glasscage == VERSION).then_some(incoming)
    }
}

/// A message from the viewer.
#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Outgoing {
    /// The viewer is ready and listens.
    Ready,
    /// The height at which all of the viewer is visible, in CSS pixels.
    Height { pixels: u32 },
    /// A new explanation is on screen.
    Opened(Explained),
    /// The selected sentences have changed.
    Chosen(Explained),
    /// The viewer shows this problem, for example because it could not open an explanation.
    Refused { problem: String },
}

/// Describes the explanation on screen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    title: String,
    /// The explained generated sentences (0-based).
    output: Vec<usize>,
    /// The share of each prompt sentence, including influence through the steps. `null` if it was not measured, or if nothing in the prompt
    /// supports the explained sentences.
    shares: Vec<Option<f64>>,
}

impl Explained {
    /// Describes this view of an explanation.
    pub fn of(attribution: &Shares) -> Self {
        let document = attribution.document();
        let shares = (0..document.prompt.sentences.len()).map(|j| attribution.total(j).filter(|_| !attribution.is_unsupported()));
        Self { title: title(document), output: attribution.output().to_vec(), shares: shares.collect() }
    }
}

impl Outgoing {
    /// The message, as JSON.
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Versioned<'a> {
            glasscage: u32,
            #[serde(flatten)]
            message: &'a Outgoing,
        }
        serde_json::to_string(&Versioned { glasscage: VERSION, message: self }).expect("a message is JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::shares;

    #[test]
    fn host_messages_are_read() {
        let open = |document: &str| Incoming::from_json(&format!(r#"{{"glasscage": 1, "type": "open", "document": {document}}}"#));
        assert_eq!(Incoming::from_json(r#"{"glasscage": 1, "type": "hello", "more": 1}"#), Some(Incoming::Hello));
        assert_eq!(open(r##""#g3.x""##), Some(Incoming::Asked(HostRequest::Open("#g3.x".into()))));
        assert_eq!(open(r#"{"a": [1]}"#), Some(Incoming::Asked(HostRequest::Open(r#"{"a":[1]}"#.into()))));
        let choose = r#"{"glasscage": 1, "type": "choose", "output": [2, 0]}"#;
        assert_eq!(Incoming::from_json(choose), Some(Incoming::Asked(HostRequest::Choose(vec![2, 0]))));
    }

    #[test]
    fn other_messages_are_passed_over() {
        let others = [
            "",
            "null",
            "[]",
            r#""hello""#,
            r#"{"type": "hello"}"#,
            r#"{"glasscage": 2, "type": "hello"}"#,
            r#"{"glasscage": 1, "type": "run"}"#,
            r#"{"glasscage": 1, "type": "choose", "output": [-1]}"#,
        ];
        for other in others {
            assert_eq!(Incoming::from_json(other), None, "{other}");
        }
    }

    #[test]
    fn viewer_messages_have_version_and_type() {
        assert_eq!(Outgoing::Ready.to_json(), r#"{"glasscage":1,"type":"ready"}"#);
        assert_eq!(Outgoing::Height { pixels: 480 }.to_json(), r#"{"glasscage":1,"type":"height","pixels":480}"#);
        let shares = shares(&[1]);
        let title = title(shares.document());
        let expected = format!(r#"{{"glasscage":1,"type":"chosen","title":"{title}","output":[1],"shares":[0.5,0.5]}}"#);
        assert_eq!(Outgoing::Chosen(Explained::of(&shares)).to_json(), expected);
    }
}

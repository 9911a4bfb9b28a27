//! Branches: places where an answer was not generated freely, because an alternative of a token was chosen there.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::tokens::{MAX_ALTERNATIVES, list, place};

/// Maximum number of tokens before a branch. The page allows answers of a few thousand tokens.
const MAX_TOKEN: usize = 1 << 17;

/// A token of an answer in whose place an alternative was chosen. The tokens before it stay, and the model continued after the alternative
/// with the same settings.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Branch {
    /// 0-based index of the token among the tokens of the answer's sentences, which is the number of tokens before the alternative.
    pub token: usize,
    /// Place of the alternative among the most likely other tokens: 1 is the most likely one. At most [`MAX_ALTERNATIVES`].
    pub rank: usize,
    /// Text of the alternative. Bytes that are not UTF-8 are U+FFFD.
    pub text: String,
}

/// Reads branches by way of a `Value`, because derived code would make the page larger.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Branch>, D::Error> {
    list(&Value::deserialize(deserializer)?, branch).ok_or_else(|| D::Error::custom("invalid branches"))
}

fn branch(fields: &Map<String, Value>) -> Option<Branch> {
    // With exactly three fields, and the three that are read here, none is unknown.
    let fields = Some(fields).filter(|fields| fields.len() == 3)?;
    let number = |name: &str| place(fields.get(name)?);
    Some(Branch { token: number("token")?, rank: number("rank")?, text: fields.get("text")?.as_str()?.to_owned() })
}

/// Whether each branch is after the one before it, and is one of the alternatives that a token can have.
pub(super) fn are_possible(branches: &[Branch]) -> bool {
    let is_possible = |branch: &Branch| branch.token <= MAX_TOKEN && (1..=MAX_ALTERNATIVES).contains(&branch.rank);
    branches.is_sorted_by(|a, b| a.token < b.token) && branches.iter().all(is_possible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_ascend_and_are_alternatives() {
        let branch = |token: usize, rank: usize| Branch { token, rank, text: "x".into() };
        assert!(are_possible(&[]) && are_possible(&[branch(0, 1), branch(7, 5), branch(MAX_TOKEN, 2)]));
        for (a, b) in [((3, 1), (3, 2)), ((3, 1), (2, 1)), ((0, 0), (1, 1)), ((0, 6), (1, 1))] {
            assert!(!are_possible(&[branch(a.0, a.1), branch(b.0, b.1)]), "{a:?} {b:?}");
        }
        assert!(!are_possible(&[branch(MAX_TOKEN + 1, 1)]));
    }
}

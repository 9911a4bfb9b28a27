//! Turns of a prompt that is a conversation: who said which of its units.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::tokens::{list, place};

/// The role of the one who speaks in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// Who set the model up.
    System,
    User,
    /// The model, in an earlier answer.
    Assistant,
}

/// A turn of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Turn {
    pub role: Speaker,
    /// Number of units in the turn. Each unit is a column of the table.
    pub sentences: usize,
}

impl Speaker {
    pub const ALL: [Self; 3] = [Self::System, Self::User, Self::Assistant];

    /// The name in documents and chat templates: "system".
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }

    /// The name with a capital letter, as labels of turns have it: "System".
    pub fn label(self) -> &'static str {
        match self {
            Self::System => "System",
            Self::User => "User",
            Self::Assistant => "Assistant",
        }
    }
}

/// Reads turns by way of a `Value`, because derived code would make the page larger.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Turn>, D::Error> {
    list(&Value::deserialize(deserializer)?, turn).ok_or_else(|| D::Error::custom("invalid turns"))
}

fn turn(fields: &Map<String, Value>) -> Option<Turn> {
    // With exactly two fields, and the two that are read here, none is unknown.
    let fields = Some(fields).filter(|fields| fields.len() == 2)?;
    let name = fields.get("role")?.as_str()?;
    let role = Speaker::ALL.into_iter().find(|speaker| speaker.name() == name)?;
    Some(Turn { role, sentences: place(fields.get("sentences")?)? })
}

/// Whether turns can be those of a prompt of `n_prompt` units: each has a unit, and together they have all. Only the first may be a system
/// message, and the last is the user's. True if there are no turns.
pub(super) fn are_possible(turns: &[Turn], n_prompt: usize) -> bool {
    let Some(last) = turns.last() else { return true };
    let all = turns.iter().map(|turn| turn.sentences).try_fold(0_usize, usize::checked_add);
    let are_in_order = turns.iter().skip(1).all(|turn| turn.role != Speaker::System) && last.role == Speaker::User;
    are_in_order && turns.iter().all(|turn| turn.sentences > 0) && all == Some(n_prompt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_cover_prompt_and_end_with_user() {
        let possible = |turns: &[(Speaker, usize)]| {
            let turns: Vec<Turn> = turns.iter().map(|&(role, sentences)| Turn { role, sentences }).collect();
            are_possible(&turns, 4)
        };
        let (system, user, assistant) = (Speaker::System, Speaker::User, Speaker::Assistant);
        assert!(possible(&[]) && possible(&[(user, 4)]) && possible(&[(system, 1), (user, 1), (assistant, 1), (user, 1)]));
        for impossible in [
            &[(system, 1), (user, 2)][..],
            &[(system, 1), (user, 4)],
            &[(system, 4), (user, 0)],
            &[(user, usize::MAX), (user, 5)],
            &[(user, 1), (system, 1), (user, 2)],
            &[(user, 2), (assistant, 2)],
            &[(system, 4)],
        ] {
            assert!(!possible(impossible), "{impossible:?}");
        }
    }
}

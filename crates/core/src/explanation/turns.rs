//! Turns of a conversation before its last answer: who said which of the units.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::tokens::{list, place};

/// The role of the one who speaks in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// The person or program that set up the model.
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
    /// Whether the turn is an answer whose units are explained, too. They belong to the generation, and each is also a row of the table.
    /// The units of other turns belong to the prompt.
    #[serde(skip_serializing_if = "is_given")]
    pub explained: bool,
}

/// Whether documents leave out [`Turn::explained`].
fn is_given(explained: &bool) -> bool {
    !*explained
}

impl Turn {
    /// A turn whose units are only sources.
    pub fn given(role: Speaker, sentences: usize) -> Self {
        Self { role, sentences, explained: false }
    }

    /// An earlier answer whose units are explained.
    pub fn explained(sentences: usize) -> Self {
        Self { role: Speaker::Assistant, sentences, explained: true }
    }
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
    let explained = fields.get("explained");
    // With exactly these fields, none is unknown.
    let fields = Some(fields).filter(|fields| fields.len() == 2 + usize::from(explained.is_some()))?;
    let name = fields.get("role")?.as_str()?;
    let role = Speaker::ALL.into_iter().find(|speaker| speaker.name() == name)?;
    let explained = explained.map_or(Some(false), Value::as_bool)?;
    Some(Turn { role, sentences: place(fields.get("sentences")?)?, explained })
}

/// Whether turns can be those of a document with `n_prompt` units of the prompt and `n_generated` generated ones. Each turn has a unit.
/// Explained turns have fewer units than the generation, because the last answer has some, too. The other turns together have all units of
/// the prompt. Only the first turn may be a system message, and the last is the user's. Only answers after the first turn may be explained,
/// because nothing comes before the first turn. True if there are no turns.
pub(super) fn are_possible(turns: &[Turn], n_prompt: usize, n_generated: usize) -> bool {
    let (Some(first), Some(last)) = (turns.first(), turns.last()) else { return true };
    let units = |explained: bool| {
        let of_kind = turns.iter().filter(|turn| turn.explained == explained).map(|turn| turn.sentences);
        of_kind.fold(0, usize::saturating_add)
    };
    let are_in_order = turns.iter().skip(1).all(|turn| turn.role != Speaker::System) && last.role == Speaker::User;
    let are_answers = !first.explained && turns.iter().all(|turn| !turn.explained || turn.role == Speaker::Assistant);
    let are_counted = turns.iter().all(|turn| turn.sentences > 0) && units(false) == n_prompt;
    are_in_order && are_answers && are_counted && (units(true) == 0 || units(true) < n_generated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_cover_prompt_and_end_with_user() {
        let possible = |turns: &[(Speaker, usize)]| {
            let turns: Vec<Turn> = turns.iter().map(|&(role, sentences)| Turn::given(role, sentences)).collect();
            are_possible(&turns, 4, 2)
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

    #[test]
    fn explained_turns_are_earlier_answers() {
        let [user, answer] = [Speaker::User, Speaker::Assistant].map(|role| Turn::given(role, 1));
        let possible = |turns: &[Turn]| are_possible(turns, 3, 3);
        assert!(possible(&[user, Turn::explained(2), user, user]) && possible(&[user, Turn::explained(1), answer, user]));
        for impossible in [
            &[user, Turn::explained(3), user, user][..],
            &[user, Turn::explained(usize::MAX), user, Turn::explained(2), user],
            &[user, Turn::explained(0), user, user],
            &[user, user, Turn::explained(1), answer],
            &[user, user, Turn { explained: true, ..user }, user],
            &[Turn::explained(1), user, user, user],
            &[user, user, user, Turn::explained(1)],
        ] {
            assert!(!possible(impossible), "{impossible:?}");
        }
    }
}

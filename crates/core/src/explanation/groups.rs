//! Groups of the prompt's sentences: named passages, about which a question was asked.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::tokens::{list, place};

/// Words before the number of a passage, in lower case.
const LABELS: [&str; 3] = ["source", "document", "passage"];

/// Neighboring sentences of the prompt that belong together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The name in the prompt, without brackets or colon: "1" for `[1]`, "notes.md", "Source 1".
    pub name: String,
    pub kind: GroupKind,
    /// Half-open range of 0-based prompt sentences.
    pub sources: [usize; 2],
    /// Effect of the group on each generated sentence i, in nats per token: mean over the tokens of i of ln p(x) - ln p(x'). In x', end
    /// tokens replace all tokens of the group together, except those of its name. Tokens of citations in sentence i do not count. 0 for a
    /// sentence without other tokens. Empty if it was not measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GroupKind {
    /// A passage with a name at the start of a line.
    Passage,
}

impl Group {
    /// The name as texts cite it: `[1]`, `[notes.md]`, "Source 1".
    pub fn title(&self) -> String {
        let is_labeled = label_and_number(&self.name).is_some_and(|(length, _)| length == self.name.len());
        if is_labeled { self.name.clone() } else { format!("[{}]", self.name) }
    }

    /// The effect on generated sentence `i`, in nats per token. `None` if it was not measured.
    pub fn effect(&self, i: usize) -> Option<f64> {
        self.effects.get(i).copied()
    }
}

/// The number of "7" or "Source 7". `None` for other names.
pub(super) fn number_of(name: &str) -> Option<usize> {
    let digits = label_and_number(name).filter(|(length, _)| *length == name.len()).map_or(name, |(_, digits)| digits);
    let is_number = (1..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

/// A label and a number at the start of `text`, such as "Source 7": the length of both in bytes, and the digits.
pub fn label_and_number(text: &str) -> Option<(usize, &str)> {
    let is_label = |label: &&&str| text.get(..label.len()).is_some_and(|start| start.eq_ignore_ascii_case(label));
    let label = LABELS.iter().find(is_label)?;
    let number = text[label.len()..].strip_prefix(' ')?;
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0).then(|| (label.len() + 1 + digits, &number[..digits]))
}

/// Reads groups by way of a `Value`, because derived code would make the page larger.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Group>, D::Error> {
    list(&Value::deserialize(deserializer)?, group).ok_or_else(|| D::Error::custom("invalid groups"))
}

fn group(fields: &Map<String, Value>) -> Option<Group> {
    let effects = fields.get("effects");
    // With exactly these fields, none is unknown.
    let fields = Some(fields).filter(|fields| fields.len() == 3 + usize::from(effects.is_some()))?;
    let [start, end] = &fields.get("sources")?.as_array()?[..] else { return None };
    Some(Group {
        name: fields.get("name")?.as_str()?.to_owned(),
        kind: Some(GroupKind::Passage).filter(|_| fields.get("kind").and_then(Value::as_str) == Some("passage"))?,
        sources: [place(start)?, place(end)?],
        effects: effects.map_or(Some(Vec::new()), numbers)?,
    })
}

/// The numbers of an array that is not empty.
fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.as_array().filter(|numbers| !numbers.is_empty())?.iter().map(Value::as_f64).collect()
}

/// Whether the groups are in order and do not overlap, each has a name, and each has sentences of a prompt of `n_prompt` sentences and
/// either no effects or one for each of `n_generated` sentences.
pub(super) fn fit(groups: &[Group], n_prompt: usize, n_generated: usize) -> bool {
    let fits = |Group { name, sources: [start, end], effects, .. }: &Group| {
        start < end && *end <= n_prompt && !name.trim().is_empty() && (effects.is_empty() || effects.len() == n_generated)
    };
    groups.is_sorted_by(|a, b| a.sources[1] <= b.sources[0]) && groups.iter().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(sources: [usize; 2], n_effects: usize) -> Group {
        Group { name: "1".into(), kind: GroupKind::Passage, sources, effects: vec![0.5; n_effects] }
    }

    #[test]
    fn groups_are_separate_parts_of_prompt() {
        assert!(fit(&[], 2, 2) && fit(&[group([0, 1], 0), group([1, 3], 2)], 3, 2));
        for wrong in [[1, 1], [2, 1], [2, 4], [1, usize::MAX]] {
            assert!(!fit(&[group(wrong, 0)], 3, 2), "{wrong:?}");
        }
        for (a, b) in [([0, 2], [1, 3]), ([1, 2], [0, 1]), ([0, 1], [0, 1])] {
            assert!(!fit(&[group(a, 0), group(b, 0)], 3, 2), "{a:?} {b:?}");
        }
        assert!(!fit(&[group([0, 1], 3)], 3, 2), "more effects than sentences");
        assert!(!fit(&[Group { name: " ".into(), ..group([0, 1], 0) }], 3, 2));
    }

    #[test]
    fn title_is_name_as_cited() {
        let title = |name: &str| Group { name: name.into(), ..group([0, 1], 0) }.title();
        assert_eq!(
            ["1", "notes.md", "Source 1", "document 12", "Source 1b"].map(title),
            ["[1]", "[notes.md]", "Source 1", "document 12", "[Source 1b]"]
        );
        assert_eq!(["1", "Source 12", "12345", "Source", "a 1"].map(number_of), [Some(1), Some(12), None, None, None]);
    }
}

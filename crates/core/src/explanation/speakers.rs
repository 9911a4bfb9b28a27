//! Who says each unit of a document's prompt, if the prompt is a conversation.

use std::ops::Range;

use super::{Document, Speaker, Turn};

impl Document {
    /// The turns with their units. Empty if the prompt is not a conversation.
    pub fn units_of_turns(&self) -> Vec<(Speaker, Range<usize>)> {
        let mut end = 0;
        let units = |&Turn { role, sentences }: &Turn| {
            let start = end;
            end += sentences;
            (role, start..end)
        };
        self.turns.iter().map(units).collect()
    }

    /// Who says source `j`: `None` if the prompt is not a conversation, or if the source is a generated sentence.
    pub fn speaker(&self, j: usize) -> Option<Speaker> {
        self.units_of_turns().into_iter().find(|(_, units)| units.contains(&j)).map(|(speaker, _)| speaker)
    }

    /// Who begins to speak with source `j`. `None` if no turn begins with it.
    pub fn begins_turn(&self, j: usize) -> Option<Speaker> {
        self.units_of_turns().into_iter().find(|(_, units)| units.start == j).map(|(speaker, _)| speaker)
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::{example, with_turns};
    use super::super::{DocumentError, from_fragment, to_fragment};
    use super::*;

    #[test]
    fn source_has_speaker() {
        let document = with_turns();
        assert_eq!([0, 1, 2].map(|j| document.speaker(j)), [Some(Speaker::System), Some(Speaker::User), None]);
        assert_eq!([0, 1, 2].map(|j| document.begins_turn(j)), [Some(Speaker::System), Some(Speaker::User), None]);
        assert_eq!((example().speaker(0), example().units_of_turns()), (None, Vec::new()));
    }

    #[test]
    fn turns_survive_json_and_link() {
        let document = with_turns();
        let read = Document::from_json(&document.to_json()).unwrap();
        assert_eq!((&read, read.version), (&document, 3));
        let linked = from_fragment(&to_fragment(&document)).unwrap();
        assert_eq!((linked.turns, linked.version), (document.turns, 3));
        assert!(!example().to_json().contains("turns"));
    }

    #[test]
    fn invalid_turns_are_rejected() {
        let json = with_turns().to_json();
        assert!(json.contains("\"role\": \"system\""));
        for (from, to) in [("\"system\"", "\"tool\""), ("\"role\": \"system\"", "\"role\": \"user\", \"name\": \"x\"")] {
            assert!(matches!(Document::from_json(&json.replace(from, to)), Err(DocumentError::Json(_))), "{to}");
        }
        let swapped = Document { turns: with_turns().turns.into_iter().rev().collect(), ..with_turns() };
        assert_eq!(swapped.check(), Err(DocumentError::Turns));
    }
}

//! The units of a document in the order of the text, and who says each, if the document is about a conversation.
//!
//! The columns of the table are the units of the prompt and then the generated ones. If earlier answers of a conversation are explained,
//! the text has another order: units of the prompt and of the generation are interleaved.

use std::ops::Range;

use super::{Document, SectionKind, Speaker, Turn};
use crate::table::Table;

/// A unit of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedUnit {
    /// The speaker. `None` for the last answer, and if the document is not about a conversation.
    pub speaker: Option<Speaker>,
    /// Source number: a column of the table, the units of the prompt first.
    pub source: usize,
    /// Row of the table. `None` for a unit of the prompt.
    pub row: Option<usize>,
}

/// The place in a generation where the last answer begins. Explained earlier answers come before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastAnswer {
    /// Its first row of the table.
    pub row: usize,
    /// Its first token among the tokens of all generated sentences.
    pub token: usize,
    /// Number of code points of the generation before it.
    pub start: usize,
}

impl Document {
    /// The turns before the last answer with their source numbers, which are columns of the table. Empty if the document is not about a
    /// conversation.
    pub fn units_of_turns(&self) -> Vec<(Speaker, Range<usize>)> {
        let mut ends = [0, self.prompt.sentences.len()];
        let units = |&Turn { role, sentences, explained }: &Turn| {
            let end = &mut ends[usize::from(explained)];
            let start = *end;
            *end += sentences;
            (role, start..*end)
        };
        self.turns.iter().map(units).collect()
    }

    /// The speaker of source `j`: `None` if the document is not about a conversation, or if the source belongs to the last answer.
    pub fn speaker(&self, j: usize) -> Option<Speaker> {
        self.units_of_turns().into_iter().find(|(_, units)| units.contains(&j)).map(|(speaker, _)| speaker)
    }

    /// The speaker of the turn that begins with source `j`. `None` if no turn begins with it.
    pub fn begins_turn(&self, j: usize) -> Option<Speaker> {
        self.units_of_turns().into_iter().find(|(_, units)| units.start == j).map(|(speaker, _)| speaker)
    }

    /// Whether earlier answers of a conversation are explained, so that the units of prompt and generation are interleaved.
    pub fn explains_earlier_answers(&self) -> bool {
        self.turns.iter().any(|turn| turn.explained)
    }

    /// All units in the order of the text. Without explained turns, this is the order of the columns.
    pub fn units_in_order(&self) -> Vec<PlacedUnit> {
        let (n_prompt, turns) = (self.prompt.sentences.len(), self.units_of_turns());
        let of_prompt = if turns.is_empty() { 0..n_prompt } else { 0..0 };
        let of_last_answer = n_prompt + self.last_answer().row..n_prompt + self.generation.sentences.len();
        let mut units = Vec::with_capacity(of_last_answer.end);
        let mut add = |speaker: Option<Speaker>, sources: Range<usize>| {
            units.extend(sources.map(|source| PlacedUnit { speaker, source, row: source.checked_sub(n_prompt) }));
        };
        add(None, of_prompt);
        turns.into_iter().for_each(|(speaker, sources)| add(Some(speaker), sources));
        add(None, of_last_answer);
        units
    }

    /// The place of each source in the order of the text, 0-based. Without explained turns, the place of source `j` is `j`.
    pub fn places(&self) -> Vec<usize> {
        let units = self.units_in_order();
        let mut places = vec![0; units.len()];
        units.iter().enumerate().for_each(|(place, unit)| places[unit.source] = place);
        places
    }

    /// Whether source `j` comes before generated sentence `i` in the text, so that it can influence the sentence.
    pub fn is_before(&self, j: usize, i: usize) -> bool {
        let step = self.prompt.sentences.len() + i;
        if !self.explains_earlier_answers() {
            return j < step;
        }
        let places = self.places();
        places.get(j).zip(places.get(step)).is_some_and(|(source, step)| source < step)
    }

    /// Where the last answer begins. It is the whole generation if no earlier answer is explained.
    pub fn last_answer(&self) -> LastAnswer {
        let explained = self.turns.iter().filter(|turn| turn.explained).map(|turn| turn.sentences);
        let row = explained.fold(0, usize::saturating_add).min(self.generation.sentences.len());
        let token = self.generation.tokens.iter().take(row).copied().fold(0, usize::saturating_add);
        let start = row.checked_sub(1).map_or(0, |before| self.generation.sentences[before][1]);
        LastAnswer { row, token, start }
    }

    /// The first row of each answer: of each explained turn, and of the last answer. Ascending.
    pub fn first_rows_of_answers(&self) -> Vec<usize> {
        let mut rows = vec![0];
        for turn in self.turns.iter().filter(|turn| turn.explained) {
            rows.push(rows.last().map_or(0, |row: &usize| *row).saturating_add(turn.sentences));
        }
        rows
    }

    /// The text of the last answer.
    pub fn last_answer_text(&self) -> &str {
        let (text, start) = (&self.generation.text, self.last_answer().start);
        text.char_indices().nth(start).map_or("", |(byte, _)| &text[byte..])
    }

    /// The sections of the last answer with their rows of the table, in order. They cover the answer.
    pub fn sections_of_last_answer(&self) -> Vec<(SectionKind, Range<usize>)> {
        let first = self.last_answer().row;
        let after = |(kind, rows): (SectionKind, Range<usize>)| (kind, rows.start.max(first)..rows.end);
        self.generation.sections().into_iter().map(after).filter(|(_, rows)| !rows.is_empty()).collect()
    }

    /// Whether no sentence depends on a unit after it in the text: such cells of the tables are 0 or unmeasured, and such units have no
    /// part in a joint effect, a comparison or the effect of a passage. The tables must fit the text.
    pub(super) fn is_causal(&self) -> bool {
        if !self.explains_earlier_answers() {
            return true;
        }
        let (n_prompt, places) = (self.prompt.sentences.len(), self.places());
        let is_after = |j: usize, i: usize| places[j] > places[n_prompt + i];
        let is_row = |i: usize, row: &[Option<f64>]| (0..row.len()).all(|j| row[j].is_none_or(|score| score == 0.0) || !is_after(j, i));
        let is_table = |table: &Table| table.rows().enumerate().all(|(i, row)| is_row(i, row));
        let are_effects = |i: usize, effects: &[f64]| (0..effects.len()).all(|j| effects[j] == 0.0 || !is_after(j, i));
        let mut tables = std::iter::once(&self.table).chain(&self.alone).chain(&self.flow);
        let mut contrasts = self.contrasts.iter();
        tables.all(is_table)
            && self.joint.iter().all(|joint| joint.sources.iter().all(|&j| !is_after(j, joint.target)))
            && self.groups.iter().all(|group| (0..group.effects.len()).all(|i| group.effects[i] == 0.0 || !is_after(group.sources[0], i)))
            && contrasts.all(|contrast| self.generation.sentence_at(contrast.span).is_some_and(|row| are_effects(row, &contrast.effects)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::{example, with_explained_turns, with_turns};
    use super::super::{Contrast, DocumentError, Group, GroupKind, JointEffect, Passage, Section, from_fragment, to_fragment};
    use super::*;

    #[test]
    fn source_has_speaker() {
        let document = with_turns();
        assert_eq!([0, 1, 2].map(|j| document.speaker(j)), [Some(Speaker::System), Some(Speaker::User), None]);
        assert_eq!([0, 1, 2].map(|j| document.begins_turn(j)), [Some(Speaker::System), Some(Speaker::User), None]);
        assert_eq!((example().speaker(0), example().units_of_turns()), (None, Vec::new()));
    }

    #[test]
    fn explained_turns_are_between_sources() {
        use Speaker::{Assistant, System, User};
        let document = with_explained_turns();
        assert_eq!(document.check(), Ok(()));
        let units: Vec<_> = document.units_in_order().into_iter().map(|unit| (unit.speaker, unit.source, unit.row)).collect();
        let expected = [
            (Some(System), 0, None),
            (Some(User), 1, None),
            (Some(Assistant), 3, Some(0)),
            (Some(Assistant), 4, Some(1)),
            (Some(User), 2, None),
            (None, 5, Some(2)),
            (None, 6, Some(3)),
        ];
        assert_eq!((units, document.places()), (expected.to_vec(), vec![0, 1, 4, 2, 3, 5, 6]));
        let is_before = [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (2, 2), (4, 2)].map(|(j, i)| document.is_before(j, i));
        assert_eq!(is_before, [true, false, false, false, true, true, true]);
        assert_eq!([2, 3, 4, 5].map(|j| document.begins_turn(j)), [Some(User), Some(Assistant), None, None]);
        assert_eq!([3, 4, 5].map(|j| document.speaker(j)), [Some(Assistant), Some(Assistant), None]);
    }

    #[test]
    fn last_answer_follows_explained_ones() {
        let document = with_explained_turns();
        assert_eq!(document.last_answer(), LastAnswer { row: 2, token: 8, start: 18 });
        assert_eq!(document.last_answer_text(), "2 + 1 = 3. So 3.");
        assert_eq!([document.first_rows_of_answers(), example().first_rows_of_answers()], [vec![0, 2], vec![0]]);
        assert_eq!((example().last_answer(), example().places()), (LastAnswer { row: 0, token: 0, start: 0 }, vec![0, 1, 2, 3]));
        assert_eq!((example().last_answer_text(), example().is_before(2, 0)), ("2 - 1 = 1. So 1.", false));
    }

    #[test]
    fn last_answer_has_its_sections() {
        use SectionKind::{Answer, Thought};
        let mut document = with_explained_turns();
        assert_eq!(document.sections_of_last_answer(), [(Answer, 2..4)]);
        let section = |kind, sentences| Section { kind, sentences, run: 1 };
        let sections = vec![section(Answer, 2), section(Thought, 1), section(Answer, 1)];
        document.generation = Passage { sections, ..Passage::clone(&document.generation) }.into();
        assert_eq!(document.sections_of_last_answer(), [(Thought, 2..3), (Answer, 3..4)]);
        assert_eq!(example().sections_of_last_answer(), [(Answer, 0..2)]);
    }

    #[test]
    fn cells_of_later_units_are_zero() {
        let checked = |change: fn(&mut Document)| {
            let mut document = with_explained_turns();
            change(&mut document);
            document.check()
        };
        assert_eq!(checked(|document| document.table.row_mut(1)[2] = Some(-1e-9)), Err(DocumentError::Turns));
        assert_eq!(checked(|document| document.table.row_mut(1)[2] = None), Ok(()), "not measured");
        assert_eq!(checked(|document| document.table.row_mut(2)[2] = Some(0.5)), Ok(()), "before the sentence");
        let with_flow = |document: &mut Document| {
            let mut flow = document.table.clone();
            flow.row_mut(0)[2] = Some(0.5);
            document.flow = Some(flow);
        };
        assert_eq!(checked(with_flow), Err(DocumentError::Turns));
    }

    #[test]
    fn later_units_have_no_other_effects() {
        let joint = |target: usize| JointEffect { target, sources: [1, 2], amount: 0.5, either_is_enough: None, only_together: None };
        let with_joint = |target: usize| Document { joint: vec![joint(target)], ..with_explained_turns() }.check();
        assert_eq!([1, 2].map(with_joint), [Err(DocumentError::Turns), Ok(())]);
        let contrast = |effect: f64| Contrast {
            span: [10, 13],
            alternative: "no".into(),
            log_probabilities: [-1.0, -1.0],
            effects: vec![0.5, 0.5, effect, 0.5],
        };
        let with_contrast = |effect: f64| Document { contrasts: vec![contrast(effect)], ..with_explained_turns() }.check();
        assert_eq!([0.0, 0.5].map(with_contrast), [Ok(()), Err(DocumentError::Turns)]);
        let group =
            |effect: f64| Group { name: "1".into(), kind: GroupKind::Passage, sources: [2, 3], effects: vec![0.0, effect, 0.5, 0.5] };
        let with_group = |effect: f64| Document { groups: vec![group(effect)], ..with_explained_turns() }.check();
        assert_eq!([0.0, 0.5].map(with_group), [Ok(()), Err(DocumentError::Turns)]);
    }

    #[test]
    fn turns_survive_json_and_link() {
        for document in [with_turns(), with_explained_turns()] {
            let read = Document::from_json(&document.to_json()).unwrap();
            assert_eq!((&read, read.version), (&document, 3));
            let linked = from_fragment(&to_fragment(&document)).unwrap();
            assert_eq!((linked.turns, linked.version), (document.turns, 3));
        }
        assert!(!example().to_json().contains("turns") && !with_turns().to_json().contains("explained"));
    }

    #[test]
    fn invalid_turns_are_rejected() {
        let json = with_turns().to_json();
        let role = "\"role\": \"system\"";
        assert!(json.contains(role));
        for (from, to) in
            [("\"system\"", "\"tool\""), (role, "\"role\": \"user\", \"name\": \"x\""), (role, "\"role\": \"system\", \"explained\": 1")]
        {
            assert!(matches!(Document::from_json(&json.replace(from, to)), Err(DocumentError::Json(_))), "{to}");
        }
        let swapped = Document { turns: with_turns().turns.into_iter().rev().collect(), ..with_turns() };
        assert_eq!(swapped.check(), Err(DocumentError::Turns));
    }
}

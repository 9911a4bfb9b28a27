//! Statements about the named passages of a prompt: shares and effects, and whether passages support the sentences that cite them.

use super::number;
use super::share_texts::{self, Amount};
use super::variant::{PromptEdits, Variant, VariantAnswer};
use crate::app::i18n::t;
use crate::explanation::{Citation, CitationState, Document, Group, citations};
use crate::shares::{Shares, repeats_itself};

/// Maximum number of citations on the page.
const MAX_CITATIONS: usize = 500;

/// A passage, formatted for display.
#[derive(Clone, Debug, PartialEq)]
pub struct PassageRow {
    /// "[2]".
    pub name: String,
    /// "P2", or "P2 – P4".
    pub labels: String,
    /// Its prompt sentences.
    pub sources: Vec<usize>,
    pub amount: Option<Amount>,
    /// Its effect on the explained sentences in nats per token. `None` if it was not measured.
    pub effect: Option<String>,
    pub repeats_itself: bool,
}

/// A citation, formatted for display.
#[derive(Clone, Debug, PartialEq)]
pub struct CitationRow {
    /// "G2".
    pub label: String,
    /// "supported", "misplaced", "unsupported", or "not measured".
    pub state: &'static str,
    pub is_supported: bool,
    pub words: String,
}

/// The passages of the explained document, in order.
pub fn rows(shares: &Shares) -> Vec<PassageRow> {
    shares.document().groups.iter().map(|group| row(shares, group)).collect()
}

fn row(shares: &Shares, group: &Group) -> PassageRow {
    let document = shares.document();
    let sources: Vec<usize> = (group.sources[0]..group.sources[1]).collect();
    let labels: Vec<String> = [sources.first(), sources.last()].into_iter().flatten().map(|&j| document.label(j)).collect();
    let effects: Option<f64> = shares.output().iter().map(|&i| group.effect(i)).sum();
    let share = shares.amounts_of_group(group.sources)[0].filter(|_| !shares.is_unsupported());
    PassageRow {
        name: group.title(),
        labels: if sources.len() == 1 { labels[0].clone() } else { labels.join(" \u{2013} ") },
        amount: share.map(|share| share_texts::amount(shares.scale(), share)),
        effect: effects.map(|sum| number::signed(shares.per_output(sum))),
        repeats_itself: shares.output().iter().any(|&i| repeats_itself(document, group, i)),
        sources,
    }
}

/// The first citations of the answer, in order.
pub fn citation_rows(document: &Document) -> Vec<CitationRow> {
    citations(document).iter().take(MAX_CITATIONS).map(|citation| citation_row(document, citation)).collect()
}

fn citation_row(document: &Document, citation: &Citation) -> CitationRow {
    let title = |group: usize| document.groups[group].title();
    let effect = |group: usize| number::signed(document.groups[group].effect(citation.sentence).unwrap_or_default());
    let (name, own) = (title(citation.group), effect(citation.group));
    let (state, words) = match citation.state {
        CitationState::Supported => {
            (t!("supported"), t!("cites {name}; without {name} it loses {effect} nats per token.", name, effect = own))
        }
        CitationState::Misplaced(other) => {
            let (other, effect) = (title(other), effect(other));
            let words = t!(
                "cites {name}, depends on {other}: {effect} nats per token without {other}, {own} without {name}.",
                name,
                other,
                effect,
                own
            );
            (t!("misplaced"), words)
        }
        CitationState::Unsupported => {
            (t!("unsupported"), t!("cites {name}, depends on no passage: {own} nats per token without {name}.", name, own))
        }
        CitationState::Unmeasured => (t!("not measured"), t!("cites {name}.", name)),
    };
    CitationRow {
        label: document.label(document.prompt.sentences.len() + citation.sentence),
        state,
        is_supported: citation.state == CitationState::Supported,
        words,
    }
}

/// An answer without one of the passages.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerWithout {
    /// Whether the answer needs the passage, in words. Empty while the model writes.
    pub verdict: String,
    /// The other answer. Empty if it is the same.
    pub answer: String,
    pub is_growing: bool,
}

/// The edits that leave out the sentences of a passage.
pub fn edits_without(sources: &[usize]) -> PromptEdits {
    PromptEdits { left_out: sources.to_vec(), ..PromptEdits::default() }
}

/// The last answer without the passage with this name and these sentences. `None` if the model has not answered without it.
pub fn answer_without(document: &Document, variants: &[Variant], name: &str, sources: &[usize]) -> Option<AnswerWithout> {
    let edits = edits_without(sources);
    let variant = variants.iter().rev().find(|variant| variant.continuation.is_none() && variant.edits == edits)?;
    let answer = variant.answer.text();
    let is_same = answer.trim() == document.last_answer_text().trim();
    let (verdict, is_shown) = match &variant.answer {
        VariantAnswer::Growing(_) => (String::new(), true),
        VariantAnswer::Stopped(_) => (t!("Stopped before its end.").into(), true),
        VariantAnswer::Whole(_) if is_same => (t!("The answer does not need {name}: without it, the answer is the same.", name), false),
        VariantAnswer::Whole(_) => (t!("Without {name}, the answer is different:", name), true),
    };
    Some(AnswerWithout { verdict, answer: if is_shown { answer } else { String::new() }, is_growing: variant.is_growing() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::{document, shares_in};
    use crate::explanation::{GroupKind, Passage};

    /// Each prompt sentence is a passage.
    fn with_groups(effects: [[f64; 4]; 2]) -> Document {
        let group =
            |j: usize| Group { name: (j + 1).to_string(), kind: GroupKind::Passage, sources: [j, j + 1], effects: effects[j].into() };
        Document { groups: vec![group(0), group(1)], ..document() }
    }

    #[test]
    fn passage_has_share_and_mean_effect() {
        let shares = shares_in(with_groups([[3.0, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0]]), &[0, 1]);
        let rows = rows(&shares);
        let figures: Vec<_> =
            rows.iter().map(|row| (&*row.name, &*row.labels, row.amount.as_ref().map(|amount| &*amount.figure))).collect();
        assert_eq!(figures, [("[1]", "P1", Some("75%")), ("[2]", "P2", Some("25%"))]);
        assert_eq!(
            rows.iter().map(|row| (row.effect.as_deref(), row.repeats_itself)).collect::<Vec<_>>(),
            [(Some("1.500"), true), (Some("0.250"), false)]
        );
        let mut unmeasured = with_groups([[0.0; 4]; 2]);
        unmeasured.groups[0].effects.clear();
        assert_eq!(super::rows(&shares_in(unmeasured, &[0]))[0].effect, None);
    }

    #[test]
    fn citations_have_three_states_in_words() {
        let generation = Passage::new("C [1]. D [1]. E [2]. F.", &[0..7, 7..14, 14..21, 21..23], vec![4; 4]).into();
        let document = Document { generation, ..with_groups([[3.0, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0]]) };
        let rows = citation_rows(&document);
        assert_eq!(
            rows.iter().map(|row| (&*row.label, row.state)).collect::<Vec<_>>(),
            [("G1", "supported"), ("G2", "misplaced"), ("G3", "unsupported")]
        );
        assert!(rows[0].is_supported && rows[0].words == "cites [1]; without [1] it loses 3.000 nats per token.");
        assert!(rows[1].words.starts_with("cites [1], depends on [2]: 0.500"), "{}", rows[1].words);
        assert!(rows[2].words.starts_with("cites [2], depends on no passage"), "{}", rows[2].words);
        let groups = document.groups.iter().map(|group| Group { effects: Vec::new(), ..group.clone() }).collect();
        assert_eq!(citation_rows(&Document { groups, ..document })[0].state, "not measured");
    }

    #[test]
    fn only_same_answer_says_that_passage_is_not_needed() {
        let document = with_groups([[0.0; 4]; 2]);
        let mut variant = Variant::new(&document, &edits_without(&[0])).expect("a prompt is left");
        let found = |variant: &Variant, sources: &[usize]| answer_without(&document, std::slice::from_ref(variant), "[1]", sources);
        assert!(found(&variant, &[0]).is_some_and(|answer| answer.is_growing && answer.verdict.is_empty()));
        assert_eq!(found(&variant, &[1]), None);
        variant.answer = VariantAnswer::Whole(vec!["C. D. ".into(), "E. F.".into()]);
        let same = found(&variant, &[0]).expect("an answer");
        assert!(same.verdict.starts_with("The answer does not need [1]") && same.answer.is_empty());
        variant.answer = VariantAnswer::Whole(vec!["C. ".into(), "F.".into()]);
        let other = found(&variant, &[0]).expect("an answer");
        assert_eq!((&*other.verdict, &*other.answer), ("Without [1], the answer is different:", "C. F."));
    }
}

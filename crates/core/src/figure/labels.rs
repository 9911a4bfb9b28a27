//! The texts of a picture.

use crate::explanation::Speaker;
use crate::number::NumberFormat;
use crate::shares::Evidence;

/// Texts that a picture contains in addition to the document's own. `{name}` is a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Labels {
    pub why: &'static str,
    pub prompt: &'static str,
    /// The speakers of a conversation, in the order of [`Speaker::ALL`].
    pub speakers: [&'static str; 3],
    pub thought: &'static str,
    /// Replaces the sentences of a folded thinking section.
    pub folded: &'static str,
    /// Like `folded`, if influence is shown as numbers instead of shares.
    pub folded_numbers: &'static str,
    pub answer: &'static str,
    pub total: &'static str,
    pub direct: &'static str,
    pub row: &'static str,
    pub explained: &'static str,
    pub blank_line: &'static str,
    pub not_measured: &'static str,
    pub no_source: &'static str,
    pub weak_evidence: &'static str,
    pub no_support: &'static str,
    /// Label on an arc for the joint effect of its source and another one.
    pub or: &'static str,
    pub and: &'static str,
    pub or_and: &'static str,
    pub share_of_influence: &'static str,
    /// Replaces the legend for shares if rows were not divided by their sums.
    pub numbers: &'static str,
    /// Explains the two share columns.
    pub columns: &'static str,
    /// Like `columns`, if sources are not sentences.
    pub columns_of_sources: &'static str,
    pub arcs: &'static str,
    pub cut: &'static str,
    /// Like `cut`, if sources are not sentences.
    pub cut_sources: &'static str,
    pub number_format: NumberFormat,
}

impl Labels {
    pub const ENGLISH: Self = Self {
        why: "Why {label}?",
        prompt: "Prompt",
        speakers: ["System", "User", "Assistant"],
        thought: "Thinking",
        folded: "Folded here; {share} of the influence goes through it.",
        folded_numbers: "Folded here.",
        answer: "Answer",
        total: "total",
        direct: "direct",
        row: "row",
        explained: "explained",
        blank_line: "(blank line)",
        not_measured: "not measured",
        no_source: "no measurable source",
        weak_evidence: "weak evidence",
        no_support: "nothing in the prompt supports this",
        or: "or",
        and: "and",
        or_and: "or, and",
        share_of_influence: "Share of influence",
        numbers: "These are numbers, not shares: rows were not divided by their sums. The darkest color is {number}, the largest \
                  value. Dashed outlines and dashed arcs mean negative influence.",
        columns: "Total (CAGE): the sum over all paths from the sentence to the explained one. Direct (row): only the edge between the \
                  two.",
        columns_of_sources: "Total (CAGE): the sum over all paths from the source to the explained one. Direct (row): only the edge \
                             between the two.",
        arcs: "The arcs carry {share} of the influence; {hidden} others are not drawn.",
        cut: "Too long for a picture. It shows the {shown} of {all} sentences with the most influence, and long sentences end in \
              \u{2026}",
        cut_sources: "Too long for a picture. It shows the {shown} of {all} sources with the most influence, and long ones end in \u{2026}",
        number_format: NumberFormat::ENGLISH,
    };

    pub fn speaker(&self, speaker: Speaker) -> &'static str {
        let [system, user, assistant] = self.speakers;
        match speaker {
            Speaker::System => system,
            Speaker::User => user,
            Speaker::Assistant => assistant,
        }
    }

    /// The remark on a sentence with weak or no evidence.
    pub fn remark(&self, evidence: Evidence) -> Option<&'static str> {
        match evidence {
            Evidence::None => Some(self.no_source),
            Evidence::Unsupported(_) => Some(self.no_support),
            Evidence::Weak(_) => Some(self.weak_evidence),
            Evidence::Clear(_) | Evidence::Unmeasured => None,
        }
    }
}

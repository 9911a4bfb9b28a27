//! Labels of a picture in the visitor's language.

use crate::app::analysis::number;
use crate::app::analysis::speaker::speaker_name;
use crate::app::i18n::{text, translatable};
use crate::explanation::Speaker;
use crate::figure::Labels;

pub fn picture_labels() -> Labels {
    Labels {
        why: text(translatable!("Why {label}?")),
        prompt: text(translatable!("Prompt")),
        speakers: Speaker::ALL.map(speaker_name),
        thought: text(translatable!("Thinking")),
        folded: text(translatable!("Folded here; {share} of the influence goes through it.")),
        folded_numbers: text(translatable!("Folded here.")),
        answer: text(translatable!("Answer")),
        total: text(translatable!("total")),
        direct: text(translatable!("direct")),
        row: text(translatable!("row")),
        explained: text(translatable!("explained")),
        blank_line: text(translatable!("(blank line)")),
        not_measured: text(translatable!("not measured")),
        no_source: text(translatable!("no measurable source")),
        weak_evidence: text(translatable!("weak evidence")),
        no_support: text(translatable!("nothing in the prompt supports this")),
        or: text(translatable!("or")),
        and: text(translatable!("and")),
        or_and: text(translatable!("or, and")),
        share_of_influence: text(translatable!("Share of influence")),
        numbers: text(translatable!(
            "These are numbers, not shares: rows were not divided by their sums. The darkest color is {number}, the largest value. \
             Dashed outlines and dashed arcs mean negative influence."
        )),
        columns: text(translatable!(
            "Total (CAGE): the sum over all paths from the sentence to the explained one. Direct (row): only the edge between the two."
        )),
        columns_of_sources: text(translatable!(
            "Total (CAGE): the sum over all paths from the source to the explained one. Direct (row): only the edge between the two."
        )),
        arcs: text(translatable!("The arcs carry {share} of the influence; {hidden} others are not drawn.")),
        cut: text(translatable!(
            "Too long for a picture. It shows the {shown} of {all} sentences with the most influence, and long sentences end in \
             \u{2026}"
        )),
        cut_sources: text(translatable!(
            "Too long for a picture. It shows the {shown} of {all} sources with the most influence, and long ones end in \u{2026}"
        )),
        number_format: number::format(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_catalog_pictures_are_as_everywhere_else() {
        assert_eq!(picture_labels(), Labels::ENGLISH);
    }
}

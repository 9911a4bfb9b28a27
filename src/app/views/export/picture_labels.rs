//! The words of a picture in the visitor's language.

use crate::app::i18n::{separators, text, translatable};
use crate::figure::Labels;

pub fn picture_labels() -> Labels {
    Labels {
        why: text(translatable!("Why {label}?")),
        prompt: text(translatable!("Prompt")),
        thought: text(translatable!("Thought")),
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
        or: text(translatable!("or")),
        and: text(translatable!("and")),
        or_and: text(translatable!("or, and")),
        share_of_influence: text(translatable!("Share of influence")),
        numbers: text(translatable!(
            "These are numbers, not shares: nothing was divided. The darkest is {number}, the largest here; those with a dashed outline \
             and dashed arcs take away."
        )),
        columns: text(translatable!(
            "Total (CAGE): along every path from the sentence to the explained one. Direct (row): only the edge from one to \
             the other."
        )),
        arcs: text(translatable!("The arcs carry {share} of the influence; {hidden} others are not drawn.")),
        cut: text(translatable!(
            "Too long for a picture: {shown} of {all} sentences are here, those with the most influence, and what is longer than a few \
             lines ends in \u{2026}"
        )),
        percent: text(translatable!("{number}%")),
        decimal_point: separators()[0],
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

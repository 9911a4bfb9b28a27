//! Named passages of the prompt and the citations of the answer, as text.

use glasscage_core::explanation::{Citation, CitationState, Document, citations};
use glasscage_core::number::percent_tenths;
use glasscage_core::shares::{Shares, repeats_itself};

/// The share of each passage in the explained sentences, its effect on them, and the citations of the answer. Empty if the prompt has no
/// named passages.
pub fn passages_text(document: &Document) -> String {
    if document.groups.is_empty() {
        return String::new();
    }
    let shares = Shares::of(document);
    let mut text = String::from("\nPassages: share, and effect of the whole passage in nats per token\n");
    for group in &document.groups {
        let share = shares.amounts_of_group(group.sources)[0].filter(|_| !shares.is_unsupported());
        let effects: Option<f64> = shares.output().iter().map(|&i| group.effect(i)).sum();
        let share = share.map_or_else(|| "\u{2013} ".into(), |share| percent_tenths(share) + "%");
        let effect = effects.map_or_else(|| "\u{2013}".into(), |sum| format!("{:+.4}", shares.per_output(sum)));
        let repeats = shares.output().iter().any(|&i| repeats_itself(document, group, i));
        let note = if repeats { "  says the same thing more than once" } else { "" };
        text += &format!("{share:>6} {effect:>9}  {}{note}\n", group.title());
    }
    let citations: String = citations(document).iter().map(|citation| citation_line(document, citation)).collect();
    if citations.is_empty() { text } else { text + "\nCitations\n" + &citations }
}

fn citation_line(document: &Document, citation: &Citation) -> String {
    let label = document.label(document.prompt.sentences.len() + citation.sentence);
    let title = |group: usize| document.groups[group].title();
    let cited = title(citation.group);
    let (state, words) = match citation.state {
        CitationState::Supported => ("supported", format!("cites {cited}")),
        CitationState::Misplaced(other) => ("misplaced", format!("cites {cited}, depends on {}", title(other))),
        CitationState::Unsupported => ("unsupported", format!("cites {cited}, depends on no passage")),
        CitationState::Unmeasured => ("not measured", format!("cites {cited}")),
    };
    format!("  {label:<4} {state:<12} {words}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_have_share_effect_and_citations() {
        let document = Document::from_json(include_str!("../../core/tests/golden/passages.json")).expect("a document");
        let text = passages_text(&document);
        assert_eq!(text.lines().filter(|line| line.contains('%')).count(), document.groups.len(), "{text}");
        let states: Vec<&str> =
            text.lines().filter(|line| line.contains("cites")).filter_map(|line| line.split_whitespace().nth(1)).collect();
        assert_eq!(states, ["supported", "misplaced", "unsupported"], "{text}");
        assert!(passages_text(&Document { groups: Vec::new(), ..document }).is_empty());
    }
}

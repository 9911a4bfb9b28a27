//! How much of the influence on an answer bypasses, passes through, or starts in the thinking section.

use std::ops::Range;

use super::number::percent;
use super::share_texts;
use crate::app::i18n::{plural, t};
use crate::explanation::{Document, SectionKind};
use crate::graph::GroupInfluence;
use crate::shares::Shares;

/// Rows of the thinking section of the last answer, if there is one.
pub fn rows(document: &Document) -> Option<Range<usize>> {
    document.sections_of_last_answer().into_iter().find(|(kind, _)| *kind == SectionKind::Thought).map(|(_, rows)| rows)
}

/// Shares of the influence that bypass, pass through, and start in the thinking section. `None` if there is no thinking section, if one of
/// its sentences is explained, if all explained sentences come before it, if edges are not shares, or if nothing in the prompt supports the
/// explained sentences.
fn influence(view: &Shares) -> Option<GroupInfluence> {
    let thought = rows(view.document())?;
    let is_after = view.output().iter().any(|&row| row >= thought.end);
    let is_asked = is_after && view.scale().is_shares() && !view.is_unsupported() && !view.output().iter().any(|row| thought.contains(row));
    is_asked.then(|| view.group_influence(&thought))
}

/// "Of the influence on G2, 20% comes directly from the prompt, 70% from the prompt through the thinking, and 10% from the thinking
/// itself."
pub fn words(view: &Shares) -> Option<String> {
    let GroupInfluence { past_it, through_it, from_it } = influence(view)?;
    Some(t!(
        "Of the influence on {label}, {past} comes directly from the prompt, {through} from the prompt through the thinking, and \
         {from} from the thinking itself.",
        label = share_texts::output_label(view),
        past = percent(past_it),
        through = percent(through_it),
        from = percent(from_it),
    ))
}

/// The thinking section in one line: "12 sentences; 80% of the influence goes through it".
pub fn summary(view: &Shares) -> Option<String> {
    let thought = rows(view.document())?;
    let run =
        view.document().generation.sections.iter().find(|section| section.kind == SectionKind::Thought).map_or(1, |section| section.run);
    let n = thought.len();
    let sentences = match run {
        1 => plural!(n, "{n} sentence", "{n} sentences"),
        _ => plural!(n, "{n} section of up to {run} sentences", "{n} sections of up to {run} sentences each", run),
    };
    Some(match influence(view) {
        Some(GroupInfluence { through_it, from_it, .. }) => {
            t!("{sentences}; {share} of the influence goes through it", sentences, share = percent(through_it + from_it))
        }
        None => sentences,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::{document, shares_in, with_explained_turn};
    use crate::explanation::{Passage, Section};

    /// P1 -> G1; P2 and G1 -> G2 half each; no source -> G3; the first `n` generated sentences are the thinking section.
    fn view(n: usize, run: usize, output: usize) -> Shares {
        let mut document = document();
        let others = document.generation.sentences.len() - n;
        let section = |kind, sentences, run| Section { kind, sentences, run };
        let sections = vec![section(SectionKind::Thought, n, run), section(SectionKind::Answer, others, 1)];
        document.generation = Passage { sections, ..Passage::clone(&document.generation) }.into();
        shares_in(document, &[output])
    }

    #[test]
    fn three_numbers_say_what_an_answer_owes_to_its_thought() {
        let said = "Of the influence on G2, 50% comes directly from the prompt, 50% from the prompt through the thinking, and 0% from the \
                    thinking itself.";
        assert_eq!(words(&view(1, 1, 1)).as_deref(), Some(said));
        assert_eq!(words(&view(2, 1, 1)), None, "it is a thought itself");
    }

    #[test]
    fn thought_of_last_answer_is_not_in_earlier_ones() {
        let mut document = with_explained_turn();
        let section = |kind, sentences| Section { kind, sentences, run: 1 };
        let sections = vec![section(SectionKind::Thought, 2), section(SectionKind::Answer, 2)];
        document.generation = Passage { sections, ..Passage::clone(&document.generation) }.into();
        assert_eq!(rows(&document), Some(1..2));
        let said = [0, 3].map(|row| words(&shares_in(document.clone(), &[row])).is_some());
        assert_eq!(said, [false, true], "an earlier answer does not come from it");
        document.generation = Passage { sections: Vec::new(), ..Passage::clone(&document.generation) }.into();
        assert_eq!(rows(&document), None);
    }

    #[test]
    fn a_thought_is_summed_up_in_a_line() {
        assert_eq!(summary(&view(1, 1, 1)).as_deref(), Some("1 sentence; 50% of the influence goes through it"));
        assert_eq!(summary(&view(2, 8, 1)).as_deref(), Some("2 sections of up to 8 sentences each"));
    }
}

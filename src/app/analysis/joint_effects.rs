//! Joint effects of pairs of sources: sentences for the details, marks for the graph and the table.

use crate::app::i18n::{in_sequence, t};
use crate::explanation::{Document, JointEffect};
use crate::order::by_descending;
use crate::shares::Shares;

/// Joint effects of one source with others on a generated sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct JointMark {
    /// "or": one of two sources is enough. "and": both are needed. "or, and": both kinds of effects occur.
    pub word: &'static str,
    /// The joint effects in sentences.
    pub title: String,
}

/// Describes the joint effects on the explained sentences, then those on steps with more than 2 % of the influence.
pub fn sentences(attribution: &Shares) -> Vec<String> {
    let document = attribution.document();
    let n_prompt = attribution.n_prompt();
    let output = attribution.output();
    let matters = |target: usize| output.contains(&target) || attribution.total(n_prompt + target).is_some_and(|share| share > 0.02);
    let effects = document.joint.iter().filter(|effect| matters(effect.target));
    let (explained, steps): (Vec<_>, Vec<_>) = effects.partition(|effect| output.contains(&effect.target));
    let latest_first = |effects: &[_]| by_descending(effects, |effect: &&JointEffect| effect.target as f64);
    let effects = latest_first(&explained).into_iter().chain(latest_first(&steps));
    effects.flat_map(|effect| [either_is_enough(document, effect), only_together(document, effect)]).flatten().collect()
}

/// The mark of the edge from `source` to the generated sentence `target` (a 0-based row). `None` if it has no described joint effect.
pub fn mark(document: &Document, source: usize, target: usize) -> Option<JointMark> {
    let effects = || document.joint.iter().filter(|effect| effect.target == target && effect.sources.contains(&source));
    let or: Vec<String> = effects().filter_map(|effect| either_is_enough(document, effect)).collect();
    let and: Vec<String> = effects().filter_map(|effect| only_together(document, effect)).collect();
    let word = match (or.is_empty(), and.is_empty()) {
        (true, true) => return None,
        (false, true) => t!("or"),
        (true, false) => t!("and"),
        (false, false) => t!("or, and"),
    };
    Some(JointMark { word, title: in_sequence([or, and].concat()) })
}

fn either_is_enough(document: &Document, effect: &JointEffect) -> Option<String> {
    let [a, b, target] = labels(document, effect);
    effect.either_is_enough.as_ref().map(|words| {
        t!(
            "Either {a} or {b} is enough for \u{201c}{words}\u{201d} in {target}: it stays likely without one of them, but not without \
             both.",
            a,
            b,
            words,
            target,
        )
    })
}

fn only_together(document: &Document, effect: &JointEffect) -> Option<String> {
    let [a, b, target] = labels(document, effect);
    effect.only_together.as_ref().map(|words| {
        t!(
            "Only {a} and {b} together lead to \u{201c}{words}\u{201d} in {target}: without either one, it becomes unlikely.",
            a,
            b,
            words,
            target,
        )
    })
}

/// Labels of the two sources and of the target.
fn labels(document: &Document, effect: &JointEffect) -> [String; 3] {
    let [a, b] = effect.sources;
    [a, b, document.table.n_prompt() + effect.target].map(|source| document.label(source))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::document;

    fn effect(sources: [usize; 2], either: Option<&str>, together: Option<&str>) -> JointEffect {
        let words = |words: Option<&str>| words.map(str::to_owned);
        JointEffect { target: 1, sources, amount: 0.8, either_is_enough: words(either), only_together: words(together) }
    }

    #[test]
    fn edges_are_marked_by_what_was_measured_with_both_sources() {
        let mut pairs = document();
        pairs.joint = vec![effect([1, 2], Some("4"), None), effect([0, 1], None, Some("7")), effect([0, 2], None, None)];
        let word = |source, target| mark(&pairs, source, target).map(|mark| mark.word);
        assert_eq!([word(0, 1), word(1, 1), word(2, 1)], [Some("and"), Some("or, and"), Some("or")]);
        assert_eq!([word(0, 0), word(1, 2)], [None, None]);
        let title = mark(&pairs, 2, 1).unwrap().title;
        assert!(title.starts_with("Either P2 or G1 is enough for \u{201c}4\u{201d} in G2"), "{title}");
    }
}

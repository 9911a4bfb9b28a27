//! Passages that say the same thing more than once: each sentence alone can be spared, but not all of them.

use crate::explanation::{Document, Group, MIN_EFFECT, MethodId};

/// A group repeats itself if its effect is more than this many times the sum of the effects of its sentences.
const MUCH: f64 = 2.0;

/// Whether the group says more than once what generated sentence `i` depends on: blanking all of it costs much more than blanking each of
/// its sentences alone, added up. False if the effects were not measured, or the method measures something else for single sentences.
pub fn repeats_itself(document: &Document, group: &Group, i: usize) -> bool {
    let is_comparable = matches!(MethodId::named(&document.method.id), Some(MethodId::Perturbation | MethodId::Pairs));
    let Some(effect) = group.effect(i).filter(|_| is_comparable) else { return false };
    // Pairs add joint effects to the cells of the table.
    let table = document.alone.as_ref().unwrap_or(&document.table);
    let [start, end] = group.sources;
    let cells = table.row(i).get(start..end).unwrap_or_default();
    let alone: Option<f64> = cells.iter().map(|cell| cell.map(|score| score.max(0.0))).sum();
    alone.is_some_and(|alone| effect > MUCH * alone && effect - alone > MIN_EFFECT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::GroupKind;
    use crate::explanation::example::example;

    #[test]
    fn group_with_much_larger_effect_repeats_itself() {
        // The first generated sentence loses 0.5 and 1.25 nats per token without each prompt sentence.
        let group = |effect: f64| Group { name: "1".into(), kind: GroupKind::Passage, sources: [0, 2], effects: vec![effect, 0.5] };
        assert_eq!([3.5, 3.6].map(|effect| repeats_itself(&example(), &group(effect), 0)), [false, true]);
        // The second one loses -0.125, which counts as 0, and 0.1.
        assert!(repeats_itself(&example(), &group(0.0), 1) && !repeats_itself(&example(), &group(0.0), 2));
        let mut document = example();
        document.alone = Some(document.table.clone());
        document.table.row_mut(0)[1] = Some(9.0);
        assert!(repeats_itself(&document, &group(3.6), 0), "the table has joint effects");
        document.method.id = "attention".into();
        assert!(!repeats_itself(&document, &group(3.6), 0), "shares of attention are not nats");
    }
}

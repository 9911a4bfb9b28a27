use std::sync::Arc;

use super::*;
use crate::explanation::example::{example, with_explained_turns};
use crate::explanation::{Aggregation, Compression, Derivation, JointEffect, Passage, Unit};
use crate::graph::Normalization;
use crate::table::Table;

/// P1 -> G1; P2 and G1 -> G2 half each; no source -> G3; a weak P2 -> G4.
pub fn document() -> Document {
    let rows: [&[f64]; 4] = [&[1.0, 0.0], &[-0.5, 0.5, 0.5], &[0.0, -0.1, 0.0, 0.0], &[0.0, 0.01, 0.0, 0.0, 0.0]];
    Document {
        prompt: Passage::new("A. B.", &[0..3, 3..5], vec![2, 2]).into(),
        generation: Passage::new("C. D. E. F.", &[0..3, 3..6, 6..9, 9..11], vec![2; 4]).into(),
        table: Table::from_fn(2, 4, |i, j| Some(rows[i][j])),
        ..example()
    }
}

fn in_document(document: Document, output: &[usize]) -> Shares {
    Shares::new(Arc::new(AttributionGraph::new(document)), output)
}

fn shares(output: &[usize]) -> Shares {
    in_document(document(), output)
}

/// The sources for which `holds` is true.
fn sources(holds: impl Fn(usize) -> bool) -> Vec<usize> {
    (0..6).filter(|&j| holds(j)).collect()
}

#[test]
fn the_document_chooses_the_output_or_else_the_last_sentence() {
    let of = |output: &[usize]| Shares::of(&Document { output: output.to_vec(), ..document() }).output;
    assert_eq!((of(&[0, 1]), of(&[])), (vec![0, 1], vec![3]));
    assert_eq!(Shares::of(&Document { output: vec![1], ..document() }).total, shares(&[1]).total);
}

#[test]
fn sources_with_text_before_last_can_expand() {
    let mut blank = document();
    blank.prompt = Passage::new("A.\n\n", &[0..2, 2..4], vec![2, 2]).into();
    let shares = in_document(blank.clone(), &[1]);
    assert_eq!(sources(|j| shares.can_expand(j)), [0, 2, 3, 4]);
    assert!(!shares.can_expand(6) && shares.graph().is_blank(6), "there is no such source");
    let words = in_document(Document { unit: Unit::Word, ..blank }, &[1]);
    assert!(sources(|j| words.can_expand(j)).is_empty());
}

#[test]
fn group_has_sum_of_shares() {
    let shares = shares(&[1]);
    let [a, b] = [0, 1].map(|j| shares.amounts(j).map(|amount| amount.expect("measured")));
    assert_eq!(shares.amounts_of_group([0, 2]), [Some(a[0] + b[0]), Some(a[1] + b[1])]);
    assert_eq!(shares.amounts_of_group([1, 2]), shares.amounts(1));
    let mut partial = document();
    partial.table.row_mut(0)[1] = None;
    assert_eq!(in_document(partial, &[1]).amounts_of_group([0, 2]), [None; 2]);
}

#[test]
fn a_share_lies_within_its_range_however_scores_are_compressed() {
    let mut pairs = document();
    pairs.alone = Some(pairs.table.clone());
    pairs.joint = vec![JointEffect { target: 1, sources: [1, 2], amount: 0.8, either_is_enough: Some("4".into()), only_together: None }];
    for compression in [Compression::None, Compression::Log, Compression::Bounded, Compression::Hyperbolic] {
        let shares = in_document(pairs.clone().derived(Derivation { compression, ..Derivation::default() }), &[1]);
        let ([low, high], share) = (shares.range(1).unwrap(), shares.total(1).unwrap());
        assert!(low <= share && share <= high && low < high, "{low} {share} {high}");
    }
    assert_eq!(shares(&[1]).range(1), None);
}

#[test]
fn influence_through_a_step_is_distinguished_from_direct_influence() {
    let shares = shares(&[1]);
    assert_eq!(shares.amounts(0), [Some(0.5), Some(0.0)]);
    assert_eq!(shares.amounts(2), [Some(0.5), Some(0.5)]);
    assert_eq!((shares.strongest_sources(), shares.strongest_steps()), (vec![0, 1], vec![2]));
}

#[test]
fn several_outputs_share_one_hundred_percent() {
    let amounts = [0, 1, 2].map(|j| shares(&[0, 1]).amounts(j));
    assert_eq!(amounts, [[Some(0.75), Some(0.5)], [Some(0.25); 2], [Some(0.25); 2]]);
}

#[test]
fn influence_of_a_group_is_divided_by_the_number_of_outputs() {
    let group = |output: &[usize]| shares(output).group_influence(&(0..1));
    assert_eq!(group(&[1]), GroupInfluence { past_it: 0.5, through_it: 0.5, from_it: 0.0 });
    assert_eq!(group(&[1, 2]), GroupInfluence { past_it: 0.25, through_it: 0.25, from_it: 0.0 });
}

#[test]
fn weak_and_missing_evidence_is_named() {
    assert_eq!([1, 2, 3].map(|i| shares(&[i]).evidence()), [Evidence::Clear(1.0), Evidence::None, Evidence::Weak(0.01)]);
    let evidence = [None, None, Some(Evidence::Clear(1.0)), Some(Evidence::Clear(1.0)), Some(Evidence::None), Some(Evidence::Weak(0.01))];
    assert_eq!([0, 1, 2, 3, 4, 5].map(|j| shares(&[1]).graph().evidence(j)), evidence);
}

#[test]
fn little_support_is_named_instead_of_evidence() {
    let unsupported = Document { support: vec![9.0, 0.0, 0.0, 0.0], ..document() };
    let shares = |output: &[usize]| in_document(unsupported.clone(), output);
    assert_eq!([0, 1, 2, 3].map(|i| shares(&[i]).is_unsupported()), [false, false, true, true], "G2 depends on G1");
    assert!(!shares(&[0, 2]).is_unsupported());
    assert_eq!((shares(&[3]).evidence(), shares(&[3]).lost_share()), (Evidence::Unsupported(0.0), 0.0));
}

#[test]
fn influence_that_ends_at_a_step_without_source_is_stated() {
    let mut document = document();
    document.table.row_mut(3)[4] = Some(0.03);
    assert!((in_document(document, &[3]).lost_share() - 0.75).abs() < 1e-12);
    assert_eq!(shares(&[2]).lost_share(), 0.0);
}

#[test]
fn every_sentence_has_a_role() {
    let roles = [0, 1, 2, 3, 4].map(|j| shares(&[1]).role(j));
    assert_eq!(roles, [Role::Source, Role::Source, Role::Source, Role::Output, Role::Later]);
    assert_eq!([[0, 1].as_slice(), &[1], &[2]].map(|output| sources(|j| shares(output).is_output(j))), [vec![2, 3], vec![3], vec![4]]);
}

#[test]
fn explained_and_later_sentences_have_no_share() {
    // G1 is explained, but it has a share, because G2 is also explained and depends on it. Other sentences may have a share of zero.
    let without = [[0, 1].as_slice(), &[1], &[2]].map(|output| sources(|j| shares(output).has_no_share(j)));
    assert_eq!(without, [vec![3, 4, 5], vec![3, 4, 5], vec![4, 5]]);
}

#[test]
fn unsupported_output_has_no_shares() {
    let shares = |output: &[usize]| in_document(Document { support: vec![9.0, 0.0, 0.0, 0.0], ..document() }, output);
    // G2 has no support of its own, but half of it depends on G1.
    let without = [[0].as_slice(), &[1], &[2]].map(|output| sources(|j| shares(output).has_no_share(j)));
    assert_eq!(without, [vec![2, 3, 4, 5], vec![3, 4, 5], vec![0, 1, 2, 3, 4, 5]]);
}

#[test]
fn strongest_output_evidence_sets_strength() {
    assert_eq!([1.0, 0.25].map(|influence| shares(&[0]).strength(influence)), [1.0, 0.5]);
    assert_eq!([shares(&[3]).strength(1.0), shares(&[0, 3]).strength(1.0)], [0.5, 1.0]);
}

#[test]
fn raw_scores_are_numbers_of_either_sign() {
    let raw =
        document().derived(Derivation { aggregation: Aggregation::Mean, normalization: Normalization::None, ..Derivation::default() });
    let shares = in_document(raw, &[1]);
    // P1 -> G1 -> G2 adds 1 x 0.5, and P1 -> G2 subtracts 0.5. G1 itself adds 0.5.
    assert_eq!((shares.amounts(0), shares.scale()), ([Some(0.0), Some(-0.5)], Scale::Numbers { largest: 0.5 }));
    assert_eq!((shares.strength(-0.5), shares.lost_share(), shares.evidence()), (-1.0, 0.0, Evidence::Clear(1.0)));
}

#[test]
fn sum_aggregation_favors_long_sentences_keeps_evidence() {
    let mut long =
        document().derived(Derivation { aggregation: Aggregation::Sum, normalization: Normalization::Full, ..Derivation::default() });
    Arc::make_mut(&mut long.prompt).tokens[1] = 6;
    let shares = in_document(long, &[1]);
    assert_eq!((shares.direct(1), shares.direct(2)), (Some(0.75), Some(0.25)));
    assert_eq!(shares.evidence(), Evidence::Clear(1.0));
    assert_eq!([Matrix::T, Matrix::S].map(|matrix| shares.graph().rectangle(matrix)[1][1]), [Some(0.5), Some(0.5 * 6.0 * 2.0)]);
}

#[test]
fn unmeasured_source_has_no_share() {
    let mut partial = document();
    partial.table.row_mut(3)[0] = None;
    let shares = in_document(partial, &[3]);
    assert_eq!((shares.amounts(0), shares.role(0)), ([None, None], Role::Unmeasured));
    assert_eq!(shares.evidence(), Evidence::Unmeasured);
    assert_eq!(shares.graph().rectangle(Matrix::A)[0][0], None);
}

#[test]
fn numbers_that_are_not_shown_do_not_set_the_scale() {
    let mut partial = document().derived(Derivation { normalization: Normalization::None, ..Derivation::default() });
    partial.table.row_mut(1)[0] = Some(8.0);
    let largest = |document: &Document| in_document(document.clone(), &[1]).scale();
    assert_eq!(largest(&partial), Scale::Numbers { largest: 8.5 });
    partial.table.row_mut(3)[0] = None;
    assert_eq!(largest(&partial), Scale::Numbers { largest: 0.5 });
}

#[test]
fn order_and_duplicates_of_output_change_nothing() {
    let [sorted, listed] = [shares(&[0, 1]), shares(&[1, 0, 1])];
    assert_eq!(listed, sorted);
    assert_eq!((listed.output(), listed.role(4)), ([0, 1].as_slice(), Role::Later));
}

#[test]
fn sentences_that_do_not_exist_are_ignored() {
    let shares = shares(&[7]);
    assert!(shares.output().is_empty());
    assert_eq!((shares.total(99), shares.evidence()), (None, Evidence::None));
}

#[test]
fn turn_after_explained_answer_is_later() {
    // P1 and P2 come before G1 and G2 in the text, and P3 after them.
    let shares = in_document(with_explained_turns(), &[1]);
    assert_eq!([2, 3, 5, 6].map(|j| shares.role(j)), [Role::Later, Role::Source, Role::Later, Role::Later]);
    assert!(shares.has_no_share(2) && !shares.has_no_share(0) && shares.strongest_sources() == [1, 0]);
    assert_eq!(in_document(with_explained_turns(), &[2]).role(2), Role::Source);
}

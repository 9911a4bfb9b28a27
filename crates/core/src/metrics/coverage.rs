//! AC (paper, `sec:eval`): do the relevant sentences receive their share?

/// AC: the fraction of the relevant sentences whose share of the attribution is in [1/2, 3/2] of an equal share. In [0, 1], higher is
/// better. 0 if the attribution has no positive sum, NaN if no sentence is relevant.
pub fn coverage(attribution: &[f64], relevant: &[usize]) -> f64 {
    let whole: f64 = attribution.iter().sum();
    let equal = 1.0 / relevant.len() as f64;
    let is_covered = |&&j: &&usize| whole > 0.0 && (0.5 * equal..=1.5 * equal).contains(&(attribution[j] / whole));
    relevant.iter().filter(is_covered).count() as f64 * equal
}

/// Share of the attribution on the relevant sentences, in [0, 1]. 0 if the attribution has no positive sum.
pub fn share_on(attribution: &[f64], relevant: &[usize]) -> f64 {
    let whole: f64 = attribution.iter().sum();
    if whole > 0.0 { relevant.iter().map(|&j| attribution[j]).sum::<f64>() / whole } else { 0.0 }
}

/// A relevant sentence with a smaller share of the attribution counts as missed.
const MISSED_BELOW: f64 = 0.02;

/// Fraction of the relevant sentences that are missed, in [0, 1]. 1 if the attribution has no positive sum.
pub fn missed(attribution: &[f64], relevant: &[usize]) -> f64 {
    let whole: f64 = attribution.iter().sum();
    let is_missed = |&&j: &&usize| whole <= 0.0 || attribution[j] / whole < MISSED_BELOW;
    relevant.iter().filter(is_missed).count() as f64 / relevant.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_parts_on_the_relevant_sentences_cover_them_all() {
        assert_eq!(coverage(&[0.5, 0.0, 0.5], &[0, 2]), 1.0);
        assert_eq!(share_on(&[0.5, 0.0, 0.5], &[0, 2]), 1.0);
        // The size of the attribution does not matter.
        assert_eq!((coverage(&[2.0, 0.0, 2.0], &[0, 2]), share_on(&[1.0, 0.0, 3.0], &[0])), (1.0, 0.25));
    }

    #[test]
    fn too_little_and_too_much_do_not_count() {
        // An equal share is 1/4, so shares from 1/8 to 3/8 count.
        assert_eq!(coverage(&[0.125, 0.375, 0.4, 0.1], &[0, 1, 2, 3]), 0.5);
        assert_eq!(coverage(&[1.0, 0.0], &[0, 1]), 0.0);
    }

    #[test]
    fn an_attribution_of_nothing_covers_nothing() {
        assert_eq!((coverage(&[0.0, 0.0], &[1]), share_on(&[0.0, 0.0], &[1])), (0.0, 0.0));
        assert_eq!(missed(&[0.0, 0.0], &[1]), 1.0);
        assert!(coverage(&[1.0], &[]).is_nan());
    }

    #[test]
    fn a_relevant_sentence_with_next_to_nothing_is_missed() {
        assert_eq!(missed(&[1.96, 0.04, 0.0, 0.0], &[0, 1, 2]), 1.0 / 3.0);
        assert_eq!(missed(&[5.0, 0.05, 4.95, 0.0], &[0, 1, 3]), 2.0 / 3.0);
    }
}

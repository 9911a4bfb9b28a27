//! Agreement of two attributions.

/// Spearman's rank correlation of two lists of the same length. Equal values share their mean rank. In [-1, 1]. `None` if one of the lists
/// does not vary.
pub fn rank_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    let scale = (product(&a, &a) * product(&b, &b)).sqrt();
    (scale > 0.0).then(|| product(&a, &b) / scale)
}

/// The 0-based rank of each value. Equal values get the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |x: f64| values.iter().filter(|&&other| other < x).count() as f64;
    let equal = |x: f64| values.iter().filter(|&&other| other == x).count() as f64;
    values.iter().map(|&x| below(x) + (equal(x) - 1.0) / 2.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_alike_and_opposite() {
        assert_eq!(rank_correlation(&[1.0, 2.0, 9.0], &[0.1, 0.2, 0.3]), Some(1.0));
        assert_eq!(rank_correlation(&[1.0, 2.0, 9.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        assert_eq!(rank_correlation(&[1.0, 1.0], &[3.0, 2.0]), None);
    }

    #[test]
    fn equal_values_share_their_ranks() {
        // Computed by hand: ranks 0.5, 0.5, 2 and 0, 1, 2; covariance 1.5, variances 1.5 and 2.
        let expected = 1.5 / 3.0_f64.sqrt();
        assert!((rank_correlation(&[1.0, 1.0, 2.0], &[1.0, 2.0, 3.0]).unwrap() - expected).abs() < 1e-12);
    }
}

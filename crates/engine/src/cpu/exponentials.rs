//! Softmax and gates. Computes eight exponentials at a time, where candle computes one after the other.

use candle_core::{Device, Result, Tensor};
use wide::f32x8;

/// x sigmoid(x), for each value.
pub fn silu(x: &Tensor) -> Result<Tensor> {
    mapped(x, |x| x / ((-x).exp() + 1.0))
}

/// x sigmoid(2 u) = x (1 + tanh u) / 2, for each value, with u = sqrt(2 / pi) (x + 0.044715 x^3): GELU in its approximation by tanh
/// (Hendrycks and Gimpel 2016), as in all models with GEGLU.
pub fn gelu(x: &Tensor) -> Result<Tensor> {
    const TWICE_ROOT: f32 = std::f32::consts::FRAC_2_SQRT_PI * std::f32::consts::SQRT_2;
    mapped(x, |x| x / ((-TWICE_ROOT * (x + 0.044715 * x * x * x)).exp() + 1.0))
}

/// Attention weights, `[heads, n, length]`, from scores of the same shape. Query i of the last n positions sees the keys up to its own,
/// or the last `window` of them. The weights of a query sum to 1, and those of the other keys are 0.
pub fn causal_softmax(scores: &Tensor, window: Option<usize>) -> Result<Tensor> {
    let (heads, n, length) = scores.dims3()?;
    let mut weights = scores.flatten_all()?.to_vec1()?;
    for (i, row) in (0..heads).flat_map(|_| 0..n).zip(weights.chunks_exact_mut(length)) {
        let end = length - n + i + 1;
        let start = window.map_or(0, |window| end.saturating_sub(window));
        row[..start].fill(0.0);
        row[end..].fill(0.0);
        softmax(&mut row[start..end]);
    }
    Tensor::from_vec(weights, (heads, n, length), &Device::Cpu)
}

/// The largest value; negative infinity if there is none. If some values are NaN, any of the values.
pub fn largest(values: &[f32]) -> f32 {
    let (eights, rest) = values.as_chunks();
    let least = f32x8::splat(f32::NEG_INFINITY);
    let largest = eights.iter().fold(least, |largest, &eight| largest.fast_max(f32x8::new(eight))).to_array();
    largest.iter().chain(rest).fold(f32::NEG_INFINITY, |largest, &value| largest.max(value))
}

fn softmax(values: &mut [f32]) {
    let largest = largest(values);
    map(values, |value| (value - largest).exp());
    let (eights, rest) = values.as_chunks();
    let sum = eights.iter().map(|&eight| f32x8::new(eight)).sum::<f32x8>().reduce_add() + rest.iter().sum::<f32>();
    map(values, |value| value / sum);
}

fn mapped(x: &Tensor, function: impl Fn(f32x8) -> f32x8) -> Result<Tensor> {
    let mut values = x.flatten_all()?.to_vec1()?;
    map(&mut values, function);
    Tensor::from_vec(values, x.shape(), &Device::Cpu)
}

fn map(values: &mut [f32], function: impl Fn(f32x8) -> f32x8) {
    let (eights, rest) = values.as_chunks_mut();
    eights.iter_mut().for_each(|eight| *eight = function(f32x8::new(*eight)).to_array());
    let mut last = [0.0; 8];
    last[..rest.len()].copy_from_slice(rest);
    rest.copy_from_slice(&function(f32x8::new(last)).to_array()[..rest.len()]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use glasscage_core::rng::Rng;

    fn random(shape: (usize, usize, usize), size: f64, seed: u64) -> Tensor {
        let mut rng = Rng::new(seed);
        let values: Vec<f32> = (0..shape.0 * shape.1 * shape.2).map(|_| (size * (2.0 * rng.uniform() - 1.0)) as f32).collect();
        Tensor::from_vec(values, shape, &Device::Cpu).unwrap()
    }

    fn values(x: &Tensor) -> Vec<f32> {
        x.flatten_all().unwrap().to_vec1().unwrap()
    }

    #[test]
    fn gates_are_those_of_float64() {
        let root = (2.0 / std::f64::consts::PI).sqrt();
        for (size, seed) in [(1.0, 1), (20.0, 2), (300.0, 3)] {
            let x = random((1, 1, 1003), size, seed);
            let (silu, gelu) = (values(&silu(&x).unwrap()), values(&gelu(&x).unwrap()));
            for ((&x, silu), gelu) in values(&x).iter().zip(silu).zip(gelu) {
                let x = f64::from(x);
                let expected = [x / (1.0 + (-x).exp()), x / 2.0 * (1.0 + (root * (x + 0.044715 * x.powi(3))).tanh())];
                for (value, expected) in [silu, gelu].into_iter().zip(expected) {
                    assert!((f64::from(value) - expected).abs() <= 2e-6 * expected.abs().max(0.1), "{x}: {value} {expected}");
                }
            }
        }
    }

    #[test]
    fn attention_weights_are_those_of_float64() {
        for (n, length, window) in [(5, 5, None), (5, 30, None), (1, 1, None), (7, 20, Some(9)), (20, 20, Some(1)), (4, 9, Some(100))] {
            let scores = random((3, n, length), 30.0, length as u64);
            let (weights, scores) = (values(&causal_softmax(&scores, window).unwrap()), values(&scores));
            for (row, (weights, scores)) in weights.chunks(length).zip(scores.chunks(length)).enumerate() {
                let own = length - n + row % n;
                let sees = |key: usize| key <= own && window.is_none_or(|window| own - key < window);
                let exp = |key: usize| if sees(key) { f64::from(scores[key]).exp() } else { 0.0 };
                let sum: f64 = (0..length).map(exp).sum();
                for (key, &weight) in weights.iter().enumerate() {
                    assert!((f64::from(weight) - exp(key) / sum).abs() <= 2e-6, "{n} {length} {window:?}: row {row}, key {key}");
                    assert!(sees(key) || weight == 0.0);
                }
            }
        }
    }

    #[test]
    fn nan_stays_nan() {
        let x = Tensor::new(&[[[1.0, f32::NAN, 2.0]]], &Device::Cpu).unwrap();
        assert!(values(&silu(&x).unwrap())[1].is_nan() && values(&gelu(&x).unwrap())[1].is_nan());
        assert!(values(&causal_softmax(&x, None).unwrap()).iter().any(|weight| weight.is_nan()));
    }
}

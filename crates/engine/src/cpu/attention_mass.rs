//! Sums attention weights and information flow in each layer. Holds the attention map of one chunk of rows in one layer at a time.

use std::ops::Range;

use candle_core::{Result, Tensor};

/// Attention and flow from ranges of positions to the rows that predict targets.
#[derive(Default)]
pub struct AttentionMass {
    targets: Range<usize>,
    ranges: Vec<Range<usize>>,
    /// `[targets, ranges]`, summed over heads and layers: see [`crate::lm::Readout`].
    pub sums: Vec<f64>,
    pub flows: Vec<f64>,
}

impl AttentionMass {
    pub fn new(targets: Range<usize>, ranges: &[Range<usize>]) -> Self {
        let sums = vec![0.0; targets.len() * ranges.len()];
        Self { flows: sums.clone(), sums, ranges: ranges.to_vec(), targets }
    }

    /// Adds one layer. `weights` are those of the last `n` positions over all `length` positions, `[n_heads, n, length]`. `values` are
    /// `[n_kv_heads, length, head_dim]`. `outputs` are the head outputs, `[n_kv_heads, n_heads / n_kv_heads * n, head_dim]`.
    pub fn add(&mut self, weights: &Tensor, values: &Tensor, outputs: &Tensor) -> Result<()> {
        let (_, n, length) = weights.dims3()?;
        if self.sums.is_empty() || length < self.targets.start {
            return Ok(());
        }
        // Contribution of each position, projected on the head output: alpha (v . o).
        let passed_on = (outputs.matmul(&values.t()?)?.reshape(weights.shape())? * weights)?;
        let [rows, lengths] = [weights.sum(0)?, passed_on.sum(2)?.sum_keepdim(0)?].map(|sums| sums.to_vec2::<f32>());
        let (rows, lengths) = (rows?, lengths?);
        // Position t - 1 predicts target t.
        for (i, target) in (length - n + 1..).take(n).enumerate().filter(|(_, target)| self.targets.contains(target)) {
            let first = (target - self.targets.start) * self.ranges.len();
            let flows = passed_on.narrow(1, i, 1)?.squeeze(1)?.to_vec2::<f32>()?;
            for (k, range) in self.ranges.iter().enumerate() {
                let sum = |row: &[f32]| row[range.start.min(length)..range.end.min(length)].iter().map(|&x| f64::from(x)).sum::<f64>();
                self.sums[first + k] += sum(&rows[i]);
                self.flows[first + k] += flows.iter().map(|head| squared_share(sum(head), f64::from(lengths[0][i]))).sum::<f64>();
            }
        }
        Ok(())
    }
}

/// Square of `part / whole` if `part` is positive, else 0. NaN stays NaN.
fn squared_share(part: f64, whole: f64) -> f64 {
    if part <= 0.0 { 0.0 } else { (part / whole).powi(2) }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    /// Two heads with the same weights share their values. The rows are positions 1 to 3 of a text of 4.
    fn added(values: [[f32; 2]; 4]) -> AttentionMass {
        let mut attention_mass = AttentionMass::new(3..5, &[0..2, 2..4]);
        let head = [[0.5_f32, 0.5, 0.0, 0.0], [0.25, 0.25, 0.5, 0.0], [0.125, 0.125, 0.25, 0.5]];
        let [weights, values] = [Tensor::new(&[head, head], &Device::Cpu), Tensor::new(&[values], &Device::Cpu)].map(|made| made.unwrap());
        let outputs = weights.reshape((1, 6, 4)).unwrap().matmul(&values).unwrap();
        attention_mass.add(&weights, &values, &outputs).unwrap();
        attention_mass
    }

    #[test]
    fn nan_stays_nan() {
        assert!(added([[f32::NAN, 0.0]; 4]).flows[0].is_nan() && squared_share(f64::NAN, 1.0).is_nan());
    }

    #[test]
    fn weights_are_summed_over_heads_and_ranges() {
        assert_eq!(added([[1.0, 0.0]; 4]).sums, [1.0, 1.0, 0.5, 1.5]);
    }

    #[test]
    fn flow_is_squared_share_of_output() {
        // All values are equal, so each head has half of the output, divided by its weights.
        assert_eq!(added([[1.0, 0.0]; 4]).flows, [0.125, 0.125, 0.03125, 0.28125]);
        // Outputs (1/2, 1) and (1/4, 3/2): the first range gives (1/2, 0) and (1/4, 0).
        let flows = added([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0], [0.0, 2.0]]).flows;
        let shares = [0.25 / 1.25, 1.0 / 1.25, 0.0625 / 2.3125, 2.25 / 2.3125];
        assert!(flows.iter().zip(shares).all(|(flow, share): (&f64, f64)| (flow - share.powi(2) / 2.0).abs() < 1e-6), "{flows:?}");
        // Values that point against the output have no flow.
        assert_eq!(added([[-1.0, 0.0], [-1.0, 0.0], [2.0, 0.0], [2.0, 0.0]]).flows[0], 0.0);
    }
}

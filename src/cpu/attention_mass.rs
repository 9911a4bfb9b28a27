//! Attention weights, summed where they arise: whole maps are never kept.

use std::ops::Range;

use candle_core::{Result, Tensor};

/// How much the rows that predict targets attend to some ranges of positions.
#[derive(Default)]
pub struct AttentionMass {
    targets: Range<usize>,
    ranges: Vec<Range<usize>>,
    /// `[targets, ranges]`, over all heads and layers so far.
    pub sums: Vec<f64>,
}

impl AttentionMass {
    pub fn new(targets: Range<usize>, ranges: &[Range<usize>]) -> Self {
        Self { sums: vec![0.0; targets.len() * ranges.len()], ranges: ranges.to_vec(), targets }
    }

    /// Takes one layer's weights of the last `n` positions over all `length` so far: `[n_heads, n, length]`.
    pub fn add(&mut self, weights: &Tensor) -> Result<()> {
        if self.sums.is_empty() {
            return Ok(());
        }
        let (_, n, length) = weights.dims3()?;
        let rows = weights.sum(0)?.to_vec2::<f32>()?;
        // Target t is predicted at t - 1.
        for (row, target) in rows.iter().zip(length - n + 1..).filter(|(_, target)| self.targets.contains(target)) {
            let first = (target - self.targets.start) * self.ranges.len();
            for (sum, range) in self.sums[first..].iter_mut().zip(&self.ranges) {
                *sum += row[range.start.min(length)..range.end.min(length)].iter().map(|&weight| f64::from(weight)).sum::<f64>();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    #[test]
    fn weights_of_all_heads_are_summed_over_each_range() {
        let mut attention_mass = AttentionMass::new(3..5, &[0..2, 2..4]);
        // Two heads, positions 1 to 3 of a text of 4.
        let head = [[0.5_f32, 0.5, 0.0, 0.0], [0.25, 0.25, 0.5, 0.0], [0.125, 0.125, 0.25, 0.5]];
        attention_mass.add(&Tensor::new(&[head, head], &Device::Cpu).unwrap()).unwrap();
        assert_eq!(attention_mass.sums, [1.0, 1.0, 0.5, 1.5]);
    }
}

//! Causal depthwise convolutions over the last few tokens.

use candle_core::{DType, Device, Result, Tensor};

use super::cache::LayerCache;
use super::growing::Growing;
use super::weight::Weight;
use super::weights::Weights;

/// `y[t, c] = sum over j of w[c, j] x[t - taps + 1 + j, c]`, zeros before the text.
pub struct Convolution {
    /// `w[.., j]`, `[channels]` each.
    taps: Vec<Tensor>,
}

impl Convolution {
    /// Reads the weights from a tensor `[channels, taps]`.
    pub fn new(weight: &Weight, taps: usize) -> Result<Self> {
        let rows = weight.values()?.reshape(((), taps))?;
        Ok(Self { taps: (0..taps).map(|j| rows.narrow(1, j, 1)?.flatten_all()).collect::<Result<_>>()? })
    }

    /// `[n, channels]` -> `[n, channels]`, after the columns in the cache. Appends x to the columns, and keeps all columns or only the
    /// last ones.
    pub fn forward(&self, x: &Tensor, cache: &mut LayerCache, keeps_all: bool) -> Result<Tensor> {
        let (n, channels) = x.dims2()?;
        let past = self.taps.len() - 1;
        let mut columns = match cache.columns.take() {
            Some(columns) => columns,
            None => Growing::new(Tensor::zeros((past, channels), DType::F32, &Device::Cpu)?, 0),
        };
        columns.append(x)?;
        let all = columns.rows();
        let first = all.dim(0)? - n - past;
        let sums = self.apply(all, first, n)?;
        let last = all.narrow(0, first + n, past)?;
        cache.columns = Some(if keeps_all { columns } else { Growing::new(last.force_contiguous()?, 0) });
        Ok(sums)
    }

    /// Convolution of `n` tokens, starting at `first`. `columns` start taps - 1 tokens earlier.
    fn apply(&self, columns: &Tensor, first: usize, n: usize) -> Result<Tensor> {
        let terms = self.taps.iter().enumerate().map(|(j, tap)| columns.narrow(0, first + j, n)?.broadcast_mul(tap));
        terms.reduce(|sum, term| sum? + term?).unwrap_or_else(|| columns.narrow(0, first, n)?.zeros_like())
    }
}

/// The gated short convolution of LFM2 (transformers, models/lfm2): `out(c * conv(b * x))`.
pub struct ShortConvolution {
    /// Rows of b, then c, then x.
    input: Weight,
    convolution: Convolution,
    output: Weight,
}

impl ShortConvolution {
    /// Takes the weights of layer `i`.
    pub fn new(i: usize, taps: usize, weights: &mut Weights) -> Result<Self> {
        let mut matrix = |part: &str| weights.matrix(&format!("blk.{i}.shortconv.{part}.weight"));
        Ok(Self { input: matrix("in_proj")?, convolution: Convolution::new(&matrix("conv")?, taps)?, output: matrix("out_proj")? })
    }

    /// `[n, dim]` -> `[n, dim]`.
    pub fn forward(&self, x: &Tensor, cache: &mut LayerCache) -> Result<Tensor> {
        let projected = self.input.project(x)?;
        let dim = projected.dim(1)? / 3;
        let [b, c, x] = [0, 1, 2].map(|part| projected.narrow(1, part * dim, dim));
        let keeps_all = cache.keeps_all;
        let mixed = self.convolution.forward(&(b? * x?)?, cache, keeps_all)?;
        self.output.project(&(c? * mixed)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convolution() -> Convolution {
        // Channel 0 adds the token two before and the current token. Channel 1 doubles the token before.
        Convolution { taps: [[1.0_f32, 0.0], [0.0, 2.0], [1.0, 0.0]].map(|tap| Tensor::new(&tap, &Device::Cpu).unwrap()).into() }
    }

    fn rows(x: &Tensor) -> Vec<Vec<f32>> {
        x.to_vec2().unwrap()
    }

    #[test]
    fn row_reads_earlier_rows_in_any_split() {
        let x = Tensor::new(&[[1.0_f32, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0]], &Device::Cpu).unwrap();
        let expected = [[1.0, 0.0], [2.0, 2.0], [4.0, 4.0], [6.0, 6.0]];
        for (first, keeps_all) in [(4, false), (1, false), (2, true), (3, true)] {
            let mut cache = LayerCache::default();
            let mut all = rows(&convolution().forward(&x.narrow(0, 0, first).unwrap(), &mut cache, keeps_all).unwrap());
            if first < 4 {
                all.extend(rows(&convolution().forward(&x.narrow(0, first, 4 - first).unwrap(), &mut cache, keeps_all).unwrap()));
            }
            assert_eq!(all, expected);
            assert_eq!(cache.columns.unwrap().rows().dim(0).unwrap(), if keeps_all { 2 + 4 } else { 2 });
        }
    }
}

//! Root mean square normalization (Zhang and Sennrich 2019).

use candle_core::{Result, Tensor};
use candle_nn::ops::rms_norm;

/// Normalizes each row if there is a norm.
pub fn normalize(x: &Tensor, weight: Option<&Tensor>, epsilon: f64) -> Result<Tensor> {
    weight.map_or_else(|| Ok(x.clone()), |weight| rms_norm(x, weight, epsilon as f32))
}

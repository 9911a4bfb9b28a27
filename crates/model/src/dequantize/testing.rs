//! Random blocks for tests.

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Result, Tensor};
use glasscage_core::rng::{Rng, random};

use crate::quant::Quant;

/// candle's name for a tensor type.
pub fn candle_type(quant: &Quant) -> Result<GgmlDType> {
    Ok(match quant.name {
        "F32" => GgmlDType::F32,
        "F16" => GgmlDType::F16,
        "BF16" => GgmlDType::BF16,
        "Q4_0" => GgmlDType::Q4_0,
        "Q4_1" => GgmlDType::Q4_1,
        "Q5_0" => GgmlDType::Q5_0,
        "Q5_1" => GgmlDType::Q5_1,
        "Q8_0" => GgmlDType::Q8_0,
        "Q2_K" => GgmlDType::Q2K,
        "Q3_K" => GgmlDType::Q3K,
        "Q4_K" => GgmlDType::Q4K,
        "Q5_K" => GgmlDType::Q5K,
        "Q6_K" => GgmlDType::Q6K,
        other => candle_core::bail!("candle has no tensor type {other}"),
    })
}

/// Random whole blocks of a type without infinity or NaN. Each seed gives different blocks.
pub fn random_blocks(quant: &Quant, count: usize, seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut block = || loop {
        let block: Vec<u8> = (0..quant.block_bytes).map(|_| (256.0 * rng.uniform()) as u8).collect();
        // Rejects large values, because they would make most other products negligible.
        if quant.is_finite(&block) && quant.values(&block).iter().all(|value| value.abs() < 100.0) {
            return block;
        }
    };
    (0..count).flat_map(|_| block()).collect()
}

/// Blocks of a type with values up to about `size`, `[rows, columns]`: quantized by candle, or random if candle lacks the type.
pub fn some_blocks(quant: &'static Quant, rows: usize, columns: usize, size: f32) -> Vec<u8> {
    let count = rows * columns / quant.block;
    let Ok(dtype) = candle_type(quant) else { return with_scale(quant, random_blocks(quant, count, 1), size) };
    let values: Vec<f32> = random(rows * columns, 1).iter().map(|value| size * value).collect();
    let tensor = Tensor::from_vec(values, (rows, columns), &Device::Cpu).unwrap();
    QTensor::quantize(&tensor, dtype).unwrap().data().unwrap().into_owned()
}

/// Replaces the scale at the start of each block by a power of two.
fn with_scale(quant: &Quant, mut blocks: Vec<u8>, size: f32) -> Vec<u8> {
    let largest = if quant.block == 32 { 127.0 } else { 127.0 * 32.0 };
    let exponent = (size / largest).log2().floor() as i32;
    let half: u16 = if exponent < -14 { 1 << (exponent + 24) } else { ((exponent + 15) as u16) << 10 };
    blocks.chunks_mut(quant.block_bytes).for_each(|block| block[..2].copy_from_slice(&half.to_le_bytes()));
    blocks
}

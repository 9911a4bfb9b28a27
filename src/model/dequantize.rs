//! Quantized values to f32, by candle.

use candle_core::quantized::{GgmlDType, ggml_file::qtensor_from_ggml};
use candle_core::{Device, Result, Tensor};

use super::quant::Quant;

/// Bytes of a file to `[rows, columns]` in f32.
pub fn dequantize(quant: &Quant, bytes: &[u8], rows: usize, columns: usize) -> Result<Tensor> {
    qtensor_from_ggml(candle_type(quant)?, bytes, vec![rows, columns], &Device::Cpu)?.dequantize(&Device::Cpu)
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::quant::QUANTS;

    #[test]
    fn a_block_of_numbers_is_one_that_dequantizes_to_numbers() {
        for quant in QUANTS {
            for at in (0..quant.block_bytes).step_by(2) {
                for upper in [0x00, 0x3C, 0x7B, 0x7C, 0x7F, 0xFC, 0xFF] {
                    let mut block = vec![0x11; quant.block_bytes];
                    (block[at], block[at + 1]) = (0x80, upper);
                    let values = dequantize(quant, &block, 1, quant.block).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
                    let is_finite = values.iter().all(|value| value.is_finite());
                    assert_eq!(quant.is_finite(&block), is_finite, "{} {at} {upper:x}", quant.name);
                    assert_eq!(
                        quant.is_finite(&[vec![0x11; quant.block_bytes], block].concat()),
                        is_finite,
                        "{} {at} {upper:x}",
                        quant.name
                    );
                }
            }
        }
    }

    #[test]
    fn candle_knows_every_tensor_type_in_the_sizes_that_we_read() {
        for quant in QUANTS {
            let candle = candle_type(quant).unwrap();
            assert_eq!((candle.block_size(), candle.type_size()), (quant.block, quant.block_bytes), "{}", quant.name);
        }
    }
}

//! Random models whose matrices have a type that candle does not support, where whole blocks fit.

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};
use glasscage::model::quant::{QUANTS, Quant};
use glasscage::rng::Rng;

use crate::models::{Random, Shape, dimensions, write};

const FIRST: &[u8] = b"token_embd.weight";
/// `ggml_type` of F32.
const F32: u32 = 0;
const ALIGNMENT: usize = 32;

/// A GGUF file whose matrices are random blocks of a type, each starting with `scale` as f16, and a file with the same weights in f32.
pub fn files(shape: &Shape, name: &str, scale: u16) -> [Vec<u8>; 2] {
    let quant = QUANTS.iter().find(|quant| quant.name == name).unwrap();
    let (mut random, mut packed, mut expanded) = (Random(Rng::new(7)), Vec::new(), Vec::new());
    for (name, dims) in dimensions(shape) {
        let is_packed = dims.len() == 2 && dims[1].is_multiple_of(quant.block);
        let (id, bytes, values) = if !is_packed {
            let values = random.tensor(&name, &dims).flatten_all().unwrap().to_vec1::<f32>().unwrap();
            (F32, values.iter().flat_map(|value| value.to_le_bytes()).collect(), values)
        } else {
            let bytes = blocks(&mut random, quant, dims.iter().product::<usize>() / quant.block, scale);
            (quant.id, bytes.clone(), quant.values(&bytes))
        };
        let tensor = Tensor::from_vec(values, &dims[..], &Device::Cpu).unwrap();
        expanded.push((name.clone(), QTensor::quantize(&tensor, GgmlDType::F32).unwrap()));
        packed.push((name, dims, id, bytes));
    }
    let expanded = write(shape, &expanded);
    [with_tensors(&expanded, &packed), expanded]
}

fn blocks(random: &mut Random, quant: &Quant, count: usize, scale: u16) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..count * quant.block_bytes).map(|_| (random.0.next_u64() >> 56) as u8).collect();
    bytes.chunks_mut(quant.block_bytes).for_each(|block| block[..2].copy_from_slice(&scale.to_le_bytes()));
    bytes
}

/// The metadata of a file with other tensors, given as name, dimensions, type and bytes.
fn with_tensors(file: &[u8], tensors: &[(String, Vec<usize>, u32, Vec<u8>)]) -> Vec<u8> {
    let table = file.windows(FIRST.len()).position(|bytes| bytes == FIRST).unwrap() - 8;
    let (mut made, mut data) = (file[..table].to_vec(), Vec::new());
    for (name, dims, id, bytes) in tensors {
        made.extend((name.len() as u64).to_le_bytes());
        made.extend(name.as_bytes());
        made.extend((dims.len() as u32).to_le_bytes());
        dims.iter().rev().for_each(|&length| made.extend((length as u64).to_le_bytes()));
        made.extend(id.to_le_bytes());
        made.extend((data.len() as u64).to_le_bytes());
        data.extend(bytes);
        data.resize(data.len().next_multiple_of(ALIGNMENT), 0);
    }
    made.resize(made.len().next_multiple_of(ALIGNMENT), 0);
    [made, data].concat()
}

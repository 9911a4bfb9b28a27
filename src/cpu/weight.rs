//! One matrix or vector of the model, expanded to f32 or packed as in the file.

use std::ops::Range;

use candle_core::{Device, Result, Tensor};

use crate::lm::Input;
use crate::lm::blocks::blocks;
use crate::model::dequantize::dequantize;
use crate::model::gguf;
use crate::model::quant::Quant;
use crate::model::tokenizer::TokenId;

/// Values of a packed matrix that are expanded at once.
const BLOCK_VALUES: usize = 1 << 19;

/// `[rows, columns]`; a vector is one row.
pub struct Weight {
    pub rows: usize,
    pub columns: usize,
    storage: WeightStorage,
}

enum WeightStorage {
    /// f32, `[rows, columns]`.
    Expanded(Tensor),
    Packed {
        quant: &'static Quant,
        bytes: Vec<u8>,
    },
}

impl Weight {
    /// The weight with these bytes of the file.
    pub fn new(tensor: &gguf::Tensor, bytes: Vec<u8>, expand: bool) -> Result<Self> {
        let columns = tensor.shape.first().copied().unwrap_or(1);
        let rows = tensor.shape.iter().skip(1).product();
        let storage = if expand || rows == 1 {
            WeightStorage::Expanded(dequantize(tensor.quant, &bytes, rows, columns)?)
        } else {
            WeightStorage::Packed { quant: tensor.quant, bytes }
        };
        Ok(Self { rows, columns, storage })
    }

    /// x W^T: `[n, columns]` -> `[n, rows]`.
    pub fn project(&self, x: &Tensor) -> Result<Tensor> {
        self.project_to(x, 0..self.rows)
    }

    /// x W^T for some rows of W only: `[n, columns]` -> `[n, rows]`.
    pub fn project_to(&self, x: &Tensor, rows: Range<usize>) -> Result<Tensor> {
        let at_once = match self.storage {
            WeightStorage::Expanded(_) => rows.len(),
            WeightStorage::Packed { .. } => BLOCK_VALUES / self.columns,
        };
        let products = blocks(rows, at_once.max(1)).map(|block| product(x, &self.rows(block)?));
        Tensor::cat(&products.collect::<Result<Vec<_>>>()?, 1)
    }

    /// The rows that are read, mixed where they have to be: `[inputs, columns]`. All tokens have to be rows of the weight.
    pub fn embed(&self, inputs: &[Input]) -> Result<Tensor> {
        let of = |token: fn(&Input) -> TokenId| self.rows_of(&inputs.iter().map(token).collect::<Vec<_>>());
        let rows = of(|input| input.token)?;
        if inputs.iter().all(|input| input.blend == 0.0) {
            return Ok(rows);
        }
        let blend = Tensor::from_iter(inputs.iter().map(|input| input.blend), &Device::Cpu)?.unsqueeze(1)?;
        let difference = (of(|input| input.blend_with)? - &rows)?;
        rows + difference.broadcast_mul(&blend)?
    }

    /// The rows of these tokens: `[tokens, columns]`.
    fn rows_of(&self, tokens: &[TokenId]) -> Result<Tensor> {
        match &self.storage {
            WeightStorage::Expanded(weight) => weight.index_select(&Tensor::new(tokens, &Device::Cpu)?, 0),
            WeightStorage::Packed { .. } => {
                let rows = tokens.iter().map(|&token| self.rows(token as usize..token as usize + 1));
                Tensor::cat(&rows.collect::<Result<Vec<_>>>()?, 0)
            }
        }
    }

    /// A vector's values: `[columns]`.
    pub fn vector(&self) -> Result<Tensor> {
        self.rows(0..1)?.flatten_all()
    }

    /// Some rows in f32.
    fn rows(&self, rows: Range<usize>) -> Result<Tensor> {
        match &self.storage {
            WeightStorage::Expanded(weight) => weight.narrow(0, rows.start, rows.len()),
            WeightStorage::Packed { quant, bytes } => {
                let row_bytes = bytes.len() / self.rows;
                dequantize(quant, &bytes[rows.start * row_bytes..rows.end * row_bytes], rows.len(), self.columns)
            }
        }
    }
}

/// x W^T, in the way that is fastest here.
fn product(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
    #[cfg(target_arch = "wasm32")]
    if let Some(product) = super::fused::product(x, weight)? {
        return Ok(product);
    }
    x.matmul(&weight.t()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_and_expanded_weights_compute_the_same() {
        let bytes: Vec<u8> = (0..3 * 2 * 34).map(|i| if i % 34 == 1 { 0x2c } else { (i * 37 % 251) as u8 }).collect();
        let tensor = gguf::Tensor {
            name: "w".into(),
            shape: vec![64, 3],
            quant: crate::model::quant::by_id(8).unwrap(),
            offset: 0,
            bytes: bytes.len(),
        };
        let [packed, expanded] = [false, true].map(|expand| Weight::new(&tensor, bytes.clone(), expand).unwrap());
        let x = Tensor::arange(0_f32, 128.0, &Device::Cpu).unwrap().reshape((2, 64)).unwrap();
        let values = |tensor: Tensor| tensor.to_vec2::<f32>().unwrap();
        assert_eq!(values(packed.project(&x).unwrap()), values(expanded.project(&x).unwrap()));
        assert_eq!(values(packed.rows_of(&[2, 0]).unwrap()), values(expanded.rows_of(&[2, 0]).unwrap()));
    }

    #[test]
    fn an_input_on_its_way_is_between_two_embeddings() {
        let weight = Weight {
            rows: 2,
            columns: 2,
            storage: WeightStorage::Expanded(Tensor::new(&[[0_f32, 8.0], [4.0, 0.0]], &Device::Cpu).unwrap()),
        };
        let inputs = [0.into(), Input { token: 0, blend_with: 1, blend: 0.25 }, Input { token: 0, blend_with: 1, blend: 1.0 }];
        assert_eq!(weight.embed(&inputs).unwrap().to_vec2::<f32>().unwrap(), [[0.0, 8.0], [1.0, 6.0], [4.0, 0.0]]);
    }
}

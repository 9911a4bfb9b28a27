//! One matrix or vector of the model, packed as in the file.

use std::ops::Range;

use candle_core::{Device, Result, Tensor};

use super::product::product;
use super::rows::Rows;
use crate::lm::Input;
use glasscage_model::gguf;
use glasscage_model::quant::Quant;
use glasscage_model::tokenizer::TokenId;

/// `[rows, columns]`; a vector is one row.
pub struct Weight {
    columns: usize,
    quant: &'static Quant,
    bytes: Vec<u8>,
}

impl Weight {
    /// A weight from the bytes of its tensor.
    pub fn new(tensor: &gguf::Tensor, bytes: Vec<u8>) -> Self {
        Self { columns: tensor.shape.first().copied().unwrap_or(1), quant: tensor.quant, bytes }
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// x W^T: `[n, columns]` -> `[n, rows]`.
    pub fn project(&self, x: &Tensor) -> Result<Tensor> {
        product(x, &self.packed())
    }

    /// x W^T for a range of rows of W: `[n, columns]` -> `[n, rows]`.
    pub fn project_to(&self, x: &Tensor, rows: Range<usize>) -> Result<Tensor> {
        product(x, &self.packed().slice(rows))
    }

    /// The rows of the input tokens, blended if requested: `[inputs, columns]`. All tokens must be rows of the weight.
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
        let row = |&token: &TokenId| self.packed().slice(token as usize..token as usize + 1).bytes;
        let values = tokens.iter().flat_map(|token| self.quant.values(row(token))).collect();
        Tensor::from_vec(values, (tokens.len(), self.columns), &Device::Cpu)
    }

    /// All values in order: `[columns]` for a vector.
    pub fn values(&self) -> Result<Tensor> {
        let values = self.quant.values(&self.bytes);
        let length = values.len();
        Tensor::from_vec(values, length, &Device::Cpu)
    }

    fn packed(&self) -> Rows<'_> {
        Rows { quant: self.quant, columns: self.columns, bytes: &self.bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glasscage_model::quant::by_id;

    fn weight(id: u32, shape: &[usize], bytes: Vec<u8>) -> Weight {
        let tensor = gguf::Tensor { name: "w".into(), shape: shape.to_vec(), quant: by_id(id).unwrap(), offset: 0, bytes: bytes.len() };
        Weight::new(&tensor, bytes)
    }

    #[test]
    fn range_of_rows_gives_its_part_of_product() {
        let bytes: Vec<u8> = (0..3 * 2 * 34).map(|i| if i % 34 == 1 { 0x2c } else { (i * 37 % 251) as u8 }).collect();
        let weight = weight(8, &[64, 3], bytes);
        let x = Tensor::arange(0_f32, 128.0, &Device::Cpu).unwrap().reshape((2, 64)).unwrap();
        let whole = weight.project(&x).unwrap();
        for rows in [0..3, 1..3, 2..3] {
            let part = weight.project_to(&x, rows.clone()).unwrap();
            let expected = whole.narrow(1, rows.start, rows.len()).unwrap();
            assert_eq!(part.to_vec2::<f32>().unwrap(), expected.to_vec2::<f32>().unwrap());
        }
    }

    #[test]
    fn blended_input_is_between_two_embeddings() {
        let weight = weight(0, &[2, 2], [0_f32, 8.0, 4.0, 0.0].iter().flat_map(|value| value.to_le_bytes()).collect());
        let inputs = [0.into(), Input { token: 0, blend_with: 1, blend: 0.25 }, Input { token: 0, blend_with: 1, blend: 1.0 }];
        assert_eq!(weight.embed(&inputs).unwrap().to_vec2::<f32>().unwrap(), [[0.0, 8.0], [1.0, 6.0], [4.0, 0.0]]);
    }
}

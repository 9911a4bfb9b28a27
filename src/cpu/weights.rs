//! The tensors of a model while they are put in their places.

use std::collections::HashMap;

use candle_core::{Result, Tensor};

use super::weight::Weight;

/// By GGUF name, taken one by one; that they are all there in their shapes was checked with the header.
pub struct Weights(pub HashMap<String, Weight>);

impl Weights {
    pub fn find(&mut self, name: &str) -> Option<Weight> {
        self.0.remove(name)
    }

    pub fn matrix(&mut self, name: &str) -> Result<Weight> {
        self.find(name).ok_or_else(|| candle_core::Error::Msg(format!("tensor {name} is missing")))
    }

    pub fn vector(&mut self, name: &str) -> Result<Tensor> {
        self.matrix(name)?.values()
    }
}

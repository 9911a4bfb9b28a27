//! Tensors of a model while the model is built.

use std::collections::HashMap;

use candle_core::{Result, Tensor};

use super::weight::Weight;

/// Tensors by GGUF name. Each can be taken once. The header check has ensured that all exist with the right shapes.
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

//! The transformer, in the order of its layers: which kernel runs on which memory.

use std::ops::Range;

use super::activations::{Activations, RowBuffer};
use super::buffer::Buffer;
use super::kernels::attention::{self, Attention};
use super::kernels::attention_mass::{self, AttentionMass, AttentionSums};
use super::kernels::embed::{self, Embed};
use super::kernels::matmul::{self, Matmul};
use super::kernels::qk_norm::{self, WholeNorm};
use super::kernels::qkv_rope_cache::{self, QkvRopeCache};
use super::kernels::rms_norm::{self, RmsNorm};
use super::kernels::{RowView, swiglu};
use super::recording::Recording;
use super::weights::Matrix;
use crate::model::arch::QkNorm;
use crate::model::config::Config;

/// All weights, in GPU memory.
pub struct Transformer {
    pub config: Config,
    pub embedding: Matrix,
    pub layers: Vec<Layer>,
    /// `[dim]`.
    pub norm: Buffer,
    /// The LM head; `None` where the embedding serves as it too.
    pub output: Option<Matrix>,
}

pub struct Layer {
    /// `[dim]`: see [`crate::model::arch::Norms`].
    pub attention_norm: Option<Buffer>,
    pub added_attention_norm: Option<Buffer>,
    /// Rows of q, of k, of v.
    pub qkv: Matrix,
    /// `[qkv rows]`; not read where the model has none.
    pub bias: Buffer,
    /// Of a query head, of a key head: `[2, head_dim]`; or of all query heads, of all key heads; not read where the model has none.
    pub head_norms: Buffer,
    pub attention_output: Matrix,
    /// `[dim]`.
    pub ffn_norm: Option<Buffer>,
    pub added_ffn_norm: Option<Buffer>,
    /// Rows of gate, of up.
    pub gate_up: Matrix,
    pub down: Matrix,
}

/// Rows to compute, and where their keys and values are.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// See [`super::batch::Row`].
    pub rows: &'a Buffer,
    pub n: usize,
    /// Whether they are the one row of a step of generating: see [`Matmul::is_step`].
    pub is_step: bool,
    /// Keys that a row sees, at most.
    pub n_keys: usize,
    /// Whether some rows blend two embeddings.
    pub blends: bool,
    /// Of each rotation, `[positions, head_dim / 2]` of (cos, sin).
    pub angles: &'a [Buffer],
    /// Keys and values of the text, one buffer per layer.
    pub text_caches: &'a [Buffer],
    /// Where the rows' own keys and values go: the text's caches, or those of suffixes; one buffer per layer, or one for all in turn.
    pub own_caches: &'a [Buffer],
    /// Where attention weights and flow are summed; for rows of the text only.
    pub attention_sums: Option<&'a AttentionSums>,
}

impl Transformer {
    /// The embeddings of all rows, to the residual stream.
    pub fn embed<'a>(&'a self, recording: &mut Recording<'a>, activations: &'a Activations, batch: Batch<'a>) {
        let (Batch { rows, n, blends, .. }, x) = (batch, &activations.x);
        embed::record(
            recording,
            &self.embedding,
            &Embed { rows, blends, x: &x.buffer, first: 0, n, stride: x.stride, scale: self.config.embedding_scale },
        );
    }

    /// A block of rows through layer `i`; temporaries hold them from their row 0 on. Rows attend to no later one, so blocks can run
    /// one after the other.
    pub fn layer<'a>(
        &'a self,
        recording: &mut Recording<'a>,
        i: usize,
        activations: &'a Activations,
        batch: Batch<'a>,
        block: Range<usize>,
    ) {
        let (layer, config, first, n) = (&self.layers[i], &self.config, block.start, block.len());
        let Activations { x, normed, qkv, attention, gate_up, gated, .. } = activations;
        let Batch { rows, is_step, n_keys, angles, text_caches, own_caches, attention_sums, .. } = batch;
        let (text, own) = (&text_caches[i], &own_caches[i.min(own_caches.len() - 1)]);
        let (angles, window) = (&angles[config.rotation_of(i)], config.window_of(i));

        let read = self.normalize(recording, x.view_from(first), n, layer.attention_norm.as_ref(), normed);
        project(recording, &layer.qkv, n, is_step, read, qkv.view());
        let (bias, norms, qkv) = (&layer.bias, &layer.head_norms, &qkv.buffer);
        if config.architecture.qk_norm == QkNorm::Whole {
            qk_norm::record(recording, config, &WholeNorm { n, norms, qkv });
        }
        qkv_rope_cache::record(recording, config, &QkvRopeCache { rows, first, n, bias, norms, angles, qkv, cache: own });
        attention::record(recording, config, &Attention { rows, first, n, n_keys, window, qkv, text, suffix: own, y: &attention.buffer });
        if let Some(sums) = attention_sums {
            attention_mass::record(
                recording,
                config,
                &AttentionMass { rows, first, n, window, qkv, text, outputs: &attention.buffer },
                sums,
            );
        }
        let added = Added { w: &layer.attention_output, norm: layer.added_attention_norm.as_ref(), temporary: normed };
        self.add(recording, &added, n, is_step, attention.view(), x.view_from(first));

        let read = self.normalize(recording, x.view_from(first), n, layer.ffn_norm.as_ref(), normed);
        project(recording, &layer.gate_up, n, is_step, read, gate_up.view());
        swiglu::record(recording, config.architecture.gate, &gate_up.buffer, &gated.buffer, n, config.ffn_dim, gated.stride);
        let added = Added { w: &layer.down, norm: layer.added_ffn_norm.as_ref(), temporary: normed };
        self.add(recording, &added, n, is_step, gated.view(), x.view_from(first));
    }

    /// RMSNorm of `n` rows of x, to y from row 0 on; x itself where there is no norm.
    pub fn normalize<'a>(
        &self,
        recording: &mut Recording<'a>,
        x: RowView<'a>,
        n: usize,
        weight: Option<&'a Buffer>,
        y: &'a RowBuffer,
    ) -> RowView<'a> {
        let Some(weight) = weight else { return x };
        let (dim, epsilon) = (self.config.dim, self.config.residual_epsilon());
        rms_norm::record(recording, &RmsNorm { x, weight, y: y.view(), n, dim, epsilon, add: false });
        y.view()
    }

    /// y += x W^T for `n` rows of x, normalized where there is a norm.
    fn add<'a>(&self, recording: &mut Recording<'a>, added: &Added<'a>, n: usize, is_step: bool, x: RowView<'a>, y: RowView<'a>) {
        let &Added { w, norm, temporary } = added;
        let Some(weight) = norm else { return add_projected(recording, w, n, is_step, x, y) };
        project(recording, w, n, is_step, x, temporary.view());
        let Config { dim, norm_epsilon: epsilon, .. } = self.config;
        rms_norm::record(recording, &RmsNorm { x: temporary.view(), weight, y, n, dim, epsilon, add: true });
    }
}

/// What a layer adds to the residual stream: a projection, and its norm.
struct Added<'a> {
    w: &'a Matrix,
    norm: Option<&'a Buffer>,
    temporary: &'a RowBuffer,
}

/// y = x W^T for `n` rows of x.
pub fn project<'a>(recording: &mut Recording<'a>, w: &'a Matrix, n: usize, is_step: bool, x: RowView<'a>, y: RowView<'a>) {
    for slab in &w.slabs {
        matmul::record(recording, &Matmul::by_slab(slab, n, x, y).for_step(is_step));
    }
}

/// y += x W^T for `n` rows of x.
fn add_projected<'a>(recording: &mut Recording<'a>, w: &'a Matrix, n: usize, is_step: bool, x: RowView<'a>, y: RowView<'a>) {
    for slab in &w.slabs {
        matmul::record(recording, &Matmul::by_slab(slab, n, x, y).adding().for_step(is_step));
    }
}

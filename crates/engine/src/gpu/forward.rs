//! The forward pass of the transformer, layer by layer: which kernel runs on which buffers.

use std::ops::Range;

use super::activations::{Activations, RowBuffer};
use super::buffer::Buffer;
use super::kernels::embed::{self, Embed};
use super::kernels::matmul::{self, Matmul, Norm};
use super::kernels::rms_norm::{self, RmsNorm};
use super::kernels::{RowView, swiglu};
use super::layer_input::{Batch, Mixed, Replayed};
use super::mixer_sizes::MixerSizes;
use super::mixers::Mixer;
use super::recording::Recording;
use super::weights::Matrix;
use glasscage_model::config::Config;

/// All weights, in GPU memory.
pub struct Transformer {
    pub config: Config,
    pub embedding: Matrix,
    pub layers: Vec<Layer>,
    /// `[dim]`.
    pub norm: Buffer,
    /// The LM head; `None` if the embedding matrix is also the LM head.
    pub output: Option<Matrix>,
}

pub struct Layer {
    /// `[dim]`: see [`glasscage_model::arch::Norms`].
    pub mixer_norm: Option<Buffer>,
    pub added_mixer_norm: Option<Buffer>,
    /// Attention: rows of q, k, v. Short convolution: rows of b, c, x. DeltaNet: rows of q, k, v, alpha, beta, gates.
    pub projection: Matrix,
    pub mixer: Mixer,
    pub mixer_output: Matrix,
    /// `[dim]`.
    pub ffn_norm: Option<Buffer>,
    pub added_ffn_norm: Option<Buffer>,
    /// Rows of gate, then rows of up.
    pub gate_up: Matrix,
    pub down: Matrix,
}

impl Transformer {
    /// Writes the embeddings of all rows to the residual stream.
    pub fn embed<'a>(&'a self, recording: &mut Recording<'a>, activations: &'a Activations, batch: Batch<'a>) {
        let (Batch { rows, n, blends, .. }, x) = (batch, &activations.x);
        embed::record(
            recording,
            &self.embedding,
            &Embed { rows, blends, x: &x.buffer, first: 0, n, stride: x.stride, scale: self.config.embedding_scale },
        );
    }

    /// Passes a block of rows through layer `i`. Temporary buffers hold the block from row 0 on. Rows do not attend to later rows, so
    /// blocks can run in order.
    pub fn layer<'a>(
        &'a self,
        recording: &mut Recording<'a>,
        i: usize,
        activations: &'a Activations,
        batch: Batch<'a>,
        block: Range<usize>,
    ) {
        let (layer, config, first, n) = (&self.layers[i], &self.config, block.start, block.len());
        let Activations { x, normed, projected, gate_up, gated, .. } = activations;
        let is_step = batch.is_step;

        let read = self.normalize(recording, x.view_from(first), n, is_step, layer.mixer_norm.as_ref(), normed);
        let projected = projected.view_of(MixerSizes::of(config, i).projected);
        project(recording, &layer.projection, n, is_step, read, projected);
        let mixed = layer.mixer.record(recording, config, &Mixed { layer: i, activations, batch, block });
        let added = Added { w: &layer.mixer_output, norm: layer.added_mixer_norm.as_ref(), temporary: normed };
        self.add(recording, &added, n, is_step, mixed, x.view_from(first));

        let read = self.normalize(recording, x.view_from(first), n, is_step, layer.ffn_norm.as_ref(), normed);
        let gate = config.architecture.gate;
        match &layer.gate_up.slabs[..] {
            [slab] if matmul::computes_all_of_a_step(recording.gpu().variant, is_step) => {
                matmul::record(recording, &Matmul::gated(slab, gate, read.x, gated.view()).normalizing(read.norm));
            }
            _ => {
                project(recording, &layer.gate_up, n, is_step, read, gate_up.view());
                swiglu::record(recording, gate, &gate_up.buffer, &gated.buffer, n, config.ffn_dim, gated.stride);
            }
        }
        let added = Added { w: &layer.down, norm: layer.added_ffn_norm.as_ref(), temporary: normed };
        self.add(recording, &added, n, is_step, gated.view(), x.view_from(first));
    }

    /// Whether the model has recurrent layers.
    pub fn has_recurrent_layers(&self) -> bool {
        self.layers.iter().any(|layer| matches!(layer.mixer, Mixer::DeltaNet(_)))
    }

    /// Computes the recurrent states of layer `i` at the positions of the text where sequences of the batch begin.
    pub fn replay<'a>(
        &'a self,
        recording: &mut Recording<'a>,
        i: usize,
        activations: &'a Activations,
        batch: Batch<'a>,
        replayed: &'a Replayed,
    ) {
        let Layer { mixer: Mixer::DeltaNet(net), projection, .. } = &self.layers[i] else { return };
        net.replay(recording, &self.config, projection, &Mixed { layer: i, activations, batch, block: 0..0 }, replayed);
    }

    /// RMSNorm of `n` rows of x. Writes the result to y from row 0 on, unless the product that reads it also normalizes. Returns x itself
    /// if the layer has no norm here.
    pub fn normalize<'a>(
        &self,
        recording: &mut Recording<'a>,
        x: RowView<'a>,
        n: usize,
        is_step: bool,
        weight: Option<&'a Buffer>,
        y: &'a RowBuffer,
    ) -> Factor<'a> {
        let Some(weight) = weight else { return x.into() };
        let (dim, epsilon) = (self.config.dim, self.config.residual_epsilon());
        if matmul::computes_all_of_a_step(recording.gpu().variant, is_step) {
            return Factor { x, norm: Some(Norm { weight, dim, epsilon }) };
        }
        rms_norm::record(recording, &RmsNorm { x, weight, y: y.view(), n, dim, epsilon, add: false });
        y.view().into()
    }

    /// y += x W^T for `n` rows of x. The product is normalized first if `added` has a norm.
    fn add<'a>(&self, recording: &mut Recording<'a>, added: &Added<'a>, n: usize, is_step: bool, x: RowView<'a>, y: RowView<'a>) {
        let &Added { w, norm, temporary } = added;
        let Some(weight) = norm else { return add_projected(recording, w, n, is_step, x, y) };
        project(recording, w, n, is_step, x, temporary.view());
        let Config { dim, norm_epsilon: epsilon, .. } = self.config;
        rms_norm::record(recording, &RmsNorm { x: temporary.view(), weight, y, n, dim, epsilon, add: true });
    }
}

/// A projection and an optional norm of its result, which a layer adds to the residual stream.
struct Added<'a> {
    w: &'a Matrix,
    norm: Option<&'a Buffer>,
    temporary: &'a RowBuffer,
}

/// Rows that a product reads. The product normalizes them if there is a norm.
#[derive(Clone, Copy)]
pub struct Factor<'a> {
    x: RowView<'a>,
    norm: Option<Norm<'a>>,
}

impl<'a> From<RowView<'a>> for Factor<'a> {
    fn from(x: RowView<'a>) -> Self {
        Self { x, norm: None }
    }
}

/// y = x W^T for `n` rows of x.
pub fn project<'a>(recording: &mut Recording<'a>, w: &'a Matrix, n: usize, is_step: bool, x: impl Into<Factor<'a>>, y: RowView<'a>) {
    let Factor { x, norm } = x.into();
    for slab in &w.slabs {
        matmul::record(recording, &Matmul::by_slab(slab, n, x, y).for_step(is_step).normalizing(norm));
    }
}

/// y += x W^T for `n` rows of x.
fn add_projected<'a>(recording: &mut Recording<'a>, w: &'a Matrix, n: usize, is_step: bool, x: RowView<'a>, y: RowView<'a>) {
    for slab in &w.slabs {
        matmul::record(recording, &Matmul::by_slab(slab, n, x, y).adding().for_step(is_step));
    }
}

//! What a layer mixes rows by, and which kernels that takes.

use std::ops::Range;

use super::activations::Activations;
use super::buffer::Buffer;
use super::kernels::RowView;
use super::kernels::attention::{self, Attention};
use super::kernels::attention_mass::{self, AttentionMass, AttentionSums};
use super::kernels::convolution::{self, Convolution};
use super::kernels::convolution_columns::{self, ConvolutionColumns};
use super::kernels::qk_norm::{self, WholeNorm};
use super::kernels::qkv_rope_cache::{self, QkvRopeCache};
use super::mixer_sizes::MixerSizes;
use super::recording::Recording;
use crate::model::arch::QkNorm;
use crate::model::config::Config;

/// The weights between the projections at its beginning and at its end.
pub enum Mixer {
    Attention {
        /// `[qkv rows]`; not read where the model has none.
        bias: Buffer,
        /// Of a query head, of a key head: `[2, head_dim]`; or of all query heads, of all key heads; not read where the model has none.
        head_norms: Buffer,
    },
    ShortConvolution {
        /// `[dim, taps]`.
        w: Buffer,
    },
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
    /// Keys and values of the text, or what convolutions read of it, one buffer per layer.
    pub text_caches: &'a [Buffer],
    /// Where the rows' own keys and values go: the text's caches, or those of suffixes; one buffer per layer, or one for all in turn.
    pub own_caches: &'a [Buffer],
    /// Where attention weights and flow are summed; for rows of the text only.
    pub attention_sums: Option<&'a AttentionSums>,
}

impl<'a> Batch<'a> {
    /// A layer's, of the text and of the rows.
    pub fn caches(&self, layer: usize) -> (&'a Buffer, &'a Buffer) {
        (&self.text_caches[layer], &self.own_caches[layer.min(self.own_caches.len() - 1)])
    }
}

/// What was projected of a block of rows in layer `layer`, in [`Activations::projected`].
pub struct Mixed<'a> {
    pub layer: usize,
    pub activations: &'a Activations,
    pub batch: Batch<'a>,
    pub block: Range<usize>,
}

impl Mixer {
    /// A block of rows mixed with those before them: from `projected` to `mixed`, which is returned.
    pub fn record<'a>(&'a self, recording: &mut Recording<'a>, config: &Config, args: &Mixed<'a>) -> RowView<'a> {
        match self {
            Self::Attention { bias, head_norms } => attend(recording, config, [bias, head_norms], args),
            Self::ShortConvolution { w } => convolve(recording, config, w, args),
        }
        args.activations.mixed.view_of(MixerSizes::of(config, args.layer).mixed)
    }
}

fn attend<'a>(recording: &mut Recording<'a>, config: &Config, [bias, norms]: [&'a Buffer; 2], args: &Mixed<'a>) {
    let (i, first, n) = (args.layer, args.block.start, args.block.len());
    let Activations { projected, mixed, .. } = args.activations;
    let Batch { rows, n_keys, angles, attention_sums, .. } = args.batch;
    let (text, own) = args.batch.caches(i);
    let (qkv, angles, window) = (&projected.buffer, &angles[config.rotation_of(i)], config.window_of(i));
    if config.architecture.qk_norm == QkNorm::Whole {
        qk_norm::record(recording, config, &WholeNorm { n, norms, qkv });
    }
    qkv_rope_cache::record(recording, config, &QkvRopeCache { rows, first, n, bias, norms, angles, qkv, cache: own });
    attention::record(recording, config, &Attention { rows, first, n, n_keys, window, qkv, text, suffix: own, y: &mixed.buffer });
    if let Some(sums) = attention_sums {
        attention_mass::record(recording, config, &AttentionMass { rows, first, n, window, qkv, text, outputs: &mixed.buffer }, sums);
    }
}

fn convolve<'a>(recording: &mut Recording<'a>, config: &Config, w: &'a Buffer, args: &Mixed<'a>) {
    let (channels, first, n) = (config.dim, args.block.start, args.block.len());
    let (rows, (text, suffix)) = (args.batch.rows, args.batch.caches(args.layer));
    let projected = &args.activations.projected.buffer;
    convolution_columns::record(recording, &ConvolutionColumns { rows, first, n, channels, projected, cache: suffix });
    let (taps, y) = (config.recurrence.as_ref().map_or(0, |recurrence| recurrence.taps), &args.activations.mixed.buffer);
    convolution::record(recording, &Convolution { rows, first, n, channels, taps, w, text, suffix, projected, y });
}

//! Token-mixing parts of layers, and the kernels that they run.

use super::activations::Activations;
use super::buffer::Buffer;
use super::delta_net::DeltaNet;
use super::kernels::RowView;
use super::kernels::attention::{self, Attention};
use super::kernels::attention_mass::{self, AttentionMass};
use super::kernels::attention_step::{self, AttentionStep};
use super::kernels::convolution::{self, Convolution};
use super::kernels::convolution_columns::{self, ConvolutionColumns};
use super::kernels::gated_heads;
use super::kernels::matmul;
use super::kernels::qk_norm::{self, WholeNorm};
use super::kernels::qkv_rope_cache::{self, QkvRopeCache};
use super::kernels::ungated_queries;
use super::layer_input::{Batch, Mixed};
use super::mixer_sizes::MixerSizes;
use super::recording::Recording;
use glasscage_model::arch::QkNorm;
use glasscage_model::config::Config;

/// Weights of a mixer, without its input and output projections.
pub enum Mixer {
    Attention {
        /// `[qkv rows]`; not read if the model has no biases.
        bias: Buffer,
        /// Norms of a query head and of a key head: `[2, head_dim]`; or norms of all query heads and of all key heads. Not read if the
        /// model has none.
        head_norms: Buffer,
    },
    ShortConvolution {
        /// `[dim, taps]`.
        w: Buffer,
    },
    DeltaNet(DeltaNet),
}

impl Mixer {
    /// Mixes a block of rows with the rows before it. Reads `projected` and returns `mixed`.
    pub fn record<'a>(&'a self, recording: &mut Recording<'a>, config: &Config, args: &Mixed<'a>) -> RowView<'a> {
        match self {
            Self::Attention { bias, head_norms } => attend(recording, config, [bias, head_norms], args),
            Self::ShortConvolution { w } => convolve(recording, config, w, args),
            Self::DeltaNet(net) => net.record(recording, config, args),
        }
        args.activations.mixed.view_of(MixerSizes::of(config, args.layer).mixed)
    }
}

fn attend<'a>(recording: &mut Recording<'a>, config: &Config, [bias, norms]: [&'a Buffer; 2], args: &Mixed<'a>) {
    let (i, first, n) = (args.layer, args.block.start, args.block.len());
    let Activations { projected, mixed, .. } = args.activations;
    let Batch { rows, n_keys, is_step, angles, attention_sums, .. } = args.batch;
    let (text, own) = (args.batch.text.of(i), args.batch.own.of(i));
    let (angles, window, y) = (&angles[config.rotation_of(i)], config.window_of(i), &mixed.buffer);
    if matmul::computes_all_of_a_step(recording.gpu().variant, is_step) {
        let step = AttentionStep { row: rows, window, bias, norms, angles, qkv: &projected.buffer, cache: own, y };
        return attention_step::record(recording, config, &step);
    }
    let is_gated = config.architecture.gates_attention;
    let qkv = if is_gated { &args.activations.prepared.buffer } else { &projected.buffer };
    if is_gated {
        ungated_queries::record(recording, config, n, &projected.buffer, qkv);
    }
    if config.architecture.qk_norm == QkNorm::Whole {
        qk_norm::record(recording, config, &WholeNorm { n, norms, qkv });
    }
    qkv_rope_cache::record(recording, config, &QkvRopeCache { rows, first, n, bias, norms, angles, qkv, cache: own });
    attention::record(recording, config, &Attention { rows, first, n, n_keys, window, qkv, text, suffix: own, y });
    if let Some(sums) = attention_sums {
        attention_mass::record(recording, config, &AttentionMass { rows, first, n, window, qkv, text, outputs: &mixed.buffer }, sums);
    }
    if is_gated {
        gated_heads::record(recording, config, n, &projected.buffer, &mixed.buffer);
    }
}

fn convolve<'a>(recording: &mut Recording<'a>, config: &Config, w: &'a Buffer, args: &Mixed<'a>) {
    let (channels, first, n) = (config.dim, args.block.start, args.block.len());
    let (rows, text, suffix) = (args.batch.rows, args.batch.text.of(args.layer), args.batch.own.of(args.layer));
    let projected = &args.activations.projected.buffer;
    convolution_columns::record(recording, &ConvolutionColumns::product(rows, first, n, channels, projected, suffix));
    let (taps, y) = (config.taps(), &args.activations.mixed.buffer);
    convolution::record(recording, &Convolution { rows, first, n, channels, taps, w, text, suffix, projected, y });
}

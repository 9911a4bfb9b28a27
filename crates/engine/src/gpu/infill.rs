//! Fills all infill spans together, one token of each span at a time.

use super::GpuModel;
use super::activations::RowBuffer;
use super::batch::{Before, Row, Sequence, span_row};
use super::head_buffers::{InfillBuffers, NO_TOKEN, TileBuffers};
use super::layer_caches::LayerCaches;
use super::recording::Recording;
use super::recurrent_states::{RecurrentStates, lengths_of_each_layer};
use super::submissions::Submissions;
use crate::lm::blocks::blocks;
use crate::lm::{Callback, InfillRequest, Infills, Input, LmError, check_known, check_length};
use glasscage_model::config::Config;
use glasscage_model::tokenizer::TokenId;

/// Maximum number of spans that are filled together in models with recurrent layers.
const MAX_SPANS: usize = 64;
/// Maximum bytes of their states in all layers. One span takes 20 MB in a model with 0.8 billion parameters.
const MAX_STATE_BYTES: u64 = 512 << 20;

/// Buffers to fill infill spans.
struct SpanBuffers {
    /// Per-layer caches of the spans' tokens.
    caches: LayerCaches,
    recurrent_states: RecurrentStates,
    tile: TileBuffers,
    infill: InfillBuffers,
}

impl GpuModel {
    /// See [`crate::lm::LanguageModel::infill`].
    pub(super) async fn infill_spans(
        &mut self,
        infill: &InfillRequest<'_>,
        on_step: &mut dyn Callback<()>,
    ) -> Result<Option<Infills>, LmError> {
        self.check_infill(infill)?;
        self.decode_step = None;
        let filled = self.fill_checked(infill, on_step).await;
        self.text.length = 0;
        filled
    }

    fn check_infill(&self, infill: &InfillRequest<'_>) -> Result<(), LmError> {
        let config = &self.transformer.config;
        check_length(config, infill.length())?;
        check_known(config, &[infill.tokens, infill.forbidden, &[infill.start_token]].concat())
    }

    async fn fill_checked(&mut self, infill: &InfillRequest<'_>, on_step: &mut dyn Callback<()>) -> Result<Option<Infills>, LmError> {
        self.read_before_spans(infill).await?;
        let mut filled = Vec::with_capacity(infill.spans.len());
        let at_once = if self.transformer.has_recurrent_layers() {
            spans_at_once(&self.transformer.config, self.gpu.max_buffer_bytes)
        } else {
            usize::MAX
        };
        for spans in infill.spans.chunks(at_once) {
            match self.fill_together(&InfillRequest { spans, ..infill.clone() }, on_step).await? {
                Some(infills) => filled.extend(infills),
                None => return Ok(None),
            }
        }
        Ok(Some(filled))
    }

    async fn fill_together(&mut self, infill: &InfillRequest<'_>, on_step: &mut dyn Callback<()>) -> Result<Option<Infills>, LmError> {
        let buffers = self.span_buffers(infill).await?;
        let activations = self.activations(infill.spans.len()).await?;
        let (slots, taps) = (first_slots(infill), self.transformer.config.taps());
        let mut filled: Infills = vec![Vec::new(); infill.spans.len()];
        for i in 0..infill.spans.iter().map(|span| span.len()).max().unwrap_or(0) {
            if on_step.call(()).await.is_break() {
                self.gpu.pacing.borrow_mut().forget();
                return Ok(None);
            }
            let is_open = |&g: &usize| i < infill.spans[g].len() && filled[g].last().is_none_or(|token| !infill.ends.contains(token));
            let open: Vec<usize> = (0..infill.spans.len()).filter(is_open).collect();
            if open.is_empty() {
                break;
            }
            let row = |&g: &usize| {
                let (token, position) = infill.before(&infill.spans[g]);
                span_row(filled[g].last().copied().unwrap_or(token), position, i, slots[g])
            };
            let rows: Vec<Row> = open.iter().map(row).collect();
            let sequence = |(row, &g): (usize, &usize)| {
                let first = Sequence::after_text(row..row + 1, g + 1, infill.before(&infill.spans[g]).1);
                let before = match first.text_before() {
                    _ if i == 0 => first.before,
                    Some(tokens) if i + 1 < taps => Before::ItselfAndText(tokens),
                    _ => Before::Itself,
                };
                Sequence { before, ..first }
            };
            let sequences: Vec<Sequence> = open.iter().enumerate().map(sequence).collect();
            self.forward(&rows, &sequences, &activations, Some((&buffers.caches, Some(&buffers.recurrent_states))), None).await?;
            let original = |&g: &usize| if i == 0 { infill.tokens[infill.spans[g].start] } else { NO_TOKEN };
            buffers.infill.begin_token(&self.gpu, &open.iter().map(original).collect::<Vec<_>>());
            let chosen = self.most_likely_tokens(&activations.x, &buffers, open.len()).await?;
            open.iter().zip(chosen).for_each(|(&g, token)| filled[g].push(token));
        }
        Ok(Some(filled))
    }

    async fn span_buffers(&self, infill: &InfillRequest<'_>) -> Result<SpanBuffers, LmError> {
        let (gpu, config) = (&self.gpu, &self.transformer.config);
        let slots = infill.spans.iter().map(|span| span.len()).sum();
        let allocate = || SpanBuffers {
            caches: LayerCaches::new(gpu, "span cache", config, slots, slots, false),
            recurrent_states: RecurrentStates::of_each_layer(gpu, config, infill.spans.len() + 1),
            tile: TileBuffers::new(gpu, config, false),
            infill: InfillBuffers::new(gpu, config, infill.spans.len(), infill.forbidden),
        };
        gpu.try_allocate(allocate).await
    }

    /// Computes keys and values of the original text up to the last span.
    async fn read_before_spans(&mut self, infill: &InfillRequest<'_>) -> Result<(), LmError> {
        self.start_text(infill.length(), Some(0)).await?;
        let end = infill.spans.iter().map(|span| infill.before(span).1).max().unwrap_or(0);
        let inputs: Vec<Input> = infill.tokens[..end].iter().map(|&token| token.into()).collect();
        self.prefill(&inputs, None, async |_, _, _| Ok(())).await
    }

    /// The most likely allowed token after each of the first `n` rows of x.
    async fn most_likely_tokens(&mut self, x: &RowBuffer, buffers: &SpanBuffers, n: usize) -> Result<Vec<TokenId>, LmError> {
        self.counters.head_positions += n;
        let (transformer, SpanBuffers { tile: tile_buffers, infill, .. }) = (&self.transformer, buffers);
        let mut submissions = Submissions::new(&self.gpu);
        for block in blocks(0..n, tile_buffers.block) {
            let mut recording = Recording::new(&self.gpu);
            transformer.final_norm(&mut recording, x.view_from(block.start), block.len(), &tile_buffers.normed);
            submissions.add(recording).await?;
            for tile in transformer.vocab_tiles(tile_buffers.vocab_tile) {
                let mut recording = Recording::new(&self.gpu);
                transformer.accumulate_argmax(&mut recording, tile_buffers, infill, &block, &tile);
                submissions.add(recording).await?;
            }
        }
        submissions.finish().await?;
        let best = self.gpu.read(&infill.best, 2 * n).await?;
        best.chunks(2).map(|pair| if pair[1] == NO_TOKEN { Err(LmError::NotFinite) } else { Ok(pair[1]) }).collect()
    }
}

/// Number of spans that are filled together in a model with recurrent layers. Each has its own state in every recurrent layer.
fn spans_at_once(config: &Config, max_buffer_bytes: u64) -> usize {
    let fits = |&spans: &usize| {
        let (of_layer, of_all) = lengths_of_each_layer(config, spans + 1);
        4 * of_layer <= max_buffer_bytes && 4 * of_all <= MAX_STATE_BYTES
    };
    (1..=MAX_SPANS).rev().find(fits).unwrap_or(1)
}

/// First cache slot of each span.
fn first_slots(infill: &InfillRequest<'_>) -> Vec<usize> {
    infill.spans.iter().scan(0, |sum, span| Some(std::mem::replace(sum, *sum + span.len()))).collect()
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use std::ops::ControlFlow;
    use std::path::Path;
    use std::rc::Rc;

    use super::*;
    use crate::gpu::testing::{config, gpus};
    use crate::lm::LanguageModel;
    use glasscage_model::config::{DeltaNet, Recurrence};
    use glasscage_model::gguf::Gguf;
    use glasscage_model::source::NativeFile;

    #[test]
    fn states_of_all_spans_are_bounded() {
        // 18 recurrent layers with a state of 1 MiB each, as in Qwen 3.5 0.8B.
        let net = DeltaNet { n_key_heads: 16, n_value_heads: 16, head_dim: 128 };
        let recurrence = Recurrence { taps: 4, layers: (1..=24).map(|layer| layer % 4 != 0).collect(), delta_net: Some(net) };
        let config = Config { n_layers: 24, recurrence: Some(recurrence), ..config("qwen35", 8, 2, 256) };
        let at_once = [u64::MAX, 8 << 20, 1 << 20].map(|max_buffer_bytes| spans_at_once(&config, max_buffer_bytes));
        assert_eq!(at_once, [27, 7, 1]);
        let deep = Config {
            n_layers: 1024,
            recurrence: config.recurrence.clone().map(|all| Recurrence { layers: vec![true; 1024], ..all }),
            ..config
        };
        assert_eq!(spans_at_once(&deep, u64::MAX), 1);
    }

    #[tokio::test]
    async fn infill_token_uploads_only_its_row() {
        let source = NativeFile::open(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/models/demo.gguf"))).unwrap();
        let gguf = Gguf::read(&source).await.unwrap();
        for gpu in gpus().await {
            let loaded = GpuModel::load(Rc::new(gpu), &source, &gguf, &mut async |_| ControlFlow::Continue(())).await;
            let mut model = loaded.unwrap().unwrap().0;
            let mut work = Vec::new();
            // The first run allocates the text. The second span has one token in every run.
            for length in [1, 2, 12] {
                let infill =
                    InfillRequest { tokens: &[7; 20], spans: &[4..4 + length, 17..18], forbidden: &[1, 2], ends: &[], start_token: 0 };
                let before = (model.gpu.stats.bytes_written.get(), model.counters().dispatches as u64);
                model.infill(&infill, &mut async |()| ControlFlow::Continue(())).await.unwrap();
                work.push((model.gpu.stats.bytes_written.get() - before.0, model.counters().dispatches as u64 - before.1));
            }
            let (bytes, dispatches) = (work[2].0 - work[1].0, work[2].1 - work[1].1);
            // Each dispatch has 256 bytes of parameters. A token uploads a row of 8 words, an excluded token, and the initial best token
            // (2 words).
            assert_eq!(bytes, 256 * dispatches + 10 * 4 * (8 + 1 + 2));
        }
    }
}

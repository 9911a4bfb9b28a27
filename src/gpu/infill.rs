//! Filling gaps: all of them together, one token of each at a time.

use std::ops::ControlFlow;

use super::GpuModel;
use super::batch::gap_row;
use super::forward::{Choices, Scoring, blocks, cache_length};
use super::kernels::best::bits;
use super::recording::Recording;
use crate::lm::{InfillRequest, Infills, Input, LmError, check_known, check_length};
use crate::model::tokenizer::TokenId;

/// No token of any vocabulary.
const NONE: TokenId = TokenId::MAX;

impl GpuModel {
    /// See [`crate::lm::LanguageModel::infill`].
    pub(super) async fn fill(
        &mut self,
        infill: &InfillRequest<'_>,
        on_step: impl AsyncFnMut() -> ControlFlow<()>,
    ) -> Result<Option<Infills>, LmError> {
        self.check_infill(infill)?;
        self.decoding = None;
        let filled = self.fill_checked(infill, on_step).await;
        self.text.length = 0;
        filled
    }

    fn check_infill(&self, infill: &InfillRequest<'_>) -> Result<(), LmError> {
        let config = &self.transformer.config;
        check_length(config, infill.tokens.len())?;
        check_known(config, &[infill.tokens, infill.forbidden, &[infill.start_token]].concat())
    }

    async fn fill_checked(
        &mut self,
        infill: &InfillRequest<'_>,
        mut on_step: impl AsyncFnMut() -> ControlFlow<()>,
    ) -> Result<Option<Infills>, LmError> {
        self.read_before_gaps(infill).await?;
        let (gpu, config) = (self.gpu.clone(), &self.transformer.config);
        let lengths: Vec<usize> = infill.gaps.iter().map(|gap| gap.len()).collect();
        // Where each gap's keys and values begin.
        let slots: Vec<usize> = lengths.iter().scan(0, |sum, length| Some(std::mem::replace(sum, *sum + length))).collect();
        let total = lengths.iter().sum();
        let caches = || (0..config.n_layers).map(|_| gpu.buffer("gap cache", cache_length(config, total))).collect::<Vec<_>>();
        let caches = gpu.allocating(caches).await?;
        let scoring = gpu.allocating(|| Scoring::new(&gpu, config, false)).await?;
        let forbidden = bits(infill.forbidden, config.vocab_size);
        let scratch = self.scratch(infill.gaps.len()).await?;
        let mut filled: Infills = vec![Vec::new(); infill.gaps.len()];
        for i in 0..lengths.iter().copied().max().unwrap_or(0) {
            if on_step().await.is_break() {
                return Ok(None);
            }
            let open: Vec<usize> = (0..lengths.len()).filter(|&g| i < lengths[g]).collect();
            let row = |&g: &usize| {
                let (token, position) = infill.before(&infill.gaps[g]);
                gap_row(filled[g].last().copied().unwrap_or(token), position, i, slots[g])
            };
            let rows: Vec<_> = open.iter().map(row).collect();
            self.through_layers(&rows, &scratch, Some(&caches), None);
            let excluded = |&g: &usize| if i == 0 { infill.tokens[infill.gaps[g].start] } else { NONE };
            let choices = Choices {
                excluded: gpu.buffer_with("excluded", &open.iter().map(excluded).collect::<Vec<_>>()),
                forbidden: gpu.buffer_with("forbidden", &forbidden),
                best: gpu.buffer_with("best", &[f32::NEG_INFINITY.to_bits(), NONE].repeat(open.len())),
            };
            let chosen = self.choose_each(&scratch.x, &scoring, &choices, open.len()).await?;
            open.iter().zip(chosen).for_each(|(&g, token)| filled[g].push(token));
        }
        Ok(Some(filled))
    }

    /// Keys and values of the original text, as far as a gap needs them.
    async fn read_before_gaps(&mut self, infill: &InfillRequest<'_>) -> Result<(), LmError> {
        self.make_room(infill.tokens.len()).await?;
        let end = infill.gaps.iter().map(|gap| infill.before(gap).1).max().unwrap_or(0);
        let inputs: Vec<Input> = infill.tokens[..end].iter().map(|&token| token.into()).collect();
        let scratch = self.scratch(inputs.len().clamp(1, super::PREFILL_ROWS)).await?;
        inputs.chunks(scratch.rows).for_each(|chunk| self.append(chunk, &scratch, None));
        Ok(())
    }

    /// The most likely allowed token after each of the first `n` rows of x.
    async fn choose_each(
        &mut self,
        x: &super::device::Buffer,
        scoring: &Scoring,
        choices: &Choices,
        n: usize,
    ) -> Result<Vec<TokenId>, LmError> {
        self.counters.head_positions += n;
        for block in blocks(n, scoring.block) {
            let mut recording = Recording::new(&self.gpu);
            self.transformer.ready(&mut recording, x, scoring, block);
            recording.run();
            for tile in self.transformer.tiles(scoring.vocab_tile) {
                let mut recording = Recording::new(&self.gpu);
                self.transformer.choose_each(&mut recording, scoring, choices, block, &tile);
                recording.run();
            }
        }
        let best = self.gpu.read(&choices.best, 2 * n).await?;
        let chosen = best.chunks(2).map(|pair| if pair[1] == NONE { Err(LmError::NotFinite) } else { Ok(pair[1]) });
        chosen.collect()
    }
}

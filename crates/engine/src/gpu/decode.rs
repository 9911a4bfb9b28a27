//! Continues a text one token at a time.

use std::ops::Range;

use super::GpuModel;
use super::activations::Activations;
use super::batch::{Before, RUNNING, Row, Sequence, text_rows};
use super::decode_step::{DecodeStep, DrawWords, TokenInFlight};
use super::head_buffers::SampleBuffers;
use super::kernels::sample::GpuDraw;
use super::layer_input::Batch;
use super::recording::Recording;
use crate::lm::sample::Sampler;
use crate::lm::{Input, LmError, check_known, check_length};
use glasscage_model::tokenizer::TokenId;

impl GpuModel {
    /// See [`crate::lm::LanguageModel::next_token`].
    pub(super) async fn decode(&mut self, tokens: &[TokenId], sampler: &mut Sampler) -> Result<TokenId, LmError> {
        let length = self.text.length + tokens.len();
        check_known(&self.transformer.config, tokens)?;
        check_length(&self.transformer.config, length)?;
        if self.text.caches.is_empty() {
            self.start_text(self.text.capacity.max(tokens.len()), None).await?;
        }
        self.text.check_capacity(length)?;
        self.prepare_decode_step(sampler.is_greedy()).await?;
        let draw = self.draw(sampler);
        match tokens {
            // A decode step continues from the recurrent states of a text.
            &[token] if self.text.length > 0 || !self.transformer.has_recurrent_layers() => {
                self.token_after(token, draw, sampler.clone()).await
            }
            _ => self.prefill_and_sample(tokens, draw).await,
        }
    }

    /// Records a decode step, unless one is recorded for this kind of sampling.
    async fn prepare_decode_step(&mut self, is_greedy: bool) -> Result<(), LmError> {
        if self.decode_step.as_ref().is_none_or(|step| step.is_greedy != is_greedy) {
            // Free the old step before the new one is allocated.
            self.decode_step = None;
            self.decode_step = Some(self.record_decode_step(is_greedy).await?);
        }
        Ok(())
    }

    /// The next random choice.
    fn draw(&self, sampler: &mut Sampler) -> Option<DrawWords> {
        sampler.draw().map(|draw| GpuDraw::new(&draw, self.transformer.config.vocab_size).words())
    }

    async fn record_decode_step(&self, is_greedy: bool) -> Result<DecodeStep, LmError> {
        let (gpu, transformer, text) = (&self.gpu, &self.transformer, &self.text);
        let activations = self.activations(1).await?;
        let allocate = || (gpu.buffer("row", Row::N_WORDS), SampleBuffers::new(gpu, &transformer.config));
        let (row, buffers) = gpu.try_allocate(allocate).await?;
        let sequences = [Sequence { rows: 0..1, state: RUNNING, before: Before::Itself }];
        let batch = Batch {
            rows: &row,
            n: 1,
            is_step: true,
            n_keys: 1,
            blends: false,
            angles: &text.angles,
            text: &text.caches,
            own: &text.caches,
            recurrent_states: &text.recurrent_states,
            sequences: &sequences,
            replayed: None,
            attention_sums: None,
        };
        let mut recording = Recording::new(gpu);
        transformer.embed(&mut recording, &activations, batch);
        for i in 0..transformer.layers.len() {
            transformer.layer(&mut recording, i, &activations, batch, 0..1);
        }
        transformer.sample_token(&mut recording, &activations.x, 0, &buffers, is_greedy);
        let dispatches = recording.finish();
        let (in_flight, last, staging) = Default::default();
        Ok(DecodeStep { dispatches, row, buffers, is_greedy, _activations: activations, in_flight, last, staging })
    }

    fn decode_step(&mut self) -> &mut DecodeStep {
        self.decode_step.as_mut().expect("it was prepared")
    }

    /// Appends `token` and samples the token after it. That work may already be in flight. Then submits further steps ahead, each of
    /// which reads the token that the step before it samples. `ahead` makes their random draws.
    async fn token_after(&mut self, token: TokenId, draw: Option<DrawWords>, mut ahead: Sampler) -> Result<TokenId, LmError> {
        let step = self.decode_step();
        if step.last != Some(token) || step.in_flight.front().is_none_or(|oldest| oldest.draw != draw) {
            step.forget();
            self.submit_step(Some(token), draw);
        }
        let room = self.text.capacity.min(self.transformer.config.context_length) - self.text.length;
        // Recurrent state cannot be rolled back, so do not decode ahead.
        let most = if self.transformer.has_recurrent_layers() { 1 } else { room };
        let at_once = self.gpu.pacing.borrow().tokens_in_flight().min(most);
        for i in 1..at_once {
            let draw = self.draw(&mut ahead);
            if self.decode_step().in_flight.len() == i {
                self.submit_step(None, draw);
            }
        }
        let step = self.decode_step();
        step.last = None;
        let TokenInFlight { at, readback, staging, .. } = step.in_flight.pop_front().expect("one was submitted");
        self.text.length += 1;
        let chosen = self.gpu.finish_read(readback, &staging).await?;
        self.gpu.pacing.borrow_mut().token_done(at, self.gpu.now());
        let token = self.checked(&chosen)?;
        let step = self.decode_step();
        step.staging.push(staging);
        step.last = Some(token);
        Ok(token)
    }

    /// Submits a decode step after those in flight. It reads `token`, or the last sampled token if `token` is `None`.
    fn submit_step(&mut self, token: Option<TokenId>, draw: Option<DrawWords>) {
        let step = self.decode_step.as_mut().expect("it was prepared");
        let row = Row::all_words(&text_rows(&[token.unwrap_or_default().into()], self.text.length + step.in_flight.len()));
        step.submit(&self.gpu, &row, token.is_none(), draw);
        self.counters.forward_tokens += 1;
        self.counters.head_positions += 1;
    }

    /// Passes a prompt through the layers and samples after its last token.
    async fn prefill_and_sample(&mut self, tokens: &[TokenId], draw: Option<DrawWords>) -> Result<TokenId, LmError> {
        self.counters.head_positions += 1;
        self.decode_step().forget();
        let inputs: Vec<Input> = tokens.iter().map(|&token| token.into()).collect();
        let end = self.text.length + inputs.len();
        let sample_after_last = async |model: &mut Self, activations: &Activations, positions: Range<usize>| {
            if positions.end == end {
                let step = model.decode_step.as_ref().expect("it was prepared");
                draw.iter().for_each(|draw| model.gpu.write(&step.buffers.draw, 0, draw));
                let mut recording = Recording::new(&model.gpu);
                model.transformer.sample_token(&mut recording, &activations.x, positions.len() - 1, &step.buffers, step.is_greedy);
                recording.run();
            }
            Ok(())
        };
        self.prefill(&inputs, None, sample_after_last).await?;
        let gpu = self.gpu.clone();
        let chosen = gpu.read(&self.decode_step().buffers.chosen, 2).await?;
        self.checked(&chosen)
    }

    /// The token that the GPU chose, after checks.
    fn checked(&self, chosen: &[u32]) -> Result<TokenId, LmError> {
        let is_token = (chosen[0] as usize) < self.transformer.config.vocab_size && f32::from_bits(chosen[1]).is_finite();
        if is_token { Ok(chosen[0]) } else { Err(LmError::NotFinite) }
    }
}

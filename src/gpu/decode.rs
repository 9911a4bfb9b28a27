//! Continuing a text, one token at a time.

use std::ops::Range;

use super::GpuModel;
use super::activations::Activations;
use super::batch::{Row, text_rows};
use super::decode_step::DecodeStep;
use super::forward::Batch;
use super::head_buffers::SampleBuffers;
use super::kernels::sample::GpuDraw;
use super::recording::Recording;
use crate::lm::sample::Sampler;
use crate::lm::{Input, LmError, check_known, check_length};
use crate::model::tokenizer::TokenId;

impl GpuModel {
    /// See [`crate::lm::LanguageModel::next_token`].
    pub(super) async fn decode(&mut self, tokens: &[TokenId], sampler: &mut Sampler) -> Result<TokenId, LmError> {
        let length = self.text.length + tokens.len();
        check_known(&self.transformer.config, tokens)?;
        check_length(&self.transformer.config, length)?;
        if self.text.layers.is_empty() {
            self.start_text(self.text.capacity.max(tokens.len())).await?;
        }
        self.text.check_capacity(length)?;
        self.prepare_decode_step(sampler).await?;
        self.counters.head_positions += 1;
        match tokens {
            &[token] => self.run_decode_step(token),
            _ => self.prefill_and_sample(tokens).await?,
        }
        self.sampled_token().await
    }

    /// Records a step if there is none for this way of sampling, and uploads the next random draw.
    async fn prepare_decode_step(&mut self, sampler: &mut Sampler) -> Result<(), LmError> {
        if self.decode_step.as_ref().is_none_or(|step| step.is_greedy != sampler.is_greedy()) {
            // Its memory goes before that of the next one comes.
            self.decode_step = None;
            self.decode_step = Some(self.record_decode_step(sampler.is_greedy()).await?);
        }
        if let Some(draw) = sampler.draw() {
            let draw = GpuDraw::new(&draw, self.transformer.config.vocab_size);
            self.gpu.write(&self.decode_step().buffers.draw, 0, &draw.words());
        }
        Ok(())
    }

    async fn record_decode_step(&self, is_greedy: bool) -> Result<DecodeStep, LmError> {
        let (gpu, transformer, text) = (&self.gpu, &self.transformer, &self.text);
        let activations = self.activations(1).await?;
        let allocate = || (gpu.buffer("row", Row::N_WORDS), SampleBuffers::new(gpu, &transformer.config));
        let (row, buffers) = gpu.try_allocate(allocate).await?;
        let (text_caches, angles) = (&text.layers[..], text.angles());
        let batch =
            Batch { rows: &row, n: 1, is_step: true, blends: false, angles, text_caches, own_caches: text_caches, attention_sums: None };
        let mut recording = Recording::new(gpu);
        transformer.embed(&mut recording, &activations, batch);
        for i in 0..transformer.layers.len() {
            transformer.layer(&mut recording, i, &activations, batch, 0..1);
        }
        transformer.sample_token(&mut recording, &activations.x, 0, &buffers, is_greedy);
        let dispatches = recording.finish();
        Ok(DecodeStep { dispatches, row, buffers, is_greedy, _activations: activations })
    }

    fn decode_step(&self) -> &DecodeStep {
        self.decode_step.as_ref().expect("it was prepared")
    }

    fn run_decode_step(&mut self, token: TokenId) {
        let step = self.decode_step();
        self.gpu.write(&step.row, 0, &Row::all_words(&text_rows(&[token.into()], self.text.length)));
        step.dispatches.run(&self.gpu);
        self.text.length += 1;
        self.counters.forward_tokens += 1;
    }

    /// Takes a prompt through the layers, and samples after its last token.
    async fn prefill_and_sample(&mut self, tokens: &[TokenId]) -> Result<(), LmError> {
        let inputs: Vec<Input> = tokens.iter().map(|&token| token.into()).collect();
        let end = self.text.length + inputs.len();
        let sample_after_last = async |model: &mut Self, activations: &Activations, positions: Range<usize>| {
            if positions.end == end {
                let (step, mut recording) = (model.decode_step(), Recording::new(&model.gpu));
                model.transformer.sample_token(&mut recording, &activations.x, positions.len() - 1, &step.buffers, step.is_greedy);
                recording.run();
            }
            Ok(())
        };
        self.prefill(&inputs, None, sample_after_last).await
    }

    /// The token that was chosen on the GPU.
    async fn sampled_token(&self) -> Result<TokenId, LmError> {
        let chosen = self.gpu.read(&self.decode_step().buffers.chosen, 2).await?;
        let is_token = (chosen[0] as usize) < self.transformer.config.vocab_size && f32::from_bits(chosen[1]).is_finite();
        if is_token { Ok(chosen[0]) } else { Err(LmError::NotFinite) }
    }
}

//! Collects GPU work into submissions of the size that [`Pacing`](super::pacing::Pacing) allows. Checks for Stop between submissions.

use futures::channel::oneshot;
use wgpu::{PollType, SubmissionIndex};

use super::buffer::Buffer;
use super::device::Gpu;
use super::recording::{Dispatch, DispatchList, Recording, encode};
use super::wait::{self, Submission};
use crate::lm::LmError;

/// Dispatches that run in order. They are submitted when a submission is full. [`Submissions::finish`] submits the rest; only then may
/// other work read or write the same buffers.
pub struct Submissions<'a> {
    gpu: &'a Gpu,
    dispatches: Vec<Dispatch>,
    operations: f64,
    /// Parameters of recordings whose dispatches are all in `dispatches` or submitted.
    params: Vec<Buffer>,
    /// Buffers that later dispatches may read.
    kept: Vec<Buffer>,
}

impl<'a> Submissions<'a> {
    pub fn new(gpu: &'a Gpu) -> Self {
        Self { gpu, dispatches: Vec::new(), operations: 0.0, params: Vec::new(), kept: Vec::new() }
    }

    pub async fn add(&mut self, recording: Recording<'_>) -> Result<(), LmError> {
        let DispatchList { dispatches, params } = recording.finish();
        for dispatch in dispatches {
            if !self.gpu.pacing.borrow().has_room(self.operations, dispatch.operations) {
                self.submit().await?;
            }
            self.operations += dispatch.operations;
            self.dispatches.push(dispatch);
        }
        self.params.push(params);
        Ok(())
    }

    /// Keeps a buffer until all work is submitted.
    pub fn keep(&mut self, buffer: Buffer) {
        self.kept.push(buffer);
    }

    /// Submits the remaining dispatches.
    pub async fn finish(&mut self) -> Result<(), LmError> {
        if self.dispatches.is_empty() { Ok(()) } else { self.submit().await }
    }

    /// Submits the collected dispatches as soon as the GPU is not busy.
    async fn submit(&mut self) -> Result<(), LmError> {
        let gpu = self.gpu;
        while gpu.pacing.borrow().is_busy() {
            gpu.oldest_ended().await?;
        }
        let is_stopped = gpu.is_stopped.borrow().clone();
        if is_stopped() {
            gpu.pacing.borrow_mut().forget();
            return Err(LmError::Stopped);
        }
        let mut encoder = gpu.encoder();
        encode(gpu, &self.dispatches, &mut encoder);
        self.dispatches.clear();
        gpu.submit_paced(encoder, std::mem::take(&mut self.operations));
        self.params.clear();
        Ok(())
    }
}

impl Gpu {
    pub(super) fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
    }

    pub(super) fn submit(&self, encoder: wgpu::CommandEncoder) -> SubmissionIndex {
        self.stats.submissions.set(self.stats.submissions.get() + 1);
        self.queue.submit([encoder.finish()])
    }

    fn submit_paced(&self, encoder: wgpu::CommandEncoder, operations: f64) {
        let index = self.submit(encoder);
        let (sender, ended) = oneshot::channel();
        let opened = self.opened;
        self.queue.on_submitted_work_done(move || {
            sender.send(opened.elapsed().as_secs_f64()).ok();
        });
        self.pacing.borrow_mut().submitted(self.now(), operations, Submission { index, ended });
    }

    /// Waits until the oldest submission has ended.
    async fn oldest_ended(&self) -> Result<(), LmError> {
        let oldest = self.pacing.borrow_mut().oldest();
        let ended = match oldest {
            Some(Submission { index, ended }) => self.await_callback(index, ended).await?,
            None => None,
        };
        self.pacing.borrow_mut().done(ended.unwrap_or_else(|| self.now()), 1);
        Ok(())
    }

    /// Records that all submissions in flight have ended, because a later one has.
    pub(super) fn all_ended(&self) {
        self.pacing.borrow_mut().done(self.now(), usize::MAX);
    }

    /// Waits for the value that a callback sends after this submission has ended. `None` if the callback will never run.
    pub(super) async fn await_callback<T>(&self, index: SubmissionIndex, receiver: oneshot::Receiver<T>) -> Result<Option<T>, LmError> {
        // Browsers run callbacks without polling.
        self.device.poll(PollType::Wait { submission_index: Some(index), timeout: None }).ok();
        let value = wait::await_callback(&self.queue, receiver).await;
        self.check()?;
        Ok(value)
    }
}

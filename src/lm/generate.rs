//! An answer, token by token.

use std::ops::ControlFlow;

use super::{LanguageModel, LmError, check_length, sample::Sampler};
use crate::model::tokenizer::{TokenId, Tokenizer};

/// A generated continuation, without the end token.
#[derive(Debug)]
pub struct Generated {
    pub tokens: Vec<TokenId>,
    pub stop: StopReason,
}

/// Why generation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The model ended its turn.
    End,
    /// The limit of tokens, or of the context, was reached.
    Length,
    /// `on_token` broke off.
    Cancelled,
}

/// Continues `prompt` until the model ends its turn, or `max_tokens`, or `on_token` breaks off.
pub async fn generate(
    model: &mut impl LanguageModel,
    tokenizer: &Tokenizer,
    prompt: &[TokenId],
    sampler: &mut Sampler,
    max_tokens: usize,
    mut on_token: impl AsyncFnMut(TokenId) -> ControlFlow<()>,
) -> Result<Generated, LmError> {
    // At least one token of the answer has to fit.
    check_length(model.config(), prompt.len() + 1)?;
    let limit = max_tokens.min(model.config().context_length - prompt.len());
    model.reset(prompt.len() + limit);
    let mut tokens = Vec::new();
    let mut next = model.next_token(prompt, sampler).await?;
    let stop = loop {
        if tokenizer.is_end_of_generation(next) {
            break StopReason::End;
        }
        if tokens.len() == limit {
            break StopReason::Length;
        }
        tokens.push(next);
        if on_token(next).await.is_break() {
            break StopReason::Cancelled;
        }
        if tokens.len() == limit {
            break StopReason::Length;
        }
        next = model.next_token(&[next], sampler).await?;
    };
    Ok(Generated { tokens, stop })
}

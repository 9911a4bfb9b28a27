//! Generates an answer, token by token.

use super::{Callback, LanguageModel, LmError, check_length, sample::Sampler};
use glasscage_model::chat::ThoughtTokens;
use glasscage_model::tokenizer::{TokenId, Tokenizer};

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
    /// The answer reached the token limit or the context limit.
    Length,
    /// `on_token` canceled, or the engine was stopped.
    Canceled,
    /// The model kept repeating itself: see [`is_repeating`].
    Repetition,
}

/// Delimiters and length limit of a thinking section.
#[derive(Clone, Copy, Debug)]
pub struct ThoughtLimit<'a> {
    pub delimiters: &'a ThoughtTokens,
    /// Whether the prompt ends inside a thinking section.
    pub is_open: bool,
    pub max_tokens: usize,
}

/// The start of a continuation.
#[derive(Clone, Copy, Debug)]
pub struct Beginning<'a> {
    pub prompt: &'a [TokenId],
    /// The first tokens of the continuation. The model does not choose them.
    pub forced: &'a [TokenId],
}

impl<'a> Beginning<'a> {
    /// A continuation in which the model chooses every token.
    pub fn free(prompt: &'a [TokenId]) -> Self {
        Self { prompt, forced: &[] }
    }
}

/// Continues the prompt until the model ends its turn or repeats itself, the answer has `max_tokens`, or `on_token` cancels. Closes a
/// thinking section for the model when the section reaches its limit. `on_token` gets each token of the result, including those that the
/// model did not choose. Forced tokens use up random numbers as sampled ones do, so the same tokens have the same continuation whether they
/// are forced or not.
pub async fn generate(
    model: &mut impl LanguageModel,
    tokenizer: &Tokenizer,
    Beginning { prompt, forced }: Beginning<'_>,
    sampler: &mut Sampler,
    max_tokens: usize,
    thought: Option<ThoughtLimit<'_>>,
    on_token: &mut dyn Callback<TokenId>,
) -> Result<Generated, LmError> {
    // At least one token of the answer must fit.
    check_length(model.config(), prompt.len() + 1)?;
    let limit = max_tokens.min(model.config().context_length - prompt.len());
    model.reset(prompt.len() + limit);
    let mut tokens = Vec::new();
    let mut forced = forced.iter().copied().peekable();
    // Tokens that the model has not read.
    let mut unread = prompt.to_vec();
    let stop = 'answer: loop {
        let next_token = if let Some(token) = forced.next() {
            sampler.skip();
            token
        } else {
            match model.next_token(&std::mem::take(&mut unread), sampler).await {
                Err(LmError::Stopped) => break StopReason::Canceled,
                sampled => sampled?,
            }
        };
        if tokenizer.is_end_of_generation(next_token) {
            break StopReason::End;
        }
        if tokens.len() == limit {
            break StopReason::Length;
        }
        tokens.push(next_token);
        if on_token.call(next_token).await.is_break() {
            break StopReason::Canceled;
        }
        if tokens.len() == limit {
            break StopReason::Length;
        }
        if is_repeating(&tokens) {
            break StopReason::Repetition;
        }
        unread.push(next_token);
        if let Some(ThoughtLimit { delimiters, .. }) = thought.filter(|thought| thought.is_reached(&tokens)) {
            let ending = &delimiters.ending()[..delimiters.ending().len().min(limit - tokens.len())];
            for &token in ending {
                // Forced tokens contain the ending, for which no random number was used, or another token in place of a part of it.
                if forced.next_if_eq(&token).is_none() && forced.peek().is_some() {
                    break;
                }
                tokens.push(token);
                unread.push(token);
                if on_token.call(token).await.is_break() {
                    break 'answer StopReason::Canceled;
                }
            }
            if tokens.len() == limit {
                break StopReason::Length;
            }
        }
    };
    Ok(Generated { tokens, stop })
}

impl ThoughtLimit<'_> {
    /// Whether `tokens` end in a thinking section that has reached its limit.
    fn is_reached(&self, tokens: &[TokenId]) -> bool {
        let parts = self.delimiters.parts(tokens, self.is_open);
        parts.last().is_some_and(|part| part.is_thought && part.tokens.end == tokens.len() && part.tokens.len() >= self.max_tokens)
    }
}

/// Longest text, in tokens, that is checked for repetition.
const LONGEST_PERIOD: usize = 24;
/// Minimum length of a repetition, in tokens and in copies. Anything shorter may be a list or a refrain.
const REPEATED_TOKENS: usize = 48;
const REPETITIONS: usize = 4;

/// Whether `tokens` end in consecutive copies of one text.
pub fn is_repeating(tokens: &[TokenId]) -> bool {
    (1..=LONGEST_PERIOD).any(|period| {
        let length = REPEATED_TOKENS.max(period * REPETITIONS);
        tokens.len() >= length && tokens[tokens.len() - length..].windows(period + 1).all(|window| window[0] == window[period])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_trailing_repeats_count_as_repetition() {
        let sentence: Vec<TokenId> = (10..30).collect();
        assert!(is_repeating(&[[1, 2].as_slice(), &[7; 48]].concat()));
        assert!(!is_repeating(&[[1, 2].as_slice(), &[7; 47]].concat()));
        assert!(is_repeating(&sentence.repeat(4)));
        assert!(!is_repeating(&sentence.repeat(3)));
        assert!(!is_repeating(&[sentence.repeat(4), vec![5]].concat()));
        assert!(!is_repeating(&(0..500).collect::<Vec<TokenId>>()));
        assert!(!is_repeating(&[]));
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod report_tests {
    use std::ops::ControlFlow;

    use super::super::{Backend, Counters, InfillRequest, Infills, OnReadout, ScoreRequest};
    use super::*;
    use glasscage_model::chat::ChatTemplate;
    use glasscage_model::config::{Config, testing};
    use glasscage_model::gguf::{Metadata, Value};

    /// A model that always predicts the same token.
    struct Constant {
        config: Config,
        token: TokenId,
    }

    impl LanguageModel for Constant {
        fn config(&self) -> &Config {
            &self.config
        }

        fn backend(&self) -> Backend {
            Backend { name: "constant".into(), precision: "f64".into(), device: String::new() }
        }

        fn reset(&mut self, _: usize) {}

        async fn next_token(&mut self, _: &[TokenId], _: &mut Sampler) -> Result<TokenId, LmError> {
            Ok(self.token)
        }

        async fn score_text(&mut self, _: &ScoreRequest<'_>, _: &mut OnReadout<'_>) -> Result<(), LmError> {
            Ok(())
        }

        async fn infill(&mut self, _: &InfillRequest<'_>, _: &mut dyn Callback<()>) -> Result<Option<Infills>, LmError> {
            Ok(None)
        }

        fn counters(&self) -> Counters {
            Counters::default()
        }
    }

    /// All bytes, "a", and the delimiters of thinking sections.
    fn tokenizer() -> Tokenizer {
        let bytes = (0..=u8::MAX).map(|byte| format!("<0x{byte:02X}>"));
        let names: Vec<String> = bytes.chain(["a", "<think>", "</think>"].map(str::to_owned)).collect();
        let kind = |id: usize| match id {
            ..256 => 6.0,
            256 => 1.0,
            _ => 4.0,
        };
        let metadata = Metadata::from_iter([
            ("tokenizer.ggml.model", Value::String("llama".into())),
            ("tokenizer.ggml.scores", Value::Numbers(vec![0.0; names.len()])),
            ("tokenizer.ggml.token_type", Value::Numbers((0..names.len()).map(kind).collect())),
            ("tokenizer.ggml.add_space_prefix", Value::Bool(false)),
            ("tokenizer.ggml.tokens", Value::Strings(names)),
        ]);
        Tokenizer::from_metadata(&metadata).expect("the vocabulary is valid")
    }

    #[test]
    fn tokens_that_close_thought_are_reported_and_can_cancel() {
        let tokenizer = tokenizer();
        let template = ChatTemplate::new("</think>", "", "").expect("the template is valid");
        let delimiters = ThoughtTokens::of(&template, &tokenizer).expect("the vocabulary has both");
        let (a, n_ending) = (256, delimiters.ending().len());
        let prompt = [a];
        let generated = |last: usize| {
            let mut model = Constant { config: testing::config("llama", 1, 1, 4), token: a };
            let mut reported = Vec::new();
            let mut on_token = async |token: TokenId| {
                reported.push(token);
                if reported.len() < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            let thought = ThoughtLimit { delimiters: &delimiters, is_open: true, max_tokens: 2 };
            let sampler = &mut Sampler::greedy();
            let generated = generate(&mut model, &tokenizer, Beginning::free(&prompt), sampler, 12, Some(thought), &mut on_token);
            let generated = pollster::block_on(generated).expect("the model is valid");
            (reported, generated)
        };
        let whole = [&[a, a][..], delimiters.ending(), &vec![a; 10 - n_ending]].concat();
        for last in 1..=20 {
            let (reported, Generated { tokens, stop }) = generated(last);
            assert_eq!((&reported[..], &tokens[..]), (&whole[..last.min(12)], &whole[..last.min(12)]), "{last}");
            assert_eq!(stop, if last <= 12 { StopReason::Canceled } else { StopReason::Length }, "{last}");
        }
    }
}

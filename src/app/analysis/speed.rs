//! Estimates how long an explanation takes on this device, based on the last one here.

use std::fmt;

use crate::request::{MOST_RUNS_OF_A_THOUGHT, WorkStats};

/// Typical for English text.
const CHARACTERS_PER_TOKEN: usize = 4;
/// Tokens that a chat template adds to a prompt. The three constants below are typical values, too.
const FRAME_TOKENS: usize = 20;
const ANSWER_TOKENS: usize = 100;
const ANSWER_SENTENCES: usize = 6;
const SENTENCE_TOKENS: usize = 15;
/// A generated token costs as much as this many tokens that are read at once.
const GENERATED_COST: usize = 4;

/// Parameters times tokens, per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed(pub f64);

impl Speed {
    /// Speed of a run with a model of `parameters` parameters. `None` if the result is not finite and positive.
    pub fn of(parameters: u64, work: &WorkStats, seconds: f64) -> Option<Self> {
        let speed = parameters as f64 * work.forward_tokens as f64 / seconds;
        (speed.is_finite() && speed > 0.0).then_some(Self(speed))
    }

    /// Parses the text that [`Display`](fmt::Display) wrote after an earlier run. Uses the JSON parser, which the page contains anyway,
    /// because the parser of the standard library adds a table of 10 kB.
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().filter(|speed: &f64| speed.is_finite() && *speed > 0.0).map(Self)
    }

    /// Estimated seconds for an answer to `prompt` and its explanation, by a model of `parameters` parameters that thinks for `thought`
    /// tokens before it answers. An estimate from a smaller model is too long, because a small model does not fill a GPU.
    pub fn seconds(self, parameters: u64, prompt: &str, thought: usize) -> f64 {
        parameters as f64 * tokens(prompt, thought) as f64 / self.0
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Number of tokens to compute: the text, the generation, and for each sentence all text after it, which is half of the text on average.
fn tokens(prompt: &str, thought: usize) -> usize {
    let ends = prompt.trim().matches(['.', '?', '!', '\n']).count().max(1);
    let generated = thought + ANSWER_TOKENS;
    let text = prompt.len() / CHARACTERS_PER_TOKEN + FRAME_TOKENS + generated;
    text + GENERATED_COST * generated + text * (ends + runs_of_thought(thought) + ANSWER_SENTENCES) / 2
}

/// Number of parts in which a thinking section of `tokens` tokens is measured.
pub fn runs_of_thought(tokens: usize) -> usize {
    tokens.div_ceil(SENTENCE_TOKENS).min(MOST_RUNS_OF_A_THOUGHT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_model_takes_longer_in_proportion() {
        let work = WorkStats { forward_tokens: 1_000, head_positions: 0, dispatches: 0, gpu_bytes: 0, heap_bytes: 0 };
        let speed = Speed::of(3_000_000, &work, 2.0).unwrap();
        assert_eq!(speed, Speed(1.5e9));
        let prompt = "Ann has 3 figs. Bob has 4 nuts. What does Bob have?";
        let seconds = speed.seconds(600_000_000, prompt, 0);
        assert!((seconds - 600e6 * (132.0 + 400.0 + 132.0 * 9.0 / 2.0) / 1.5e9).abs() < 1e-6, "{seconds}");
        assert!(speed.seconds(600_000_000, prompt, 30) > seconds);
        assert_eq!(Speed::of(3, &work, 0.0), None);
    }

    #[test]
    fn number_of_thinking_parts_is_capped() {
        assert_eq!([0, 1, 45, 600, 32_768].map(runs_of_thought), [0, 1, 3, 40, 40]);
    }

    #[test]
    fn kept_state_is_restored() {
        for speed in [Speed(1.5e9), Speed(0.1), Speed(1e300)] {
            assert_eq!(Speed::parse(&speed.to_string()), Some(speed));
        }
        for text in ["", "fast", "0", "-1", "inf", "NaN", "1e999"] {
            assert_eq!(Speed::parse(text), None, "{text}");
        }
    }
}

//! How long an explanation will take on this device, going by the last one here.

use std::fmt;

use crate::request::WorkStats;

/// Of English text.
const CHARACTERS_PER_TOKEN: usize = 4;
/// The frame around a prompt, and an answer as long as they usually are.
const FRAME_TOKENS: usize = 20;
const ANSWER_TOKENS: usize = 100;
const ANSWER_SENTENCES: usize = 6;
/// A generated token costs as much as so many that are read at once.
const GENERATED_COST: usize = 4;

/// Parameters times tokens, per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed(pub f64);

impl Speed {
    /// What a run says: `parameters` of the model, and how long it took.
    pub fn of(parameters: u64, work: &WorkStats, seconds: f64) -> Option<Self> {
        let speed = parameters as f64 * work.forward_tokens as f64 / seconds;
        (speed.is_finite() && speed > 0.0).then_some(Self(speed))
    }

    /// What [`Display`](fmt::Display) wrote after an earlier run. By JSON's parser, which the page has; the standard library's brings a
    /// table of 10 kB.
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().filter(|speed: &f64| speed.is_finite() && *speed > 0.0).map(Self)
    }

    /// Seconds for an answer to `prompt` and its explanation, by a model of so many parameters. A small model does not fill a GPU,
    /// so what was learned from one errs on the long side.
    pub fn seconds(self, parameters: u64, prompt: &str) -> f64 {
        parameters as f64 * tokens(prompt) as f64 / self.0
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Tokens to compute: the text once, and behind each sentence all that follows it, which is half of the text on average.
fn tokens(prompt: &str) -> usize {
    let ends = prompt.trim().matches(['.', '?', '!', '\n']).count().max(1);
    let text = prompt.len() / CHARACTERS_PER_TOKEN + FRAME_TOKENS + ANSWER_TOKENS;
    text + GENERATED_COST * ANSWER_TOKENS + text * (ends + ANSWER_SENTENCES) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_model_takes_longer_in_proportion() {
        let work = WorkStats { forward_tokens: 1_000, head_positions: 0, dispatches: 0, gpu_bytes: 0, heap_bytes: 0 };
        let speed = Speed::of(3_000_000, &work, 2.0).unwrap();
        assert_eq!(speed, Speed(1.5e9));
        let seconds = speed.seconds(600_000_000, "Ann has 3 figs. Bob has 4 nuts. What does Bob have?");
        assert!((seconds - 600e6 * (132.0 + 400.0 + 132.0 * 9.0 / 2.0) / 1.5e9).abs() < 1e-6, "{seconds}");
        assert_eq!(Speed::of(3, &work, 0.0), None);
    }
}

//! Estimates how long an explanation takes on this device, based on the last one here.

use std::fmt;

use crate::explanation::{MethodText, Unit};
use crate::request::{MAX_RUNS_OF_A_THOUGHT, WorkStats};

/// Typical for English text.
const CHARACTERS_PER_TOKEN: usize = 4;
/// Tokens that a chat template adds to a prompt. The three constants below are typical values, too.
const FRAME_TOKENS: usize = 20;
const ANSWER_TOKENS: usize = 60;
const ANSWER_SENTENCES: usize = 4;
const SENTENCE_TOKENS: usize = 15;
/// A pass over a pair of sentences starts at its second sentence. On average, that is after two thirds of the text.
const PART_OF_PAIR: u64 = 3;
/// Most pairs for each source, and most passes in all: see `glasscage_attribution::pairs`.
const MAX_PAIRS_PER_SOURCE: usize = 7;
const MAX_PASSES: usize = 240;
/// A generated token costs as much as this many tokens that are read at once.
const GENERATED_COST: u64 = 4;

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

    /// Estimated seconds for an answer to a prompt that is split into these units, and for its explanation, by a model of `parameters`
    /// parameters that thinks for `thought` tokens before it answers. An estimate from a smaller model is too long, because a small model
    /// does not fill a GPU.
    pub fn seconds(self, parameters: u64, prompt: (&str, Unit), thought: usize, passes: Passes) -> f64 {
        parameters as f64 * tokens(prompt, thought, passes) as f64 / self.0
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The passes of an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passes {
    /// One for each source.
    Alone,
    /// One for each pair of sources, too.
    WithPairs,
}

impl Passes {
    pub fn of(method: &MethodText) -> Self {
        if method.measures_pairs() { Self::WithPairs } else { Self::Alone }
    }
}

/// Number of tokens to compute: the text, the generation, and for each source all text after it, which is half of the text on average.
fn tokens((prompt, unit): (&str, Unit), thought: usize, passes: Passes) -> u64 {
    let generated = thought + ANSWER_TOKENS;
    let text = prompt.len() / CHARACTERS_PER_TOKEN + FRAME_TOKENS + generated;
    let sources = about_units(prompt, unit) + runs_of_thought(thought) + ANSWER_SENTENCES;
    let pairs = match passes {
        Passes::Alone => 0,
        Passes::WithPairs => (sources * (sources - 1) / 2).min(MAX_PAIRS_PER_SOURCE * sources).min(MAX_PASSES.saturating_sub(sources)),
    };
    // In the browser, a `usize` has 32 bits.
    let [text, generated, sources, pairs] = [text, generated, sources, pairs].map(|n| n as u64);
    text + GENERATED_COST * generated + text * sources / 2 + text * pairs / PART_OF_PAIR
}

/// About how many units a prompt has, at least 1.
fn about_units(prompt: &str, unit: Unit) -> usize {
    let prompt = prompt.trim();
    let n = match unit {
        Unit::Sentence | Unit::Bracket => prompt.matches(['.', '?', '!', '\n']).count(),
        Unit::Word => prompt.split_whitespace().count(),
        Unit::Line => prompt.matches('\n').count() + 1,
        Unit::Paragraph => prompt.matches("\n\n").count() + 1,
        Unit::Section => prompt.matches("\n#").count() + 1,
    };
    n.max(1)
}

/// Number of parts in which a thinking section of `tokens` tokens is measured.
pub fn runs_of_thought(tokens: usize) -> usize {
    tokens.div_ceil(SENTENCE_TOKENS).min(MAX_RUNS_OF_A_THOUGHT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_model_takes_longer_in_proportion() {
        let work = WorkStats { forward_tokens: 1_000, head_positions: 0, dispatches: 0, gpu_bytes: 0, heap_bytes: 0, workers: 1 };
        let speed = Speed::of(3_000_000, &work, 2.0).unwrap();
        assert_eq!(speed, Speed(1.5e9));
        let prompt = "Ann has 3 figs. Bob has 4 nuts. What does Bob have?";
        let prompt = (prompt, Unit::Sentence);
        let seconds = speed.seconds(600_000_000, prompt, 0, Passes::Alone);
        assert!((seconds - 600e6 * (92.0 + 240.0 + 92.0 * 7.0 / 2.0) / 1.5e9).abs() < 1e-6, "{seconds}");
        assert!(speed.seconds(600_000_000, prompt, 30, Passes::Alone) > seconds);
        assert_eq!(Speed::of(3, &work, 0.0), None);
    }

    #[test]
    fn pairs_add_passes_up_to_a_limit() {
        let tokens = |ends: usize, passes| tokens((&"A b. ".repeat(ends), Unit::Sentence), 0, passes);
        // Seven sentences have 21 pairs, and a text of 3 + 20 + 60 tokens.
        assert_eq!(tokens(3, Passes::WithPairs) - tokens(3, Passes::Alone), 83 * 21 / 3);
        assert_eq!(tokens(240, Passes::WithPairs), tokens(240, Passes::Alone));
    }

    #[test]
    fn number_of_units_is_about_that_of_splitters() {
        let text = "# A\nOne. Two.\n\n## B\nThree words here.\n";
        assert_eq!(Unit::ALL.map(|unit| about_units(text, unit)), [7, 9, 5, 2, 2, 7]);
        assert_eq!(Unit::ALL.map(|unit| about_units(" ", unit)), [1; 6]);
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

//! How many tokens per second an engine reads and generates.

use glasscage_engine::lm::sample::Sampler;
use glasscage_engine::lm::{LanguageModel, LmError};

use super::cost::Stopwatch;
use super::report::Rate;

/// Minimum time of all repetitions of a prefill together, in seconds.
const PREFILL_SECONDS: f64 = 1.0;
/// Time for which tokens are generated, in seconds, and the minimum and maximum number of tokens.
const DECODE_SECONDS: f64 = 2.0;
pub const DECODE_TOKENS: std::ops::RangeInclusive<usize> = 4..=128;

/// Processes the text repeatedly. The last repetition leaves it as the current context.
pub async fn prefill(lm: &mut impl LanguageModel, tokens: &[u32]) -> Result<Rate, LmError> {
    let (watch, mut done) = (Stopwatch::start(), 0);
    while done == 0 || watch.cost().wall_seconds < PREFILL_SECONDS {
        lm.reset(tokens.len() + DECODE_TOKENS.end() + 1);
        lm.next_token(tokens, &mut Sampler::greedy()).await?;
        done += tokens.len();
    }
    Ok(Rate::new(done, watch.cost()))
}

/// Generates tokens after the current context. Their ids do not matter.
pub async fn decode(lm: &mut impl LanguageModel) -> Result<Rate, LmError> {
    let mut next = lm.next_token(&[1], &mut Sampler::greedy()).await?;
    let (watch, mut done) = (Stopwatch::start(), 0);
    while done < *DECODE_TOKENS.start() || (done < DECODE_TOKENS.end() - 1 && watch.cost().wall_seconds < DECODE_SECONDS) {
        next = lm.next_token(&[next], &mut Sampler::greedy()).await?;
        done += 1;
    }
    Ok(Rate::new(done, watch.cost()))
}

//! Quality of an attribution: pure functions of its numbers and of the effects of deleting sentences.
//!
//! Shared terms: `attribution[j]` is the attribution of prompt sentence `j`. `relevant` lists the prompt sentences that the answer needs,
//! if they are known. A deletion curve is `s_0`, `s_1`, ..: the log-probability of the generation in nats, after 0, 1, .. prompt sentences
//! were replaced by end tokens, in the order of [`order`].

mod coverage;
mod deletion;
mod rank;

pub use coverage::{coverage, missed, share_on};
pub use deletion::{Curve, order};
pub use rank::rank_correlation;

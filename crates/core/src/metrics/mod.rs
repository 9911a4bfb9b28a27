//! How good an attribution is: pure functions of its numbers and of what deleting sentences did.
//!
//! Shared vocabulary: `attribution[j]` is what prompt sentence `j` got; `relevant` are the prompt sentences that the answer
//! needs, where somebody knows; a deletion curve is `s_0`, `s_1`, ..: the log-probability of the generation, in nats, after so many
//! prompt sentences were replaced by end tokens, in the order of [`order`].

mod coverage;
mod deletion;
mod rank;

pub use coverage::{coverage, missed, share_on};
pub use deletion::{Curve, order};
pub use rank::rank_correlation;

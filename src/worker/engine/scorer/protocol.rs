//! Messages between engine and scorer. They contain only numbers, which needs little code on both sides. Each message begins with the
//! number of its request. A new request ends the previous one.

use crate::cpu::OwnedScoreRequest;
use crate::lm::{Readout, ScoreRequest};

/// Message that starts scoring the passes of a request.
pub fn begin_message(number: u32, request: &ScoreRequest<'_>) -> Vec<f64> {
    let mut numbers = end_message(number);
    numbers.extend(OwnedScoreRequest::from(request).to_numbers());
    numbers
}

/// Message that ends the previous request.
pub fn end_message(number: u32) -> Vec<f64> {
    vec![f64::from(number)]
}

/// The request to score, if the message contains one.
pub fn request_in(message: &[f64]) -> Option<OwnedScoreRequest> {
    OwnedScoreRequest::from_numbers(message.get(1..)?)
}

/// Number of the request of a message.
pub fn number_of(message: &[f64]) -> Option<u32> {
    message.first().map(|&number| number as u32)
}

/// The readout of a pass, starting at the first target that it changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// Number of the request.
    pub request: u32,
    pub pass: usize,
    /// Size of the scorer's WebAssembly memory, in bytes.
    pub heap_bytes: u64,
    pub readout: Readout,
}

impl Scored {
    pub fn to_numbers(&self) -> Vec<f64> {
        let Readout { log_probs, divergences, .. } = &self.readout;
        let head = [f64::from(self.request), self.pass as f64, self.heap_bytes as f64, log_probs.len() as f64];
        [&head[..], log_probs, divergences].concat()
    }

    pub fn from_numbers(numbers: &[f64]) -> Option<Self> {
        let &[request, pass, heap_bytes, n_log_probs, ref scores @ ..] = numbers else { return None };
        let (log_probs, divergences) = scores.split_at_checked(n_log_probs as usize)?;
        let readout = Readout { log_probs: log_probs.to_vec(), divergences: divergences.to_vec(), ..Readout::default() };
        Some(Self { request: request as u32, pass: pass as usize, heap_bytes: heap_bytes as u64, readout })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_round_trip() {
        let request = ScoreRequest::new(&[1, 2, 3], 1..3, &[]);
        let begin = begin_message(7, &request);
        assert_eq!((number_of(&begin), request_in(&begin)), (Some(7), Some(OwnedScoreRequest::from(&request))));
        let end = end_message(8);
        assert_eq!((number_of(&end), request_in(&end), number_of(&[])), (Some(8), None, None));
        for divergences in [vec![], vec![0.0, 0.25]] {
            let readout = Readout { log_probs: vec![-1.0 / 3.0, -2.0], divergences, ..Readout::default() };
            let scored = Scored { request: 7, pass: 5, heap_bytes: 1 << 33, readout };
            assert_eq!(Scored::from_numbers(&scored.to_numbers()), Some(scored.clone()));
            assert_eq!(Scored::from_numbers(&scored.to_numbers()[..5]), None);
        }
    }
}

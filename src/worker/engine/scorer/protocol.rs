//! Messages between engine and scorers. They contain only numbers, which needs little code on both sides.

use crate::cpu::{OwnedScoreRequest, Unit};
use crate::lm::{Readout, ScoreRequest};

/// A message to a scorer.
#[derive(Clone, Debug, PartialEq)]
pub enum ToScorer {
    /// Ends the previous job.
    Begin {
        job: u32,
        requests: Vec<OwnedScoreRequest>,
    },
    /// Scores passes of a request of the job.
    Score {
        job: u32,
        unit: Unit,
    },
    End {
        job: u32,
    },
}

/// Numbers of the messages. Each message begins with the number of its job.
const BEGIN: f64 = 0.0;
const SCORE: f64 = 1.0;

impl ToScorer {
    pub fn begin(job: u32, requests: &[ScoreRequest<'_>]) -> Self {
        Self::Begin { job, requests: requests.iter().map(OwnedScoreRequest::from).collect() }
    }

    pub fn job(&self) -> u32 {
        let (Self::Begin { job, .. } | Self::Score { job, .. } | Self::End { job }) = self;
        *job
    }

    pub fn to_numbers(&self) -> Vec<f64> {
        let job = f64::from(self.job());
        match self {
            Self::Begin { requests, .. } => [vec![job, BEGIN], OwnedScoreRequest::to_numbers(requests)].concat(),
            Self::Score { unit: Unit { request, passes }, .. } => {
                [job, SCORE].into_iter().chain([*request, passes.start, passes.end].map(|n| n as f64)).collect()
            }
            Self::End { .. } => vec![job],
        }
    }

    pub fn from_numbers(numbers: &[f64]) -> Option<Self> {
        match *numbers {
            [job] => Some(Self::End { job: job as u32 }),
            [job, SCORE, request, start, end] => {
                Some(Self::Score { job: job as u32, unit: Unit { request: request as usize, passes: start as usize..end as usize } })
            }
            [job, BEGIN, ref requests @ ..] => Some(Self::Begin { job: job as u32, requests: OwnedScoreRequest::from_numbers(requests)? }),
            _ => None,
        }
    }
}

/// A message from a scorer, after it has loaded the model.
#[derive(Clone, Debug, PartialEq)]
pub enum FromScorer {
    Loaded,
    /// The readout of a pass, starting at the first target that it changes.
    Scored {
        job: u32,
        request: usize,
        pass: usize,
        /// Size of the scorer's WebAssembly memory, in bytes.
        heap_bytes: u64,
        readout: Readout,
    },
}

impl FromScorer {
    pub fn to_numbers(&self) -> Vec<f64> {
        match self {
            Self::Loaded => Vec::new(),
            Self::Scored { job, request, pass, heap_bytes, readout: Readout { log_probs, divergences, .. } } => {
                let head = [f64::from(*job), *request as f64, *pass as f64, *heap_bytes as f64, log_probs.len() as f64];
                [&head[..], log_probs, divergences].concat()
            }
        }
    }

    pub fn from_numbers(numbers: &[f64]) -> Option<Self> {
        let &[job, request, pass, heap_bytes, n_log_probs, ref scores @ ..] = numbers else {
            return numbers.is_empty().then_some(Self::Loaded);
        };
        let (log_probs, divergences) = scores.split_at_checked(n_log_probs as usize)?;
        let readout = Readout { log_probs: log_probs.to_vec(), divergences: divergences.to_vec(), ..Readout::default() };
        Some(Self::Scored { job: job as u32, request: request as usize, pass: pass as usize, heap_bytes: heap_bytes as u64, readout })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_to_scorers_round_trip() {
        let requests = [ScoreRequest::new(&[1, 2, 3], 1..3, &[]), ScoreRequest::new(&[4, 5], 1..2, &[])];
        for message in [
            ToScorer::begin(7, &requests),
            ToScorer::begin(7, &[]),
            ToScorer::Score { job: 7, unit: Unit { request: 1, passes: 3..6 } },
            ToScorer::End { job: 7 },
        ] {
            assert_eq!((message.job(), ToScorer::from_numbers(&message.to_numbers())), (7, Some(message)));
        }
        for damaged in [&[][..], &[7.0, 1.0, 3.0], &[7.0, 2.0], &[7.0, 0.0, 1.0]] {
            assert_eq!(ToScorer::from_numbers(damaged), None);
        }
    }

    #[test]
    fn messages_from_scorers_round_trip() {
        assert_eq!(FromScorer::from_numbers(&FromScorer::Loaded.to_numbers()), Some(FromScorer::Loaded));
        for divergences in [vec![], vec![0.0, 0.25]] {
            let readout = Readout { log_probs: vec![-1.0 / 3.0, -2.0], divergences, ..Readout::default() };
            let scored = FromScorer::Scored { job: 7, request: 2, pass: 5, heap_bytes: 1 << 33, readout };
            assert_eq!(FromScorer::from_numbers(&scored.to_numbers()), Some(scored.clone()));
            assert_eq!(FromScorer::from_numbers(&scored.to_numbers()[..6]), None);
            assert_eq!(FromScorer::from_numbers(&scored.to_numbers()[..4]), None);
        }
    }
}

//! Finds the fastest of several candidates in little time. Pure: the caller measures and passes the times.

/// Minimum duration of a measurement, in seconds: much longer than the overhead of a submission.
const MIN_SECONDS: f64 = 0.005;
/// Number of measurements per candidate. The best time counts.
const ROUNDS: usize = 3;
/// Maximum number of repetitions in one measurement.
const MAX_TIMES: usize = 128;

/// The next measurement: run `candidate` `times` times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub candidate: usize,
    pub times: usize,
}

/// Measurements of candidates in turn.
pub struct Trial {
    /// For each candidate: its number of runs, and its best time per repetition in seconds. The first run does not count, because it
    /// includes compilation.
    candidates: Vec<(usize, Option<f64>)>,
    /// Repetitions per measurement.
    times: usize,
    /// Maximum duration of all measurements together, in seconds. First runs do not count, because they include compilation.
    most_seconds: f64,
    /// Seconds spent in all measurements so far, and in the longest one.
    spent: f64,
    longest: f64,
}

impl Trial {
    pub fn new(n: usize, most_seconds: f64) -> Self {
        Self { candidates: vec![(0, None); n], times: 1, most_seconds, spent: 0.0, longest: 0.0 }
    }

    /// The next run. `None` if all candidates are measured, or time is up.
    pub fn next(&self) -> Option<Run> {
        // The first candidate shows how many repetitions the others need.
        let turns = if self.candidates.first()?.1.is_none() { 1 } else { self.candidates.len() };
        let (candidate, &(runs, _)) = self.candidates[..turns].iter().enumerate().min_by_key(|(_, (runs, _))| *runs)?;
        let has_time = self.spent + self.longest <= self.most_seconds;
        (runs <= ROUNDS && has_time).then_some(Run { candidate, times: if runs == 0 { 1 } else { self.times } })
    }

    /// Records that the run from [`Trial::next`] took `seconds`.
    pub fn took(&mut self, seconds: f64) {
        let Some(Run { candidate, times }) = self.next() else { return };
        let (runs, best) = &mut self.candidates[candidate];
        if *runs > 0 {
            self.spent += seconds;
            self.longest = self.longest.max(seconds);
            if candidate == 0 && best.is_none() && seconds < MIN_SECONDS && times < MAX_TIMES {
                self.times *= 2;
                return;
            }
            let each = seconds / times as f64;
            *best = Some(best.map_or(each, |best| best.min(each)));
        }
        *runs += 1;
    }

    /// Best time of each candidate per repetition, in seconds; `None` if it was not measured.
    pub fn times(&self) -> impl Iterator<Item = Option<f64>> {
        self.candidates.iter().map(|&(_, best)| best)
    }

    /// The fastest measured candidate, or the first of equals.
    pub fn best(&self) -> Option<usize> {
        let measured = self.times().enumerate().filter_map(|(i, best)| best.map(|best| (i, best)));
        measured.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(i, _)| i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX_SECONDS: f64 = 0.16;
    /// Seconds for compilation.
    const COMPILING: f64 = 0.2;

    /// Simulates a trial. Candidates take `seconds` each, and a submission takes `overhead` more. Returns the best candidate, the number
    /// of runs of each, and the elapsed seconds without compilation.
    fn played(seconds: &[f64], overhead: f64) -> (Option<usize>, Vec<usize>, f64) {
        let (mut trial, mut runs, mut elapsed) = (Trial::new(seconds.len(), MAX_SECONDS), vec![0; seconds.len()], 0.0);
        while let Some(Run { candidate, times }) = trial.next() {
            let took = overhead + times as f64 * seconds[candidate];
            elapsed += if runs[candidate] == 0 { 0.0 } else { took };
            trial.took(took + if runs[candidate] == 0 { COMPILING } else { 0.0 });
            runs[candidate] += 1;
        }
        (trial.best(), runs, elapsed)
    }

    #[test]
    fn fastest_is_found_at_any_gpu_speed() {
        // Times of a product of 4 GFLOP at about 6, 0.6 and 0.14 TFLOP/s.
        for speed in [1.0, 10.0, 40.0] {
            for best in 0..3 {
                let mut seconds = [speed * 7e-4; 3];
                seconds[best] *= 0.8;
                let (found, runs, elapsed) = played(&seconds, 1e-4);
                assert_eq!(found, Some(best), "{speed}");
                assert!(elapsed <= MAX_SECONDS, "{speed}: {elapsed} s");
                assert!(runs.iter().all(|&runs| runs >= 2), "{speed}: {runs:?}");
            }
        }
    }

    #[test]
    fn times_of_all_candidates_are_kept() {
        let (mut trial, seconds) = (Trial::new(2, MAX_SECONDS), [0.02, 0.01]);
        assert!(trial.times().all(|time| time.is_none()));
        while let Some(Run { candidate, times }) = trial.next() {
            trial.took(times as f64 * seconds[candidate]);
        }
        assert_eq!(trial.times().collect::<Vec<_>>(), seconds.map(Some));
    }

    #[test]
    fn fast_gpu_repeats_until_measurements_are_long_enough() {
        let (_, runs, elapsed) = played(&[5e-4, 4e-4, 6e-4], 1e-4);
        // The first candidate is too fast with 1, 2, 4 and 8 repetitions.
        assert_eq!(runs, [1 + 4 + 3, 1 + 3, 1 + 3]);
        assert!(elapsed > 9.0 * MIN_SECONDS, "{elapsed} s");
    }

    #[test]
    fn slow_gpu_keeps_first_shape() {
        let (best, runs, elapsed) = played(&[0.12, 0.05, 0.05], 1e-3);
        assert_eq!((best, &runs[..]), (Some(0), &[2, 0, 0][..]));
        assert!(elapsed < MAX_SECONDS, "{elapsed} s");
    }

    #[test]
    fn stopped_clock_ends_trial() {
        let (best, runs, _) = played(&[0.0; 3], 0.0);
        assert_eq!(best, Some(0));
        assert!(runs.iter().all(|&runs| runs < 20), "{runs:?}");
    }
}

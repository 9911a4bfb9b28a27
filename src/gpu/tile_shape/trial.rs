//! Which of several candidates is the fastest, found in little time. Pure: whoever runs them says how long that took.

/// How long a measurement should take at least, in seconds: many times what a submission costs by itself.
const LEAST_SECONDS: f64 = 0.01;
/// How long all measurements may take together, in seconds; first runs, which compile, not counted.
const MOST_SECONDS: f64 = 0.3;
/// How often each candidate is measured; its best time counts.
const ROUNDS: usize = 3;
/// The most repetitions in one measurement.
const MOST_TIMES: usize = 64;

/// What to do next: run this candidate so many times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub candidate: usize,
    pub times: usize,
}

/// Measurements of candidates by turns.
pub struct Trial {
    /// Of each candidate, how often it ran and the best time of one repetition, in seconds; its first run, which compiles, gives none.
    candidates: Vec<(usize, Option<f64>)>,
    /// Repetitions in a measurement.
    times: usize,
    /// In measurements so far, and in the longest one.
    spent: f64,
    longest: f64,
}

impl Trial {
    pub fn new(n: usize) -> Self {
        Self { candidates: vec![(0, None); n], times: 1, spent: 0.0, longest: 0.0 }
    }

    /// The next run; `None` where all are measured, or there is no more time.
    pub fn next(&self) -> Option<Run> {
        // The first one says how much time the others need.
        let turns = if self.candidates.first()?.1.is_none() { 1 } else { self.candidates.len() };
        let (candidate, &(runs, _)) = self.candidates[..turns].iter().enumerate().min_by_key(|(_, (runs, _))| *runs)?;
        let has_time = self.spent + self.longest <= MOST_SECONDS;
        (runs <= ROUNDS && has_time).then_some(Run { candidate, times: if runs == 0 { 1 } else { self.times } })
    }

    /// The run that [`Trial::next`] told took so many seconds.
    pub fn took(&mut self, seconds: f64) {
        let Some(Run { candidate, times }) = self.next() else { return };
        let (runs, best) = &mut self.candidates[candidate];
        if *runs > 0 {
            self.spent += seconds;
            self.longest = self.longest.max(seconds);
            if candidate == 0 && best.is_none() && seconds < LEAST_SECONDS && times < MOST_TIMES {
                self.times *= 2;
                return;
            }
            let each = seconds / times as f64;
            *best = Some(best.map_or(each, |best| best.min(each)));
        }
        *runs += 1;
    }

    /// The fastest of those that were measured; the first of equals.
    pub fn best(&self) -> Option<usize> {
        let measured = self.candidates.iter().enumerate().filter_map(|(i, (_, best))| best.map(|best| (i, best)));
        measured.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(i, _)| i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What compiling takes.
    const COMPILING: f64 = 0.2;

    /// Candidates that take so many seconds each on a GPU that needs `overhead` for a submission: the best one, how often each was run, and
    /// the seconds that took, compiling not counted.
    fn played(seconds: &[f64], overhead: f64) -> (Option<usize>, Vec<usize>, f64) {
        let (mut trial, mut runs, mut elapsed) = (Trial::new(seconds.len()), vec![0; seconds.len()], 0.0);
        while let Some(Run { candidate, times }) = trial.next() {
            let took = overhead + times as f64 * seconds[candidate];
            elapsed += if runs[candidate] == 0 { 0.0 } else { took };
            trial.took(took + if runs[candidate] == 0 { COMPILING } else { 0.0 });
            runs[candidate] += 1;
        }
        (trial.best(), runs, elapsed)
    }

    #[test]
    fn the_fastest_is_found_on_gpus_of_any_speed() {
        // A product of 6 GFLOP takes so long at a hundredth, a tenth .. of 40 TFLOP/s.
        for speed in [1.0, 10.0, 100.0] {
            for best in 0..3 {
                let mut seconds = [speed * 7e-4; 3];
                seconds[best] *= 0.8;
                let (found, runs, elapsed) = played(&seconds, 1e-4);
                assert_eq!(found, Some(best), "{speed}");
                assert!(elapsed <= MOST_SECONDS, "{speed}: {elapsed} s");
                assert!(runs.iter().all(|&runs| runs >= 2), "{speed}: {runs:?}");
            }
        }
    }

    #[test]
    fn a_fast_gpu_measures_each_three_times_and_repeats_until_that_takes_long_enough() {
        let (_, runs, elapsed) = played(&[5e-4, 4e-4, 6e-4], 1e-4);
        // Of the first one, 1, 2, 4, 8 and 16 repetitions are too few.
        assert_eq!(runs, [1 + 5 + 3, 1 + 3, 1 + 3]);
        assert!(elapsed > 9.0 * LEAST_SECONDS, "{elapsed} s");
    }

    #[test]
    fn a_slow_gpu_keeps_the_first_shape_where_there_is_no_time_for_others() {
        let (best, runs, elapsed) = played(&[0.25, 0.1, 0.1], 1e-3);
        assert_eq!((best, &runs[..]), (Some(0), &[2, 0, 0][..]));
        assert!(elapsed < MOST_SECONDS, "{elapsed} s");
    }

    #[test]
    fn a_clock_that_stands_still_ends_the_trial_too() {
        let (best, runs, _) = played(&[0.0; 3], 0.0);
        assert_eq!(best, Some(0));
        assert!(runs.iter().all(|&runs| runs < 20), "{runs:?}");
    }
}

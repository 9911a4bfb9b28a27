//! Progress of a run: waiting for the model, answering, measuring.

use crate::app::analysis::number;
use crate::app::i18n::{plural, t};

#[derive(Clone, Debug, Default, PartialEq)]
pub enum RunStatus {
    /// No run is in progress, and there is no outcome to show.
    #[default]
    Idle,
    /// The outcome of the last run, in words.
    Done(String),
    /// The model is being loaded first.
    Preparing,
    Answering {
        answer: String,
        tokens: usize,
    },
    Measuring {
        /// Passes done and planned.
        passes: [usize; 2],
        started_millis: f64,
        now_millis: f64,
        stage: Stage,
    },
    /// A follow-up question about the explanation on screen: what it measures in words, and passes done and planned.
    FollowUp {
        what: &'static str,
        passes: [usize; 2],
    },
    /// A changed prompt is being answered, or the answer continued from an alternative. Contains the number of tokens so far.
    AnsweringAgain(usize),
}

/// What a measurement shows so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Shares of the sentences that are measured.
    Measured,
    /// Estimates, too, for the sentences that are not measured yet.
    Estimated,
    /// Shares of all sentences, each measured alone. Pairs refine them.
    Refined,
}

impl RunStatus {
    pub fn answering() -> Self {
        Self::Answering { answer: String::new(), tokens: 0 }
    }

    pub fn measuring(planned: usize, now_millis: f64) -> Self {
        Self::Measuring { passes: [0, planned], started_millis: now_millis, now_millis, stage: Stage::Measured }
    }

    pub fn follow_up(what: &'static str) -> Self {
        Self::FollowUp { what, passes: [0, 0] }
    }

    pub fn is_active(&self) -> bool {
        !matches!(self, Self::Idle | Self::Done(_))
    }

    /// Adds a token to the answer.
    pub fn token(&mut self, piece: &str) {
        match self {
            Self::Answering { answer, tokens } => {
                answer.push_str(piece);
                *tokens += 1;
            }
            Self::AnsweringAgain(tokens) => *tokens += 1,
            _ => {}
        }
    }

    /// Updates the passes done and planned.
    pub fn passes_done(&mut self, done: [usize; 2], now: f64) {
        match self {
            Self::Measuring { passes, now_millis, .. } => (*passes, *now_millis) = (done, now),
            Self::FollowUp { passes, .. } => *passes = done,
            _ => {}
        }
    }

    /// Records that estimates are shown for sources that are not measured yet.
    pub fn estimated(&mut self) {
        self.enter(Stage::Estimated);
    }

    /// Records that every sentence is measured alone.
    pub fn refined(&mut self) {
        self.enter(Stage::Refined);
    }

    fn enter(&mut self, next: Stage) {
        if let Self::Measuring { stage, .. } = self {
            *stage = next;
        }
    }

    /// The answer so far.
    pub fn answer(&self) -> Option<&str> {
        if let Self::Answering { answer, .. } = self { Some(answer) } else { None }
    }

    /// The current phase in words that change rarely, because screen readers read them aloud.
    pub fn phase(&self) -> String {
        match self {
            Self::Idle => String::new(),
            Self::Done(outcome) => outcome.clone(),
            Self::Preparing => t!("Loading the model first").into(),
            Self::Answering { .. } => t!("The model is answering").into(),
            Self::FollowUp { what, .. } => (*what).into(),
            Self::AnsweringAgain(_) => t!("The model is answering again").into(),
            Self::Measuring { stage: Stage::Measured, .. } => {
                t!("Measuring source by source. Shares cover only the sources measured so far").into()
            }
            Self::Measuring { stage: Stage::Estimated, .. } => {
                t!("Measuring source by source. Until then, ~ marks an estimate from the information flow").into()
            }
            Self::Measuring { stage: Stage::Refined, .. } => t!("Every source is measured. Pairs of sources now refine the shares").into(),
        }
    }

    /// Progress in words: "forward pass 4 of 12, about 3 s left".
    pub fn detail(&self) -> String {
        match self {
            Self::Answering { tokens, .. } | Self::AnsweringAgain(tokens) if *tokens > 0 => plural!(n = *tokens, "{n} token", "{n} tokens"),
            Self::Measuring { passes: [done, planned], .. } => match self.seconds_left().map(number::wait) {
                Some(time) => t!("forward pass {done} of {planned}, {time} left", done, planned, time),
                None => t!("forward pass {done} of {planned}", done, planned),
            },
            Self::FollowUp { passes: [done, planned], .. } if *planned > 0 => t!("forward pass {done} of {planned}", done, planned),
            _ => String::new(),
        }
    }

    /// Completed fraction in [0, 1]. `None` if it is unknown.
    pub fn progress(&self) -> Option<f64> {
        match self {
            Self::Measuring { passes: [done, planned], .. } | Self::FollowUp { passes: [done, planned], .. } => {
                Some(*done as f64 / (*planned).max(1) as f64)
            }
            _ => None,
        }
    }

    /// Estimated time left, from the mean time per pass. It is often too long, because later sources have shorter suffixes.
    fn seconds_left(&self) -> Option<f64> {
        match self {
            Self::Measuring { passes: [done, planned], started_millis, now_millis, .. } if *done > 0 => {
                let each = (now_millis - started_millis) / 1e3 / *done as f64;
                Some(each * planned.saturating_sub(*done) as f64)
            }
            _ => None,
        }
    }

    /// The outcome in words, if the engine was terminated during the run.
    pub fn interrupted(&self) -> String {
        match self {
            Self::Measuring { passes, .. } => self.outcome(*passes),
            _ => t!("Stopped").into(),
        }
    }

    /// The outcome in words, for a run with these passes done and planned.
    pub fn outcome(&self, [done, planned]: [usize; 2]) -> String {
        match self {
            _ if done < planned => t!("Stopped after {done} of {planned} forward passes", done, planned),
            Self::Measuring { started_millis, now_millis, .. } => {
                let seconds = number::with_point(&format!("{:.1}", (now_millis - started_millis) / 1e3));
                plural!(
                    n = done,
                    "Explained with {n} forward pass in {seconds} s",
                    "Explained with {n} forward passes in {seconds} s",
                    seconds
                )
            }
            _ => plural!(n = done, "Explained with {n} forward pass", "Explained with {n} forward passes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn four_of_twelve() -> RunStatus {
        let mut run = RunStatus::measuring(12, 1_000.0);
        run.passes_done([4, 12], 2_500.0);
        run
    }

    #[test]
    fn progress_says_passes_and_time_left() {
        assert_eq!(four_of_twelve().detail(), "forward pass 4 of 12, about 3 s left");
        assert_eq!(four_of_twelve().progress(), Some(4.0 / 12.0));
    }

    #[test]
    fn no_time_is_promised_before_the_first_pass() {
        assert_eq!(RunStatus::measuring(12, 0.0).detail(), "forward pass 0 of 12");
    }

    #[test]
    fn pieces_of_the_answer_add_up() {
        let mut run = RunStatus::answering();
        ["The ", "answer."].iter().for_each(|piece| run.token(piece));
        assert_eq!((run.answer(), run.detail()), (Some("The answer."), "2 tokens".into()));
    }

    #[test]
    fn the_outcome_tells_a_whole_run_from_a_stopped_one() {
        assert_eq!(four_of_twelve().outcome([12, 12]), "Explained with 12 forward passes in 1.5 s");
        assert_eq!(four_of_twelve().outcome([4, 12]), "Stopped after 4 of 12 forward passes");
        assert!(!RunStatus::Done(String::new()).is_active());
    }
}

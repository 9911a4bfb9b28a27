//! How far a run is: waiting for the model, answering, measuring.

use crate::app::analysis::number;

#[derive(Clone, Debug, Default, PartialEq)]
pub enum RunStatus {
    /// Nothing goes on, and nothing did.
    #[default]
    Idle,
    /// What the last run came to.
    Done(String),
    /// The model is being loaded first.
    Preparing,
    Answering {
        answer: String,
        tokens: usize,
    },
    Measuring {
        /// Done and planned.
        passes: [usize; 2],
        started_millis: f64,
        now_millis: f64,
        /// What is not measured yet is shown by estimates.
        is_estimated: bool,
    },
    /// A question about the explanation on screen, in words; passes done and planned.
    FollowUp {
        what: &'static str,
        passes: [usize; 2],
    },
    /// The prompt without some sentences is being answered; tokens so far.
    AnsweringAgain(usize),
}

impl RunStatus {
    pub fn answering() -> Self {
        Self::Answering { answer: String::new(), tokens: 0 }
    }

    pub fn measuring(planned: usize, now_millis: f64) -> Self {
        Self::Measuring { passes: [0, planned], started_millis: now_millis, now_millis, is_estimated: false }
    }

    pub fn follow_up(what: &'static str) -> Self {
        Self::FollowUp { what, passes: [0, 0] }
    }

    pub fn is_active(&self) -> bool {
        !matches!(self, Self::Idle | Self::Done(_))
    }

    /// One more piece of the answer.
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

    /// Passes done and planned by now.
    pub fn passes_done(&mut self, done: [usize; 2], now: f64) {
        match self {
            Self::Measuring { passes, now_millis, .. } => (*passes, *now_millis) = (done, now),
            Self::FollowUp { passes, .. } => *passes = done,
            _ => {}
        }
    }

    /// There is a first picture of what is to be measured.
    pub fn estimated(&mut self) {
        if let Self::Measuring { is_estimated, .. } = self {
            *is_estimated = true;
        }
    }

    /// The answer so far.
    pub fn answer(&self) -> Option<&str> {
        if let Self::Answering { answer, .. } = self { Some(answer) } else { None }
    }

    /// What goes on, in words that change seldom (they are read aloud).
    pub fn phase(&self) -> String {
        match self {
            Self::Idle => String::new(),
            Self::Done(outcome) => outcome.clone(),
            Self::Preparing => "Loading the model first".into(),
            Self::Answering { .. } => "The model is answering".into(),
            Self::FollowUp { what, .. } => (*what).into(),
            Self::AnsweringAgain(_) => "The model is answering again, without the excluded sentences".into(),
            Self::Measuring { is_estimated: false, .. } => "Measuring sentence by sentence; shares are among those measured so far".into(),
            Self::Measuring { .. } => "Measuring sentence by sentence; until then, ~ marks an estimate by information flow".into(),
        }
    }

    /// How far it is: "model run 4 of 12, about 3 s left".
    pub fn detail(&self) -> String {
        match self {
            Self::Answering { tokens, .. } | Self::AnsweringAgain(tokens) if *tokens > 0 => number::counted(*tokens, "token"),
            Self::Measuring { passes: [done, planned], .. } => {
                let left = self.seconds_left().map(|seconds| format!(", {} left", number::wait(seconds)));
                format!("model run {done} of {planned}{}", left.unwrap_or_default())
            }
            Self::FollowUp { passes: [done, planned], .. } if *planned > 0 => format!("model run {done} of {planned}"),
            _ => String::new(),
        }
    }

    /// The part that is done, in [0, 1], where that is known.
    pub fn progress(&self) -> Option<f64> {
        match self {
            Self::Measuring { passes: [done, planned], .. } | Self::FollowUp { passes: [done, planned], .. } => {
                Some(*done as f64 / (*planned).max(1) as f64)
            }
            _ => None,
        }
    }

    /// Passes differ in length (later sources have shorter suffixes), so this errs on the long side.
    fn seconds_left(&self) -> Option<f64> {
        match self {
            Self::Measuring { passes: [done, planned], started_millis, now_millis, .. } if *done > 0 => {
                let each = (now_millis - started_millis) / 1e3 / *done as f64;
                Some(each * planned.saturating_sub(*done) as f64)
            }
            _ => None,
        }
    }

    /// What is said where the engine was ended in the middle of it.
    pub fn interrupted(&self) -> String {
        match self {
            Self::Measuring { passes, .. } => self.outcome(*passes),
            _ => "Stopped".into(),
        }
    }

    /// What is said at the end of a run with `passes` made and planned.
    pub fn outcome(&self, [done, planned]: [usize; 2]) -> String {
        let seconds = match self {
            Self::Measuring { started_millis, now_millis, .. } => format!(" in {:.1} s", (now_millis - started_millis) / 1e3),
            _ => String::new(),
        };
        match done < planned {
            true => format!("Stopped after {done} of {planned} model runs"),
            false => format!("Explained with {done} {}{seconds}", if done == 1 { "model run" } else { "model runs" }),
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
        assert_eq!(four_of_twelve().detail(), "model run 4 of 12, about 3 s left");
        assert_eq!(four_of_twelve().progress(), Some(4.0 / 12.0));
    }

    #[test]
    fn no_time_is_promised_before_the_first_pass() {
        assert_eq!(RunStatus::measuring(12, 0.0).detail(), "model run 0 of 12");
    }

    #[test]
    fn pieces_of_the_answer_add_up() {
        let mut run = RunStatus::answering();
        ["The ", "answer."].iter().for_each(|piece| run.token(piece));
        assert_eq!((run.answer(), run.detail()), (Some("The answer."), "2 tokens".into()));
    }

    #[test]
    fn the_outcome_tells_a_whole_run_from_a_stopped_one() {
        assert_eq!(four_of_twelve().outcome([12, 12]), "Explained with 12 model runs in 1.5 s");
        assert_eq!(four_of_twelve().outcome([4, 12]), "Stopped after 4 of 12 model runs");
        assert!(!RunStatus::Done(String::new()).is_active());
    }
}

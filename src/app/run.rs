//! One run as the visitor sees it: waiting for the model, answering, measuring.

use super::number;

#[derive(Clone, Debug, Default, PartialEq)]
pub enum Run {
    /// Nothing goes on; what the last run came to.
    #[default]
    Idle,
    Done(String),
    /// The model is being loaded first.
    Preparing,
    Answering {
        answer: String,
        tokens: usize,
    },
    Measuring {
        /// Made and planned.
        passes: [usize; 2],
        started_millis: f64,
        now_millis: f64,
    },
    /// Something about the explanation on screen, in words; passes made and planned.
    Beside {
        what: &'static str,
        passes: [usize; 2],
    },
    /// The prompt without some sentences is being answered; tokens so far.
    Retrying(usize),
}

impl Run {
    pub fn answering() -> Self {
        Self::Answering { answer: String::new(), tokens: 0 }
    }

    pub fn measuring(planned: usize, now_millis: f64) -> Self {
        Self::Measuring { passes: [0, planned], started_millis: now_millis, now_millis }
    }

    pub fn beside(what: &'static str) -> Self {
        Self::Beside { what, passes: [0, 0] }
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
            Self::Retrying(tokens) => *tokens += 1,
            _ => {}
        }
    }

    /// Passes made and planned by now.
    pub fn passed(&mut self, done: [usize; 2], now: f64) {
        match self {
            Self::Measuring { passes, now_millis, .. } => (*passes, *now_millis) = (done, now),
            Self::Beside { passes, .. } => *passes = done,
            _ => {}
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
            Self::Beside { what, .. } => (*what).into(),
            Self::Retrying(_) => "The model is answering again, without what was marked".into(),
            Self::Measuring { .. } => "Measuring sentence by sentence; shares are among those measured so far".into(),
        }
    }

    /// How far it is: "pass 4 of 12, about 3 s left".
    pub fn detail(&self) -> String {
        match self {
            Self::Answering { tokens, .. } | Self::Retrying(tokens) if *tokens > 0 => number::counted(*tokens, "token"),
            Self::Measuring { passes: [made, planned], .. } => {
                let left = self.seconds_left().map(|seconds| format!(", {} left", number::wait(seconds)));
                format!("pass {made} of {planned}{}", left.unwrap_or_default())
            }
            Self::Beside { passes: [made, planned], .. } if *planned > 0 => format!("pass {made} of {planned}"),
            _ => String::new(),
        }
    }

    /// The part that is done, in [0, 1], where that is known.
    pub fn progress(&self) -> Option<f64> {
        match self {
            Self::Measuring { passes: [made, planned], .. } | Self::Beside { passes: [made, planned], .. } => {
                Some(*made as f64 / (*planned).max(1) as f64)
            }
            _ => None,
        }
    }

    /// Passes differ in length (later sources have shorter suffixes), so this errs on the long side.
    fn seconds_left(&self) -> Option<f64> {
        match self {
            Self::Measuring { passes: [made, planned], started_millis, now_millis } if *made > 0 => {
                let each = (now_millis - started_millis) / 1e3 / *made as f64;
                Some(each * planned.saturating_sub(*made) as f64)
            }
            _ => None,
        }
    }

    /// What is said where the engine was ended in the middle of it.
    pub fn broken_off(&self) -> String {
        match self {
            Self::Measuring { passes, .. } => self.outcome(*passes),
            _ => "Stopped".into(),
        }
    }

    /// What is said at the end of a run with `passes` made and planned.
    pub fn outcome(&self, [made, planned]: [usize; 2]) -> String {
        let seconds = match self {
            Self::Measuring { started_millis, now_millis, .. } => format!(" in {:.1} s", (now_millis - started_millis) / 1e3),
            _ => String::new(),
        };
        match made < planned {
            true => format!("Stopped after {made} of {planned} passes"),
            false => format!("Explained with {made} {}{seconds}", if made == 1 { "pass" } else { "passes" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn four_of_twelve() -> Run {
        let mut run = Run::measuring(12, 1_000.0);
        run.passed([4, 12], 2_500.0);
        run
    }

    #[test]
    fn progress_says_passes_and_time_left() {
        assert_eq!(four_of_twelve().detail(), "pass 4 of 12, about 3 s left");
        assert_eq!(four_of_twelve().progress(), Some(4.0 / 12.0));
    }

    #[test]
    fn no_time_is_promised_before_the_first_pass() {
        assert_eq!(Run::measuring(12, 0.0).detail(), "pass 0 of 12");
    }

    #[test]
    fn pieces_of_the_answer_add_up() {
        let mut run = Run::answering();
        ["The ", "answer."].iter().for_each(|piece| run.token(piece));
        assert_eq!((run.answer(), run.detail()), (Some("The answer."), "2 tokens".into()));
    }

    #[test]
    fn the_outcome_tells_a_whole_run_from_a_stopped_one() {
        assert_eq!(four_of_twelve().outcome([12, 12]), "Explained with 12 passes in 1.5 s");
        assert_eq!(four_of_twelve().outcome([4, 12]), "Stopped after 4 of 12 passes");
        assert!(!Run::Done(String::new()).is_active());
    }
}

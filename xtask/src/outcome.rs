//! Outcome of a check that not every machine can run.

pub enum Outcome {
    Checked,
    /// The reason.
    Skipped(String),
}

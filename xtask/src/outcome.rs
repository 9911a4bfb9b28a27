//! What came of a check that not every machine can make.

pub enum Outcome {
    Checked,
    /// Why not.
    Skipped(String),
}

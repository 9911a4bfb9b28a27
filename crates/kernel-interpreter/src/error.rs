//! Errors of kernels, with messages. Lines are WGSL lines.

use std::fmt;

/// Kind of memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// A load.
    Read,
    /// A store, or an atomic addition.
    Write,
}

/// Why a kernel did not run to its end.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum Error {
    /// naga cannot parse it or refuses it, or it has no compute shader `main`.
    #[error("the WGSL is not valid: {0}")]
    Invalid(String),
    /// Not supported by this interpreter. `what` is naga's name.
    #[error("line {line}: {what} is not supported by this interpreter")]
    Unsupported { what: String, line: u32 },
    /// A binding or a member does not exist, or a binding has too few words.
    #[error("the dispatch does not fit the kernel: {0}")]
    Dispatch(String),
    /// Two invocations access a word without a barrier between them, and one of them writes it. An index `word` counts 32-bit words.
    #[error("line {line}: data race on word {word} of {variable}: {second}, and {first} by another invocation, with no barrier between")]
    Race { variable: String, word: usize, first: Use, second: Use, line: u32 },
    /// A word of workgroup memory that no invocation of this workgroup has written.
    #[error("line {line}: word {word} of {variable} is read before anything was written to it")]
    Uninitialized { variable: String, word: usize, line: u32 },
    /// An index of an array or a vector. WGSL clamps such indices or ignores the access, so results would be wrong without an error.
    #[error("line {line}: index {index} of {length}")]
    OutOfBounds { index: u32, length: usize, line: u32 },
    /// Some invocations of a workgroup wait at this barrier, while others wait elsewhere or have ended.
    #[error("line {line}: not all invocations of the workgroup come to this barrier")]
    Divergence { line: u32 },
    /// An invocation executes more than 2^26 operations.
    #[error("line {line}: an invocation does not end")]
    Endless { line: u32 },
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
        })
    }
}

//! Errors of the renderer.

use glasscage_message::ToMessage;

pub type Result<T> = std::result::Result<T, JinjaError>;

/// Why a template was not rendered.
#[derive(Debug, PartialEq, Eq, thiserror::Error, ToMessage)]
pub enum JinjaError {
    #[error("it needs too much computation")]
    TooMuchWork,
    #[error("its steps or values nest too deep")]
    TooDeep,
    #[error("{0}")]
    Refused(String),
}

/// Error for a template that does something impossible or unsupported.
pub fn refused<T>(what: impl Into<String>) -> Result<T> {
    Err(JinjaError::Refused(what.into()))
}

impl From<minijinja::Error> for JinjaError {
    fn from(error: minijinja::Error) -> Self {
        Self::Refused(error.detail().map_or_else(|| error.kind().to_string(), str::to_owned))
    }
}

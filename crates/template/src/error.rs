//! Errors of the renderer.

pub type Result<T> = std::result::Result<T, JinjaError>;

/// Why a template was not rendered. The texts continue a sentence about the template.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "message", derive(glasscage_message::ToMessage))]
pub enum JinjaError {
    /// It would exceed its [`Budget`](crate::Budget).
    #[error("it needs too much computation")]
    TooMuchWork,
    /// Its steps would nest more than 200 deep, or its values more than 64.
    #[error("its steps or values nest too deep")]
    TooDeep,
    /// Its syntax is not valid, it called `raise_exception`, or it does something impossible or unsupported. The text says which.
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

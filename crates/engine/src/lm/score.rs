//! A shortcut for [`LanguageModel::score`].

use std::ops::ControlFlow;

use super::{LanguageModel, LmError, Readout, ScoreRequest};
use glasscage_message::message;

/// The readout of the base text of `request`.
pub async fn score_base(model: &mut impl LanguageModel, request: &ScoreRequest<'_>) -> Result<Readout, LmError> {
    let mut base = None;
    let score = model.score(request, async |_, readout| {
        base = Some(readout.clone());
        ControlFlow::Break(())
    });
    score.await?;
    base.ok_or_else(|| LmError::Engine(message!("the text was not scored")))
}

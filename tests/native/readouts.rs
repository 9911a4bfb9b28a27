//! Collects all readouts of a request.

use std::ops::ControlFlow;

use glasscage::lm::{LanguageModel, LmError, Readout, ScoreRequest};

/// Readouts of the base text and of the passes, in order.
pub async fn readouts(model: &mut impl LanguageModel, request: &ScoreRequest<'_>) -> Result<Vec<Readout>, LmError> {
    let mut readouts = Vec::new();
    let scored = model.score(request, async |number, readout| {
        assert_eq!(number, readouts.len(), "readouts come in order");
        readouts.push(readout.clone());
        ControlFlow::Continue(())
    });
    scored.await.map(|()| readouts)
}

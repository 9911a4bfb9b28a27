//! What a model says of the passes of a request, all of them.

use std::ops::ControlFlow;

use glasscage::lm::{LanguageModel, LmError, Readout, ScoreRequest};

/// In the order of the passes.
pub async fn readouts(model: &mut impl LanguageModel, request: &ScoreRequest<'_>) -> Result<Vec<Readout>, LmError> {
    let mut readouts = Vec::new();
    let scored = model.score(request, async |number, readout| {
        assert_eq!(number, readouts.len(), "readouts come in order");
        readouts.push(readout.clone());
        ControlFlow::Continue(())
    });
    scored.await.map(|()| readouts)
}

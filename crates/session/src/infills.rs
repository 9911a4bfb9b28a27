//! Fills in a masked language model's words for each source, for the method that needs them.

use std::ops::{ControlFlow, Range};

use super::loaded::Session;
use super::results::AnsweredQuestion;
use glasscage_attribution::AttributionMethod;
use glasscage_core::explanation::PlacedUnit;
use glasscage_engine::MaskedLmError;
use glasscage_engine::lm::{Callback, LanguageModel};
use glasscage_message::{ToMessage, message};
use glasscage_model::tokenizer::TokenId;
use glasscage_protocol::problem::Problem;

impl<M: LanguageModel> Session<M> {
    /// Errors if the method needs a masked language model and none is chosen. Called before the model answers.
    pub(super) fn check_masked_lm(&self, method: &AttributionMethod) -> Result<(), Problem> {
        if method.needs_masked_lm() && self.masked_lm.is_none() { Err(no_masked_lm()) } else { Ok(()) }
    }

    /// Prepares `answered` for `method`. If the method needs infills, each source gets as many replacement tokens as it has tokens. Infills
    /// are cut off, or padded with end tokens. Calls `on_step` before each infill. Breaks without infills if it cancels.
    pub async fn infill_sources(
        &self,
        method: &AttributionMethod,
        answered: &mut AnsweredQuestion,
        on_step: &mut dyn Callback<()>,
    ) -> Result<ControlFlow<()>, Problem> {
        let sources = 0..answered.segments.n_sources();
        self.infill_sources_of(method, answered, sources, on_step).await
    }

    /// Like [`Self::infill_sources`], but only for these sources. The infills of the others are empty.
    pub(super) async fn infill_sources_of(
        &self,
        method: &AttributionMethod,
        answered: &mut AnsweredQuestion,
        sources: Range<usize>,
        on_step: &mut dyn Callback<()>,
    ) -> Result<ControlFlow<()>, Problem> {
        if method.needs_masked_lm() {
            match self.masked_infills(answered, sources, on_step).await? {
                Some(infills) => answered.transcript.infills = infills,
                None => return Ok(ControlFlow::Break(())),
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns `None` if `on_step` cancels.
    async fn masked_infills(
        &self,
        AnsweredQuestion { document, transcript, segments, .. }: &AnsweredQuestion,
        sources: Range<usize>,
        on_step: &mut dyn Callback<()>,
    ) -> Result<Option<Vec<Vec<TokenId>>>, Problem> {
        let masked_lm = self.masked_lm.as_ref().ok_or_else(no_masked_lm)?;
        let texts = document.source_texts();
        let (mut text, mut spans) = (String::new(), vec![0..0; texts.len()]);
        let first_of_answer = document.prompt.sentences.len() + document.last_answer().row;
        for PlacedUnit { source, .. } in document.units_in_order() {
            if source == first_of_answer {
                text.push('\n');
            }
            spans[source] = text.len()..text.len() + texts[source].trim_end().len();
            text.push_str(texts[source]);
        }
        let tokens = masked_lm.tokens(&text);
        let mut infills = vec![Vec::new(); segments.n_sources()];
        for j in sources {
            if on_step.call(()).await.is_break() {
                return Ok(None);
            }
            let source = segments.source(j);
            let words = masked_lm.fill_tokens(&tokens, &spans[j]).map_err(masked_lm_failed)?;
            let ids = self.tokenizer.encode_continuation(&transcript.tokens[..source.start], &words).into_iter().map(|token| token.id);
            infills[j] = ids.chain(std::iter::repeat(transcript.end_token)).take(source.len()).collect();
        }
        Ok(Some(infills))
    }
}

fn masked_lm_failed(error: MaskedLmError) -> Problem {
    Problem::new(error.to_message(), message!("Choose other files in the settings, or another method"))
}

fn no_masked_lm() -> Problem {
    Problem::new(message!("this method needs a masked language model"), message!("Choose its files in the settings, or another method"))
}

//! Handles answers that end early: by Stop, by a problem, or at the maximum length in the settings.

use super::requests::question_of;
use crate::app::state::State;
use crate::app::state::library::ListAwaited;
use crate::app::state::place::Place;
use crate::app::state::purpose::Purpose;
use crate::app::state::run_status::RunStatus;
use crate::app::state::unfinished_answer::UnfinishedAnswer;
use crate::explanation::SentenceRule;
use crate::request::Question;

impl State {
    /// Keeps an answer that ends early, so that the visitor can decide what to do with it.
    pub(super) fn keep_unfinished_answer(&mut self) {
        let question = match self.engine.job.as_ref().map(|job| &job.purpose) {
            Some(Purpose::Explain(question)) => question.clone(),
            Some(Purpose::Recompute(document)) => question_of(document),
            _ => return,
        };
        // An answer with branches begins with tokens that are not its own, so its length so far says nothing.
        if !question.branches.is_empty() {
            return;
        }
        let RunStatus::Answering { answer, tokens } = &*self.engine.run else { return };
        let unfinished = UnfinishedAnswer { question, text: answer.clone(), tokens: *tokens };
        // Keep the longer answer if this one is only its beginning.
        let is_known = |known: &UnfinishedAnswer| known.tokens >= unfinished.tokens && known.text.starts_with(&unfinished.text);
        if !answer.trim().is_empty() && !self.engine.unfinished.as_ref().is_some_and(is_known) {
            *self.engine.unfinished = Some(unfinished);
        }
    }

    /// Asks the question again: the model repeats its words and continues.
    pub(super) fn continue_answer(&mut self) {
        if let Some(unfinished) = self.engine.unfinished.clone() {
            self.ask(unfinished.question);
        }
    }

    /// Explains the partial answer as far as it was written.
    pub(super) fn explain_so_far(&mut self) {
        if let Some(unfinished) = self.engine.unfinished.clone() {
            self.ask(unfinished.up_to_here());
        }
    }

    /// Answers again with twice the token limit of the answer on screen, or with the limit in the settings if that is higher.
    pub(super) fn raise_token_limit(&mut self) {
        let Some(question) = self.explanation.document().filter(|_| !self.engine.is_busy()).map(question_of) else { return };
        // Another model would write another answer.
        if self.lacks_model_of_document() && self.offers_model_of_document(ListAwaited::FollowUp) {
            return;
        }
        if let Some(problem) = self.engine.loaded().and_then(|_| self.check_model().err()) {
            return self.fail_at(Place::Explanation, problem);
        }
        let (max_tokens, max_context) = (self.editor.settings.max_tokens, self.editor.settings.max_context);
        let max_tokens = max_tokens.max(question.max_tokens.saturating_mul(2));
        self.editor.replace_question(&question, "", &self.engine, &mut self.outbox);
        *self.editor.is_open = true;
        // Do not reuse the document's sentence rule and language: they are the simplest that split the words so far, and may split the
        // following words wrongly.
        self.ask(Question { max_tokens, max_context, sentence_rule: SentenceRule::AnyScript, language: None, ..question });
    }
}

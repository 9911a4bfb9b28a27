//! Answers that end before the model has ended them: by Stop, by a problem, or at the longest that the settings allow.

use super::requests::question_of;
use crate::app::state::State;
use crate::app::state::purpose::Purpose;
use crate::app::state::run_status::RunStatus;
use crate::app::state::unfinished_answer::UnfinishedAnswer;
use crate::explanation::SentenceRule;
use crate::request::Question;

impl State {
    /// Keeps an answer that ends here, for the visitor to decide what becomes of it.
    pub(super) fn keep_unfinished_answer(&mut self) {
        let question = match self.engine.job.as_ref().map(|job| &job.purpose) {
            Some(Purpose::Explain(question)) => question.clone(),
            Some(Purpose::Recompute(document)) => question_of(document),
            _ => return,
        };
        let RunStatus::Answering { answer, tokens } = &*self.engine.run else { return };
        let unfinished = UnfinishedAnswer { question, text: answer.clone(), tokens: *tokens };
        // The same words again, and fewer of them.
        let is_known = |known: &UnfinishedAnswer| known.tokens >= unfinished.tokens && known.text.starts_with(&unfinished.text);
        if !answer.trim().is_empty() && !self.engine.unfinished.as_ref().is_some_and(is_known) {
            *self.engine.unfinished = Some(unfinished);
        }
    }

    /// Lets the model write the same words again, and go on.
    pub(super) fn go_on(&mut self) {
        if let Some(unfinished) = self.engine.unfinished.clone() {
            self.ask(unfinished.question);
        }
    }

    /// Explains an answer as far as it was written.
    pub(super) fn explain_so_far(&mut self) {
        if let Some(unfinished) = self.engine.unfinished.clone() {
            self.ask(unfinished.up_to_here());
        }
    }

    /// Lets the answer on screen, which was cut off, become twice as long, or as long as the settings allow.
    pub(super) fn lengthen(&mut self) {
        let Some(question) = self.explanation.document().filter(|_| !self.engine.is_busy()).map(question_of) else { return };
        let (max_tokens, max_context) = (self.editor.settings.max_tokens, self.editor.settings.max_context);
        let max_tokens = max_tokens.max(question.max_tokens.saturating_mul(2));
        self.replace_texts(&question.prompt, "");
        *self.editor.is_open = true;
        // What it was cut by made a difference to the words so far, if it is stated; to those that follow, any rule may.
        self.ask(Question { max_tokens, max_context, sentence_rule: SentenceRule::AnyScript, language: None, ..question });
    }
}

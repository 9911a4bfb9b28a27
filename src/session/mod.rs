//! One loaded model and what can be asked of it. The worker and the command line are thin shells around this.
//!
//! ```text
//! question ─► answer: frame the prompt, generate   ─► text: tokens, sentences ─► document: nothing measured yet
//!          ─► explain: a column of the table for each source;  deletion_curves, words: of the same answer
//! ```

mod answer;
mod document;
mod infills;
mod problems;
mod text;
mod words;

use std::ops::ControlFlow;
use std::rc::Rc;

use crate::attribution::deletion::{RANDOM_ORDERS, deletion_scores, random_orders};
use crate::attribution::measure::{MeasureProgress, Measured, MeasuredColumn, measure, n_passes};
use crate::attribution::{self, Segments, Transcript};
use crate::cpu::masked::MaskedLm;
use crate::engine::{self, Engine, LoadedEngine};
use crate::explanation::{Document, Model};
use crate::lm::LanguageModel;
use crate::model::chat::ChatTemplate;
use crate::model::gguf::Gguf;
use crate::model::source::ByteSource;
use crate::model::tokenizer::Tokenizer;
use crate::problem::Problem;
use crate::request::{BackendChoice, DeletionCurves, ExplainProgress, LoadProgress, LoadedModel, PassProgress, Question};
use crate::text::words::words as words_of;
use crate::version::GLASSCAGE;
use answer::GeneratedAnswer;

/// A model, ready to be asked.
pub struct Session<M> {
    pub lm: M,
    pub tokenizer: Tokenizer,
    template: Option<ChatTemplate>,
    /// The model that fills gaps from both sides, where the visitor chose one.
    pub masked_lm: Option<Rc<MaskedLm>>,
    model: Model,
    /// About the choice of the engine.
    notice: Option<String>,
    last_answer: Option<GeneratedAnswer>,
}

/// A question and its answer, ready to be measured.
pub struct AnsweredQuestion {
    /// Its table is empty.
    pub document: Document,
    pub transcript: Transcript,
    pub segments: Segments,
}

/// The result of [`Session::answer`].
pub enum AnswerResult {
    Answered(Box<AnsweredQuestion>),
    /// Stopped while answering; the answer so far.
    Stopped {
        answer: String,
    },
}

/// The result of [`Session::explain`].
#[derive(Debug)]
pub enum ExplainResult {
    /// The document; a partial one where the visitor stopped it while it was measured.
    Explained(Box<Document>),
    /// The engine failed while measuring: a partial document of what was measured by then, and the problem to show with it.
    Failed { measured: Box<Document>, problem: Problem },
    /// Stopped while answering; the answer so far.
    Stopped { answer: String },
}

impl Session<Engine> {
    /// Loads a GGUF file; `None` where `on_progress` broke off.
    pub async fn load(
        source: &impl ByteSource,
        backend: BackendChoice,
        on_progress: impl AsyncFnMut(LoadProgress) -> ControlFlow<()>,
    ) -> Result<Option<Self>, Problem> {
        let mut gguf = Gguf::read(source).await.map_err(problems::unreadable_file)?;
        // Its self-test needs memory that the tokenizer takes later.
        let chosen = engine::choose(source, &gguf, backend).await.map_err(problems::load_failed)?;
        let tokenizer = Tokenizer::from_metadata(&gguf.metadata).map_err(problems::unreadable_file)?;
        let template = ChatTemplate::from_metadata(&gguf.metadata, &tokenizer).map_err(problems::unreadable_file)?;
        gguf.metadata.forget_arrays();
        let loaded = engine::load(source, &gguf, chosen, on_progress).await.map_err(problems::load_failed)?;
        Ok(loaded.map(|LoadedEngine { engine, sha256, notice }| Self {
            lm: engine,
            tokenizer,
            template,
            masked_lm: None,
            model: document::describe_model(&gguf, sha256),
            notice,
            last_answer: None,
        }))
    }
}

impl<M: LanguageModel> Session<M> {
    /// What the page shows of the model.
    pub fn loaded_model(&self) -> LoadedModel {
        LoadedModel {
            model: self.model.clone(),
            context_length: self.lm.config().context_length,
            bytes_per_token: self.lm.config().bytes_per_token(),
            has_template: self.template.is_some(),
            backend: self.lm.backend().name,
            notice: self.notice.clone(),
            glasscage: GLASSCAGE.into(),
        }
    }

    /// Answers and explains; `on_progress` may break off.
    pub async fn explain(
        &mut self,
        question: &Question,
        mut on_progress: impl AsyncFnMut(ExplainProgress) -> ControlFlow<()>,
    ) -> Result<ExplainResult, Problem> {
        let method = method_of(question)?;
        if question.answer.is_none() {
            // Before the model writes an answer that is then too long with its prompt.
            words::check_cost(question.unit, method.passes * words_of(&question.prompt).len())?;
        }
        match self.answer(question, async |token| on_progress(ExplainProgress::Token(token)).await).await? {
            AnswerResult::Answered(answered) => self.measure(method, *answered, on_progress).await,
            AnswerResult::Stopped { answer } => Ok(ExplainResult::Stopped { answer }),
        }
    }

    /// Fills the table of an answered question.
    async fn measure(
        &mut self,
        method: &attribution::AttributionMethod,
        mut answered: AnsweredQuestion,
        mut on_progress: impl AsyncFnMut(ExplainProgress) -> ControlFlow<()>,
    ) -> Result<ExplainResult, Problem> {
        self.fill_gaps(method, &mut answered)?;
        let AnsweredQuestion { mut document, transcript, segments } = answered;
        let planned = n_passes(method, &segments);
        words::check_cost(document.unit, planned)?;
        document.method.passes = [0, planned];
        if on_progress(ExplainProgress::Answered(Box::new(document.clone()))).await.is_break() {
            return Ok(ExplainResult::Explained(Box::new(document)));
        }
        let mut passes_done = 0;
        let methods = [method];
        let measured = measure(&mut self.lm, &methods, &transcript, &segments, async |step| match step {
            MeasureProgress::Base => on_progress(ExplainProgress::BaseScored).await,
            MeasureProgress::Pass { done } => {
                passes_done = done;
                on_progress(ExplainProgress::Pass { done, planned }).await
            }
            MeasureProgress::Column(MeasuredColumn { source, scores, done }) => {
                passes_done = done;
                on_progress(ExplainProgress::Column { source, scores: scores[0].clone(), done, planned }).await
            }
        });
        let Measured { tables, failure } = measured.await;
        document.table = tables.into_iter().next().expect("a table a method");
        document.method.passes = [passes_done, planned];
        match failure.map(problems::engine_failed) {
            None => Ok(ExplainResult::Explained(Box::new(document))),
            Some(problem) if passes_done == 0 => Err(problem),
            Some(problem) => Ok(ExplainResult::Failed { measured: Box::new(document), problem }),
        }
    }

    /// The deletion test of a question's answer, by `orders` of the prompt's sentences and by random ones. `None` where `on_pass` broke
    /// off.
    pub async fn deletion_curves(
        &mut self,
        question: &Question,
        orders: &[Vec<usize>],
        on_pass: impl AsyncFnMut(PassProgress) -> ControlFlow<()>,
    ) -> Result<Option<DeletionCurves>, Problem> {
        let AnswerResult::Answered(answered) = self.answer(question, async |_| ControlFlow::Continue(())).await? else { return Ok(None) };
        let AnsweredQuestion { transcript, segments, .. } = *answered;
        let n_prompt = segments.prompt.len();
        if orders.iter().any(|order| order.len() != n_prompt || order.iter().any(|&j| j >= n_prompt)) {
            return Err(problems::other_sentences());
        }
        let all = [orders, &random_orders(n_prompt, RANDOM_ORDERS, 0)].concat();
        let scores = deletion_scores(&mut self.lm, &transcript, &segments, &all, on_pass).await.map_err(problems::engine_failed)?;
        Ok(scores.map(|mut curves| DeletionCurves { random: curves.split_off(orders.len()), curves }))
    }
}

/// The method that a question asks for.
fn method_of(question: &Question) -> Result<&'static attribution::AttributionMethod, Problem> {
    attribution::method(&question.method).ok_or_else(|| problems::unknown_method(&question.method))
}

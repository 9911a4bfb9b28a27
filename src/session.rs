//! One loaded model and what is asked of it: frame, generate, split, perturb, and write the document.
//!
//! The worker and the command line are thin shells around this.

mod infills;
mod words;

use std::ops::{ControlFlow, Range};
use std::rc::Rc;

use crate::attribution::deletion::{deletion_scores, random_orders};
use crate::attribution::run::{Column, Measured, Step, measure, n_passes};
use crate::attribution::{self, Replacement, Segments, Transcript};
use crate::cpu::masked::MaskedLm;
use crate::engine::{self, Engine, Loaded};
use crate::explanation::{Aggregation, Answer, Document, FORMAT, Manifest, Method, Model, Passage, Sampling, Stop, Unit, VERSION};
use crate::graph::Normalization;
use crate::lm::generate::{self, generate};
use crate::lm::sample::Sampler;
use crate::lm::{LanguageModel, LmError, LoadError};
use crate::model::chat::{self, ChatTemplate, Date};
use crate::model::gguf::Gguf;
use crate::model::source::ByteSource;
use crate::model::tokenizer::{TokenId, Tokenizer};
use crate::problem::Problem;
use crate::request::{BackendChoice, DeletionCurves, ExplainProgress, LoadProgress, LoadedModel, PassProgress, Question};
use crate::text::sentences::{sentences, tile};
use crate::text::spans::{first_visible, tokens_of_sentences};
use crate::text::stream::TextStream;
use crate::text::words::words as words_of;
use crate::version::GLASSCAGE;

/// Chat templates may print the date; a fixed one (that of Llama 3.1's template) keeps results reproducible.
fn template_date() -> Date {
    Date::new(2024, 7, 26).expect("there was such a day")
}

/// Of a deletion test: their mean is what chance would do.
const RANDOM_ORDERS: usize = 3;

/// A model, ready to be asked.
pub struct Session<M> {
    pub lm: M,
    pub tokenizer: Tokenizer,
    template: Option<ChatTemplate>,
    /// What fills gaps from both sides, where the visitor chose one.
    pub masked_lm: Option<Rc<MaskedLm>>,
    model: Model,
    /// About the choice of the engine.
    notice: Option<String>,
}

/// A question and its answer, ready to be measured.
pub struct Answered {
    /// Its table is empty.
    pub document: Document,
    pub transcript: Transcript,
    pub segments: Segments,
}

/// What became of [`Session::answer`].
pub enum Reply {
    Answered(Box<Answered>),
    /// Broken off; the answer so far.
    Stopped {
        answer: String,
    },
}

/// What became of [`Session::explain`].
#[derive(Debug)]
pub enum Outcome {
    /// Partial where it was broken off while measuring.
    Explained(Box<Document>),
    /// The engine failed while measuring; what was measured by then.
    Failed { measured: Box<Document>, problem: Problem },
    /// Broken off while answering; the answer so far.
    Stopped { answer: String },
}

/// What the model reads before it answers: the prompt's tokens in the middle, those of the frame around them.
struct Context {
    ids: Vec<TokenId>,
    /// Position of the prompt's first token.
    prompt_start: usize,
    /// The bytes of the prompt that each of its tokens covers.
    prompt_spans: Vec<Range<usize>>,
}

/// The answer in tokens: `spans[i]` are the bytes of `text` that token `i` covers.
struct Tokenized {
    text: String,
    ids: Vec<TokenId>,
    spans: Vec<Range<usize>>,
}

/// Prompt and answer, cut into sentences.
struct Split {
    segments: Segments,
    prompt: Passage,
    generation: Passage,
}

impl Session<Engine> {
    /// Loads a GGUF file; `None` where `on_progress` broke off.
    pub async fn load(
        source: &impl ByteSource,
        backend: BackendChoice,
        on_progress: impl AsyncFnMut(LoadProgress) -> ControlFlow<()>,
    ) -> Result<Option<Self>, Problem> {
        let mut gguf = Gguf::read(source).await.map_err(unreadable)?;
        // Its trial needs memory that the tokenizer takes later.
        let chosen = engine::choose(source, &gguf, backend).await.map_err(unloadable)?;
        let tokenizer = Tokenizer::from_metadata(&gguf.metadata).map_err(unreadable)?;
        let template = ChatTemplate::from_metadata(&gguf.metadata, &tokenizer).map_err(unreadable)?;
        gguf.metadata.forget_arrays();
        let Some(Loaded { engine, sha256, notice }) = engine::load(source, &gguf, chosen, on_progress).await.map_err(unloadable)? else {
            return Ok(None);
        };
        Ok(Some(Self { lm: engine, tokenizer, template, masked_lm: None, model: describe(&gguf, sha256), notice }))
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
    ) -> Result<Outcome, Problem> {
        let method = known_method(question)?;
        if question.answer.is_none() {
            // Before the model writes an answer that is then too long with its prompt.
            words::check_cost(question, method.passes * words_of(&question.prompt).len())?;
        }
        let mut answered = match self.answer(question, async |token| on_progress(ExplainProgress::Token(token)).await).await? {
            Reply::Answered(answered) => *answered,
            Reply::Stopped { answer } => return Ok(Outcome::Stopped { answer }),
        };
        self.fill_gaps(method, &mut answered)?;
        let Answered { mut document, transcript, segments } = answered;
        let planned = n_passes(method, &segments);
        words::check_cost(question, planned)?;
        document.method.passes = [0, planned];
        let mut passes_done = 0;
        if on_progress(ExplainProgress::Answered(Box::new(document.clone()))).await.is_continue() {
            let methods = [method];
            let measured = measure(&mut self.lm, &methods, &transcript, &segments, async |step| match step {
                Step::Base => on_progress(ExplainProgress::BaseScored).await,
                Step::Pass { done } => {
                    passes_done = done;
                    on_progress(ExplainProgress::Pass { done, planned }).await
                }
                Step::Column(Column { source, scores, done }) => {
                    passes_done = done;
                    on_progress(ExplainProgress::Column { source, scores: scores[0].clone(), done, planned }).await
                }
            });
            let Measured { tables, failure } = measured.await;
            document.table = tables.into_iter().next().expect("a table a method");
            document.method.passes = [passes_done, planned];
            match failure.map(engine_problem) {
                None => {}
                Some(problem) if passes_done == 0 => return Err(problem),
                Some(problem) => return Ok(Outcome::Failed { measured: Box::new(document), problem }),
            }
        }
        Ok(Outcome::Explained(Box::new(document)))
    }

    /// The deletion test of a given answer (or of a new one), by `orders` of the prompt's sentences and by random ones. `None` where
    /// `on_pass` broke off.
    pub async fn check(
        &mut self,
        question: &Question,
        orders: &[Vec<usize>],
        mut on_pass: impl AsyncFnMut(PassProgress) -> ControlFlow<()>,
    ) -> Result<Option<DeletionCurves>, Problem> {
        let Reply::Answered(answered) = self.answer(question, async |_| ControlFlow::Continue(())).await? else { return Ok(None) };
        let Answered { transcript, segments, .. } = *answered;
        let n_prompt = segments.prompt.len();
        if orders.iter().any(|order| order.len() != n_prompt || order.iter().any(|&j| j >= n_prompt)) {
            return Err(Problem::new(
                "this explanation cuts the prompt into other sentences than this page",
                "Make it again here, then check that.",
            ));
        }
        let all = [orders, &random_orders(n_prompt, RANDOM_ORDERS, 0)].concat();
        let scores = deletion_scores(&mut self.lm, &transcript, &segments, &all, async |[done, planned]| {
            on_pass(PassProgress { done, planned }).await
        })
        .await
        .map_err(engine_problem)?;
        Ok(scores.map(|mut curves| DeletionCurves { random: curves.split_off(orders.len()), curves }))
    }

    /// Answers, or takes the answer given, and prepares what is to be measured. `on_token` gets the characters that each token
    /// completes, and may break off.
    pub async fn answer(
        &mut self,
        question: &Question,
        mut on_token: impl AsyncFnMut(String) -> ControlFlow<()>,
    ) -> Result<Reply, Problem> {
        let method = known_method(question)?;
        if sentences(&question.prompt).is_empty() {
            return Err(Problem::new("the prompt is empty", "Write a question or choose an example."));
        }
        check_sampling(&question.sampling)?;
        let context = self.frame(question)?;
        if context.ids.is_empty() {
            return Err(Problem::new("the model has no token for this prompt", "Write it in other characters, or choose another model."));
        }
        let limit = self.longest_text(question);
        // At least one token of the answer has to fit.
        let room = limit.saturating_sub(context.ids.len());
        if room == 0 {
            return Err(self.too_long(context.ids.len() + 1, limit));
        }
        let (answered, origin) = self.answer_tokens(question, &context.ids, room, &mut on_token).await?;
        if let Answer::Generated { stop: Stop::Cancelled, .. } = origin {
            return Ok(Reply::Stopped { answer: answered.text });
        }
        let split = split(question, &context, &answered)?;
        let start = context.ids.len();
        let tokens = [context.ids, answered.ids].concat();
        if tokens.len() > limit {
            return Err(self.too_long(tokens.len(), limit));
        }
        let control_tokens = self.tokenizer.control_tokens();
        let generation = start..tokens.len();
        let transcript = Transcript { generation, tokens, end_token: self.tokenizer.eos(), control_tokens, infills: Vec::new() };
        let document = self.document(question, method, split.prompt, split.generation, origin);
        Ok(Reply::Answered(Box::new(Answered { document, transcript, segments: split.segments })))
    }

    /// The prompt in the model's chat frame, or plain.
    fn frame(&self, question: &Question) -> Result<Context, Problem> {
        let template = self.template.as_ref().filter(|_| question.use_template);
        let framed = chat::frame(template, &self.tokenizer, &question.prompt, template_date())
            .map_err(|error| Problem::new(error.to_string(), "Switch the chat template off, or choose another model."))?;
        let is_prompt = |token: &chat::FramedToken| framed.prompt.contains(&first_visible(&framed.text, &token.span));
        let of_prompt = |token: &chat::FramedToken| token.prompt.clone().filter(|_| is_prompt(token));
        let prompt_start = framed.tokens.iter().position(|token| of_prompt(token).is_some()).unwrap_or(0);
        let prompt_end = framed.tokens.iter().rposition(|token| of_prompt(token).is_some()).map_or(prompt_start, |last| last + 1);
        let mut reached = 0;
        // A token in between may cover nothing: a space that the tokenizer added.
        let spans = framed.tokens[prompt_start..prompt_end].iter().map(|token| {
            let span = of_prompt(token).unwrap_or(reached..reached);
            reached = span.end;
            span
        });
        let prompt_spans = spans.collect();
        Ok(Context { ids: framed.ids(), prompt_start, prompt_spans })
    }

    /// Tokens of prompt and answer together that the model can read and the visitor allows.
    fn longest_text(&self, question: &Question) -> usize {
        let own = self.lm.config().context_length;
        question.max_context.map_or(own, |chosen| chosen.min(own))
    }

    fn too_long(&self, tokens: usize, limit: usize) -> Problem {
        let own = self.lm.config().context_length;
        if limit == own {
            return engine_problem(LmError::TooLong { tokens, limit });
        }
        Problem::new(
            format!("prompt and answer have {tokens} tokens, {} more than the {limit} that the settings allow", tokens - limit),
            format!("Shorten the prompt, or allow a longer text in the settings: this model can read {own} tokens."),
        )
    }

    async fn answer_tokens(
        &mut self,
        question: &Question,
        context: &[TokenId],
        room: usize,
        on_token: &mut impl AsyncFnMut(String) -> ControlFlow<()>,
    ) -> Result<(Tokenized, Answer), Problem> {
        if let Some(answer) = &question.answer {
            let (ids, spans) = self.tokenizer.encode_continuation(context, answer).into_iter().map(|token| (token.id, token.span)).unzip();
            return Ok((Tokenized { text: answer.clone(), ids, spans }, Answer::Given {}));
        }
        let Sampling { temperature, top_k, top_p, seed } = question.sampling;
        let mut sampler = Sampler::new(temperature, top_k, top_p, seed);
        let mut stream = TextStream::default();
        let tokenizer = &self.tokenizer;
        let generated = generate(&mut self.lm, tokenizer, context, &mut sampler, question.max_tokens.min(room), async |token| {
            // Half a character is told too: every token is a chance to stop.
            on_token(stream.push(tokenizer.bytes(token))).await
        });
        let generated = generated.await.map_err(engine_problem)?;
        let stop = match generated.stop {
            generate::Stop::End => Stop::End,
            generate::Stop::Length => Stop::Length,
            generate::Stop::Cancelled => Stop::Cancelled,
        };
        let answer = Answer::Generated { sampling: question.sampling, max_tokens: question.max_tokens, stop };
        Ok((Tokenized::from_ids(generated.tokens, &self.tokenizer), answer))
    }

    /// What stands in place of a source's tokens, in words.
    pub fn replacement(&self, method: &attribution::Method) -> String {
        match method.replacement {
            Replacement::EndToken => self.tokenizer.name(self.tokenizer.eos()),
            Replacement::Infill => "the model\u{2019}s own words".into(),
            Replacement::MaskedLm => "words of a masked language model".into(),
            Replacement::Nothing => "nothing".into(),
        }
    }

    fn document(
        &self,
        question: &Question,
        method: &attribution::Method,
        prompt: Passage,
        generation: Passage,
        answer: Answer,
    ) -> Document {
        let backend = self.lm.backend();
        Document {
            format: FORMAT.into(),
            version: VERSION,
            unit: question.unit,
            table: crate::table::Table::unmeasured(prompt.sentences.len(), generation.sentences.len()),
            output: vec![generation.sentences.len() - 1],
            prompt,
            generation,
            method: Method {
                id: method.id.into(),
                aggregation: Aggregation::Mean,
                normalization: Normalization::Full,
                replacement: self.replacement(method),
                passes: [0, 0],
            },
            manifest: Manifest {
                model: self.model.clone(),
                template: if question.use_template && self.template.is_some() { "chat" } else { "none" }.into(),
                answer,
                backend: backend.name,
                precision: backend.precision,
                table_precision: "f64".into(),
                glasscage: GLASSCAGE.into(),
            },
        }
    }
}

impl Tokenized {
    /// The text that `ids` stand for; bytes that are no UTF-8 become U+FFFD.
    fn from_ids(ids: Vec<TokenId>, tokenizer: &Tokenizer) -> Self {
        let mut bytes = Vec::new();
        let ends: Vec<usize> = ids
            .iter()
            .map(|&id| {
                bytes.extend_from_slice(tokenizer.bytes(id));
                bytes.len()
            })
            .collect();
        let mut text = String::new();
        // Where in the text each of the bytes is.
        let mut place = Vec::with_capacity(bytes.len() + 1);
        for chunk in bytes.utf8_chunks() {
            place.extend(text.len()..text.len() + chunk.valid().len());
            text.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                place.extend(std::iter::repeat_n(text.len(), chunk.invalid().len()));
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        place.push(text.len());
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let spans = starts.zip(&ends).map(|(start, &end)| place[start]..place[end]).collect();
        Self { text, ids, spans }
    }
}

/// Cuts prompt and answer into sentences and finds the tokens of each.
fn split(question: &Question, context: &Context, answer: &Tokenized) -> Result<Split, Problem> {
    let Question { prompt, unit, .. } = question;
    if sentences(&answer.text).is_empty() || answer.ids.is_empty() {
        return Err(Problem::new(
            "the answer is empty: there is nothing to explain",
            "Ask differently, or write the answer to explain yourself.",
        ));
    }
    let (prompt_sentences, prompt_tokens) = units_and_tokens(*unit, prompt, &context.prompt_spans);
    let (answer_sentences, answer_tokens) = units_and_tokens(*unit, &answer.text, &answer.spans);
    let passage = |text: &str, sentences: &[Range<usize>], tokens: &[Range<usize>]| {
        Passage::new(text, sentences, tokens.iter().map(Range::len).collect())
    };
    let shift = |ranges: &[Range<usize>], by: usize| ranges.iter().map(|range| range.start + by..range.end + by).collect();
    Ok(Split {
        prompt: passage(prompt, &prompt_sentences, &prompt_tokens),
        generation: passage(&answer.text, &answer_sentences, &answer_tokens),
        segments: Segments { prompt: shift(&prompt_tokens, context.prompt_start), generation: shift(&answer_tokens, context.ids.len()) },
    })
}

fn units_and_tokens(unit: Unit, text: &str, spans: &[Range<usize>]) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let found = match unit {
        Unit::Sentence => sentences(text),
        Unit::Word => words_of(text),
    };
    let units = tile(text, &found);
    let tokens = tokens_of_sentences(text, &units, spans);
    (units, tokens)
}

fn known_method(question: &Question) -> Result<&'static attribution::Method, Problem> {
    attribution::method(&question.method)
        .ok_or_else(|| Problem::new(format!("there is no method {:?}", question.method), "Choose another method."))
}

/// What the sampler cannot work with.
fn check_sampling(sampling: &Sampling) -> Result<(), Problem> {
    let &Sampling { temperature, top_k, top_p, .. } = sampling;
    let facts = [
        (temperature == 0.0 || (0.01..=100.0).contains(&temperature), "the temperature has to be 0, or from 0.01 to 100"),
        (top_k.is_none_or(|k| k > 0), "top-k has to be at least 1"),
        (top_p.is_none_or(|p| p > 0.0 && p <= 1.0), "top-p has to be above 0 and at most 1"),
    ];
    match facts.iter().find(|(holds, _)| !holds) {
        Some((_, what)) => Err(Problem::new(*what, "Change it in the settings.")),
        None => Ok(()),
    }
}

fn describe(gguf: &Gguf, sha256: String) -> Model {
    let text = |key: &str| gguf.metadata.str(key).unwrap_or_default().to_owned();
    Model {
        name: text("general.name"),
        architecture: text("general.architecture"),
        quantization: gguf.main_quant().map_or(String::new(), |quant| quant.name.to_owned()),
        parameters: gguf.n_parameters(),
        bytes: gguf.size,
        sha256,
    }
}

/// What a visitor can do about an engine that failed.
fn engine_problem(error: LmError) -> Problem {
    let remedy = match &error {
        LmError::TooLong { .. } => "Shorten the prompt, or choose a model with a longer context.",
        LmError::OutOfGpuMemory { .. } => "Shorten the prompt, choose a smaller model, or add ?backend=cpu to the address of this page.",
        LmError::DeviceLost(_) => "Press Explain again: the engine starts anew by itself.",
        _ => "Press Explain to try again.",
    };
    Problem::new(error.to_string(), remedy)
}

/// A model that could not be loaded: because of the file, or because of the engine.
fn unloadable(error: LoadError) -> Problem {
    match error {
        LoadError::Engine(error) => {
            Problem::new(error.to_string(), "Choose a smaller model, or add ?backend=cpu to the address of this page.")
        }
        LoadError::TooLarge => Problem::new(error.to_string(), "Choose a smaller model, or close other tabs."),
        error => unreadable(error),
    }
}

fn unreadable(error: impl std::error::Error) -> Problem {
    Problem::new(error.to_string(), "Choose another model file, or download this one again.")
}

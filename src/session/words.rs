//! A source opened to its words: each perturbed alone, everything else as for sentences.

use std::ops::{ControlFlow, Range};

use super::{Answered, Reply, Session, engine_problem, known_method};
use crate::attribution::run::{Column, Step, measure_columns};
use crate::attribution::{Segments, Transcript};
use crate::explanation::Unit;
use crate::lm::LanguageModel;
use crate::model::tokenizer::TokenId;
use crate::problem::Problem;
use crate::request::{PassProgress, Question, Word};

/// For a graph of words.
const MOST_PASSES: usize = 240;

/// A graph of words takes a pass for each word, or several: of a long text that is more than anybody waits for, or reads.
pub(super) fn check_cost(question: &Question, passes: usize) -> Result<(), Problem> {
    if question.unit == Unit::Sentence || passes <= MOST_PASSES {
        return Ok(());
    }
    let what = format!("Word by word this text would take {passes} passes, more than the {MOST_PASSES} that are made at most");
    Err(Problem::new(what, "Explain it by sentences and open single ones to their words, or shorten it."))
}

/// A word of a source: its text, its tokens in the transcript, its number among all words.
struct Part {
    text: String,
    tokens: Range<usize>,
    number: usize,
}

impl<M: LanguageModel> Session<M> {
    /// What each word of `source` does alone to the sentences after it, by the question's method. `None` where `on_pass`
    /// broke off. For each word as many passes as the method makes for a sentence.
    pub async fn words(
        &mut self,
        question: &Question,
        source: usize,
        mut on_pass: impl AsyncFnMut(PassProgress) -> ControlFlow<()>,
    ) -> Result<Option<Vec<Word>>, Problem> {
        let method = known_method(question)?;
        let in_units = |unit| Question { unit, ..question.clone() };
        let Some(by_sentences) = self.answered(&in_units(Unit::Sentence)).await? else { return Ok(None) };
        let Some(mut by_words) = self.answered(&in_units(Unit::Word)).await? else { return Ok(None) };
        self.fill_gaps(method, &mut by_words)?;
        let segments = &by_sentences.segments;
        if source >= segments.n_sources() {
            return Err(Problem::new("No sentence comes after this one, so it has no influence", "Open an earlier one."));
        }
        let parts = parts(&by_sentences, &by_words, source);
        let opened = opened(segments, source, &parts);
        let planned = method.passes * parts.iter().filter(|part| !part.tokens.is_empty()).count();
        let (methods, columns) = ([method], source..source + parts.len());
        let transcript = Transcript { infills: infills(&by_words, source, &parts), ..by_sentences.transcript };
        let measured = measure_columns(&mut self.lm, &methods, &transcript, &opened, columns, async |step| match step {
            Step::Base => on_pass(PassProgress { done: 0, planned }).await,
            Step::Pass { done } | Step::Column(Column { done, .. }) => on_pass(PassProgress { done, planned }).await,
        });
        let measured = measured.await;
        if let Some(failure) = measured.failure {
            return Err(engine_problem(failure));
        }
        let table = &measured.tables[0];
        let first_target = table.n_generated() - segments.targets(source).len();
        let word = |(k, Part { text, tokens, .. }): (usize, Part)| {
            let scores = (first_target..table.n_generated()).map(|i| table.row(i)[source + k]).collect::<Option<Vec<f64>>>()?;
            Some(Word { text, tokens: tokens.len(), scores })
        };
        Ok(parts.into_iter().enumerate().map(word).collect())
    }

    /// The text of a question with its answer; `None` where the answer was broken off.
    async fn answered(&mut self, question: &Question) -> Result<Option<Answered>, Problem> {
        match self.answer(question, async |_| ControlFlow::Continue(())).await? {
            Reply::Answered(answered) => Ok(Some(*answered)),
            Reply::Stopped { .. } => Ok(None),
        }
    }
}

/// The sentences of the text, with the words of `source` in its place.
fn opened(segments: &Segments, source: usize, parts: &[Part]) -> Segments {
    let mut opened = segments.clone();
    let (passage, at) = match source.checked_sub(segments.prompt.len()) {
        None => (&mut opened.prompt, source),
        Some(i) => (&mut opened.generation, i),
    };
    passage.splice(at..at + 1, parts.iter().map(|part| part.tokens.clone()));
    opened
}

/// What a masked language model says in place of the words, by their numbers in [`opened`]; nothing where none was asked.
fn infills(by_words: &Answered, source: usize, parts: &[Part]) -> Vec<Vec<TokenId>> {
    let infill = |part: &Part| Some(by_words.transcript.infills.get(part.number)?.get(..part.tokens.len())?.to_vec());
    let infills: Option<Vec<_>> = parts.iter().map(infill).collect();
    infills.map_or_else(Vec::new, |infills| vec![Vec::new(); source].into_iter().chain(infills).collect())
}

/// The words that lie in `source`, or the parts of words that do: a sentence may end within one.
fn parts(by_sentences: &Answered, by_words: &Answered, source: usize) -> Vec<Part> {
    let n_prompt = by_sentences.document.prompt.sentences.len();
    let n_prompt_words = by_words.document.prompt.sentences.len();
    let (passage, words, word_tokens, first, [start, end]) = match source.checked_sub(n_prompt) {
        None => {
            let prompt = &by_sentences.document.prompt;
            (prompt, &by_words.document.prompt, &by_words.segments.prompt, 0, prompt.sentences[source])
        }
        Some(i) => {
            let generation = &by_sentences.document.generation;
            (generation, &by_words.document.generation, &by_words.segments.generation, n_prompt_words, generation.sentences[i])
        }
    };
    let tokens = by_sentences.segments.source(source);
    let part = |(w, (&[word_start, word_end], word_tokens)): (usize, (&[usize; 2], &Range<usize>))| {
        let (from, to) = (word_start.max(start), word_end.min(end));
        let inside = word_tokens.start.max(tokens.start)..word_tokens.end.min(tokens.end);
        let text: String = passage.text.chars().skip(from).take(to.saturating_sub(from)).collect();
        let tokens = if inside.start < inside.end { inside } else { tokens.start..tokens.start };
        (from < to).then_some(Part { text, tokens, number: first + w })
    };
    words.sentences.iter().zip(word_tokens).enumerate().filter_map(part).collect()
}

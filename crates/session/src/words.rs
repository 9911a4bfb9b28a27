//! Measures a source word by word. Each word is perturbed alone. Everything else is the same as for whole sources.

use std::ops::{ControlFlow, Range};

use super::loaded::Session;
use super::problems::{self, method_of};
use super::results::AnsweredQuestion;
use glasscage_attribution::measure::measure_columns;
use glasscage_attribution::measured::{MeasureProgress, MeasureRequest, MeasuredColumn};
use glasscage_attribution::pairs::MAX_PASSES;
use glasscage_attribution::{Segments, Transcript};
use glasscage_core::explanation::Unit;
use glasscage_engine::lm::{Callback, LanguageModel};
use glasscage_message::message;
use glasscage_model::tokenizer::TokenId;
use glasscage_protocol::problem::Problem;
use glasscage_protocol::request::{PassProgress, Question, Word};

/// Maximum number of words into which a source is opened.
const MAX_WORDS: usize = 240;

/// Errors if an explanation by words takes too many passes. Each word takes one or more passes, so a long text is too slow and gives too
/// much to read. Other units need no limit of their own, because a text has at most about as many lines as sentences.
pub(super) fn check_cost(unit: Unit, passes: usize) -> Result<(), Problem> {
    if !unit.is_word() || passes <= MAX_PASSES {
        return Ok(());
    }
    Err(Problem::new(
        message!("Word by word this text would take {passes} forward passes, more than the limit of {MAX_PASSES}"),
        message!("Explain it by sentences and open single sentences to their words, or shorten it"),
    ))
}

fn too_many_words(n_words: usize) -> Problem {
    Problem::new(
        message!("This has {n_words} words, and at most {MAX_WORDS} can be measured one by one"),
        message!("Explain the text by smaller units, or shorten it"),
    )
}

/// A word of a source: its text, its tokens in the transcript, its index among all words.
struct SourceWord {
    text: String,
    tokens: Range<usize>,
    number: usize,
}

impl<M: LanguageModel> Session<M> {
    /// The effect of each word of `source` on the sentences after it, by the question's method. Each word takes as many passes as the
    /// method makes for a sentence. Errors if the source has too many words. `None` if `on_pass` cancels.
    pub async fn words(
        &mut self,
        question: &Question,
        source: usize,
        on_pass: &mut dyn Callback<PassProgress>,
    ) -> Result<Option<Vec<Word>>, Problem> {
        let method = method_of(question, self.lm.config())?;
        let text = self.answered_text(question, &mut async |_| ControlFlow::Continue(())).await?;
        if text.was_stopped() {
            return Ok(None);
        }
        let unit = if question.unit.is_word() { Unit::Sentence } else { question.unit };
        let by_units = self.prepare(question, method, unit, &text)?;
        let mut by_words = self.prepare(question, method, Unit::Word, &text)?;
        let segments = &by_units.segments;
        if source >= segments.n_sources() {
            return Err(Problem::new(
                message!("No sentence comes after this one, so it has no influence"),
                message!("Expand an earlier sentence"),
            ));
        }
        let words = words_of_source(&by_units, &by_words, source);
        let n_words = words.iter().filter(|word| !word.tokens.is_empty()).count();
        if n_words > MAX_WORDS {
            return Err(too_many_words(n_words));
        }
        let planned = method.text().passes() * n_words;
        let numbers = words.first().map_or(0, |first| first.number)..words.last().map_or(0, |last| last.number + 1);
        let mut on_infill = async |()| on_pass.call(PassProgress { done: 0, planned }).await;
        if self.infill_sources_of(method, &mut by_words, numbers, &mut on_infill).await?.is_break() {
            return Ok(None);
        }
        let expanded = expanded(segments, source, &words);
        let (methods, columns) = ([method], source..source + words.len());
        let transcript = Transcript { infills: infills(&by_words, source, &words), ..by_units.transcript };
        let mut on_step = async |step| match step {
            MeasureProgress::Base { .. } => on_pass.call(PassProgress { done: 0, planned }).await,
            MeasureProgress::Pass { done } | MeasureProgress::Column(MeasuredColumn { done, .. }) => {
                on_pass.call(PassProgress { done, planned }).await
            }
        };
        let request = MeasureRequest::new(&methods, &transcript, &expanded);
        let measured = measure_columns(&mut self.lm, &request, columns, &mut on_step).await;
        if let Some(failure) = measured.failure {
            return Err(problems::engine_failed(failure));
        }
        let table = &measured.tables[0];
        let first_target = table.n_generated() - segments.targets(source).len();
        let word = |(k, SourceWord { text, tokens, .. }): (usize, SourceWord)| {
            let scores = (first_target..table.n_generated()).map(|i| table.row(i)[source + k]).collect::<Option<Vec<f64>>>()?;
            Some(Word { text, tokens: tokens.len(), scores })
        };
        Ok(words.into_iter().enumerate().map(word).collect())
    }
}

/// The sources of the text, with the words of `source` in its place.
fn expanded(segments: &Segments, source: usize, words: &[SourceWord]) -> Segments {
    let mut expanded = segments.clone();
    let (passage, at) = match source.checked_sub(segments.prompt.len()) {
        None => (&mut expanded.prompt, source),
        Some(i) => (&mut expanded.generation, i),
    };
    passage.splice(at..at + 1, words.iter().map(|word| word.tokens.clone()));
    expanded
}

/// The masked language model's infills for the words, by their indices in [`expanded`]. Empty if the method uses no infills.
fn infills(by_words: &AnsweredQuestion, source: usize, words: &[SourceWord]) -> Vec<Vec<TokenId>> {
    let infill = |word: &SourceWord| Some(by_words.transcript.infills.get(word.number)?.get(..word.tokens.len())?.to_vec());
    let infills: Option<Vec<_>> = words.iter().map(infill).collect();
    infills.map_or_else(Vec::new, |infills| vec![Vec::new(); source].into_iter().chain(infills).collect())
}

/// The words in `source`. A unit may end within a word, which then counts only with its part in `source`.
fn words_of_source(by_units: &AnsweredQuestion, by_words: &AnsweredQuestion, source: usize) -> Vec<SourceWord> {
    let n_prompt = by_units.document.prompt.sentences.len();
    let n_prompt_words = by_words.document.prompt.sentences.len();
    let (passage, words, word_tokens, first, [start, end]) = match source.checked_sub(n_prompt) {
        None => {
            let prompt = &by_units.document.prompt;
            (prompt, &by_words.document.prompt, &by_words.segments.prompt, 0, prompt.sentences[source])
        }
        Some(i) => {
            let generation = &by_units.document.generation;
            (generation, &by_words.document.generation, &by_words.segments.generation, n_prompt_words, generation.sentences[i])
        }
    };
    let tokens = by_units.segments.source(source);
    let word = |(w, (&[word_start, word_end], word_tokens)): (usize, (&[usize; 2], &Range<usize>))| {
        let (from, to) = (word_start.max(start), word_end.min(end));
        let inside = word_tokens.start.max(tokens.start)..word_tokens.end.min(tokens.end);
        let text: String = passage.text.chars().skip(from).take(to.saturating_sub(from)).collect();
        let tokens = if inside.start < inside.end { inside } else { tokens.start..tokens.start };
        (from < to).then_some(SourceWord { text, tokens, number: first + w })
    };
    words.sentences.iter().zip(word_tokens).enumerate().filter_map(word).collect()
}

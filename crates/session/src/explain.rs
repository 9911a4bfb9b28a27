//! Explains answers: measures the table source by source, and runs the deletion test.

use std::ops::{ControlFlow, Range};

use super::loaded::Session;
use super::problems::{self, method_of};
use super::prompt::ReadPrompt;
use super::results::{AnswerResult, AnsweredQuestion, ExplainResult};
use super::text::fewest_units;
use super::tokens::{Predictions, tokens};
use super::words;
use glasscage_attribution::deletion::{RANDOM_ORDERS, deletion_scores, random_orders};
use glasscage_attribution::groups::{self, GroupEffects, measure_groups};
use glasscage_attribution::measure::{measure, n_passes};
use glasscage_attribution::measured::{MeasureProgress, MeasureRequest, Measured, MeasuredColumn, MeasuredPairs};
use glasscage_attribution::support::measure_support;
use glasscage_attribution::{self as attribution, Segments, Transcript};
use glasscage_core::explanation::{Document, DocumentError, JointEffect, Weighting, citation_marks};
use glasscage_engine::lm::{Callback, LanguageModel, LmError};
use glasscage_protocol::problem::Problem;
use glasscage_protocol::request::{DeletionCurves, ExplainProgress, PassProgress, Question};
use glasscage_text::spans::first_visible;
use glasscage_text::words::words as words_of;

impl<M: LanguageModel> Session<M> {
    /// Answers the question and explains the answer. `on_progress` can cancel.
    pub async fn explain(
        &mut self,
        question: &Question,
        on_progress: &mut dyn Callback<ExplainProgress>,
    ) -> Result<ExplainResult, Problem> {
        let method = method_of(question, self.lm.config())?;
        self.check_masked_lm(method)?;
        if question.answer.is_none() && question.unit.is_word() {
            // Check the prompt alone first, because the answer takes time and only adds passes.
            let words = words_of(&ReadPrompt::of(question)?.whole_text()).len();
            words::check_cost(question.unit, method.text().passes() * words)?;
        }
        // If the model cannot read the prompt, report that problem instead.
        problems::check_units(fewest_units(question)).or_else(|problem| self.framed(question).and(Err(problem)))?;
        match self.answer(question, &mut async |token| on_progress.call(ExplainProgress::answering(token)).await).await? {
            AnswerResult::Answered(answered) => self.measure(method, *answered, on_progress).await,
            AnswerResult::Stopped { answer } => Ok(ExplainResult::Stopped { answer }),
        }
    }

    /// Fills the table of an answered question.
    async fn measure(
        &mut self,
        method: &attribution::AttributionMethod,
        mut answered: AnsweredQuestion,
        on_progress: &mut dyn Callback<ExplainProgress>,
    ) -> Result<ExplainResult, Problem> {
        match answered.document.check() {
            // The flow that weights the scores is measured together with them, so it is missing here.
            Ok(()) | Err(DocumentError::Flow) => {}
            Err(error) => return Err(problems::not_a_document(error)),
        }
        let for_table = n_passes(method, &answered.transcript, &answered.segments);
        words::check_cost(answered.document.unit, for_table)?;
        let planned = for_table + groups::n_passes(&answered.groups);
        answered.document.method.passes = [0, planned];
        let mut flow = on_progress.call(ExplainProgress::Answered(Box::new(answered.document.clone()))).await;
        if flow.is_continue() {
            let mut on_infill = async |()| on_progress.call(ExplainProgress::Pass { done: 0, planned }).await;
            flow = self.infill_sources(method, &mut answered, &mut on_infill).await?;
        }
        let AnsweredQuestion { mut document, transcript, segments, statements, groups, spans, .. } = answered;
        if flow.is_break() {
            return Ok(ExplainResult::Explained(Box::new(document)));
        }
        let mut passes_done = 0;
        let methods = [method];
        let mut on_step = async |step| match step {
            MeasureProgress::Base { flow } => on_progress.call(ExplainProgress::BaseScored { flow }).await,
            MeasureProgress::Pass { done } => {
                passes_done = done;
                on_progress.call(ExplainProgress::Pass { done, planned }).await
            }
            MeasureProgress::Column(MeasuredColumn { source, scores, done }) => {
                passes_done = done;
                let scores = scores.into_iter().next().expect("a column a method");
                on_progress.call(ExplainProgress::Column { source, scores, done, planned }).await
            }
        };
        // A method without passes is as fast as the flow, so it needs no estimates.
        let flow_first = method.text().passes() > 0;
        let request = MeasureRequest { flow_first, top_tokens: true, ..MeasureRequest::new(&methods, &transcript, &segments) };
        let Measured { tables, mut failure, base, top_tokens, pairs } = measure(&mut self.lm, &request, &mut on_step).await;
        document.table = tables.into_iter().next().expect("a table a method");
        if let Some(pairs) = pairs {
            enter_pairs(&mut document, &spans, pairs);
        }
        document.method.passes = [passes_done, planned];
        if let Some(log_probs) = base.as_deref().filter(|log_probs| log_probs.len() == top_tokens.len()) {
            let predictions = Predictions { log_probs, top_tokens: &top_tokens };
            let text = &document.generation.text;
            document.tokens = tokens(text, &spans, &transcript, &segments, &predictions, &self.tokenizer);
            document = document.versioned();
        }
        let is_measured = passes_done == for_table && document.is_complete();
        if failure.is_none() && is_measured && !document.unit.is_word() {
            match measure_support(&mut self.lm, &transcript, &statements, &segments.generation, base.as_deref()).await {
                Ok(support) => document.support = support,
                Err(error) => failure = Some(error).filter(LmError::is_failure),
            }
        }
        if failure.is_none() && is_measured && !groups.is_empty() {
            let counted = claims(&document, &spans, &transcript, &segments);
            let mut on_pass = async |done: usize| {
                document.method.passes[0] = for_table + done;
                on_progress.call(ExplainProgress::Pass { done: for_table + done, planned }).await
            };
            let measured = measure_groups(&mut self.lm, &transcript, &groups, &counted, base.as_deref(), &mut on_pass).await;
            let GroupEffects { effects, failure: failed } = measured;
            document.groups.iter_mut().zip(effects).for_each(|(group, effects)| group.effects = effects);
            failure = failed;
        }
        // A faulty GPU may have computed earlier passes incorrectly, too.
        let is_worthless = passes_done == 0 && !document.is_complete() || matches!(failure, Some(LmError::FaultyGpu(_)));
        match failure.map(problems::engine_failed) {
            None => Ok(ExplainResult::Explained(Box::new(document))),
            Some(problem) if is_worthless => Err(problem),
            Some(problem) => Ok(ExplainResult::Failed { measured: Box::new(document), problem }),
        }
    }

    /// Runs the deletion test on a question's answer, with `orders` of the prompt's sentences and with random orders. Explained earlier
    /// answers stay in the text, and only the last answer is scored. `None` if `on_pass` cancels.
    pub async fn deletion_curves(
        &mut self,
        question: &Question,
        orders: &[Vec<usize>],
        on_pass: &mut dyn Callback<PassProgress>,
    ) -> Result<Option<DeletionCurves>, Problem> {
        let AnswerResult::Answered(answered) = self.answer(question, &mut async |_| ControlFlow::Continue(())).await? else {
            return Ok(None);
        };
        let AnsweredQuestion { transcript, answer, segments, .. } = *answered;
        let transcript = Transcript { generation: answer, ..transcript };
        let n_prompt = segments.prompt.len();
        if orders.iter().any(|order| order.len() != n_prompt || order.iter().any(|&j| j >= n_prompt)) {
            return Err(problems::other_sentences());
        }
        let all = [orders, &random_orders(n_prompt, RANDOM_ORDERS, 0)].concat();
        let scores = deletion_scores(&mut self.lm, &transcript, &segments, &all, on_pass).await.map_err(problems::engine_failed)?;
        Ok(scores.map(|mut curves| DeletionCurves { random: curves.split_off(orders.len()), curves }))
    }
}

/// Positions of the tokens of each generated sentence without those of its citations: a passage must support the rest. `spans` are the
/// bytes of the generation that each of its tokens covers.
fn claims(document: &Document, spans: &[Range<usize>], transcript: &Transcript, segments: &Segments) -> Vec<Vec<usize>> {
    let text = &document.generation.text;
    let marks = citation_marks(&document.groups, text);
    let is_of_mark = |position: &usize| {
        let Some(span) = spans.get(position - transcript.generation.start) else { return false };
        // White space before a mark may be in a token of the mark.
        let visible = first_visible(text, span);
        let next = marks.partition_point(|mark| mark.bytes.end <= visible);
        marks.get(next).is_some_and(|mark| mark.bytes.start < span.end)
    };
    segments.generation.iter().map(|tokens| tokens.clone().filter(|position| !is_of_mark(position)).collect()).collect()
}

/// Stores the joint effects of pairs of sources in the document, with the words that they affect. `spans` are the bytes of the generation
/// that each of its tokens covers.
pub fn enter_pairs(document: &mut Document, spans: &[Range<usize>], MeasuredPairs { alone, effects, flow }: MeasuredPairs) {
    let text = &document.generation.text;
    let effects = effects.into_iter().map(|effect| JointEffect {
        target: effect.target,
        sources: effect.sources,
        amount: effect.amount,
        either_is_enough: words_at(text, spans, &effect.either_is_enough),
        only_together: words_at(text, spans, &effect.only_together),
    });
    let joint = effects.filter(|effect| effect.amount > 0.0 || effect.only_together.is_some()).collect();
    document.alone = Some(alone);
    document.flow = flow;
    if document.flow.is_none() {
        document.method.weighting = Weighting::None;
    }
    document.joint = joint;
}

/// The whole words of `text` that contain `tokens`. `spans` are the bytes that each token covers, which may be a part of a character.
/// `None` if the words contain no letter or digit.
fn words_at(text: &str, spans: &[Range<usize>], tokens: &[usize]) -> Option<String> {
    let mut words: Vec<&str> = Vec::new();
    for run in tokens.chunk_by(|a, b| a + 1 == *b) {
        let mut covered = run.iter().filter_map(|&token| spans.get(token)).filter(|span| !span.is_empty());
        let Some(first) = covered.next() else { continue };
        let end = covered.next_back().unwrap_or(first).end;
        let is_whole = |at: &usize| text.is_char_boundary(*at);
        let (start, end) = ((0..=first.start).rev().find(is_whole)?, (end..=text.len()).find(is_whole)?);
        let before = if text[start..].starts_with(char::is_whitespace) { &text[..start] } else { before_word(&text[..start]) };
        let after = text[end..].find(char::is_whitespace).map_or("", |at| &text[end + at..]);
        let word = text[before.len()..text.len() - after.len()].trim_matches(|c: char| !c.is_alphanumeric());
        if !word.is_empty() && words.last() != Some(&word) {
            words.push(word);
        }
    }
    (!words.is_empty()).then(|| words.join(" \u{2026} "))
}

/// The text up to and including its last white space.
fn before_word(text: &str) -> &str {
    text.trim_end_matches(|c: char| !c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_told_as_whole_words() {
        let text = "Ann has 12 figs, so 12.";
        let spans = [0..3, 3..7, 7..9, 9..10, 10..13, 13..16, 16..19, 19..23];
        assert_eq!(words_at(text, &spans, &[2]), Some("12".into()));
        assert_eq!(words_at(text, &spans, &[4]), Some("figs".into()));
        assert_eq!(words_at(text, &spans, &[0, 4, 5]), Some("Ann \u{2026} figs".into()));
        assert_eq!(words_at(text, &spans, &[]), None);
        assert_eq!(words_at(text, &spans, &[9]), None);
    }

    #[test]
    fn whole_words_are_found_from_partial_characters() {
        // The text has an ideographic space, and a letter whose two bytes are separate tokens. One token covers nothing.
        let text = "Ja\u{3000}Z\u{fc}rich ist.";
        let spans = [0..2, 2..6, 6..7, 7..8, 0..0, 8..12, 12..17];
        for token in [2, 3, 5] {
            assert_eq!(words_at(text, &spans, &[token]), Some("Z\u{fc}rich".into()), "{token}");
        }
        assert_eq!(words_at(text, &spans, &[4]), None);
        assert_eq!(words_at(text, &spans, &[3, 4, 5, 6]), Some("Z\u{fc}rich ist".into()));
    }
}

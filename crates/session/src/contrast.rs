//! Contrast: why a part of the answer, and not another text in its place.

use std::ops::{ControlFlow, Range};

use super::loaded::Session;
use super::problems;
use super::results::{AnswerResult, AnsweredQuestion};
use super::words;
use glasscage_attribution::contrast::{ContrastRequest, MeasuredContrast, measure_contrast, n_passes};
use glasscage_core::explanation::{Contrast, Document};
use glasscage_engine::lm::{Callback, LanguageModel};
use glasscage_model::tokenizer::TokenId;
use glasscage_protocol::problem::Problem;
use glasscage_protocol::request::{PassProgress, Question};
use glasscage_text::given::given_text;

/// A part of an answer in whole tokens, and the text that is compared with it.
#[derive(Clone, Debug, PartialEq)]
struct Compared {
    /// Tokens of the part, counted from the start of the answer.
    tokens: Range<usize>,
    /// Bytes of the part.
    bytes: Range<usize>,
    alternative: String,
}

impl<M: LanguageModel> Session<M> {
    /// Compares the part `mark` of a question's answer (code points, half-open) with `alternative`. White space around both does not count.
    /// A mark that begins or ends within a token is extended to whole tokens, and the alternative by the same characters. The alternative
    /// becomes tokens after the text before it, like a given answer. Takes two passes for each unit before the sentence of the part. `None`
    /// if `on_pass` cancels.
    pub async fn contrast(
        &mut self,
        question: &Question,
        mark: [usize; 2],
        alternative: &str,
        on_pass: &mut dyn Callback<PassProgress>,
    ) -> Result<Option<Contrast>, Problem> {
        let AnswerResult::Answered(answered) = self.answer(question, &mut async |_| ControlFlow::Continue(())).await? else {
            return Ok(None);
        };
        let AnsweredQuestion { document, transcript, segments, spans, .. } = *answered;
        let text = &document.generation.text;
        let compared = compared(text, &spans, mark, alternative)?;
        let span = code_points(text, &compared.bytes);
        let row = document.generation.sentence_at(span).ok_or_else(problems::mark_not_in_answer)?;
        let is_within = |turn_end: usize| turn_end <= span[0] || span[1] <= turn_end;
        if !ends_of_explained_turns(&document).into_iter().all(is_within) {
            return Err(problems::mark_not_in_answer());
        }
        let Range { start, end } = transcript.generation.start + compared.tokens.start..transcript.generation.start + compared.tokens.end;
        // A unit after the part is not in the text that both continue.
        let before = |source: &Range<usize>| if source.end <= start { source.clone() } else { start..start };
        let sources: Vec<Range<usize>> = segments.prompt.iter().chain(&segments.generation[..row]).map(before).collect();
        words::check_cost(document.unit, n_passes(&sources))?;
        let encoded = self.tokenizer.encode_continuation(&transcript.tokens[..start], &compared.alternative);
        let other: Vec<TokenId> = encoded.into_iter().map(|token| token.id).collect();
        let part = &transcript.tokens[start..end];
        if other.is_empty() {
            return Err(problems::alternative_without_tokens());
        }
        if other == part {
            return Err(problems::same_alternative());
        }
        let request = ContrastRequest { transcript: &transcript, prefix: start, continuations: [part, &other], sources: &sources };
        let measured = measure_contrast(&mut self.lm, &request, on_pass).await.map_err(problems::engine_failed)?;
        let contrast = |MeasuredContrast { log_probs, effects }| Contrast {
            span,
            alternative: compared.alternative.clone(),
            // Rounding may leave a number slightly above 0.
            log_probabilities: log_probs.map(|log_prob| log_prob.min(0.0)),
            effects,
        };
        Ok(measured.map(contrast))
    }
}

/// The ends of the explained turns in the generation, in code points.
fn ends_of_explained_turns(document: &Document) -> Vec<usize> {
    let n_prompt = document.prompt.sentences.len();
    let ends = document.units_of_turns().into_iter().filter_map(|(_, units)| units.end.checked_sub(n_prompt + 1));
    ends.map(|last| document.generation.sentences[last][1]).collect()
}

/// The whole tokens that contain the visible characters of `mark` (code points of `text`), and the alternative with the same characters
/// before and after it. `spans` are the bytes that each token covers.
fn compared(text: &str, spans: &[Range<usize>], mark: [usize; 2], alternative: &str) -> Result<Compared, Problem> {
    let alternative = given_text(alternative);
    let alternative = alternative.trim();
    if alternative.is_empty() {
        return Err(problems::empty_alternative());
    }
    let mark = trimmed(text, mark).ok_or_else(problems::mark_not_in_answer)?;
    let covers = |span: &Range<usize>| span.start < mark.end && mark.start < span.end;
    let first = spans.iter().position(covers).ok_or_else(problems::mark_not_in_answer)?;
    let last = spans.iter().rposition(covers).ok_or_else(problems::mark_not_in_answer)?;
    // A token may cover a part of a character.
    let is_whole = |at: usize| text.is_char_boundary(at);
    let first = (0..=first).rev().find(|&token| is_whole(spans[token].start)).unwrap_or(0);
    let last = (last..spans.len()).find(|&token| is_whole(spans[token].end)).unwrap_or(spans.len() - 1);
    let bytes = spans[first].start.min(mark.start)..spans[last].end.max(mark.end);
    let alternative = [&text[bytes.start..mark.start], alternative, &text[mark.end..bytes.end]].concat();
    if alternative == text[bytes.clone()] {
        return Err(problems::same_alternative());
    }
    Ok(Compared { tokens: first..last + 1, bytes, alternative })
}

/// Bytes of the code points `start..end` without white space around them. `None` if nothing is left, or if they are not in the text.
fn trimmed(text: &str, [start, end]: [usize; 2]) -> Option<Range<usize>> {
    let byte = |code_point: usize| text.char_indices().map(|(byte, _)| byte).chain([text.len()]).nth(code_point);
    let (start, end) = (byte(start)?, byte(end)?);
    let marked = text.get(start..end)?;
    let start = end - marked.trim_start().len();
    let length = marked.trim().len();
    (length > 0).then_some(start..start + length)
}

/// The span of these bytes of `text`, in code points.
fn code_points(text: &str, bytes: &Range<usize>) -> [usize; 2] {
    [bytes.start, bytes.end].map(|byte| text[..byte].chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Zo\u{eb} has 12.5 figs.\n";
    /// `Zo`, both bytes of `ë`, ` has`, ` 12`, nothing, `.5`, ` figs`, `.\n`.
    const SPANS: [Range<usize>; 9] = [0..2, 2..3, 3..4, 4..8, 8..11, 0..0, 11..13, 13..18, 18..20];

    #[test]
    fn marks_grow_to_whole_tokens() {
        let compared = |mark: [usize; 2], alternative: &str| {
            let Compared { tokens, bytes, alternative } = compared(TEXT, &SPANS, mark, alternative).expect("it can be compared");
            (TEXT[bytes].to_owned(), alternative, tokens)
        };
        let expected = |part: &str, alternative: &str, tokens| (part.to_owned(), alternative.to_owned(), tokens);
        assert_eq!(compared([4, 7], " had "), expected(" has", " had", 3..4));
        assert_eq!(compared([3, 8], "had"), expected(" has", " had", 3..4), "white space does not count");
        assert_eq!(compared([8, 9], "3"), expected(" 12", " 32", 4..5));
        assert_eq!(compared([9, 12], "4.0"), expected(" 12.5", " 14.0", 4..7));
        assert_eq!(compared([2, 3], "e"), expected("\u{eb}", "e", 1..3));
        assert_eq!(compared([0, 18], "No"), expected("Zo\u{eb} has 12.5 figs.\n", "No\n", 0..9));
    }

    #[test]
    fn impossible_comparisons_are_problems() {
        let problem = |mark: [usize; 2], alternative: &str| compared(TEXT, &SPANS, mark, alternative).expect_err("it cannot be compared");
        for mark in [[4, 4], [3, 4], [7, 4], [15, 25], [30, 40], [0, usize::MAX]] {
            assert_eq!(problem(mark, "x"), problems::mark_not_in_answer(), "{mark:?}");
        }
        assert_eq!(problem([4, 7], " \n"), problems::empty_alternative());
        assert_eq!([problem([4, 7], "has"), problem([8, 9], " 1 ")], [problems::same_alternative(), problems::same_alternative()]);
        assert_eq!(compared(TEXT, &SPANS[5..6], [4, 7], "x"), Err(problems::mark_not_in_answer()));
    }

    #[test]
    fn spans_are_in_code_points() {
        assert_eq!([0..2, 4..8, 0..20].map(|bytes| code_points(TEXT, &bytes)), [[0, 2], [3, 7], [0, 19]]);
    }
}

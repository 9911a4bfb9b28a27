//! Prompt and answer as tokens, and the tokens of each unit.

use std::ops::Range;

use glasscage_attribution::Segments;
use glasscage_core::explanation::{Group, GroupKind, Language, Passage, Section, SectionKind, SentenceRule, Unit};
use glasscage_model::chat::{self, ChatError, ChatTemplate, FramedToken, GeneratedPart};
use glasscage_model::tokenizer::{TokenId, Tokenizer};
use glasscage_protocol::request::{MOST_RUNS_OF_A_THOUGHT, Question};
use glasscage_text::brackets::{BracketError, Bracketed};
use glasscage_text::languages::language_of;
use glasscage_text::lines::{lines, paragraphs};
use glasscage_text::passages::{NamedPassage, cut, passages};
use glasscage_text::sections::sections as headed_sections;
use glasscage_text::sentences::{sentences, sentences_in_any_script, tile};
use glasscage_text::spans::{first_visible, tokens_of_sentences};
use glasscage_text::words::words;

/// The model's input before it answers: the prompt in the rendered chat template.
pub struct FramedPrompt {
    pub ids: Vec<TokenId>,
    /// Position of the prompt's first token.
    prompt_start: usize,
    /// The bytes of the prompt that each of its tokens covers.
    prompt_spans: Vec<Range<usize>>,
}

/// A generation in tokens.
pub struct TokenizedAnswer {
    pub text: String,
    pub ids: Vec<TokenId>,
    /// Thinking sections and answers. Together they contain the whole text, and all tokens except delimiters and blank parts.
    parts: Vec<AnswerPart>,
}

/// A thinking section or an answer.
struct AnswerPart {
    kind: SectionKind,
    bytes: Range<usize>,
    tokens: Range<usize>,
    /// The bytes that each token covers, relative to the start of the part.
    spans: Vec<Range<usize>>,
}

/// Prompt and answer, split into units.
pub struct SplitText {
    /// [`SentenceRule::Punkt`] if that rule splits these texts in the same way as the requested one.
    pub sentence_rule: SentenceRule,
    /// English if the English rules split these texts in the same way.
    pub language: Language,
    pub segments: Segments,
    /// Positions of the tokens of each statement of the prompt. Statements are sentences, whatever the unit.
    pub statements: Vec<Range<usize>>,
    /// The named passages of the prompt, and the positions of the tokens of each, without those of its name.
    pub groups: Vec<(Group, Range<usize>)>,
    pub prompt: Passage,
    pub generation: Passage,
}

impl FramedPrompt {
    /// Renders the prompt in the chat template, or plain if there is no template. Errors if there are more than `limit` tokens.
    pub fn new(
        prompt: &str,
        template: Option<&ChatTemplate>,
        tokenizer: &Tokenizer,
        limit: usize,
        thinks: bool,
    ) -> Result<Self, ChatError> {
        let framed = chat::frame_within(limit, template, tokenizer, prompt, chat::template_date(), thinks)?;
        let is_prompt = |token: &FramedToken| framed.prompt.contains(&first_visible(&framed.text, &token.span));
        let of_prompt = |token: &FramedToken| token.prompt.clone().filter(|_| is_prompt(token));
        let prompt_start = framed.tokens.iter().position(|token| of_prompt(token).is_some()).unwrap_or(0);
        let prompt_end = framed.tokens.iter().rposition(|token| of_prompt(token).is_some()).map_or(prompt_start, |last| last + 1);
        let mut reached = 0;
        // A token inside the prompt may cover nothing, for example a space that the tokenizer added.
        let spans = framed.tokens[prompt_start..prompt_end].iter().map(|token| {
            let span = of_prompt(token).unwrap_or(reached..reached);
            reached = span.end;
            span
        });
        let prompt_spans = spans.collect();
        Ok(Self { ids: framed.ids(), prompt_start, prompt_spans })
    }

    /// Tokens of the chat template after the prompt. They contain no text of the visitor.
    pub fn after_prompt(&self) -> &[TokenId] {
        &self.ids[self.prompt_positions().end..]
    }

    /// Positions of the prompt's tokens.
    pub fn prompt_positions(&self) -> Range<usize> {
        self.prompt_start..self.prompt_start + self.prompt_spans.len()
    }
}

impl TokenizedAnswer {
    /// Tokenizes a given text as the continuation of `context` and `before`. `before` is the end of a thinking section and belongs to no
    /// sentence.
    pub fn from_text(text: &str, before: &[TokenId], context: &[TokenId], tokenizer: &Tokenizer) -> Self {
        let encoded = tokenizer.encode_continuation(&[context, before].concat(), text);
        let (of_text, spans): (Vec<TokenId>, _) = encoded.into_iter().map(|token| (token.id, token.span)).unzip();
        let ids = [before, &of_text].concat();
        let parts = vec![AnswerPart { kind: SectionKind::Answer, bytes: 0..text.len(), tokens: before.len()..ids.len(), spans }];
        Self { text: text.to_owned(), ids, parts }
    }

    /// Index in `ids` of a token, counted among the tokens of all parts. `None` if there are fewer.
    pub fn position(&self, token: usize) -> Option<usize> {
        self.parts.iter().flat_map(|part| part.tokens.clone()).nth(token)
    }

    /// The bytes of the text that each token covers. Empty for a token outside all parts.
    pub fn spans(&self) -> Vec<Range<usize>> {
        let mut spans = vec![0..0; self.ids.len()];
        for AnswerPart { bytes, tokens, spans: of_part, .. } in &self.parts {
            spans[tokens.clone()].clone_from_slice(&shift(of_part, bytes.start));
        }
        spans
    }

    /// Decodes `ids`. Blank parts, such as an empty thinking section, leave no text.
    pub fn from_ids(ids: Vec<TokenId>, parts: &[GeneratedPart], tokenizer: &Tokenizer) -> Self {
        let mut answer = Self { text: String::new(), ids, parts: Vec::new() };
        for GeneratedPart { is_thought, tokens } in parts {
            let (text, spans) = decoded(&answer.ids[tokens.clone()], tokenizer);
            if sentences(&text).is_empty() {
                continue;
            }
            let start = answer.text.len();
            answer.text.push_str(&text);
            let kind = if *is_thought { SectionKind::Thought } else { SectionKind::Answer };
            answer.parts.push(AnswerPart { kind, bytes: start..answer.text.len(), tokens: tokens.clone(), spans });
        }
        answer
    }
}

/// Decodes `ids` into text, and returns the bytes that each of them covers. Bytes that are not UTF-8 become U+FFFD.
fn decoded(ids: &[TokenId], tokenizer: &Tokenizer) -> (String, Vec<Range<usize>>) {
    let mut bytes = Vec::new();
    let ends: Vec<usize> = ids
        .iter()
        .map(|&id| {
            bytes.extend_from_slice(tokenizer.bytes(id));
            bytes.len()
        })
        .collect();
    let mut text = String::new();
    // The offset in the text of each decoded byte.
    let mut offsets = Vec::with_capacity(bytes.len() + 1);
    for chunk in bytes.utf8_chunks() {
        offsets.extend(text.len()..text.len() + chunk.valid().len());
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            offsets.extend(std::iter::repeat_n(text.len(), chunk.invalid().len()));
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    offsets.push(text.len());
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let spans = starts.zip(&ends).map(|(start, &end)| offsets[start]..offsets[end]).collect();
    (text, spans)
}

impl SplitText {
    /// Splits prompt and answer into units, and finds the tokens of each unit. Both must contain a sentence.
    pub fn new(
        unit: Unit,
        rule: SentenceRule,
        language: Language,
        prompt: &Bracketed,
        framed: &FramedPrompt,
        answer: &TokenizedAnswer,
    ) -> Self {
        // Words need no rule. All other units need one for the statements of the prompt, at least.
        let unit_of_statements = if unit.is_word() { unit } else { Unit::Sentence };
        let passages = passages(&prompt.text);
        let cut_by = |rule, language| {
            let of_answer = answer.parts.iter().map(|part| units_of(unit.of_answer(), rule, language, &answer.text[part.bytes.clone()]));
            let of_statements = cut(&prompt.text, units_of(unit_of_statements, rule, language, &prompt.text), &passages);
            (units_of_prompt(unit, rule, language, prompt, &passages), of_statements, of_answer.collect::<Vec<_>>())
        };
        let found = cut_by(rule, language);
        let simpler = [(SentenceRule::Punkt, Language::English), (rule, Language::English)];
        let is_enough = |&(rule, language): &(SentenceRule, Language)| cut_by(rule, language) == found;
        let (sentence_rule, language) = simpler.into_iter().find(is_enough).unwrap_or((rule, language));
        let (found_in_prompt, found_statements, found_in_answer) = found;
        let prompt = prompt.text.as_str();
        let (prompt_units, prompt_tokens) = units_and_tokens(&found_in_prompt, prompt, &framed.prompt_spans);
        let (prompt_sentences, sentence_tokens) = units_and_tokens(&found_statements, prompt, &framed.prompt_spans);
        let statements = Passage::new(prompt, &prompt_sentences, Vec::new()).statements().into_iter();
        let statements: Vec<Range<usize>> = statements.map(|j| sentence_tokens[j].clone()).collect();
        let named = NamedUnits { prompt, units: &found_in_prompt, tokens: &prompt_tokens, spans: &framed.prompt_spans };
        let groups = passages.iter().filter_map(|passage| named.group(passage, framed.prompt_start)).collect();
        let (mut answer_units, mut answer_tokens, mut sections) = (Vec::new(), Vec::new(), Vec::new());
        for (found, AnswerPart { kind, bytes, tokens, spans }) in found_in_answer.iter().zip(&answer.parts) {
            let run = if *kind == SectionKind::Thought { found.len().div_ceil(MOST_RUNS_OF_A_THOUGHT) } else { 1 };
            let runs: Vec<Range<usize>> = found.chunks(run).map(|run| run[0].start..run[run.len() - 1].end).collect();
            let (units, tokens_of_units) = units_and_tokens(&runs, &answer.text[bytes.clone()], spans);
            sections.push(Section { kind: *kind, sentences: units.len(), run });
            answer_units.extend(shift(&units, bytes.start));
            answer_tokens.extend(shift(&tokens_of_units, tokens.start));
        }
        if sections.iter().all(|section| section.kind == SectionKind::Answer) {
            sections.clear();
        }
        let passage = |text: &str, units: &[Range<usize>], tokens: &[Range<usize>]| {
            Passage::new(text, units, tokens.iter().map(Range::len).collect())
        };
        Self {
            sentence_rule,
            language,
            prompt: passage(prompt, &prompt_units, &prompt_tokens),
            generation: Passage { sections, ..passage(&answer.text, &answer_units, &answer_tokens) },
            statements: shift(&statements, framed.prompt_start),
            groups,
            segments: Segments { prompt: shift(&prompt_tokens, framed.prompt_start), generation: shift(&answer_tokens, framed.ids.len()) },
        }
    }
}

/// The units of a prompt: their bytes and their tokens. `spans` are the bytes of each token.
struct NamedUnits<'a> {
    prompt: &'a str,
    units: &'a [Range<usize>],
    tokens: &'a [Range<usize>],
    spans: &'a [Range<usize>],
}

impl NamedUnits<'_> {
    /// The units of a passage, and the positions of their tokens without those of its name, which stays in the text. No unit spans the
    /// start or the end of a passage. `prompt_start` is the position of the prompt's first token. `None` if no unit is in the passage.
    fn group(&self, NamedPassage { name, mark, bytes }: &NamedPassage, prompt_start: usize) -> Option<(Group, Range<usize>)> {
        let start = self.units.partition_point(|unit| unit.start < bytes.start);
        let end = self.units.partition_point(|unit| unit.start < bytes.end);
        let group = Group { name: name.clone(), kind: GroupKind::Passage, sources: [start, end], effects: Vec::new() };
        let after_name = self.spans.partition_point(|token| first_visible(self.prompt, token) < mark.end);
        let tokens = self.tokens.get(start..end)?;
        let content = tokens.first()?.start.max(after_name)..tokens.last()?.end.max(after_name);
        Some((group, prompt_start + content.start..prompt_start + content.end))
    }
}

/// Minimum number of units of a question: those of its prompt, plus those of its given answer, or 1 without a given answer.
pub fn fewest_units(question: &Question) -> usize {
    let language = question.language.unwrap_or_else(|| language_of(&question.prompt));
    let Question { unit, sentence_rule: rule, .. } = *question;
    let in_prompt = prompt_of(question).map_or(0, |prompt| units_of_prompt(unit, rule, language, &prompt, &passages(&prompt.text)).len());
    in_prompt + question.answer.as_deref().map_or(1, |answer| units_of(unit.of_answer(), rule, language, answer).len())
}

/// The prompt of a question as the model reads it, with the parts in brackets if they are the unit.
pub fn prompt_of(question: &Question) -> Result<Bracketed, BracketError> {
    match question.unit {
        Unit::Bracket => Bracketed::new(&question.prompt),
        _ => Ok(Bracketed::plain(&question.prompt)),
    }
}

fn shift(ranges: &[Range<usize>], by: usize) -> Vec<Range<usize>> {
    ranges.iter().map(|range| range.start + by..range.end + by).collect()
}

/// Byte range of each unit of the prompt, without white space at its end. No unit spans the start or the end of a passage.
fn units_of_prompt(unit: Unit, rule: SentenceRule, language: Language, prompt: &Bracketed, passages: &[NamedPassage]) -> Vec<Range<usize>> {
    let units = match unit {
        Unit::Bracket => prompt.units(|between| units_of(Unit::Sentence, rule, language, between)),
        _ => units_of(unit, rule, language, &prompt.text),
    };
    cut(&prompt.text, units, passages)
}

/// Byte range of each unit, without white space at its end. Brackets mark parts of prompts only, so text outside prompts has sentences.
fn units_of(unit: Unit, rule: SentenceRule, language: Language, text: &str) -> Vec<Range<usize>> {
    match (unit, rule) {
        (Unit::Word, _) => words(text),
        (Unit::Line, _) => lines(text),
        (Unit::Paragraph, _) => paragraphs(text),
        (Unit::Section, _) => headed_sections(text),
        (Unit::Sentence | Unit::Bracket, SentenceRule::Punkt) => sentences(text),
        (Unit::Sentence | Unit::Bracket, SentenceRule::AnyScript) => sentences_in_any_script(text, language),
    }
}

/// Extends the units to tile `text`. Returns the byte range and the token range of each unit. `spans` are the bytes of each token.
fn units_and_tokens(found: &[Range<usize>], text: &str, spans: &[Range<usize>]) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let units = tile(text, found);
    let tokens = tokens_of_sentences(text, &units, spans);
    (units, tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problems::check_units;

    #[test]
    fn fewest_units_counts_prompt_and_answer() {
        let question = Question::greedy("One.\nTwo.");
        let given = |answer: &str| Question { answer: Some(answer.into()), ..question.clone() };
        assert_eq!([&question, &given("Three.\nFour."), &given("")].map(fewest_units), [3, 4, 2]);
        assert_eq!(fewest_units(&Question { unit: Unit::Word, ..Question::greedy("One two three.") }), 4);
        let by = |unit| fewest_units(&Question { unit, ..given("So 3.\n\nSo 4.") });
        assert_eq!([Unit::Line, Unit::Paragraph, Unit::Section].map(by), [4, 3, 3]);
        assert!(check_units(1000).is_ok() && check_units(1001).is_err_and(|problem| problem.what.to_string().contains("1001 sentences")));
    }
}

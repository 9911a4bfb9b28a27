//! Prompt and answer as tokens, and the tokens of each unit.

use std::ops::Range;

use super::passages::{PartUnits, passages_of};
use super::prompt::{PromptPart, ReadPrompt};
use glasscage_attribution::Segments;
use glasscage_attribution::support::StatedBefore;
use glasscage_core::explanation::{Group, Language, Passage, Section, SectionKind, SentenceRule, Turn, Unit};
use glasscage_model::chat::{self, ChatError, ChatTemplate, FramedToken, GeneratedPart};
use glasscage_model::tokenizer::{TokenId, Tokenizer};
use glasscage_protocol::request::{MAX_RUNS_OF_A_THOUGHT, Question};
use glasscage_text::languages::language_of;
use glasscage_text::lines::{lines, paragraphs};
use glasscage_text::passages::{NamedPassage, cut};
use glasscage_text::sections::sections as headed_sections;
use glasscage_text::sentences::{sentences, sentences_in_any_script, tile};
use glasscage_text::spans::{first_visible, tokens_of_sentences};
use glasscage_text::words::words;

/// The model's input before it answers: the prompt in the rendered chat template.
pub struct FramedPrompt {
    pub ids: Vec<TokenId>,
    /// One for each part of the prompt, in order.
    parts: Vec<FramedPart>,
}

/// The tokens of a part of the prompt. Tokens of the template are between parts.
struct FramedPart {
    /// Position of the first token.
    start: usize,
    /// The bytes of the part that each token covers.
    spans: Vec<Range<usize>>,
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
    /// The answers with the statements before them. Statements are sentences for every unit.
    pub statements: Vec<StatedBefore>,
    /// Empty if the prompt is not a conversation of several turns.
    pub turns: Vec<Turn>,
    /// Position of the first token of the generation: of the first explained answer, or else of the last answer.
    pub generation_start: usize,
    /// The bytes of the generation that each token from there on covers. Empty for a token outside all sentences.
    pub spans: Vec<Range<usize>>,
    /// The named passages of the prompt, and the positions of the tokens of each, without those of its name.
    pub groups: Vec<(Group, Range<usize>)>,
    pub prompt: Passage,
    pub generation: Passage,
}

impl FramedPrompt {
    /// Renders the prompt in the chat template, or plain if there is no template. A conversation needs a template. Errors if there are more
    /// than `limit` tokens.
    pub fn new(
        prompt: &ReadPrompt,
        template: Option<&ChatTemplate>,
        tokenizer: &Tokenizer,
        limit: usize,
        thinks: bool,
    ) -> Result<Self, ChatError> {
        let date = chat::template_date();
        let framed = match prompt.messages() {
            None => chat::frame_within(limit, template, tokenizer, &prompt.text, date, thinks)?,
            Some(messages) => chat::frame_messages(limit, template, tokenizer, &messages, date, thinks)?,
        };
        // A token belongs to the part with its first visible character.
        let of_part = |token: &FramedToken| {
            let is_part = |&(part, _): &(usize, Range<usize>)| framed.contents[part].contains(&first_visible(&framed.text, &token.span));
            token.content.clone().filter(is_part)
        };
        let mut parts: Vec<FramedPart> = prompt.parts.iter().map(|_| FramedPart { start: 0, spans: Vec::new() }).collect();
        for (position, token) in framed.tokens.iter().enumerate() {
            let Some((part, span)) = of_part(token) else { continue };
            let FramedPart { start, spans } = &mut parts[part];
            if spans.is_empty() {
                *start = position;
            }
            // A token inside the part may cover nothing, for example a space that the tokenizer added.
            let reached = spans.last().map_or(0, |last| last.end);
            spans.resize(position - *start, reached..reached);
            spans.push(span);
        }
        // A part without tokens is where the part before it ends, so that positions ascend.
        let mut end = 0;
        for part in &mut parts {
            if part.spans.is_empty() {
                part.start = end;
            }
            end = part.positions().end;
        }
        Ok(Self { ids: framed.ids(), parts })
    }

    /// Tokens of the chat template after the prompt. They contain no text of the visitor.
    pub fn after_prompt(&self) -> &[TokenId] {
        let end = self.parts.iter().map(|part| part.positions().end).max().unwrap_or(0);
        &self.ids[end..]
    }

    /// Position of the first token of the generation. If the prompt has explained answers, the generation begins with the first of them.
    fn generation_start(&self, prompt: &ReadPrompt) -> usize {
        let first = prompt.parts.iter().position(|part| part.is_explained);
        first.and_then(|first| self.parts.get(first)).map_or(self.ids.len(), |part| part.start)
    }

    /// The bytes of the generation that each of its tokens covers: explained answers, and then `answer`.
    fn spans_with(&self, prompt: &ReadPrompt, answer: &TokenizedAnswer) -> Vec<Range<usize>> {
        let start = self.generation_start(prompt);
        let mut spans = vec![0..0; self.ids.len() - start];
        for (part, framed) in prompt.parts.iter().zip(&self.parts).filter(|(part, _)| part.is_explained) {
            let positions = framed.start - start..framed.positions().end - start;
            spans[positions].clone_from_slice(&shift(&framed.spans, part.bytes.start));
        }
        spans.extend(shift(&answer.spans(), prompt.answers.len()));
        spans
    }

    /// Positions of the tokens of each part of the prompt.
    pub fn positions_of_parts(&self) -> impl Iterator<Item = Range<usize>> {
        self.parts.iter().map(FramedPart::positions)
    }
}

impl FramedPart {
    fn positions(&self) -> Range<usize> {
        self.start..self.start + self.spans.len()
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
        prompt: &ReadPrompt,
        framed: &FramedPrompt,
        answer: &TokenizedAnswer,
    ) -> Self {
        // Words need no rule. All other units need one for the statements of the prompt, at least.
        let unit_of_statements = if unit.is_word() { unit } else { Unit::Sentence };
        let passages = passages_of(prompt);
        let cut_by = |rule, language| {
            let of_answer = answer.parts.iter().map(|part| units_of(unit.of_answer(), rule, language, &answer.text[part.bytes.clone()]));
            let of_statements = prompt.parts.iter().zip(&passages).map(|(part, passages)| {
                let text = &part.content.text;
                cut(text, units_of(unit_of_statements, rule, language, text), passages)
            });
            (units_of_prompt(unit, rule, language, prompt, &passages), of_statements.collect::<Vec<_>>(), of_answer.collect::<Vec<_>>())
        };
        let found = cut_by(rule, language);
        let simpler = [(SentenceRule::Punkt, Language::English), (rule, Language::English)];
        let is_enough = |&(rule, language): &(SentenceRule, Language)| cut_by(rule, language) == found;
        let (sentence_rule, language) = simpler.into_iter().find(is_enough).unwrap_or((rule, language));
        let (found_in_prompt, found_statements, found_in_answer) = found;
        let (prompt_units, prompt_tokens) = units_and_tokens_of_parts(&found_in_prompt, prompt, framed, false);
        let (mut groups, mut first) = (Vec::new(), 0);
        let of_parts = prompt.parts.iter().zip(&passages).zip(&found_in_prompt).zip(&framed.parts);
        for (((part, passages), units), FramedPart { start, spans }) in of_parts.filter(|(((part, ..), _), _)| !part.is_explained) {
            let tokens = &prompt_tokens[first..first + units.len()];
            let of_part = PartUnits { text: &part.content.text, units, first, tokens, start: *start, spans };
            groups.extend(passages.iter().filter_map(|passage| of_part.group(passage)));
            first += units.len();
        }
        let (mut answer_units, mut answer_tokens) = units_and_tokens_of_parts(&found_in_prompt, prompt, framed, true);
        let n_explained = answer_units.len();
        let mut sections: Vec<Section> = Vec::new();
        sections.extend((n_explained > 0).then_some(Section { kind: SectionKind::Answer, sentences: n_explained, run: 1 }));
        for (found, AnswerPart { kind, bytes, tokens, spans }) in found_in_answer.iter().zip(&answer.parts) {
            let run = if *kind == SectionKind::Thought { found.len().div_ceil(MAX_RUNS_OF_A_THOUGHT) } else { 1 };
            let runs: Vec<Range<usize>> = found.chunks(run).map(|run| run[0].start..run[run.len() - 1].end).collect();
            let (units, tokens_of_units) = units_and_tokens(&runs, &answer.text[bytes.clone()], spans);
            sections.push(Section { kind: *kind, sentences: units.len(), run });
            answer_units.extend(shift(&units, prompt.answers.len() + bytes.start));
            answer_tokens.extend(shift(&tokens_of_units, framed.ids.len() + tokens.start));
        }
        if sections.iter().all(|section| section.kind == SectionKind::Answer) {
            sections.clear();
        }
        let statements = stated_before_answers(&found_statements, &found_in_prompt, prompt, framed, answer_units.len());
        let passage = |text: &str, units: &[Range<usize>], tokens: &[Range<usize>]| {
            Passage::new(text, units, tokens.iter().map(Range::len).collect())
        };
        Self {
            sentence_rule,
            language,
            turns: turns(prompt, &found_in_prompt),
            generation_start: framed.generation_start(prompt),
            spans: framed.spans_with(prompt, answer),
            prompt: passage(&prompt.text, &prompt_units, &prompt_tokens),
            generation: Passage { sections, ..passage(&format!("{}{}", prompt.answers, answer.text), &answer_units, &answer_tokens) },
            statements,
            groups,
            segments: Segments { prompt: prompt_tokens, generation: answer_tokens },
        }
    }
}

/// The answers of a generation of `n_generated` units, each with the statements before it. `found` are the sentences of each part of the
/// prompt, `units` its units.
fn stated_before_answers(
    found: &[Vec<Range<usize>>],
    units: &[Vec<Range<usize>>],
    prompt: &ReadPrompt,
    framed: &FramedPrompt,
    n_generated: usize,
) -> Vec<StatedBefore> {
    let (mut text, mut sentences, mut tokens) = (String::new(), Vec::new(), Vec::new());
    let (mut answers, mut row) = (Vec::new(), 0);
    let mut add = |rows: Range<usize>, text: &str, sentences: &[Range<usize>], tokens: &[Range<usize>]| {
        let statements = Passage::new(text, sentences, Vec::new()).statements().into_iter().map(|j| tokens[j].clone()).collect();
        answers.push(StatedBefore { rows, statements });
    };
    for (((found, units), part), FramedPart { start, spans }) in found.iter().zip(units).zip(&prompt.parts).zip(&framed.parts) {
        if part.is_explained {
            add(row..row + units.len(), &text, &sentences, &tokens);
            row += units.len();
        }
        let of_part = &prompt.text_of(part)[part.bytes.clone()];
        let (sentences_of_part, tokens_of_part) = units_and_tokens(found, of_part, spans);
        sentences.extend(shift(&sentences_of_part, text.len()));
        tokens.extend(shift(&tokens_of_part, *start));
        text.push_str(of_part);
    }
    add(row..n_generated, &text, &sentences, &tokens);
    answers
}

/// The turns of a conversation. A conversation of one turn is the same as a prompt, so it has none.
fn turns(prompt: &ReadPrompt, found: &[Vec<Range<usize>>]) -> Vec<Turn> {
    let turn = |(part, units): (&PromptPart, &Vec<Range<usize>>)| {
        Some(Turn { role: part.speaker?, sentences: units.len(), explained: part.is_explained })
    };
    let turns: Vec<Turn> = prompt.parts.iter().zip(found).filter_map(turn).collect();
    if turns.len() > 1 { turns } else { Vec::new() }
}

/// Minimum number of units of a question: those of its prompt, plus those of its given answer, or 1 without a given answer.
pub fn fewest_units(question: &Question) -> usize {
    let Question { unit, sentence_rule: rule, .. } = *question;
    let prompt = ReadPrompt::of(question).ok();
    let language = language_of_question(question, &prompt.as_ref().map_or_else(String::new, ReadPrompt::whole_text));
    let in_prompt = prompt.map_or(0, |prompt| {
        let units = units_of_prompt(unit, rule, language, &prompt, &passages_of(&prompt));
        units.iter().map(Vec::len).sum()
    });
    in_prompt + question.answer.as_deref().map_or(1, |answer| units_of(unit.of_answer(), rule, language, answer).len())
}

/// The language of a question with this text as its prompt.
pub fn language_of_question(question: &Question, prompt: &str) -> Language {
    question.language.unwrap_or_else(|| language_of(prompt))
}

fn shift(ranges: &[Range<usize>], by: usize) -> Vec<Range<usize>> {
    ranges.iter().map(|range| range.start + by..range.end + by).collect()
}

/// For each part of the prompt, the byte range of each of its units in it, without white space at its end. Explained answers are split like
/// other answers. No unit spans the start or the end of a passage.
fn units_of_prompt(
    unit: Unit,
    rule: SentenceRule,
    language: Language,
    prompt: &ReadPrompt,
    passages: &[Vec<NamedPassage>],
) -> Vec<Vec<Range<usize>>> {
    let units = |(PromptPart { content, is_explained, .. }, passages): (&PromptPart, &Vec<NamedPassage>)| {
        let units = match unit {
            _ if *is_explained => units_of(unit.of_answer(), rule, language, &content.text),
            Unit::Bracket => content.units(|between| units_of(Unit::Sentence, rule, language, between)),
            _ => units_of(unit, rule, language, &content.text),
        };
        cut(&content.text, units, passages)
    };
    prompt.parts.iter().zip(passages).map(units).collect()
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

/// Extends the units of each part to tile the text of all parts that are explained, or of all others. Returns the byte range and the token
/// positions of each of their units.
fn units_and_tokens_of_parts(
    found: &[Vec<Range<usize>>],
    prompt: &ReadPrompt,
    framed: &FramedPrompt,
    are_explained: bool,
) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (mut units, mut tokens) = (Vec::new(), Vec::new());
    let of_parts = found.iter().zip(&prompt.parts).zip(&framed.parts);
    for ((found, part), FramedPart { start, spans }) in of_parts.filter(|((_, part), _)| part.is_explained == are_explained) {
        let (units_of_part, tokens_of_part) = units_and_tokens(found, &prompt.text_of(part)[part.bytes.clone()], spans);
        units.extend(shift(&units_of_part, part.bytes.start));
        tokens.extend(shift(&tokens_of_part, *start));
    }
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

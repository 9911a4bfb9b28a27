//! Variants of the explanation on screen: edited prompts with the model's answers, and continuations of its answer from alternatives.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::number;
use super::share_texts::{self, Amount};
use crate::app::i18n::t;
use crate::conversation::{self, ChatTurn};
use crate::explanation::{Answer, Branch, Document, PlacedUnit, Speaker};
use crate::request::BranchPoint;
use crate::shares::{AttributionGraph, Shares};

/// Edits of the sentences before an answer. Sentences are sources of the document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptEdits {
    /// Sentences that are left out, ascending.
    pub left_out: Vec<usize>,
    /// New text of reworded sentences, by sentence.
    pub reworded: BTreeMap<usize, String>,
}

impl PromptEdits {
    pub fn is_empty(&self) -> bool {
        self.left_out.is_empty() && self.reworded.is_empty()
    }

    /// Replaces the text of a sentence. The original text removes the edit.
    pub fn reword(&mut self, document: &Document, source: usize, words: &str) {
        let is_own = document.source(source).trim() == words.trim();
        match is_own {
            true => drop(self.reworded.remove(&source)),
            false => drop(self.reworded.insert(source, words.to_owned())),
        }
    }

    /// The text of source `j` after the edits, and the white space that follows it. `None` if it is left out.
    fn applied<'a>(&'a self, j: usize, sentence: &'a str) -> Option<(&'a str, &'a str)> {
        let words = self.reworded.get(&j).map_or(sentence, |words| words.as_str()).trim();
        let is_kept = !self.left_out.contains(&j) && !words.is_empty();
        is_kept.then(|| (if self.reworded.contains_key(&j) { words } else { sentence.trim_end() }, white_space_after(sentence)))
    }
}

/// An alternative of a token from which the answer is continued.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Continuation {
    /// Text of the answer before the token.
    pub before: String,
    /// Text of the token.
    pub original: String,
    pub branch: Branch,
}

/// An edited prompt and its answer, or the prompt and another continuation of its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Empty for a continuation.
    pub edits: PromptEdits,
    pub continuation: Option<Continuation>,
    /// "Without P2", as a heading. Empty for a continuation.
    pub title: String,
    pub prompt: String,
    pub answer: VariantAnswer,
    /// Explanation of the answer, if the user requested one.
    pub explanation: Option<Arc<AttributionGraph>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum VariantAnswer {
    /// The model is writing. Contains the text so far.
    Growing(String),
    /// The sentences of the answer.
    Whole(Vec<String>),
    /// The run ended early. Contains the text so far.
    Stopped(String),
}

/// A sentence before the answer, before and after the edits, with its shares of the last sentence of each answer.
#[derive(Clone, Debug, PartialEq)]
pub struct SentenceChange {
    pub label: String,
    pub before: String,
    /// `None` if the sentence is left out.
    pub after: Option<String>,
    pub is_reworded: bool,
    pub amounts: [Option<Amount>; 2],
}

impl VariantAnswer {
    /// The text so far.
    pub fn text(&self) -> String {
        match self {
            Self::Growing(text) | Self::Stopped(text) => text.clone(),
            Self::Whole(sentences) => sentences.concat(),
        }
    }
}

impl Variant {
    /// The edited prompt of `document`, without an answer. `None` if there are no edits, or if they leave no text.
    pub fn new(document: &Document, edits: &PromptEdits) -> Option<Self> {
        let (text, starts) = edited(&units_before_answer(document), edits);
        let prompt = if document.turns.is_empty() { text } else { edited_turns(document, &text, &starts)? };
        let is_something = !edits.is_empty() && !prompt.trim().is_empty();
        is_something.then(|| Self {
            title: title(document, edits),
            edits: edits.clone(),
            continuation: None,
            prompt,
            answer: VariantAnswer::Growing(String::new()),
            explanation: None,
        })
    }

    /// A continuation of the answer of `document`, without its text. `None` if the model did not write the answer, if the token (0-based)
    /// belongs to an earlier answer of a conversation, or if the document has no such alternative.
    pub fn continued(document: &Document, token: usize, rank: usize) -> Option<Self> {
        let Answer::Generated { .. } = document.manifest.answer else { return None };
        let (chosen, answer) = (document.tokens.get(token)?, document.last_answer());
        let token = token.checked_sub(answer.token)?;
        let text = chosen.alternatives.get(rank.checked_sub(1)?)?.text.clone();
        let [before, original] =
            [[answer.start, chosen.span[0]], chosen.span].map(|span| document.generation.span_text(span).unwrap_or_default().to_owned());
        Some(Self {
            edits: PromptEdits::default(),
            continuation: Some(Continuation { before, original, branch: Branch { token, rank, text } }),
            title: String::new(),
            prompt: document.prompt.text.clone(),
            answer: VariantAnswer::Growing(String::new()),
            explanation: None,
        })
    }

    /// Appends a piece of the answer.
    pub fn push(&mut self, piece: &str) {
        if let VariantAnswer::Growing(answer) = &mut self.answer {
            answer.push_str(piece);
        }
    }

    /// Whether the model is writing the answer.
    pub fn is_growing(&self) -> bool {
        matches!(self.answer, VariantAnswer::Growing(_))
    }

    /// Marks an unfinished answer as stopped and keeps its text.
    pub fn settle(&mut self) {
        if let VariantAnswer::Growing(answer) = &mut self.answer {
            self.answer = VariantAnswer::Stopped(std::mem::take(answer));
        }
    }

    /// Whether the run was stopped before the answer had any text.
    pub fn is_empty(&self) -> bool {
        matches!(&self.answer, VariantAnswer::Stopped(answer) if answer.trim().is_empty())
    }

    /// Describes how the edits changed the answer. `original` contains the sentences of the original answer.
    pub fn verdict(&self, original: &[&str]) -> &'static str {
        match &self.answer {
            VariantAnswer::Growing(_) => "",
            VariantAnswer::Stopped(_) => t!("Stopped before its end."),
            VariantAnswer::Whole(sentences) if is_same(original, sentences) => t!("The same answer, word for word."),
            VariantAnswer::Whole(sentences) if is_last_same(original, sentences) => t!("Different steps, same last sentence."),
            VariantAnswer::Whole(_) => t!("The last sentence is different."),
        }
    }

    /// Attributions of the last sentence before and after the edits. `None` unless both answers are explained by the same method.
    pub fn last_sentences(&self, original: &Arc<AttributionGraph>) -> Option<[Shares; 2]> {
        let last = |graph: &Arc<AttributionGraph>| Some(Shares::new(graph.clone(), &[graph.n_generated().checked_sub(1)?]));
        let explained = self.explanation.as_ref()?;
        let is_comparable = explained.document().method.id == original.document().method.id;
        if is_comparable { Some([last(original)?, last(explained)?]) } else { None }
    }

    /// Labels of the sources after the edits. A sentence before the answer keeps the label that it had. The sentences of the answer are
    /// counted as before.
    pub fn labels_after(&self, before: &Document, after: &Document) -> Vec<String> {
        let mut labels = after.labels();
        let [first_before, first] = [before, after].map(|document| document.prompt.sentences.len() + document.last_answer().row);
        labels.iter_mut().skip(first).zip(first_before..).for_each(|(label, j)| *label = before.label(j));
        for (j, own) in sources_by_sentence(before, &self.edits, after) {
            own.into_iter().for_each(|k| labels[k] = before.label(j));
        }
        labels
    }

    /// The sentences before the answer, before and after the edits. `None` unless both answers are explained by the same method.
    pub fn changes(&self, original: &Arc<AttributionGraph>) -> Option<Vec<SentenceChange>> {
        let [before, after] = self.last_sentences(original)?;
        let own = sources_by_sentence(before.document(), &self.edits, after.document());
        let change = |(j, sentence): (usize, &str)| {
            let share = own.get(&j).and_then(|own| own.iter().map(|&k| after.total(k)).sum::<Option<f64>>());
            SentenceChange {
                label: before.document().label(j),
                before: sentence.trim().to_owned(),
                after: self.edits.applied(j, sentence).map(|(words, _)| words.trim().to_owned()),
                is_reworded: self.edits.reworded.contains_key(&j),
                amounts: [share_texts::amounts(&before, j)[0].clone(), share.map(|share| share_texts::amount(after.scale(), share))],
            }
        };
        Some(units_before_answer(before.document()).into_iter().map(change).collect())
    }
}

impl Continuation {
    /// The branches of the continuation of an answer with the branches `earlier`. Those before the token stay.
    pub fn branch_points(&self, earlier: &[BranchPoint]) -> Vec<BranchPoint> {
        let own = BranchPoint { before: Some(self.before.clone()), ..BranchPoint::from(&self.branch) };
        earlier.iter().filter(|point| point.token < own.token).cloned().chain([own.clone()]).collect()
    }
}

/// "Without P2", "With P3 reworded", "Without P2, with P3 reworded".
fn title(document: &Document, edits: &PromptEdits) -> String {
    let names = |sources: Vec<usize>| number::listed(&sources.into_iter().map(|j| document.label(j)).collect::<Vec<_>>());
    let reworded: Vec<usize> = edits.reworded.keys().copied().filter(|j| !edits.left_out.contains(j)).collect();
    match (edits.left_out.is_empty(), reworded.is_empty()) {
        (_, true) => t!("Without {names}", names = names(edits.left_out.clone())),
        (true, false) => t!("With {names} reworded", names = names(reworded)),
        (false, false) => {
            t!("Without {names}, with {others} reworded", names = names(edits.left_out.clone()), others = names(reworded))
        }
    }
}

/// The sources before the answer with their texts, in text order. Earlier answers that are explained are among them.
pub fn units_before_answer(document: &Document) -> Vec<(usize, &str)> {
    let texts = document.source_texts();
    let n_before = document.prompt.sentences.len() + document.last_answer().row;
    let unit = |unit: PlacedUnit| Some((unit.source, *texts.get(unit.source)?));
    document.units_in_order().into_iter().take(n_before).filter_map(unit).collect()
}

/// The sentences of the answer, without earlier answers of the conversation.
pub fn last_answer(document: &Document) -> Vec<&str> {
    document.generation.sentence_texts().into_iter().skip(document.last_answer().row).collect()
}

/// The edited text, and for each remaining sentence its source number and its first byte. A paragraph break stays even if the sentence
/// before it is left out.
fn edited(units: &[(usize, &str)], edits: &PromptEdits) -> (String, Vec<(usize, usize)>) {
    let (mut text, mut starts) = (String::new(), Vec::new());
    for &(j, sentence) in units {
        if let Some((words, space)) = edits.applied(j, sentence) {
            starts.push((j, text.len()));
            text.push_str(words);
            text.push_str(space);
            continue;
        }
        let space = white_space_after(sentence);
        let kept = text.trim_end().len();
        if kept > 0 && space.matches('\n').count() > text[kept..].matches('\n').count() {
            text.truncate(kept);
            text.push_str(space);
        }
    }
    text.truncate(text.trim_end().len());
    (text, starts)
}

/// The conversation after edits, as text. `text` is the edited text of the prompt, `starts` has the first byte of each remaining sentence.
/// Turns without a sentence are left out. `None` if the user no longer speaks last.
fn edited_turns(document: &Document, text: &str, starts: &[(usize, usize)]) -> Option<String> {
    let first = |(speaker, units): (Speaker, Range<usize>)| Some((speaker, starts.iter().find(|(j, _)| units.contains(j))?.1));
    let firsts: Vec<(Speaker, usize)> = document.units_of_turns().into_iter().filter_map(first).collect();
    let ends = firsts.iter().skip(1).map(|&(_, start)| start).chain([text.len()]);
    let turn = |(&(speaker, start), end): (&(Speaker, usize), usize)| ChatTurn {
        speaker,
        content: text.get(start..end).unwrap_or_default().trim().to_owned(),
    };
    let turns: Vec<ChatTurn> = firsts.iter().zip(ends).map(turn).collect();
    (turns.last()?.speaker == Speaker::User).then(|| conversation::written(&turns))
}

pub fn white_space_after(sentence: &str) -> &str {
    &sentence[sentence.trim_end().len()..]
}

/// Maps each sentence before the answer, before the edits, to the sentences of the edited text that begin in it.
fn sources_by_sentence(before: &Document, edits: &PromptEdits, after: &Document) -> BTreeMap<usize, Vec<usize>> {
    let (_, starts) = edited(&units_before_answer(before), edits);
    let mut sources = BTreeMap::<usize, Vec<usize>>::new();
    let mut at = 0;
    for (k, sentence) in units_before_answer(after) {
        let visible = at + sentence.len() - sentence.trim_start().len();
        if let Some((j, _)) = starts.iter().rev().find(|(_, start)| *start <= visible) {
            sources.entry(*j).or_default().push(k);
        }
        at += sentence.len();
    }
    sources
}

/// For each of `sentences`, whether it differs from all `original` ones.
pub fn are_new(original: &[&str], sentences: &[String]) -> Vec<bool> {
    sentences.iter().map(|sentence| !original.iter().any(|known| known.trim() == sentence.trim())).collect()
}

fn is_same(original: &[&str], sentences: &[String]) -> bool {
    original.concat().trim() == sentences.concat().trim()
}

fn is_last_same(original: &[&str], sentences: &[String]) -> bool {
    original.last().map(|last| last.trim()) == sentences.last().map(|last| last.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::{document, with_explained_turn};
    use crate::explanation::{Alternative, AnswerStop, Passage, Sampling, Token, Turn};

    fn passage(sentences: &[&str]) -> Passage {
        let ends: Vec<usize> = sentences
            .iter()
            .scan(0, |end, sentence| {
                *end += sentence.len();
                Some(*end)
            })
            .collect();
        let spans: Vec<_> = std::iter::once(0).chain(ends.iter().copied()).zip(&ends).map(|(start, &end)| start..end).collect();
        Passage::new(&sentences.concat(), &spans, vec![1; sentences.len()])
    }

    /// The example with this prompt.
    fn prompt(sentences: &[&str]) -> Document {
        Document { prompt: passage(sentences).into(), ..document() }
    }

    fn without(left_out: &[usize]) -> PromptEdits {
        PromptEdits { left_out: left_out.into(), ..PromptEdits::default() }
    }

    #[test]
    fn paragraphs_still_end_where_their_last_sentence_is_gone() {
        let text = prompt(&["A. ", "B.\n\n", "C. ", "D?"]);
        let rest = |left_out: &[usize]| edited(&units_before_answer(&text), &without(left_out)).0;
        assert_eq!(rest(&[1]), "A.\n\nC. D?");
        assert_eq!(rest(&[0, 1]), "C. D?");
        assert_eq!(rest(&[3]), "A. B.\n\nC.");
        assert_eq!(rest(&[0, 1, 2, 3]), "");
    }

    #[test]
    fn reworded_sentence_keeps_following_white_space() {
        let text = prompt(&["A. ", "B.\n\n", "C?"]);
        let mut edits = without(&[0]);
        edits.reworded.insert(1, " X. Y. ".into());
        let (edited_text, starts) = edited(&units_before_answer(&text), &edits);
        assert_eq!((edited_text.as_str(), starts.as_slice()), ("X. Y.\n\nC?", &[(1, 0), (2, 7)][..]));
        let changed = prompt(&["X. ", "Y.\n\n", "C?"]);
        assert_eq!(sources_by_sentence(&text, &edits, &changed), [(1, vec![0, 1]), (2, vec![2])].into());
        edits.reworded.insert(2, "  ".into());
        assert_eq!(edited(&units_before_answer(&text), &edits).0, "X. Y.", "what has no words is left out");
    }

    #[test]
    fn edited_conversation_keeps_its_turns() {
        let turns = [(Speaker::System, 1), (Speaker::User, 2), (Speaker::Assistant, 1), (Speaker::User, 1)];
        let turns = turns.map(|(role, sentences)| Turn::given(role, sentences));
        let prompt = passage(&["A.\n\n", "B. ", "C?\n\n", "D.\n\n", "E?"]);
        let document = Document { prompt: prompt.into(), turns: turns.into(), ..document() };
        let edited = |left_out: &[usize]| Variant::new(&document, &without(left_out)).map(|variant| variant.prompt);
        assert_eq!(edited(&[1]).as_deref(), Some("System: A.\n\nUser: C?\n\nAssistant: D.\n\nUser: E?"));
        assert_eq!(edited(&[2, 3]).as_deref(), Some("System: A.\n\nUser: B.\n\nUser: E?"));
        assert_eq!(edited(&[0, 1, 2]).as_deref(), Some("Assistant: D.\n\nUser: E?"));
        assert_eq!(edited(&[4]), None, "nobody asks");
    }

    #[test]
    fn explained_answer_can_be_edited_in_its_turn() {
        let document = with_explained_turn();
        let edited = |left_out: &[usize]| Variant::new(&document, &without(left_out)).map(|variant| (variant.title, variant.prompt));
        let two_users = r#"[{"role": "user", "content": "A."}, {"role": "user", "content": "B."}]"#;
        assert_eq!(edited(&[2]), Some(("Without G1".into(), two_users.into())));
        let mut edits = without(&[0]);
        edits.reword(&document, 2, "X. Y.");
        let variant = Variant::new(&document, &edits).unwrap();
        assert_eq!(variant.prompt, "Assistant: X. Y.\n\nUser: B.");
        let generation = passage(&["X. ", "Y.\n\n", "D."]).into();
        let turns = vec![Turn::explained(2), Turn::given(Speaker::User, 1)];
        let table = crate::table::Table::from_fn(1, 3, |_, _| Some(1.0));
        let after = Document { prompt: passage(&["B."]).into(), generation, turns, table, ..document.clone() };
        assert_eq!(sources_by_sentence(&document, &edits, &after), [(1, vec![0]), (2, vec![1, 2])].into());
        assert_eq!(variant.labels_after(&document, &after), ["P2", "G1", "G1", "G2"]);
        assert_eq!(last_answer(&document), ["D. ", "E. ", "F."]);
    }

    #[test]
    fn only_last_answer_is_continued() {
        let token = |k: usize| Token {
            span: [[0, 2], [2, 4], [4, 5], [5, 7], [7, 8], [8, 10], [10, 11], [11, 12]][k],
            log_probability: -0.5,
            alternatives: vec![Alternative { text: " 4".into(), log_probability: -1.0 }],
        };
        let answer = Answer::Generated {
            sampling: Sampling::GREEDY,
            max_tokens: 64,
            thinking: None,
            stop: AnswerStop::End,
            warning: None,
            branches: Vec::new(),
        };
        let mut document = Document { tokens: (0..8).map(token).collect(), ..with_explained_turn() };
        document.manifest.answer = answer;
        let continued = |token: usize| Variant::continued(&document, token, 1).and_then(|variant| variant.continuation);
        assert_eq!(continued(1), None);
        let found = continued(4).unwrap();
        assert_eq!((found.before.as_str(), found.original.as_str(), found.branch.token), ("D. ", "E", 2));
    }

    #[test]
    fn its_own_words_take_an_edit_back() {
        let document = document();
        let mut edits = PromptEdits::default();
        edits.reword(&document, 0, "Z.");
        let title = |edits: &PromptEdits| Variant::new(&document, edits).map(|variant| variant.title);
        assert_eq!(title(&edits).as_deref(), Some("With P1 reworded"));
        edits.left_out = vec![1];
        assert_eq!(title(&edits).as_deref(), Some("Without P2, with P1 reworded"));
        edits.reword(&document, 0, "A. ");
        assert_eq!(edits, without(&[1]));
    }

    #[test]
    fn shares_before_and_after_stand_side_by_side() {
        let graph = Arc::new(AttributionGraph::new(document()));
        let mut variant = Variant::new(&document(), &without(&[0])).unwrap();
        assert_eq!(variant.changes(&graph), None, "not explained");
        variant.explanation = Some(graph.clone());
        let changes = variant.changes(&graph).unwrap();
        assert_eq!(changes.iter().map(|change| change.after.as_deref()).collect::<Vec<_>>(), [None, Some("B.")]);
        assert_eq!(changes[0].amounts[1], None);
        let after = Document { prompt: passage(&["B."]).into(), table: crate::table::Table::from_fn(1, 1, |_, _| Some(1.0)), ..document() };
        assert_eq!(variant.labels_after(&document(), &after), ["P2", "G1"]);
    }

    #[test]
    fn nothing_removed_and_nothing_left_are_no_trials() {
        let document = document();
        assert_eq!(Variant::new(&document, &without(&[])), None);
        assert_eq!(Variant::new(&document, &without(&[0, 1])), None);
        let variant = Variant::new(&document, &without(&[0])).unwrap();
        assert_eq!((variant.title.as_str(), variant.prompt.as_str()), ("Without P1", "B."));
    }

    #[test]
    fn the_verdict_compares_the_last_sentences() {
        let mut variant = Variant::new(&document(), &without(&[0])).unwrap();
        let mut verdict = |sentences: &[&str]| {
            variant.answer = VariantAnswer::Whole(sentences.iter().map(|sentence| (*sentence).into()).collect());
            variant.verdict(&["2 + 2 = 4. ", "So 4."])
        };
        assert!(verdict(&["2 + 2 = 4. ", "So 4. "]).starts_with("The same answer"));
        assert!(verdict(&["1 + 3 = 4. ", "So 4."]).starts_with("Different steps"));
        assert!(verdict(&["So 5."]).starts_with("The last sentence is different"));
        assert_eq!(are_new(&["2 + 2 = 4. ", "So 4."], &["1 + 3 = 4. ".into(), "So 4.".into()]), [true, false]);
    }

    #[test]
    fn a_trial_that_was_stopped_keeps_its_words() {
        let mut variant = Variant::new(&document(), &without(&[0])).unwrap();
        variant.push("So ");
        variant.push("4");
        variant.settle();
        assert_eq!(variant.answer, VariantAnswer::Stopped("So 4".into()));
        assert!(!variant.is_empty() && variant.verdict(&[]).starts_with("Stopped"));
    }
}

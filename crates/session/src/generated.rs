//! Generated answers, remembered.

use glasscage_core::explanation::{AnswerStop, AnswerWarning, Branch, Sampling};
use glasscage_model::tokenizer::TokenId;
use glasscage_protocol::request::BranchPoint;

/// Maximum number of remembered answers: one, and those that continue it from alternatives.
const MAX_ANSWERS: usize = 4;

/// Settings that change what a model generates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GenerationSettings {
    pub sampling: Sampling,
    /// Maximum length of thinking section and answer, in tokens.
    pub max_tokens: usize,
    /// Maximum length of the thinking section, in tokens.
    pub thought_limit: usize,
}

/// The tokens that an answer begins with because alternatives were chosen. The last one is the last alternative.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForcedStart {
    pub tokens: Vec<TokenId>,
    /// The alternatives, ascending. Empty if the model chose every token.
    pub branches: Vec<Branch>,
    /// Text of the answer before the last alternative.
    pub before: String,
}

/// A generated answer with all its inputs. The same inputs and seed give the same answer.
pub struct GeneratedAnswer {
    pub context: Vec<TokenId>,
    pub settings: GenerationSettings,
    pub start: ForcedStart,
    pub tokens: Vec<TokenId>,
    pub stop: AnswerStop,
    /// Result of the answer classifier, once it has run.
    pub warning: Option<Option<AnswerWarning>>,
}

/// The last answers. The one that was used last comes last.
#[derive(Default)]
pub struct RecentAnswers {
    answers: Vec<GeneratedAnswer>,
}

impl ForcedStart {
    /// Whether the answer takes these alternatives.
    fn takes(&self, points: &[BranchPoint]) -> bool {
        let is_same = |(branch, point): (&Branch, &BranchPoint)| {
            (branch.token, branch.rank) == (point.token, point.rank) && point.text.as_ref().is_none_or(|text| *text == branch.text)
        };
        let is_before = |point: &BranchPoint| point.before.as_ref().is_none_or(|before| *before == self.before);
        self.branches.len() == points.len() && self.branches.iter().zip(points).all(is_same) && points.last().is_none_or(is_before)
    }
}

impl GeneratedAnswer {
    fn is_of(&self, context: &[TokenId], settings: GenerationSettings) -> bool {
        self.context == context && self.settings == settings
    }
}

impl RecentAnswers {
    pub fn last(&self) -> Option<&GeneratedAnswer> {
        self.answers.last()
    }

    pub fn last_mut(&mut self) -> Option<&mut GeneratedAnswer> {
        self.answers.last_mut()
    }

    /// Makes the answer with these inputs the last one, and returns it. `None` if it is not remembered.
    pub fn recall(&mut self, context: &[TokenId], settings: GenerationSettings, start: &ForcedStart) -> Option<&GeneratedAnswer> {
        let at = self.answers.iter().position(|known| known.is_of(context, settings) && known.start.tokens == start.tokens)?;
        let answer = self.answers.remove(at);
        self.answers.push(answer);
        self.answers.last()
    }

    /// The start of a remembered answer that takes the most of these alternatives from the first one on. The free start if there is none.
    pub fn start(&self, context: &[TokenId], settings: GenerationSettings, points: &[BranchPoint]) -> ForcedStart {
        let known = || self.answers.iter().filter(|known| known.is_of(context, settings)).map(|known| &known.start);
        (1..=points.len()).rev().find_map(|n| known().find(|start| start.takes(&points[..n]))).cloned().unwrap_or_default()
    }

    /// Remembers an answer, and forgets the oldest one if there are too many.
    pub fn remember(&mut self, answer: GeneratedAnswer) {
        self.answers.retain(|known| !(known.is_of(&answer.context, answer.settings) && known.start.tokens == answer.start.tokens));
        self.answers.push(answer);
        self.answers.drain(..self.answers.len().saturating_sub(MAX_ANSWERS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: GenerationSettings = GenerationSettings { sampling: Sampling::GREEDY, max_tokens: 9, thought_limit: 0 };

    fn start(branches: &[(usize, usize)]) -> ForcedStart {
        let branch = |&(token, rank): &(usize, usize)| Branch { token, rank, text: "x".into() };
        let tokens = branches.iter().map(|&(token, rank)| (10 * token + rank) as TokenId).collect();
        ForcedStart { tokens, branches: branches.iter().map(branch).collect(), before: "a".into() }
    }

    fn answer(branches: &[(usize, usize)]) -> GeneratedAnswer {
        let start = start(branches);
        let tokens = [&start.tokens[..], &[7]].concat();
        GeneratedAnswer { context: vec![1], settings: SETTINGS, start, tokens, stop: AnswerStop::End, warning: None }
    }

    fn point(token: usize, rank: usize) -> BranchPoint {
        BranchPoint { token, rank, text: None, before: None }
    }

    #[test]
    fn answers_are_recalled_by_all_inputs() {
        let mut recent = RecentAnswers::default();
        recent.remember(answer(&[]));
        recent.remember(answer(&[(2, 1)]));
        assert_eq!(recent.recall(&[1], SETTINGS, &ForcedStart::default()).map(|known| known.tokens.clone()), Some(vec![7]));
        assert_eq!(recent.last().map(|last| last.tokens.clone()), Some(vec![7]), "it was used last");
        assert!(recent.recall(&[2], SETTINGS, &ForcedStart::default()).is_none());
        assert!(recent.recall(&[1], GenerationSettings { max_tokens: 8, ..SETTINGS }, &ForcedStart::default()).is_none());
        assert!(recent.recall(&[1], SETTINGS, &start(&[(2, 2)])).is_none());
        (0..9).for_each(|token| recent.remember(answer(&[(token, 1)])));
        assert!(recent.answers.len() == MAX_ANSWERS && recent.recall(&[1], SETTINGS, &ForcedStart::default()).is_none());
    }

    #[test]
    fn start_takes_as_many_alternatives_as_are_remembered() {
        let mut recent = RecentAnswers::default();
        recent.remember(answer(&[(2, 1)]));
        recent.remember(answer(&[(2, 1), (5, 3)]));
        let known = |points: &[BranchPoint]| recent.start(&[1], SETTINGS, points).branches.len();
        assert_eq!(known(&[]), 0);
        assert_eq!(known(&[point(2, 1), point(5, 3)]), 2);
        assert_eq!(known(&[point(2, 1), point(6, 3)]), 1);
        assert_eq!(known(&[point(2, 2)]), 0);
        assert_eq!(known(&[BranchPoint { text: Some("y".into()), ..point(2, 1) }]), 0, "another token");
        assert_eq!(known(&[BranchPoint { before: Some("a".into()), ..point(2, 1) }]), 1);
        assert_eq!(known(&[BranchPoint { before: Some("b".into()), ..point(2, 1) }]), 0, "another beginning");
    }
}

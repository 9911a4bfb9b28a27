//! Branches: answers that continue from alternatives of their tokens.

use super::generated::{ForcedStart, GenerationSettings};
use super::loaded::Session;
use super::problems;
use super::text::{FramedPrompt, TokenizedAnswer};
use super::tokens::others;
use glasscage_core::explanation::{AnswerStop, Branch};
use glasscage_engine::lm::{Callback, LanguageModel, LmError, ScoreRequest, score_base};
use glasscage_model::tokenizer::TokenId;
use glasscage_protocol::problem::Problem;
use glasscage_protocol::request::BranchPoint;

impl<M: LanguageModel> Session<M> {
    /// The tokens with which an answer begins that takes the alternatives `points`. Generates the answers that the alternatives belong to,
    /// unless they are remembered, and lets the model rank the tokens at each place again. `on_token` gets `None` for each of their
    /// tokens. `None` if it cancels.
    pub(super) async fn forced_start(
        &mut self,
        framed: &FramedPrompt,
        settings: GenerationSettings,
        points: &[BranchPoint],
        on_token: &mut dyn Callback<Option<String>>,
    ) -> Result<Option<ForcedStart>, Problem> {
        let mut start = self.answers.start(&framed.ids, settings, points);
        for point in &points[start.branches.len()..] {
            let mut on_step = async |_: Option<String>| on_token.call(None).await;
            let (ids, stop) = self.generated(framed, settings, &start, &mut on_step).await?;
            if stop == AnswerStop::Canceled {
                return Ok(None);
            }
            let answer = self.tokenized(framed, ids);
            let Some((at, token, branch)) = self.branch(framed, &answer, point).await? else { return Ok(None) };
            start.tokens = [&answer.ids[..at], &[token]].concat();
            start.before = text_before(&answer, at).to_owned();
            start.branches.extend(branch);
        }
        Ok(Some(start))
    }

    /// The alternative of `answer` at `point`: the number of generated tokens before it, its id, and its description. There is no
    /// description if the point asks for the token of the answer itself, because the model chose that one. `None` if the engine was
    /// stopped.
    async fn branch(
        &mut self,
        framed: &FramedPrompt,
        answer: &TokenizedAnswer,
        point: &BranchPoint,
    ) -> Result<Option<(usize, TokenId, Option<Branch>)>, Problem> {
        let at = answer.position(point.token).ok_or_else(|| problems::token_not_in_answer(point.token))?;
        if point.before.as_ref().is_some_and(|before| before != text_before(answer, at)) {
            return Err(problems::other_beginning());
        }
        let tokens = [&framed.ids[..], &answer.ids[..=at]].concat();
        let request = ScoreRequest { top_tokens: true, ..ScoreRequest::new(&tokens, tokens.len() - 1..tokens.len(), &[]) };
        let base = match score_base(&mut self.lm, &request).await {
            Err(LmError::Stopped) => return Ok(None),
            base => base.map_err(problems::engine_failed)?,
        };
        let ranked = base.top_tokens.first().map_or(&[][..], Vec::as_slice);
        let ids: Vec<TokenId> = others(answer.ids[at], ranked).map(|ranked| ranked.token).collect();
        let names: Vec<String> = ids.iter().map(|&id| self.tokenizer.name(id)).collect();
        match (place(point, &names), &point.text) {
            (Some(k), _) => Ok(Some((at, ids[k], Some(Branch { token: point.token, rank: k + 1, text: names[k].clone() })))),
            (None, Some(text)) if *text == self.tokenizer.name(answer.ids[at]) => Ok(Some((at, answer.ids[at], None))),
            (None, Some(text)) => Err(problems::other_alternatives(text)),
            (None, None) => Err(problems::no_such_alternative(point.rank, names.len())),
        }
    }
}

/// Index of the alternative among `names`, the most likely first. If it has another place than it had, its text decides.
fn place(point: &BranchPoint, names: &[String]) -> Option<usize> {
    let k = point.rank.checked_sub(1).filter(|&k| k < names.len());
    let Some(text) = &point.text else { return k };
    let is_same = |&k: &usize| names[k] == *text;
    let the_only_one = || {
        let mut same = (0..names.len()).filter(is_same);
        same.next().filter(|_| same.next().is_none())
    };
    k.filter(is_same).or_else(the_only_one)
}

/// Text of the answer before the token `ids[at]`, without a character of which the token covers a part.
fn text_before(answer: &TokenizedAnswer, at: usize) -> &str {
    &answer.text[..answer.text.floor_char_boundary(answer.spans()[at].start)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_finds_alternative_at_another_place() {
        let names = [" 3", " 4", "\u{fffd}", "\u{fffd}"].map(String::from);
        let found =
            |rank: usize, text: Option<&str>| place(&BranchPoint { token: 0, rank, text: text.map(str::to_owned), before: None }, &names);
        assert_eq!([0, 1, 4, 5, usize::MAX].map(|rank| found(rank, None)), [None, Some(0), Some(3), None, None]);
        assert_eq!([found(1, Some(" 3")), found(1, Some(" 4")), found(9, Some(" 4"))], [Some(0), Some(1), Some(1)]);
        assert_eq!([found(4, Some("\u{fffd}")), found(1, Some("\u{fffd}")), found(1, Some(" 5"))], [Some(3), None, None]);
    }
}

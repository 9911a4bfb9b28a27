//! Requests to score or infill a text, and the readouts.

use std::ops::Range;

use super::error::LmError;
use glasscage_model::config::Config;
use glasscage_model::tokenizer::TokenId;

/// Number of most likely tokens in a readout: five alternatives, and the token that the text has.
pub const N_TOP_TOKENS: usize = 6;

/// A text to score. The model reads `tokens` with the edits of the base text and of each pass, and always predicts the original targets.
#[derive(Clone, Debug)]
pub struct ScoreRequest<'a> {
    pub tokens: &'a [TokenId],
    /// Positions in `tokens` whose log-probability is measured. Not empty, and never position 0.
    pub targets: Range<usize>,
    /// Edits of the base text. They apply to all passes too.
    pub edits: &'a [Edit],
    pub passes: &'a [Pass],
    /// Whether to measure divergences, which costs up to twice the work of the LM head.
    pub divergences: bool,
    /// Ascending ranges of positions in the base text to which attention is measured. Empty: no attention.
    pub attended: &'a [Range<usize>],
    /// Whether to find the most likely tokens at each target in the base text. Costs a few reads of each logit.
    pub top_tokens: bool,
    /// Log-probabilities of the targets in the base text, if an earlier pass measured them. The engine then reads the base text only as far
    /// as the passes need it. Ignored if the request asks for divergences, attention or the most likely tokens.
    pub base_log_probs: Option<&'a [f64]>,
}

impl<'a> ScoreRequest<'a> {
    /// Requests log-probabilities of the targets, in the unchanged text and in each pass.
    pub fn new(tokens: &'a [TokenId], targets: Range<usize>, passes: &'a [Pass]) -> Self {
        Self { tokens, targets, edits: &[], passes, divergences: false, attended: &[], top_tokens: false, base_log_probs: None }
    }

    /// The readout of the base text, if it is already known.
    pub fn known_base(&self) -> Option<Readout> {
        let asks_for_more = self.divergences || self.top_tokens || !self.attended.is_empty();
        let is_all = |log_probs: &&[f64]| log_probs.len() == self.targets.len() && !asks_for_more;
        Some(Readout { log_probs: self.base_log_probs.filter(is_all)?.to_vec(), ..Readout::default() })
    }

    /// Number of base text tokens to read: all before the last target. If the readout is known: only those before the largest start of a
    /// pass.
    pub fn base_length(&self) -> usize {
        let all = self.targets.end - 1;
        let before_edits = || self.passes.iter().map(Pass::start).max().unwrap_or(0).min(all);
        if self.known_base().is_some() { before_edits() } else { all }
    }

    /// Inputs of the base text, changed by `edits`.
    pub fn inputs(&self, edits: &[Edit]) -> Vec<Input> {
        let mut inputs: Vec<Input> = self.tokens.iter().map(|&token| token.into()).collect();
        for Edit { start, inputs: changed } in self.edits.iter().chain(edits) {
            inputs[*start..start + changed.len()].copy_from_slice(changed);
        }
        inputs
    }
}

/// Model input at a position: the embedding of `token`, moved toward that of `blend_with` by the fraction `blend`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input {
    pub token: TokenId,
    pub blend_with: TokenId,
    /// 0 is `token` alone, 1 is `blend_with` alone.
    pub blend: f32,
}

impl From<TokenId> for Input {
    fn from(token: TokenId) -> Self {
        Self { token, blend_with: token, blend: 0.0 }
    }
}

/// One perturbation: at least one edit. Edits are ascending, and none is empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    pub edits: Vec<Edit>,
}

/// Replaces the tokens at `start..start + inputs.len()` with `inputs`.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    pub start: usize,
    pub inputs: Vec<Input>,
}

impl Edit {
    /// Replaces the tokens from `start` on with `tokens`.
    pub fn new(start: usize, tokens: &[TokenId]) -> Self {
        Self { start, inputs: tokens.iter().map(|&token| token.into()).collect() }
    }
}

impl Pass {
    /// First position that differs from the base text. The pass shares everything before it with the base text.
    pub fn start(&self) -> usize {
        self.edits.first().map_or(0, |edit| edit.start)
    }

    /// The perturbed text. Valid only if edits replace whole tokens.
    pub fn apply(&self, tokens: &[TokenId]) -> Vec<TokenId> {
        ScoreRequest::new(tokens, 0..0, &[]).inputs(&self.edits).iter().map(|input| input.token).collect()
    }
}

/// Spans of a text that the model fills. It predicts each span from the original text before it.
#[derive(Clone, Debug)]
pub struct InfillRequest<'a> {
    pub tokens: &'a [TokenId],
    /// Spans to fill. None is empty. A span may start inside the text and reach beyond its end.
    pub spans: &'a [Range<usize>],
    /// Tokens that the model must not generate, such as control tokens.
    pub forbidden: &'a [TokenId],
    /// Tokens that end a span early, such as the end of an answer. The rest of the span stays unfilled.
    pub ends: &'a [TokenId],
    /// Token that the model reads before a span at the start of the text.
    pub start_token: TokenId,
}

/// The new tokens of each span. The last one may be one of [`InfillRequest::ends`].
pub type Infills = Vec<Vec<TokenId>>;

impl InfillRequest<'_> {
    /// Number of positions up to the end of the text and of all spans.
    pub fn length(&self) -> usize {
        self.spans.iter().map(|span| span.end).max().unwrap_or(0).max(self.tokens.len())
    }

    /// The token before a span, and its position.
    pub fn before(&self, span: &Range<usize>) -> (TokenId, usize) {
        span.start.checked_sub(1).map_or((self.start_token, 0), |position| (self.tokens[position], position))
    }
}

/// Measurements of one pass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Readout {
    /// `ln p(x_t | x_<t)` in nats for each target t. Targets before the first edit of a pass have the values of the base text.
    pub log_probs: Vec<f64>,
    /// `KL(p of the base text || p of the pass)` in nats for each target t, over the whole vocabulary; 0 before the first edit. Empty if
    /// not requested.
    pub divergences: Vec<f64>,
    /// Attention weights of the base text, `[targets, ranges]`: for each target t and attended range, the sum over the positions of the
    /// range, all heads and all layers, in the row that predicts t. Empty if not requested.
    pub attention: Vec<f64>,
    /// Information flow from each range in the base text, with the shape of `attention`. Head h of a layer, with weights alpha and values
    /// v, outputs `o_h`, the sum over all positions of alpha v. The share of a range in the outputs of the layer's heads is, for head h,
    /// the sum over its positions of alpha (v . `o_h`), divided by the sum over heads of |`o_h`|^2. Over all heads and positions the shares
    /// add up to 1. The flow is the sum over heads and layers of the squares of positive shares.
    pub flow: Vec<f64>,
    /// The most likely tokens at each target in the base text: [`N_TOP_TOKENS`], fewer in a smaller vocabulary. The most likely token comes
    /// first, of equally likely ones the lowest. Tokens whose logit is not finite are left out. Empty if not requested.
    pub top_tokens: Vec<Vec<RankedToken>>,
}

/// A token that the model might have predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedToken {
    pub token: TokenId,
    /// `ln p(token | x_<t)` in nats, at temperature 1.
    pub log_prob: f64,
}

/// Divergences below this, in nats, may be rounding noise of the logits. Without this limit, a row without an effect would show percentages
/// of noise.
const DIVERGENCE_NOISE: f64 = 2e-5;
/// Maximum rounding error in nats: of a divergence below zero, and of a log-probability above zero.
const ROUNDING: f64 = 1e-3;

impl Readout {
    /// Sets divergences below 2e-5 nats (rounding noise) to 0. Errors if a value is impossible or not finite.
    pub fn checked(mut self) -> Result<Self, LmError> {
        let is_finite = |numbers: &[f64]| numbers.iter().all(|number| number.is_finite());
        if ![&self.log_probs, &self.divergences, &self.attention, &self.flow].into_iter().all(|numbers| is_finite(numbers)) {
            return Err(LmError::NotFinite);
        }
        let mut ranked = self.top_tokens.iter().flatten().map(|ranked| ranked.log_prob);
        if !ranked.clone().all(f64::is_finite) {
            return Err(LmError::NotFinite);
        }
        let is_impossible = |&divergence: &f64| divergence < -ROUNDING;
        let is_above_one = |log_prob: f64| log_prob > ROUNDING;
        if self.divergences.iter().any(is_impossible) || self.log_probs.iter().copied().any(is_above_one) || ranked.any(is_above_one) {
            return Err(LmError::Impossible);
        }
        self.divergences.iter_mut().filter(|divergence| **divergence < DIVERGENCE_NOISE).for_each(|divergence| *divergence = 0.0);
        Ok(self)
    }

    /// The readout of a pass that changes nothing.
    pub fn of_a_pass(&self) -> Self {
        Self { log_probs: self.log_probs.clone(), divergences: self.divergences.clone(), ..Self::default() }
    }

    /// The readout of a pass that changes the last targets to `changed`.
    pub fn changed_to(&self, changed: Self) -> Self {
        let mut readout = self.of_a_pass();
        for (all, changed) in [(&mut readout.log_probs, changed.log_probs), (&mut readout.divergences, changed.divergences)] {
            all.splice(all.len() - changed.len().., changed);
        }
        readout
    }
}

/// Checks that the model knows all of `tokens`.
pub fn check_known(config: &Config, tokens: &[TokenId]) -> Result<(), LmError> {
    let unknown = tokens.iter().find(|&&token| token as usize >= config.vocab_size);
    unknown.map_or(Ok(()), |&token| Err(LmError::UnknownToken(token)))
}

/// Checks that the request is not too long and that the model knows all of its tokens.
pub fn check_request(config: &Config, request: &ScoreRequest<'_>) -> Result<(), LmError> {
    check_length(config, request.targets.end - 1)?;
    check_known(config, request.tokens)?;
    let edits = request.edits.iter().chain(request.passes.iter().flat_map(|pass| &pass.edits));
    edits.flat_map(|edit| &edit.inputs).try_for_each(|input| check_known(config, &[input.token, input.blend_with]))
}

/// Checks that the model can read `n_tokens` tokens.
pub fn check_length(config: &Config, n_tokens: usize) -> Result<(), LmError> {
    let limit = config.context_length;
    if n_tokens > limit { Err(LmError::TooLong { tokens: n_tokens, limit }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(log_prob: f64, divergence: f64, flow: f64) -> Result<Readout, LmError> {
        let top_tokens = vec![vec![RankedToken { token: 1, log_prob: log_prob / 2.0 }]];
        Readout { log_probs: vec![log_prob], divergences: vec![divergence], attention: vec![0.5], flow: vec![flow], top_tokens }.checked()
    }

    #[test]
    fn known_base_is_read_as_far_as_passes_need() {
        let passes = [3, 5].map(|start| Pass { edits: vec![Edit::new(start, &[0])] });
        let request = ScoreRequest::new(&[7; 9], 6..9, &passes);
        assert_eq!((request.base_length(), request.known_base()), (8, None));
        let known = ScoreRequest { base_log_probs: Some(&[-1.0; 3]), ..request.clone() };
        assert_eq!((known.base_length(), known.known_base().unwrap().log_probs), (5, vec![-1.0; 3]));
        for whole in [
            ScoreRequest { divergences: true, ..known.clone() },
            ScoreRequest { attended: &[1..2, 2..3], ..known.clone() },
            ScoreRequest { top_tokens: true, ..known.clone() },
            ScoreRequest { base_log_probs: Some(&[-1.0; 2]), ..request },
        ] {
            assert_eq!((whole.base_length(), whole.known_base()), (8, None));
        }
    }

    #[test]
    fn checked_zeroes_noise_and_rejects_impossible_values() {
        for (computed, divergence) in [(-9e-4, 0.0), (0.0, 0.0), (1e-5, 0.0), (3e-5, 3e-5), (3.0, 3.0)] {
            assert_eq!(checked(-1.0, computed, 0.0).unwrap().divergences, [divergence]);
        }
        assert!(matches!(checked(-1.0, -2e-3, 0.0), Err(LmError::Impossible)));
        assert!(matches!(checked(2e-3, 0.0, 0.0), Err(LmError::Impossible)));
        assert!(checked(9e-4, 0.0, 0.0).is_ok());
        for (log_prob, is_right) in [(0.0, true), (2e-3, false), (f64::NAN, false), (f64::NEG_INFINITY, false)] {
            let readout = Readout { top_tokens: vec![vec![RankedToken { token: 1, log_prob }]], ..Readout::default() };
            assert_eq!(readout.checked().is_ok(), is_right, "{log_prob}");
        }
        for (log_prob, divergence, flow) in [(f64::NAN, 0.0, 0.0), (-1.0, f64::NAN, 0.0), (-1.0, f64::INFINITY, 0.0), (-1.0, 0.0, f64::NAN)]
        {
            assert!(matches!(checked(log_prob, divergence, flow), Err(LmError::NotFinite)), "{log_prob} {divergence} {flow}");
        }
    }
}

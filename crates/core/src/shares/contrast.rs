//! Shares of the prompt sentences in a contrast.

use crate::explanation::{Contrast, Document, MethodId};
use crate::graph::{self, Normalization};

/// What supports the compared part of an answer, and what opposes it, that is, supports the alternative.
#[derive(Clone, Debug, PartialEq)]
pub struct ContrastShares {
    /// Share \[for, against\] of each prompt sentence. All of them together sum to 1, less [`Self::lost`].
    pub shares: Vec<[f64; 2]>,
    /// Sum of the magnitudes of all effects, in nats: what the shares split.
    pub effect: f64,
}

impl ContrastShares {
    /// The shares in a contrast of this document. All rows of the graph, except that of the contrast, are as the paper has them: without
    /// negative weights, and divided by their sums.
    pub fn of(document: &Document, contrast: &Contrast) -> Self {
        let adjacency = graph::normalize(&document.scores(), Normalization::Full);
        let effect = contrast.effects.iter().map(|effect| effect.abs()).sum();
        Self { shares: graph::signed_shares(&adjacency, &contrast.effects), effect }
    }

    /// Whether the effects are so small that their shares mean little.
    pub fn is_weak(&self) -> bool {
        self.effect < MethodId::Perturbation.text().weak
    }

    /// Share that ends at a generated sentence without a measurable source, instead of at the prompt. 0 if no unit has an effect.
    pub fn lost(&self) -> f64 {
        if self.effect > 0.0 { (1.0 - self.shares.iter().flatten().sum::<f64>()).clamp(0.0, 1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::document;
    use super::*;

    fn contrast(effects: &[f64]) -> Contrast {
        Contrast { span: [6, 7], alternative: "X".into(), log_probabilities: [-0.5, -2.0], effects: effects.into() }
    }

    #[test]
    fn shares_pass_through_the_graph_of_the_paper() {
        // P1 -> G1; P2 and G1 -> G2 half each, although the score of P1 on G2 is negative; nothing -> G3.
        let shares = ContrastShares::of(&document(), &contrast(&[0.5, 0.0, 0.0, -1.5]));
        assert_eq!(shares, ContrastShares { shares: vec![[0.25, 0.375], [0.0, 0.375]], effect: 2.0 });
        assert_eq!(shares.lost(), 0.0);
        let lost = ContrastShares::of(&document(), &contrast(&[0.5, 0.0, 0.0, 0.0, 1.5]));
        assert_eq!((lost.shares[0], lost.lost()), ([0.25, 0.0], 0.75));
    }

    #[test]
    fn small_effects_are_weak() {
        let of = |effects: &[f64]| ContrastShares::of(&document(), &contrast(effects));
        assert!(of(&[0.001, -0.001]).is_weak() && !of(&[2.0, -1.0]).is_weak());
        assert!(of(&[0.0; 2]).is_weak() && of(&[0.0; 2]).lost() == 0.0);
    }
}

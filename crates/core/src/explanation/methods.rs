//! The registry of base attribution methods: their names, the texts that they score, and the meanings of their scores. What they compute
//! is in `attribution`.

use std::fmt;

use super::method::{Compression, Derivation, Weighting};

/// A base attribution method that this version can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodId {
    Pairs,
    Perturbation,
    Clp,
    Reagent,
    ReagentMasked,
    Attention,
    Flow,
    IntegratedGradients,
    AttentionGradients,
}

impl MethodId {
    /// All methods, in the order of [`METHODS`].
    pub const ALL: [Self; METHODS.len()] = [
        Self::Pairs,
        Self::Perturbation,
        Self::Clp,
        Self::Reagent,
        Self::ReagentMasked,
        Self::Attention,
        Self::Flow,
        Self::IntegratedGradients,
        Self::AttentionGradients,
    ];

    /// The method with this name in documents and on the command line. `None` if this version does not know it.
    pub fn named(name: &str) -> Option<Self> {
        METHODS.iter().position(|method| method.id == name).map(|index| Self::ALL[index])
    }

    /// Names and descriptions of the method.
    pub const fn text(self) -> &'static MethodText {
        &METHODS[self as usize]
    }
}

impl fmt::Display for MethodId {
    /// The name in documents and on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text().id)
    }
}

/// The texts that a method scores, in addition to the unchanged text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoredTexts {
    /// None: the method reads attention in the unchanged text.
    UnchangedOnly,
    /// The text without each source.
    WithoutEach(Replacement),
    /// The text without each source, then without two of them. End tokens replace the sources.
    WithoutEachAndPairs,
    /// The text at this many points while it fades in from end tokens, and two texts next to each point for each source.
    Path { points: usize },
}

/// Replacement for the tokens of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// The end-of-sequence token.
    EndToken,
    /// Text that the model itself generates.
    Infill,
    /// Text that a masked language model predicts.
    MaskedLm,
}

/// Names and descriptions of a method.
pub struct MethodText {
    /// Name in documents and on the command line.
    pub id: &'static str,
    /// The paper's name.
    pub name: &'static str,
    /// Very short description, with the name in parentheses.
    pub label: &'static str,
    /// Description in one to three sentences.
    pub about: &'static str,
    pub scored_texts: ScoredTexts,
    /// Meaning of a score. `unit` is its unit.
    pub score: &'static str,
    pub unit: &'static str,
    /// A row whose sum of positive scores is below this value has weak evidence. 0 if the method has no such threshold.
    pub weak: f64,
    /// Default derivation of influence from the scores.
    pub derivation: Derivation,
}

impl MethodText {
    /// The method with this ID, or a placeholder if it is unknown.
    pub fn of(id: &str) -> &'static Self {
        MethodId::named(id).map_or(&UNKNOWN, MethodId::text)
    }

    /// Forward passes per source. Neither the passes over unchanged texts nor those over pairs are included.
    pub const fn passes(&self) -> usize {
        match self.scored_texts {
            ScoredTexts::UnchangedOnly => 0,
            ScoredTexts::WithoutEach(_) | ScoredTexts::WithoutEachAndPairs => 1,
            ScoredTexts::Path { points } => 2 * points,
        }
    }

    /// Whether pairs of sources are measured too.
    pub fn measures_pairs(&self) -> bool {
        self.scored_texts == ScoredTexts::WithoutEachAndPairs
    }

    /// Whether the visitor must choose a masked language model for it.
    pub fn needs_masked_lm(&self) -> bool {
        self.scored_texts == ScoredTexts::WithoutEach(Replacement::MaskedLm)
    }
}

/// The unit of log-probability drops.
pub const NATS: &str = "nats per token";

/// Threshold for weak evidence. In trials with the built-in model, removing an irrelevant sentence cost about 0.01 nats per token, and
/// removing a relevant one cost 1 to 2. A gradient is a mean over about ten tokens of the source, so its threshold is a tenth of this.
const WEAK_NATS: f64 = 0.05;

/// Points on the path of a gradient method: the midpoints of equal steps.
const PATH_POINTS: usize = 20;

/// All methods that this page can run, in the order of [`MethodId`]. The first is the default.
pub const METHODS: &[MethodText] = &[
    MethodText {
        id: "pairs",
        name: "Pairs",
        label: "Leave one or two out (Pairs)",
        about: "Blanks out each sentence alone and then in pairs, and measures how much less likely each later sentence becomes. Pairs \
                reveal facts that the text states twice. Each drop is weighted by the information flow from the sentence.",
        scored_texts: ScoredTexts::WithoutEachAndPairs,
        score: "the drop in log-probability when the source is blanked out, alone or with another one",
        unit: NATS,
        weak: WEAK_NATS,
        derivation: Derivation { compression: Compression::Hyperbolic, weighting: Weighting::Flow, ..Derivation::PAPER },
    },
    MethodText {
        id: "pert",
        name: "Pert.",
        label: "Leave one out (Pert.)",
        about: "Blanks out one sentence at a time and measures how much less likely each later sentence becomes.",
        scored_texts: ScoredTexts::WithoutEach(Replacement::EndToken),
        score: "the drop in log-probability when the source is blanked out",
        unit: NATS,
        weak: WEAK_NATS,
        derivation: Derivation::PAPER,
    },
    MethodText {
        id: "clp",
        name: "CLP",
        label: "Shift of all predictions (CLP)",
        about: "Blanks out one sentence at a time and measures how far the predictions of all possible next tokens move.",
        scored_texts: ScoredTexts::WithoutEach(Replacement::EndToken),
        score: "the divergence of the predictions (KL) when the source is blanked out",
        unit: NATS,
        weak: WEAK_NATS,
        derivation: Derivation::PAPER,
    },
    MethodText {
        id: "reagent",
        name: "ReAGent",
        label: "Rewriting (ReAGent)",
        about: "Replaces one sentence at a time with what the model itself would say there, and measures how much less likely each \
                later sentence becomes.",
        scored_texts: ScoredTexts::WithoutEach(Replacement::Infill),
        score: "the drop in log-probability when the source is replaced",
        unit: NATS,
        weak: WEAK_NATS,
        derivation: Derivation::PAPER,
    },
    MethodText {
        id: "reagent-mlm",
        name: "ReAGent (masked LM)",
        label: "Rewriting by a masked LM (ReAGent)",
        about: "Replaces one sentence at a time with what a masked language model of your choice would say there, as in the paper\u{2019}s \
                code, and measures how much less likely each later sentence becomes.",
        scored_texts: ScoredTexts::WithoutEach(Replacement::MaskedLm),
        score: "the drop in log-probability when the source is replaced",
        unit: NATS,
        weak: WEAK_NATS,
        derivation: Derivation::PAPER,
    },
    MethodText {
        id: "attention",
        name: "Attention",
        label: "Attention",
        about: "Adds up how much attention the model pays to each sentence while it writes the later ones. Nothing in the text is \
                changed, so this does not show what would happen without a sentence.",
        scored_texts: ScoredTexts::UnchangedOnly,
        score: "the attention weight on a token of the source, over all heads and layers",
        unit: "heads",
        weak: 0.0,
        derivation: Derivation::PAPER,
    },
    MethodText {
        id: "flow",
        name: "Flow",
        label: "Information flow (Flow)",
        about: "Tracks how much information attention passes on from each sentence while the model writes the later ones. This is \
                flow, not a measured effect: nothing in the text is changed, so it does not show what would happen without a sentence.",
        scored_texts: ScoredTexts::UnchangedOnly,
        score: "the squared share of the source in what attention puts out, over all heads and layers",
        unit: "squared shares",
        weak: 0.0,
        derivation: Derivation::PAPER,
    },
    MethodText {
        id: "ig",
        name: "IG",
        label: "Integrated gradients (IG)",
        about: "Integrated gradients: fades in the whole text from blank in 20 steps, and measures at each step how much slightly more \
                of one sentence helps each later one. Slow.",
        scored_texts: ScoredTexts::Path { points: PATH_POINTS },
        score: "the integrated gradient of the log-probability",
        unit: "nats per token and token of the source",
        weak: WEAK_NATS / 10.0,
        derivation: Derivation::PAPER,
    },
    MethodText {
        id: "attn-ig",
        name: "Attn \u{d7} IG",
        label: "Attention \u{d7} gradients (Attn \u{d7} IG)",
        about: "Integrated gradients times attention, at each target token. Slow.",
        scored_texts: ScoredTexts::Path { points: PATH_POINTS },
        score: "the integrated gradient times the attention weight",
        unit: "nats per token and token of the source, times heads",
        weak: 0.0,
        derivation: Derivation::PAPER,
    },
];

/// Placeholder for an unknown method: its scores can be shown, but not interpreted.
const UNKNOWN: MethodText = MethodText {
    id: "",
    name: "an unknown method",
    label: "an unknown method",
    about: "",
    scored_texts: ScoredTexts::UnchangedOnly,
    score: "the score",
    unit: "the method\u{2019}s unit",
    weak: 0.0,
    derivation: Derivation::PAPER,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_in_order_of_ids() {
        for (index, id) in MethodId::ALL.into_iter().enumerate() {
            assert_eq!((id as usize, MethodId::named(METHODS[index].id)), (index, Some(id)));
        }
        assert_eq!(MethodId::named(UNKNOWN.id), None);
    }
}

//! Names of the base attribution methods and meanings of their scores. The methods themselves are in `attribution`.

use super::method::{Compression, Derivation, Weighting};

/// Names and descriptions of a method.
pub struct MethodText {
    /// Identifier in documents and on the command line.
    pub id: &'static str,
    /// The paper's name.
    pub name: &'static str,
    /// Very short description, with the name in parentheses.
    pub label: &'static str,
    /// Description in one to three sentences.
    pub about: &'static str,
    /// Forward passes per sentence, in addition to the pass over the unchanged text.
    pub passes: usize,
    /// Whether pairs of sentences are measured too.
    pub pairs: bool,
    /// Meaning of a score. `unit` is its unit.
    pub score: &'static str,
    pub unit: &'static str,
    /// A row whose sum of positive scores is below this value has weak evidence. 0 if the method has no such threshold.
    pub weak: f64,
    /// Default derivation of influence from the scores.
    pub derivation: Derivation,
    /// Whether the visitor must choose a masked language model for it.
    pub needs_masked_lm: bool,
}

impl MethodText {
    /// The method with this ID. `None` if this version does not know it.
    pub fn find(id: &str) -> Option<&'static Self> {
        METHODS.iter().find(|method| method.id == id)
    }

    /// The method with this ID, or a placeholder if it is unknown.
    pub fn of(id: &str) -> &'static Self {
        Self::find(id).unwrap_or(&UNKNOWN)
    }
}

/// The unit of log-probability drops.
pub const NATS: &str = "nats per token";

/// Threshold for weak evidence. In trials with the built-in model, removing an irrelevant sentence cost about 0.01 nats per token, and
/// removing a relevant one cost 1 to 2. A gradient is a mean over about ten tokens of the source, so its threshold is a tenth of this.
const WEAK_NATS: f64 = 0.05;

/// All methods that this page can run. The first is the default.
pub const METHODS: &[MethodText] = &[
    MethodText {
        id: "pairs",
        name: "Pairs",
        label: "Leave one or two out (Pairs)",
        about: "Blanks out each sentence alone and then in pairs, and measures how much less likely each later sentence becomes. Pairs \
                reveal facts that the text states twice. Each drop is weighted by the information flow from the sentence.",
        passes: 1,
        pairs: true,
        score: "the drop in log-probability when the source is blanked out, alone or with another one",
        unit: NATS,
        weak: WEAK_NATS,
        derivation: Derivation { compression: Compression::Hyperbolic, weighting: Weighting::Flow, ..Derivation::PAPER },
        needs_masked_lm: false,
    },
    MethodText {
        id: "pert",
        name: "Pert.",
        label: "Leave one out (Pert.)",
        about: "Blanks out one sentence at a time and measures how much less likely each later sentence becomes.",
        passes: 1,
        pairs: false,
        score: "the drop in log-probability when the source is blanked out",
        unit: NATS,
        weak: WEAK_NATS,
        derivation: Derivation::PAPER,
        needs_masked_lm: false,
    },
    MethodText {
        id: "clp",
        name: "CLP",
        label: "Shift of all predictions (CLP)",
        about: "Blanks out one sentence at a time and measures how far the predictions of all possible next tokens move.",
        passes: 1,
        pairs: false,
        score: "the divergence of the predictions (KL) when the source is blanked out",
        unit: NATS,
        weak: WEAK_NATS,
        derivation: Derivation::PAPER,
        needs_masked_lm: false,
    },
    MethodText {
        id: "reagent",
        name: "ReAGent",
        label: "Rewriting (ReAGent)",
        about: "Replaces one sentence at a time with what the model itself would say there, and measures how much less likely each \
                later sentence becomes.",
        passes: 1,
        pairs: false,
        score: "the drop in log-probability when the source is replaced",
        unit: NATS,
        weak: WEAK_NATS,
        derivation: Derivation::PAPER,
        needs_masked_lm: false,
    },
    MethodText {
        id: "reagent-mlm",
        name: "ReAGent (masked LM)",
        label: "Rewriting by a masked LM (ReAGent)",
        about: "Replaces one sentence at a time with what a masked language model of your choice would say there, as in the paper\u{2019}s \
                code, and measures how much less likely each later sentence becomes.",
        passes: 1,
        pairs: false,
        score: "the drop in log-probability when the source is replaced",
        unit: NATS,
        weak: WEAK_NATS,
        derivation: Derivation::PAPER,
        needs_masked_lm: true,
    },
    MethodText {
        id: "attention",
        name: "Attention",
        label: "Attention",
        about: "Adds up how much attention the model pays to each sentence while it writes the later ones. Nothing in the text is \
                changed, so this does not show what would happen without a sentence.",
        passes: 0,
        pairs: false,
        score: "the attention weight on a token of the source, over all heads and layers",
        unit: "heads",
        weak: 0.0,
        derivation: Derivation::PAPER,
        needs_masked_lm: false,
    },
    MethodText {
        id: "flow",
        name: "Flow",
        label: "Information flow (Flow)",
        about: "Tracks how much information attention passes on from each sentence while the model writes the later ones. This is \
                flow, not a measured effect: nothing in the text is changed, so it does not show what would happen without a sentence.",
        passes: 0,
        pairs: false,
        score: "the squared share of the source in what attention puts out, over all heads and layers",
        unit: "squared shares",
        weak: 0.0,
        derivation: Derivation::PAPER,
        needs_masked_lm: false,
    },
    MethodText {
        id: "ig",
        name: "IG",
        label: "Integrated gradients (IG)",
        about: "Integrated gradients: fades in the whole text from blank in 20 steps, and measures at each step how much slightly more \
                of one sentence helps each later one. Slow.",
        passes: 40,
        pairs: false,
        score: "the integrated gradient of the log-probability",
        unit: "nats per token and token of the source",
        weak: WEAK_NATS / 10.0,
        derivation: Derivation::PAPER,
        needs_masked_lm: false,
    },
    MethodText {
        id: "attn-ig",
        name: "Attn \u{d7} IG",
        label: "Attention \u{d7} gradients (Attn \u{d7} IG)",
        about: "Integrated gradients times attention, at each target token. Slow.",
        passes: 40,
        pairs: false,
        score: "the integrated gradient times the attention weight",
        unit: "nats per token and token of the source, times heads",
        weak: 0.0,
        derivation: Derivation::PAPER,
        needs_masked_lm: false,
    },
];

/// Placeholder for an unknown method: its scores can be shown, but not interpreted.
const UNKNOWN: MethodText = MethodText {
    id: "",
    name: "an unknown method",
    label: "an unknown method",
    about: "",
    passes: 0,
    pairs: false,
    score: "the score",
    unit: "the method\u{2019}s unit",
    weak: 0.0,
    derivation: Derivation::PAPER,
    needs_masked_lm: false,
};

//! Appearance and tooltip of a graph edge, the same in every drawing.

use super::joint_effects;
use super::share_texts;
use crate::app::i18n::t;
use crate::graph::Edge;
use crate::shares::Shares;

#[derive(Clone, Debug, PartialEq)]
pub struct EdgeStyle {
    pub title: String,
    pub strength: f64,
    /// The edge has negative influence, which only raw scores allow.
    pub is_minus: bool,
    /// The source is not measured yet.
    pub is_estimated: bool,
    /// Joint effect of the source with another one: "or", "and", or "or, and".
    pub mark: Option<&'static str>,
}

impl EdgeStyle {
    pub fn new(view: &Shares, edge: &Edge) -> Self {
        let influence = view.per_output(edge.flow);
        let joint = joint_effects::mark(view.document(), edge.from, edge.to);
        let is_estimated = view.graph().is_estimated(edge.from);
        let title = title(view, edge, influence);
        Self {
            title: match &joint {
                Some(joint) => t!("{edge}. {together}", edge = title, together = joint.title),
                None => title,
            },
            strength: view.strength(influence).abs(),
            is_minus: edge.flow < 0.0,
            is_estimated,
            mark: joint.map(|joint| joint.word),
        }
    }
}

/// "P2 → G3 carries 12% (41% of G3 comes from P2)". If the numbers are not shares: "(its weight is 0.410)".
/// Without support by the prompt, only "P2 → G3".
fn title(view: &Shares, edge: &Edge, flow: f64) -> String {
    let from = view.document().label(edge.from);
    let to = view.document().label(view.n_prompt() + edge.to);
    if view.is_unsupported() {
        return format!("{from} \u{2192} {to}");
    }
    let [flow, weight] = [flow, edge.weight].map(|influence| share_texts::figure(view.scale(), influence));
    match (view.scale().is_shares(), view.graph().is_estimated(edge.from)) {
        (true, true) => t!(
            "{from} \u{2192} {to} carries {flow} ({weight} of {to} comes from {from}), estimated by information flow",
            from,
            to,
            flow,
            weight,
        ),
        (true, false) => t!("{from} \u{2192} {to} carries {flow} ({weight} of {to} comes from {from})", from, to, flow, weight),
        // Estimates exist only for shares.
        (false, _) => t!("{from} \u{2192} {to} carries {flow} (its weight is {weight})", from, to, flow, weight),
    }
}

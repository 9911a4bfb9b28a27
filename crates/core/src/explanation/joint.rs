//! Joint effects of two sources.

use serde::{Deserialize, Serialize};

/// Effect of two sources on a generated sentence beyond their single effects. It is found by perturbing each source alone and both
/// together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointEffect {
    /// The generated sentence: a 0-based row of the table.
    pub target: usize,
    /// The two sources: columns of the table, ascending, before the target.
    pub sources: [usize; 2],
    /// Loss beyond the two single losses when both sources are perturbed, in the unit of the table, at least 0. Each source's cell contains
    /// half of it.
    pub amount: f64,
    /// Words of the target that stay likely without one of the sources, but become unlikely without both. Either source is enough for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub either_is_enough: Option<String>,
    /// Words of the target that become unlikely if either source is missing. Only both sources together are enough for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_together: Option<String>,
}

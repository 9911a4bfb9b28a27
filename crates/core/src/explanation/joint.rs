//! What two sources do together.

use serde::{Deserialize, Serialize};

/// What two sources do to a generated sentence together, found by measuring each alone and both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointEffect {
    /// The generated sentence: a 0-based row of the table.
    pub target: usize,
    /// Two sources before it, ascending: columns of the table.
    pub sources: [usize; 2],
    /// The loss that shows only when both are gone, in the unit of the table, at least 0. Half of it is in each source's cell.
    pub amount: f64,
    /// The words of the target that stay likely without either source, and become unlikely without both: either is enough for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub either_is_enough: Option<String>,
    /// The words of the target that become unlikely without either source: only both together give them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_together: Option<String>,
}

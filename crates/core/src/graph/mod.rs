//! The attribution graph: T -> A -> Y, as pure functions of a table. Section and equation names are the paper's.

mod influence;
mod layout;
mod normalize;
mod parts;
mod prune;

pub use influence::{context_attribution, direct_influence, node_influence, row_attribution, total_influence};
pub use layout::{Arc, arcs};
pub use normalize::{Adjacency, Normalization, normalize, normalize_with_estimate, positive_mass, zero_rows};
pub use parts::part_influence;
pub use prune::{Edge, Pruned, prune};

//! The attribution graph: T -> A -> Y, as pure functions of a table. Section and equation names are the paper's.

mod contrast;
mod group;
mod influence;
mod layered;
mod layout;
mod normalize;
mod parts;
mod paths;
mod prune;

pub use contrast::signed_shares;
pub use group::{GroupInfluence, group_influence};
pub use influence::{context_attribution, direct_influence, node_influence, row_attribution, total_influence};
pub use layered::{LayeredDrawing, LayeredEdge, LayeredNode, LayeredSpace, layered};
pub use layout::{Arc, arcs};
pub use normalize::{Adjacency, Normalization, normalize, normalize_with_estimate, positive_mass, zero_rows};
pub use parts::part_influence;
pub use paths::{MAX_PATHS, Path, strongest_paths};
pub use prune::{Edge, Pruned, edges_of_strongest_paths, prune};

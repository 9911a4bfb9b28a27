//! Selects the edges to draw: the smallest set that carries a chosen share of the influence on the output.
//!
//! The paper keeps edges above a value in [0, 1], its reference code above a fraction of the largest edge. Both keep heavy edges into
//! sentences that the output never used. Ranking by the flow along an edge avoids that.

use std::collections::BTreeSet;

use super::influence::{arriving, mask};
use super::paths::{MAX_PATHS, strongest_paths};
use super::{Adjacency, node_influence};
use crate::order::by_descending;

/// One edge of the graph, from source `from` (0..n+m) to generated sentence `to` (0..m).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    /// `A[to][from]`.
    pub weight: f64,
    /// Flow along the edge into the output: `A[to][from] (v_to + [to in O])`.
    pub flow: f64,
}

/// The kept edges, largest flow first, and a summary of the others. Negative flows, which raw scores can have, count by magnitude.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pruned {
    pub edges: Vec<Edge>,
    /// Number of edges that are not drawn, except those with negligible flow.
    pub hidden: usize,
    /// Share of all flow that the kept edges carry, in [0, 1]. 1 if nothing flows.
    pub kept_share: f64,
    /// Total flow of all edges, including those not kept.
    flow: f64,
}

/// Edges with a smaller share of all flow are negligible and do not count as hidden, because rounding in links changes them.
const MIN_HIDDEN: f64 = 1e-3;

impl Pruned {
    /// Keeps the `most` edges with the largest flow.
    pub fn at_most(mut self, most: usize) -> Self {
        if self.edges.len() > most {
            self.hidden += self.n_worth_counting(&self.edges[most..]);
            self.edges.truncate(most);
            self.kept_share = self.share_of_edges();
        }
        self
    }

    /// Keeps the edges that can be drawn.
    pub fn only(mut self, is_drawn: impl Fn(&Edge) -> bool) -> Self {
        let (drawn, others): (Vec<Edge>, Vec<Edge>) = self.edges.iter().partition(|edge| is_drawn(edge));
        self.hidden += self.n_worth_counting(&others);
        self.edges = drawn;
        self.kept_share = self.share_of_edges();
        self
    }

    /// Keeps the edges with the largest flow, up to the first edge with which they would touch more than `most` sentences.
    pub fn touching_at_most(self, most: usize, n_prompt: usize) -> Self {
        let mut touched = BTreeSet::new();
        let fits = |edge: &&Edge| {
            touched.extend([edge.from, n_prompt + edge.to]);
            touched.len() <= most
        };
        let n_fitting = self.edges.iter().take_while(fits).count();
        self.at_most(n_fitting)
    }

    /// Adds edges of the same graph, such as [`edges_of_strongest_paths`].
    pub fn with(mut self, others: &[Edge]) -> Self {
        let known = sources_by_target(self.edges.iter().map(|edge| [edge.from, edge.to]));
        let is_known = |edge: &Edge| known.get(edge.to).is_some_and(|sources| sources.contains(&edge.from));
        let missing: Vec<Edge> = others.iter().filter(|edge| !is_known(edge)).copied().collect();
        self.hidden -= self.n_worth_counting(&missing);
        self.edges.extend(missing);
        self.edges = by_descending(&self.edges, |edge| edge.flow.abs());
        self.kept_share = self.share_of_edges();
        self
    }

    fn n_worth_counting(&self, edges: &[Edge]) -> usize {
        edges.iter().filter(|edge| edge.flow.abs() >= MIN_HIDDEN * self.flow).count()
    }

    fn share_of_edges(&self) -> f64 {
        if self.flow > 0.0 { total_flow(&self.edges) / self.flow } else { 1.0 }
    }
}

/// Keeps the smallest set of edges that carries `share` (in [0, 1]) of the flow into `output`. Does not renormalize weights.
pub fn prune(adjacency: &Adjacency, output: &[usize], share: f64) -> Pruned {
    let edges = by_descending(&flowing_edges(adjacency, output), |edge| edge.flow.abs());
    let flow = total_flow(&edges);
    // Allow for rounding: the last bits of a sum depend on its order.
    let wanted = share * flow * (1.0 - 1e-12);
    let mut kept = 0.0;
    let is_needed = |edge: &&Edge| {
        let is_needed = kept < wanted;
        kept += edge.flow.abs();
        is_needed
    };
    let n_kept = edges.iter().take_while(is_needed).count();
    Pruned { edges, hidden: 0, kept_share: 1.0, flow }.at_most(n_kept)
}

/// The edges of the [`MAX_PATHS`] strongest paths into `output`, each once.
pub fn edges_of_strongest_paths(adjacency: &Adjacency, output: &[usize]) -> Vec<Edge> {
    let (n_prompt, paths) = (adjacency.n_prompt(), strongest_paths(adjacency, output, MAX_PATHS));
    let steps = sources_by_target(paths.iter().flat_map(|path| path.sources.windows(2)).map(|step| [step[0], step[1] - n_prompt]));
    let is_step = |edge: &Edge| steps.get(edge.to).is_some_and(|sources| sources.contains(&edge.from));
    flowing_edges(adjacency, output).into_iter().filter(is_step).collect()
}

/// For each generated sentence up to the last one at which an edge ends, the sources of its edges, which are given as source and sentence.
fn sources_by_target(edges: impl Iterator<Item = [usize; 2]>) -> Vec<Vec<usize>> {
    let mut sources: Vec<Vec<usize>> = Vec::new();
    for [from, to] in edges {
        if sources.len() <= to {
            sources.resize(to + 1, Vec::new());
        }
        sources[to].push(from);
    }
    sources
}

fn total_flow(edges: &[Edge]) -> f64 {
    edges.iter().map(|edge| edge.flow.abs()).sum()
}

fn flowing_edges(adjacency: &Adjacency, output: &[usize]) -> Vec<Edge> {
    let influence = node_influence(adjacency, output);
    let is_output = mask(adjacency, output);
    let edges = adjacency.rows().enumerate().flat_map(|(to, row)| {
        let arriving = arriving(adjacency, &is_output, &influence, to);
        row.iter().enumerate().map(move |(from, &weight)| Edge { from, to, weight, flow: weight * arriving })
    });
    edges.filter(|edge| edge.flow.abs() > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::CausalMatrix;

    fn graph() -> Adjacency {
        CausalMatrix::from_rows(2, vec![vec![0.9, 0.1], vec![1.0, 0.0, 0.0], vec![0.0, 0.2, 0.8, 0.0]])
    }

    #[test]
    fn edges_into_sentences_that_the_output_never_used_are_dropped() {
        let pruned = prune(&graph(), &[2], 1.0);
        assert!(pruned.edges.iter().all(|edge| edge.to != 1));
        assert_eq!((pruned.edges.len(), pruned.hidden, pruned.kept_share), (4, 0, 1.0));
    }

    #[test]
    fn the_smallest_set_that_reaches_the_share_is_kept() {
        let pruned = prune(&graph(), &[2], 0.8);
        assert_eq!(pruned.edges.iter().map(|edge| (edge.from, edge.to)).collect::<Vec<_>>(), [(2, 2), (0, 0)]);
        assert_eq!(pruned.hidden, 2);
        assert!((pruned.kept_share - 1.52 / 1.8).abs() < 1e-12);
        assert_eq!(prune(&graph(), &[2], 0.0).edges, []);
    }

    #[test]
    fn undrawn_edges_count_as_hidden() {
        let all = prune(&graph(), &[2], 1.0);
        assert_eq!(all.clone().at_most(4), all);
        let fewer = all.at_most(2);
        assert_eq!((fewer.edges.len(), fewer.hidden), (2, 2));
        assert!((fewer.kept_share - 1.52 / 1.8).abs() < 1e-12);
    }

    #[test]
    fn the_strongest_edges_among_a_few_sentences_are_kept() {
        let all = prune(&graph(), &[2], 1.0);
        assert_eq!([1, 2, 3, 4].map(|most| all.clone().touching_at_most(most, 2).edges.len()), [0, 1, 2, 4]);
        assert_eq!(all.touching_at_most(3, 2).hidden, 2);
        let one_edge = prune(&CausalMatrix::from_rows(1, vec![vec![1.0]]), &[0], 1.0);
        assert_eq!([1, 2].map(|most| one_edge.clone().touching_at_most(most, 1).edges.len()), [0, 1]);
    }

    #[test]
    fn raw_scores_that_take_away_are_kept_by_their_size() {
        let raw = CausalMatrix::from_rows(2, vec![vec![0.5, -2.0]]);
        let pruned = prune(&raw, &[0], 0.8);
        assert_eq!(pruned.edges, [Edge { from: 1, to: 0, weight: -2.0, flow: -2.0 }]);
        assert_eq!((pruned.hidden, pruned.kept_share), (1, 0.8));
    }

    #[test]
    fn a_graph_without_flow_has_no_edges_and_hides_none() {
        let zero = CausalMatrix::from_rows(1, vec![vec![0.0]]);
        let nothing = Pruned { edges: vec![], hidden: 0, kept_share: 1.0, flow: 0.0 };
        assert_eq!((prune(&zero, &[0], 0.9), nothing.clone().with(&[])), (nothing.clone(), nothing));
    }

    #[test]
    fn tiny_flow_is_not_hidden() {
        let faint = CausalMatrix::from_rows(3, vec![vec![0.9, 0.0995, 0.0005]]);
        assert_eq!(prune(&faint, &[0], 0.5).hidden, 1);
        let larger = CausalMatrix::from_rows(3, vec![vec![90.0, 9.95, 0.05]]);
        assert_eq!(prune(&larger, &[0], 0.5).hidden, 1);
        assert_eq!(prune(&faint, &[0], 1.0).edges.len(), 3);
    }

    #[test]
    fn edges_are_added_once_and_count_as_drawn() {
        let all = prune(&graph(), &[2], 1.0).edges;
        let pruned = prune(&graph(), &[2], 0.8).with(&all[1..3]);
        assert_eq!((&pruned.edges, pruned.hidden), (&all[..3].to_vec(), 1));
        assert!((pruned.kept_share - total_flow(&all[..3]) / 1.8).abs() < 1e-12, "{}", pruned.kept_share);
    }

    #[test]
    fn strongest_paths_are_kept_whole() {
        let adjacency = graph();
        let pruned = prune(&adjacency, &[2], 0.1).with(&edges_of_strongest_paths(&adjacency, &[2]));
        for path in strongest_paths(&adjacency, &[2], MAX_PATHS) {
            let has = |step: &[usize]| pruned.edges.iter().any(|edge| step == [edge.from, 2 + edge.to]);
            assert!(path.sources.windows(2).all(has), "{path:?}");
        }
    }

    /// With a search through lists, either would compare ten billion pairs of edges.
    #[test]
    fn edges_of_long_chain_are_found_by_sentence() {
        const LENGTH: usize = 800;
        let row = |i: usize| (0..=i).map(|j| if j == i { 1.0 } else { 1e-6 }).collect();
        let chain = CausalMatrix::from_rows(1, (0..LENGTH).map(row).collect());
        let edges = edges_of_strongest_paths(&chain, &[LENGTH - 1]);
        assert!(edges.len() >= LENGTH && edges.iter().filter(|edge| edge.from == edge.to).count() == LENGTH);
        let all = prune(&chain, &[LENGTH - 1], 1.0);
        assert_eq!(all.clone().with(&all.edges).edges.len(), all.edges.len());
    }

    #[test]
    fn repeated_and_missing_outputs_count_once_and_never() {
        let all = |output: &[usize]| prune(&graph(), output, 1.0).edges;
        assert_eq!(all(&[2, 2, 9]), all(&[2]));
    }

    #[test]
    fn strongest_path_edges_exclude_weaker_paths() {
        let star = CausalMatrix::from_rows(MAX_PATHS + 1, vec![(0..=MAX_PATHS).map(|j| 1.0 + j as f64).collect()]);
        let edges = edges_of_strongest_paths(&star, &[0]);
        assert!(edges.iter().map(|edge| edge.from).eq(1..=MAX_PATHS), "all but the weakest");
    }
}

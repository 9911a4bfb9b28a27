//! Finds the strongest single paths through the graph, from a prompt sentence to the output.

use super::Adjacency;
use crate::order::by_descending;

/// A path along the edges of the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The sources of the path (0..n+m), in time order. The first is a prompt sentence, the last a sentence of the output.
    pub sources: Vec<usize>,
    /// Product of the weights along the path. The products of all paths add up to the context attribution.
    pub weight: f64,
}

/// Number of paths that are listed. Their edges are always drawn.
pub const MAX_PATHS: usize = 5;

/// Last step of one of the strongest paths into a source. It extends the path into `from` with this 0-based rank (strongest first).
#[derive(Clone, Copy)]
struct Step {
    from: usize,
    rank: usize,
    /// Weight of the path up to here.
    weight: f64,
}

/// The `most` paths into `output` with the largest absolute weights, largest first. A sentence of the output may be on a path to a later
/// one.
///
/// The best paths into a sentence extend the best ones into its sources, so `most` paths per source are enough. Time: O(most m (n + m))
/// times a logarithm. Space: O(most (n + m)).
pub fn strongest_paths(adjacency: &Adjacency, output: &[usize], most: usize) -> Vec<Path> {
    let n_prompt = adjacency.n_prompt();
    // For each source, the last steps of the strongest paths into it. Paths start at prompt sentences.
    let mut into: Vec<Vec<Step>> = (0..n_prompt).map(|from| vec![Step { from, rank: 0, weight: 1.0 }]).collect();
    for row in adjacency.rows() {
        let extended = row.iter().enumerate().filter(|(_, weight)| **weight != 0.0).flat_map(|(from, weight)| {
            let paths = into[from].iter().enumerate();
            paths.map(move |(rank, path)| Step { from, rank, weight: path.weight * weight })
        });
        let best = strongest(&extended.collect::<Vec<Step>>(), most);
        into.push(best);
    }
    let ends = output.iter().map(|i| n_prompt + i).filter(|end| *end < into.len());
    let ends = ends.flat_map(|from| into[from].iter().enumerate().map(move |(rank, path)| Step { from, rank, weight: path.weight }));
    strongest(&ends.collect::<Vec<Step>>(), most).into_iter().map(|end| walked_back(&into, n_prompt, end)).collect()
}

fn walked_back(into: &[Vec<Step>], n_prompt: usize, end: Step) -> Path {
    let mut sources = vec![end.from];
    let mut step = end;
    while step.from >= n_prompt {
        step = into[step.from][step.rank];
        sources.push(step.from);
    }
    sources.reverse();
    Path { sources, weight: end.weight }
}

fn strongest(paths: &[Step], most: usize) -> Vec<Step> {
    let mut strongest = by_descending(paths, |path| path.weight.abs());
    strongest.truncate(most);
    strongest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::context_attribution;
    use crate::table::CausalMatrix;

    /// P1 -> G1 (1); P2 and G1 -> G2 (.25, .75); G1 and G2 -> G3 (.4, .6).
    fn graph() -> Adjacency {
        CausalMatrix::from_rows(2, vec![vec![1.0, 0.0], vec![0.0, 0.25, 0.75], vec![0.0, 0.0, 0.4, 0.6]])
    }

    #[test]
    fn the_strongest_path_comes_first() {
        let paths = strongest_paths(&graph(), &[2], 2);
        let sources: Vec<&[usize]> = paths.iter().map(|path| &path.sources[..]).collect();
        assert_eq!(sources, [&[0, 2, 3, 4][..], &[0, 2, 4]]);
        assert!((paths[0].weight - 0.45).abs() < 1e-12);
    }

    #[test]
    fn all_paths_together_are_the_context_attribution() {
        for output in [&[2][..], &[1, 2]] {
            let paths = strongest_paths(&graph(), output, 100);
            let mut sums = vec![0.0; 2];
            paths.iter().for_each(|path| sums[path.sources[0]] += path.weight);
            let exact = context_attribution(&graph(), output);
            assert!(sums.iter().zip(&exact).all(|(sum, exact)| (sum - exact).abs() < 1e-12), "{sums:?} {exact:?}");
        }
    }

    #[test]
    fn raw_scores_that_take_away_count_by_their_size() {
        let raw = CausalMatrix::from_rows(2, vec![vec![0.5, -2.0]]);
        assert_eq!(strongest_paths(&raw, &[0], 1), [Path { sources: vec![1, 2], weight: -2.0 }]);
    }

    #[test]
    fn there_is_no_path_into_a_sentence_without_source() {
        assert!(strongest_paths(&CausalMatrix::from_rows(1, vec![vec![0.0]]), &[0], 5).is_empty());
        assert!(strongest_paths(&graph(), &[7], 5).is_empty());
    }
}

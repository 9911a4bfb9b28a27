//! The strongest paths in words, and the walk back along one of them.

use super::number::{listed, percent};
use super::share_texts;
use crate::app::i18n::{following, t};
use crate::graph::{self, Path};
use crate::shares::Shares;

/// A path to choose from.
#[derive(Clone, Debug, PartialEq)]
pub struct PathEntry {
    /// Sources on the path, in time order.
    pub sources: Vec<usize>,
    /// "P4 → G2 → G5".
    pub chain: String,
    pub figure: String,
    /// "31% of G5 comes from P4 through G2".
    pub words: String,
}

/// A stop of the walk.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkStop {
    pub source: usize,
    /// Describes this step of the walk.
    pub words: String,
}

/// The strongest paths, strongest first.
pub fn paths(view: &Shares) -> Vec<Path> {
    graph::strongest_paths(view.graph().adjacency(), view.output(), graph::MAX_PATHS)
}

/// The strongest paths, strongest first, and the share of all other paths together. The share is `None` if it is below 0.5 %, or if edges
/// are not shares.
pub fn strongest_paths(view: &Shares) -> (Vec<PathEntry>, Option<String>) {
    let paths = paths(view);
    let shown = view.per_output(paths.iter().map(|path| path.weight).sum());
    let all: f64 = (0..view.n_prompt()).filter_map(|j| view.total(j)).sum();
    let rest = (all - shown).max(0.0);
    let others = (view.scale().is_shares() && rest >= 0.005).then(|| percent(rest));
    (paths.iter().map(|path| PathEntry::new(view, path)).collect(), others)
}

/// The walk back from the output along the path through these sources (in time order).
pub fn walk(view: &Shares, sources: &[usize]) -> Vec<WalkStop> {
    let stops = sources.iter().enumerate().rev();
    stops.map(|(k, &source)| WalkStop { source, words: stop_words(view, sources, k) }).collect()
}

impl PathEntry {
    fn new(view: &Shares, path: &Path) -> Self {
        let labels: Vec<String> = path.sources.iter().map(|&source| view.document().label(source)).collect();
        let figure = share_texts::figure(view.scale(), view.per_output(path.weight));
        let (first, last) = (&labels[0], &labels[labels.len() - 1]);
        let words = match &labels[1..labels.len() - 1] {
            [] => t!("{share} of {label} comes directly from {source}", label = last, share = figure, source = first),
            steps => {
                let steps = listed(steps);
                t!("{share} of {label} comes from {source} through {steps}", label = last, share = figure, source = first, steps)
            }
        };
        Self { chain: labels.join(" \u{2192} "), words, sources: path.sources.clone(), figure }
    }
}

/// Describes the step to `sources[k]`, which comes from `sources[k + 1]`.
fn stop_words(view: &Shares, sources: &[usize], k: usize) -> String {
    let name = |k: usize| view.document().label(sources[k]);
    let n_prompt = view.n_prompt();
    let weight = |from: usize, to: usize| *view.graph().adjacency().get(sources[to] - n_prompt, sources[from]).unwrap_or(&0.0);
    let mut words = match k + 1 == sources.len() {
        true => t!("Start at {label}, which is to be explained.", label = name(k)),
        false => t!(
            "{share} of {label} comes from {source}: step back to it.",
            share = share_texts::figure(view.scale(), weight(k, k + 1)),
            label = name(k + 1),
            source = name(k),
        ),
    };
    if k == 0 {
        let share = view.per_output((0..sources.len() - 1).map(|k| weight(k, k + 1)).product());
        let all = view.total(sources[0]).unwrap_or(share);
        let figure = |share: f64| share_texts::figure(view.scale(), share);
        words.push_str(&following(&t!(
            "This is the prompt, so the walk ends here: {share} along this path, {all} along all paths to {label}.",
            share = figure(share),
            all = figure(all),
            label = name(0),
        )));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::shares;

    fn view(output: &[usize]) -> Shares {
        shares(output)
    }

    #[test]
    fn paths_are_named_with_their_share() {
        let (paths, others) = strongest_paths(&view(&[1]));
        let words: Vec<&str> = paths.iter().map(|path| &*path.words).collect();
        assert_eq!(words, ["50% of G2 comes directly from P2", "50% of G2 comes from P1 through G1"]);
        assert_eq!((&*paths[1].chain, &*paths[1].figure, others), ("P1 \u{2192} G1 \u{2192} G2", "50%", None));
    }

    #[test]
    fn the_walk_goes_back_to_the_prompt() {
        let walk = walk(&view(&[1]), &[0, 2, 3]);
        assert_eq!(walk.iter().map(|stop| stop.source).collect::<Vec<_>>(), [3, 2, 0]);
        assert_eq!(walk[0].words, "Start at G2, which is to be explained.");
        assert_eq!(walk[1].words, "50% of G2 comes from G1: step back to it.");
        assert!(walk[2].words.ends_with("the walk ends here: 50% along this path, 50% along all paths to P1."), "{}", walk[2].words);
    }

    #[test]
    fn nothing_leads_to_a_sentence_without_source() {
        assert_eq!(strongest_paths(&view(&[2])), (vec![], None));
    }
}

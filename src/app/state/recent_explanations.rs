//! Explanations from this session that are no longer on screen.

use std::sync::Arc;

use crate::explanation::Document;
use crate::lesson::is_same_explanation;
use crate::shares::AttributionGraph;

/// Maximum number of explanations that are kept.
const MOST: usize = 12;

/// Explanations from this session that were on screen before, latest first.
#[derive(Default)]
pub struct RecentExplanations(Vec<Arc<AttributionGraph>>);

impl RecentExplanations {
    /// Keeps an explanation that leaves the screen, if it is fully measured.
    pub fn keep(&mut self, graph: &Arc<AttributionGraph>) {
        let document = graph.document();
        if document.is_complete() {
            self.0.retain(|known| !is_same_explanation(known.document(), document));
            self.0.insert(0, graph.clone());
            self.0.truncate(MOST);
        }
    }

    pub fn documents(&self) -> impl Iterator<Item = &Document> {
        self.0.iter().map(|graph| graph.document())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::document;

    #[test]
    fn each_explanation_is_kept_once_and_the_oldest_go() {
        let mut recent_explanations = RecentExplanations::default();
        for method in (0..MOST + 3).chain([5]) {
            let mut document = document();
            document.method.id = method.to_string();
            recent_explanations.keep(&Arc::new(AttributionGraph::new(document.clone())));
            recent_explanations.keep(&Arc::new(AttributionGraph::new(Document { output: vec![0], ..document })));
        }
        let methods: Vec<&str> = recent_explanations.documents().map(|document| document.method.id.as_str()).collect();
        assert_eq!((methods.len(), methods[0], methods[1], methods[MOST - 1]), (MOST, "5", "14", "3"));
    }
}

//! The document on screen.

use std::sync::Arc;

use super::origin::Origin;
use crate::explanation::Document;
use crate::shares::AttributionGraph;

/// The document on screen and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownDocument {
    pub graph: Arc<AttributionGraph>,
    pub origin: Origin,
}

impl ShownDocument {
    pub fn new(document: Document, origin: Origin) -> Self {
        Self { graph: Arc::new(AttributionGraph::new(document)), origin }
    }

    pub fn method_id(&self) -> &str {
        &self.graph.document().method.id
    }

    /// Whether the follow-up results of this explanation also hold for `document`: text, chat template and model are the same.
    pub(in crate::app) fn is_same_answer(&self, document: &Document) -> bool {
        let (own, other) = (&self.graph.document().manifest, &document.manifest);
        let is_same_context = own.template == other.template && own.model.sha256 == other.model.sha256;
        is_same_context && self.graph.document().is_same_text(document)
    }
}

//! The explanation on screen: its document, the visitor's selection, and the results of follow-up questions.

use std::sync::Arc;

use super::message::ExplanationMessage;
use super::origin::Origin;
use super::reactive::Reactive;
use super::recent_explanations::RecentExplanations;
use super::selection;
use super::shown_document::ShownDocument;
use crate::app::analysis::deletion_test::DeletionTest;
use crate::app::analysis::expanded_source::ExpandedSource;
use crate::app::analysis::reproduction::Reproduction;
use crate::app::analysis::shared_link::SharedLink;
use crate::app::analysis::variant::{PromptEdits, Variant};
use crate::app::gallery::Gallery;
use crate::explanation::{Contrast, Derivation, Document};
use crate::shares::Shares;
use crate::table::Table;

/// Initial share of the influence that the drawn edges carry.
const EDGE_SHARE: f64 = 0.9;
/// Maximum number of contrasts that the page adds to a document.
const MAX_CONTRASTS: usize = 20;
/// Maximum number of explanations whose changed prompts are kept.
const MAX_SET_ASIDE: usize = 8;

pub struct Explanation {
    pub shown: Reactive<Option<ShownDocument>>,
    /// The selected output: rows of the table, ascending.
    pub output: Reactive<Vec<usize>>,
    /// The generated sentence under the pointer: shown as if it were the output.
    pub preview: Reactive<Option<usize>>,
    /// The prompt or generated sentence whose edges are highlighted.
    pub focus: Reactive<Option<usize>>,
    /// The share of influence that the drawn edges carry.
    pub edge_share: Reactive<f64>,
    pub link: Reactive<Option<SharedLink>>,
    /// Whether a new link is wanted, but the code that encodes it has not arrived yet.
    pub is_encoding_link: Reactive<bool>,
    pub deletion_test: Reactive<Option<DeletionTest>>,
    /// Explanations of the answer on screen by other methods.
    pub comparisons: Reactive<Vec<ShownDocument>>,
    /// The reader's changes of the prompt on screen.
    pub edits: Reactive<PromptEdits>,
    /// Changed prompts with their answers. The last answer may still be growing.
    pub variants: Reactive<Vec<Variant>>,
    /// Sources whose words were measured.
    pub expanded: Reactive<Vec<ExpandedSource>>,
    /// Expanded sources whose words are hidden again.
    pub collapsed: Reactive<Vec<usize>>,
    /// Result of recomputing the explanation that was on screen before.
    pub reproduction: Reactive<Option<Reproduction>>,
    pub gallery: Reactive<Gallery>,
    pub(in crate::app) gallery_is_requested: bool,
    /// Explanations that were on screen before.
    before: Reactive<RecentExplanations>,
    /// Changed prompts of earlier explanations, oldest first.
    set_aside: Vec<SetAside>,
}

/// Changed prompts of an explanation that is not on screen but may be shown again.
struct SetAside {
    shown: ShownDocument,
    edits: PromptEdits,
    variants: Vec<Variant>,
}

impl Default for Explanation {
    fn default() -> Self {
        Self {
            shown: Reactive::default(),
            output: Reactive::default(),
            preview: Reactive::default(),
            focus: Reactive::default(),
            edge_share: Reactive::new(EDGE_SHARE),
            link: Reactive::default(),
            is_encoding_link: Reactive::default(),
            deletion_test: Reactive::default(),
            comparisons: Reactive::default(),
            edits: Reactive::default(),
            variants: Reactive::default(),
            expanded: Reactive::default(),
            collapsed: Reactive::default(),
            reproduction: Reactive::default(),
            gallery: Reactive::default(),
            gallery_is_requested: false,
            before: Reactive::default(),
            set_aside: Vec::new(),
        }
    }
}

impl Explanation {
    pub fn document(&self) -> Option<&Document> {
        self.shown.as_ref().map(|shown| shown.graph.document())
    }

    /// Whether nothing is on screen except the welcome explanation.
    pub fn is_home(&self) -> bool {
        self.shown.is_none() || self.is_welcome()
    }

    /// Whether the welcome explanation is on screen.
    pub fn is_welcome(&self) -> bool {
        self.shown.as_ref().is_some_and(|shown| shown.origin == Origin::Welcome)
    }

    /// The shown document, seen from the previewed sentence or else from the output.
    pub fn view(&self) -> Option<Shares> {
        let graph = self.shown.as_ref()?.graph.clone();
        let preview = self.preview.filter(|&row| row < graph.n_generated());
        Some(match preview {
            Some(row) => Shares::new(graph, &[row]),
            None => Shares::new(graph, &self.output),
        })
    }

    /// The document with the selected output. Ignores the sentence under the pointer.
    pub(in crate::app) fn selected_document(&self) -> Option<Document> {
        let graph = self.shown.as_ref()?.graph.clone();
        Some(Shares::new(graph, &self.output).to_document())
    }

    /// Handles an action of the reader.
    pub(in crate::app) fn update(&mut self, message: ExplanationMessage) {
        match message {
            ExplanationMessage::Select { row, extend } => self.select(row, extend),
            ExplanationMessage::Preview(row) => *self.preview = row,
            ExplanationMessage::Focus(node) => *self.focus = node,
            ExplanationMessage::SetEdgeShare(share) => *self.edge_share = share,
            ExplanationMessage::Derive(derivation) => self.derive(derivation),
            ExplanationMessage::Escape => self.escape(),
            ExplanationMessage::LeaveOut(sentences) => self.edits.left_out = sentences,
            ExplanationMessage::Reword { source, words } => self.reword(source, &words),
            ExplanationMessage::UndoEdits => *self.edits = PromptEdits::default(),
        }
    }

    /// Explanations from this session except the one on screen: first those by other methods, then those that were on screen before.
    pub fn recent_explanations(&self) -> impl Iterator<Item = &Document> {
        let comparisons = self.comparisons.iter().map(|shown| shown.graph.document()).filter(|document| document.is_complete());
        comparisons.chain(self.before.documents())
    }

    /// Shows another document and selects its explained sentences.
    pub(in crate::app) fn show(&mut self, document: Document, origin: Origin) {
        self.keep_for_visit();
        let is_same_text = self.document().is_some_and(|shown| shown.is_same_text(&document));
        if origin != Origin::Here || !is_same_text {
            *self.output = document.explained();
        }
        self.forget_view();
        if !self.shown.as_ref().is_some_and(|shown| shown.is_same_answer(&document)) {
            self.forget_follow_ups();
            if let Some(at) = self.set_aside.iter().position(|aside| aside.shown.is_same_answer(&document)) {
                let SetAside { edits, variants, .. } = self.set_aside.remove(at);
                (*self.edits, *self.variants) = (edits, variants);
            }
        }
        let is_replaced = |known: &ShownDocument| known.method_id() == document.method.id;
        self.comparisons.iter().filter(|known| is_replaced(known)).for_each(|known| self.before.keep(&known.graph));
        if self.comparisons.iter().any(is_replaced) {
            self.comparisons.retain(|known| !is_replaced(known));
        }
        self.replace(document, origin);
    }

    /// Removes the document and its follow-up results from the screen.
    pub(in crate::app) fn close(&mut self) {
        self.keep_for_visit();
        self.output.clear();
        self.forget_view();
        self.forget_follow_ups();
        *self.shown = None;
    }

    /// Shows a document of the same answer and keeps the visitor's selection. Closes a link to the document before it.
    pub(in crate::app) fn replace(&mut self, document: Document, origin: Origin) {
        self.close_link();
        *self.shown = Some(ShownDocument::new(document, origin));
    }

    /// Adds a contrast to the document on screen, after the earlier ones. Replaces an earlier one of the same texts. Returns `false` if it
    /// does not fit the document.
    pub(in crate::app) fn add_contrast(&mut self, contrast: Contrast) -> bool {
        let Some(ShownDocument { graph, origin }) = self.shown.clone() else { return false };
        let mut document = graph.document().clone();
        document.contrasts.retain(|known| known.span != contrast.span || known.alternative != contrast.alternative);
        document.contrasts.push(contrast);
        document.contrasts.drain(..document.contrasts.len().saturating_sub(MAX_CONTRASTS));
        let fits = document.check().is_ok();
        if fits {
            self.replace(document, origin);
        }
        fits
    }

    /// Closes the link, also one that is still being encoded.
    pub(in crate::app) fn close_link(&mut self) {
        *self.link = None;
        *self.is_encoding_link = false;
    }

    /// Drops what is under the pointer, because a view that is removed does not notice that the pointer leaves it.
    pub(in crate::app) fn forget_pointer(&mut self) {
        *self.preview = None;
        *self.focus = None;
    }

    fn forget_view(&mut self) {
        self.forget_pointer();
        self.close_link();
        *self.reproduction = None;
        *self.deletion_test = None;
    }

    fn keep_for_visit(&mut self) {
        if let Some(shown) = &*self.shown {
            self.before.keep(&shown.graph);
        }
    }

    fn forget_follow_ups(&mut self) {
        let comparisons = std::mem::take(&mut *self.comparisons);
        comparisons.iter().for_each(|shown| self.before.keep(&shown.graph));
        let (edits, variants) = (std::mem::take(&mut *self.edits), std::mem::take(&mut *self.variants));
        if let Some(shown) = self.shown.clone().filter(|_| !variants.is_empty() || edits != PromptEdits::default()) {
            self.set_aside.push(SetAside { shown, edits, variants });
            self.set_aside.drain(..self.set_aside.len().saturating_sub(MAX_SET_ASIDE));
        }
        self.expanded.clear();
        self.collapsed.clear();
    }

    /// Selects generated sentence `row`. With `extend`, adds it to the output or removes it.
    fn select(&mut self, row: usize, extend: bool) {
        *self.preview = None;
        self.close_link();
        let output = selection::clicked(&self.output, row, extend);
        *self.output = output;
    }

    /// Selects these generated sentences. Ignores rows that do not exist, and does nothing if no row is left.
    pub(in crate::app) fn choose(&mut self, mut rows: Vec<usize>) {
        let n_generated = self.shown.as_ref().map_or(0, |shown| shown.graph.n_generated());
        rows.retain(|&row| row < n_generated);
        rows.sort_unstable();
        rows.dedup();
        if !rows.is_empty() {
            *self.preview = None;
            *self.output = rows;
        }
    }

    /// Closes the link if it is open. Otherwise selects the last sentence.
    fn escape(&mut self) {
        if self.link.is_some() || *self.is_encoding_link {
            self.close_link();
            return;
        }
        *self.preview = None;
        *self.focus = None;
        if let Some(n_generated) = self.shown.as_ref().map(|shown| shown.graph.n_generated()) {
            *self.output = selection::default_output(n_generated);
        }
    }

    /// Rebuilds the graphs from the same scores with another derivation.
    fn derive(&mut self, derivation: Derivation) {
        self.close_link();
        let variants = self.variants.iter_mut().filter_map(|variant| variant.explanation.as_mut());
        let shown = self.comparisons.iter_mut().chain(self.shown.iter_mut()).map(|shown| &mut shown.graph);
        shown.chain(variants).for_each(|graph| Arc::make_mut(graph).derive(derivation));
    }

    fn reword(&mut self, source: usize, words: &str) {
        if let Some(shown) = self.shown.clone() {
            self.edits.reword(shown.graph.document(), source, words);
        }
    }

    /// Swaps the explanation on screen with the one by this method.
    pub(in crate::app) fn show_method(&mut self, method: &str) {
        let Some(shown) = &mut *self.shown else { return };
        if let Some(comparison) = self.comparisons.iter_mut().find(|comparison| comparison.method_id() == method) {
            std::mem::swap(comparison, shown);
            self.close_link();
            *self.reproduction = None;
            // It tested the other method.
            *self.deletion_test = None;
        }
    }

    /// Stores the measured scores of one source in the document that is being measured.
    pub(in crate::app) fn fill_column(&mut self, source: usize, scores: &[f64], passes: [usize; 2]) {
        if let Some(ShownDocument { graph, origin: Origin::Here }) = &mut *self.shown {
            Arc::make_mut(graph).fill_column(source, scores, passes);
        }
    }

    /// Uses a table of information flow to estimate the sources that are not measured yet. Returns whether any source is estimated.
    pub(in crate::app) fn estimate(&mut self, flow: Table) -> bool {
        let Some(ShownDocument { graph, origin: Origin::Here }) = &mut *self.shown else { return false };
        let graph = Arc::make_mut(graph);
        graph.set_estimate(Some(flow));
        (0..graph.n_prompt()).any(|j| graph.is_estimated(j))
    }

    /// Drops the estimates at the end of a run. Sources that are not measured yet stay unmeasured.
    pub(in crate::app) fn forget_estimate(&mut self) {
        if self.shown.as_ref().is_some_and(|shown| shown.graph.has_estimate())
            && let Some(shown) = &mut *self.shown
        {
            Arc::make_mut(&mut shown.graph).set_estimate(None);
        }
    }

    /// Hides the words of a source, or shows them again. Returns `false` if they were not measured by the method on screen.
    pub(in crate::app) fn toggle_expanded(&mut self, source: usize) -> bool {
        let Some(method) = self.shown.as_ref().map(ShownDocument::method_id) else { return true };
        if !self.expanded.iter().any(|expanded| expanded.source == source && expanded.method == method) {
            return false;
        }
        match self.collapsed.iter().position(|&other| other == source) {
            Some(at) => drop(self.collapsed.remove(at)),
            None => self.collapsed.push(source),
        }
        true
    }

    /// Ends growing answers at the end of a run. They keep their words. Empty answers are dropped.
    pub(in crate::app) fn settle_variants(&mut self) {
        if self.variants.iter().any(|variant| variant.is_growing()) {
            self.variants.iter_mut().for_each(Variant::settle);
            self.variants.retain(|variant| !variant.is_empty());
        }
    }
}

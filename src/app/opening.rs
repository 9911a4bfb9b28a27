//! Documents come from a run, a file or a link, and go to a file or a link.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::File;

use super::browser;
use super::choice::Choice;
use super::gallery::{self, Entry};
use super::reading::{Graph, Reading};
use super::run::Run;
use super::selection;
use super::sharing::{Reach, SharedLink};
use super::state::{Origin, Page, Shown};
use crate::explanation::{Aggregation, Document, from_fragment, to_fragment};
use crate::graph::Normalization;
use crate::library::address::{missing_parts, part_of};
use crate::problem::Problem;

impl Shown {
    pub fn new(document: Document, origin: Origin) -> Self {
        Self { graph: Arc::new(Graph::new(document)), origin }
    }

    /// Whether what was asked beside this one holds for the document too.
    fn is_same_answer(&self, document: &Document) -> bool {
        let own = self.graph.document();
        own.is_same_text(document) && own.manifest.model.sha256 == document.manifest.model.sha256
    }
}

impl Page {
    /// Puts a document on screen and selects its output.
    pub fn show(&self, document: Document, origin: Origin) {
        let n_generated = document.generation.sentences.len();
        let output = if document.output.is_empty() { selection::default_output(n_generated) } else { document.output.clone() };
        self.preview.set(None);
        self.focus.set(None);
        self.link.set(None);
        self.reproduction.set(None);
        self.check.set(None);
        if !self.shown.with_untracked(|shown| shown.as_ref().is_some_and(|shown| shown.is_same_answer(&document))) {
            self.others.set(Vec::new());
            self.marked.set(Vec::new());
            self.trials.set(Vec::new());
            self.opened.set(Vec::new());
            self.folded.set(Vec::new());
        }
        self.output.set(output);
        self.shown.set(Some(Shown::new(document, origin)));
        if origin != Origin::Here {
            self.problem.set(None);
            self.editor_is_open.set(false);
            self.run.set(Run::Idle);
        }
        if origin != Origin::Link {
            // The address bar must not name another explanation than the one on screen.
            browser::replace_address(browser::address().split('#').next().unwrap_or_default());
        }
    }

    /// Opens the explanation in the address bar, if there is one. Nothing is fetched for it.
    pub fn open_fragment(&self) {
        let fragment = browser::fragment();
        if fragment.trim_start_matches('#').is_empty() {
            return;
        }
        if self.refuse_while_running() {
            return;
        }
        match from_fragment(&fragment) {
            Ok(document) => self.show(document, Origin::Link),
            Err(error) => self.problem.set(Some(Problem::new(error.to_string(), "Ask for the link again, or for the saved JSON file"))),
        }
    }

    /// Opens an explanation (JSON) or loads a model (GGUF, all parts of it where it is split), by the files' names.
    pub fn open_files(&self, files: Vec<File>) {
        let (models, others): (Vec<File>, Vec<File>) = files.into_iter().partition(|file| file.name().to_lowercase().ends_with(".gguf"));
        match others.into_iter().next() {
            Some(document) if models.is_empty() => self.open_document(document),
            _ => self.open_model(models),
        }
    }

    fn open_model(&self, mut files: Vec<File>) {
        files.sort_by_key(File::name);
        let names: Vec<String> = files.iter().map(File::name).collect();
        let Some(first) = names.first() else { return };
        let name = part_of(first).map_or(first.as_str(), |(stem, ..)| stem).to_owned();
        let what = match missing_parts(&names) {
            Some(missing) if missing.is_empty() => return self.choose_model(Choice::Files(name), files),
            None if names.len() == 1 => return self.choose_model(Choice::Files(name), files),
            Some(missing) => {
                format!("\u{201c}{name}\u{201d} has {} parts; missing: {}", names.len() + missing.len(), some_of(&missing))
            }
            None => format!("{} model files were opened at once", names.len()),
        };
        self.problem.set(Some(Problem::new(what, "Open one model at a time, all parts of it together")));
    }

    fn open_document(&self, file: File) {
        if self.refuse_while_running() {
            return;
        }
        let page = *self;
        spawn_local(async move {
            let opened = match browser::read_text(&file).await {
                Some(json) => Document::from_json(&json).map_err(|error| error.to_string()),
                None => Err("the file could not be read".into()),
            };
            match opened {
                // A run may have begun while the file was read.
                Ok(_) if page.refuse_while_running() => {}
                Ok(document) => page.show(document, Origin::File),
                Err(error) => {
                    let what = format!("\u{201c}{}\u{201d} was not opened: {error}", file.name());
                    page.problem.set(Some(Problem::new(what, "Open a file that Save JSON made, or a model whose name ends in .gguf")));
                }
            }
        });
    }

    /// Opens an explanation made beforehand.
    pub fn open_from_gallery(&self, entry: Entry) {
        let page = *self;
        spawn_local(async move {
            let document = gallery::fetch_document(&entry).await.map(|json| Document::from_json(&json));
            match document {
                Some(Ok(_)) if page.refuse_while_running() => {}
                Some(Ok(document)) => page.show(document, Origin::Gallery),
                _ => {
                    let what = format!("\u{201c}{}\u{201d} could not be fetched", entry.title);
                    page.problem.set(Some(Problem::new(what, "Check the connection, or reload the page, then choose it again")));
                }
            }
        });
    }

    fn refuse_while_running(&self) -> bool {
        let is_active = self.run.with_untracked(Run::is_active);
        if is_active {
            self.problem.set(Some(Problem::new("An explanation is being made", "Press Stop first, then open the other one again")));
        }
        is_active
    }

    /// Explains one more or another sentence.
    pub fn select(&self, i: usize, extend: bool) {
        self.preview.set(None);
        self.link.set(None);
        self.output.update(|output| *output = selection::clicked(output, i, extend));
    }

    /// Makes the graph of the same scores in another way.
    pub fn derive(&self, aggregation: Aggregation, normalization: Normalization) {
        self.link.set(None);
        let derive =
            |shown: &mut Shown| *shown = Shown::new(shown.graph.document().clone().derived(aggregation, normalization), shown.origin);
        self.others.update(|others| others.iter_mut().for_each(derive));
        self.shown.update(|shown| shown.iter_mut().for_each(derive));
    }

    /// Closes the link, where it is open; else goes back to the last sentence.
    pub fn escape(&self) {
        match self.link.with_untracked(Option::is_some) {
            true => self.link.set(None),
            false => self.clear_selection(),
        }
    }

    fn clear_selection(&self) {
        self.preview.set(None);
        self.focus.set(None);
        if let Some(n_generated) = self.shown.with_untracked(|shown| shown.as_ref().map(|shown| shown.graph.n_generated())) {
            self.output.set(selection::default_output(n_generated));
        }
    }

    /// Saves the document, with the selection as its output.
    pub fn save_json(&self) {
        if let Some(document) = self.selected_document() {
            self.offer("glasscage-explanation.json", "application/json", &document.to_json());
        }
    }

    /// Offers `text` as a file.
    pub fn offer(&self, name: &str, media_type: &str, text: &str) {
        if browser::download(name, media_type, text).is_none() {
            self.problem.set(Some(Problem::new("The browser did not save the file", "Allow downloads for this page, then try again")));
        }
    }

    /// Makes the link, puts it into the address bar and on the clipboard; one too long for that is only shown.
    pub fn copy_link(&self) {
        let Some(document) = self.selected_document() else { return };
        let link = SharedLink::new(&browser::address(), &to_fragment(&document));
        let page = *self;
        self.link.set(Some(link.clone()));
        if link.reach != Reach::BetterAsFile {
            browser::replace_address(&link.address);
            spawn_local(async move {
                let copied = browser::copy(&link.address).await;
                page.link.update(|shown| shown.iter_mut().for_each(|shown| shown.is_copied = copied));
            });
        }
    }

    /// The document with the chosen output; a sentence under the pointer is no choice.
    fn selected_document(&self) -> Option<Document> {
        let graph = self.shown.with_untracked(|shown| shown.as_ref().map(|shown| shown.graph.clone()))?;
        Some(self.output.with_untracked(|output| Reading::new(graph, output).to_document()))
    }
}

/// "a.gguf, b.gguf, c.gguf and 4 more".
fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let more = names.len().saturating_sub(SHOWN);
    let shown = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_names_the_first_are_told() {
        let names = |n: usize| (1..=n).map(|i| i.to_string()).collect::<Vec<_>>();
        assert_eq!(
            (some_of(&names(1)), some_of(&names(3)), some_of(&names(9))),
            ("1".into(), "1, 2, 3".into(), "1, 2, 3 and 6 more".into())
        );
    }
}

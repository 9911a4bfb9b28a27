//! Opens files and gallery entries. Saves and shares what is on screen.

use super::dropped_texts::is_text;
use crate::app::analysis::shared_link::{Reach, SharedLink};
use crate::app::analysis::{number, title};
use crate::app::examples;
use crate::app::gallery::{self, GalleryEntry};
use crate::app::i18n::plural;
use crate::app::state::local_file::LocalFile;
use crate::app::state::message::{Effect, Fetch};
use crate::app::state::model_choice::ModelChoice;
use crate::app::state::opened::Opened;
use crate::app::state::origin::Origin;
use crate::app::state::place::Place;
use crate::app::state::{Awaited, EntryAwaits, State, part_problem};
use crate::library::address::{missing_parts, part_of};
use crate::library::registry;
use crate::worker::envelope::RequestId;
use glasscage_message::{Message, message};

// Opening.
impl State {
    /// Opens an explanation (JSON), or loads a model (GGUF, with all parts if it is split), and adds texts to the prompt. The names of the
    /// files decide.
    pub(super) fn open_files(&mut self, files: Vec<LocalFile>) {
        // The visitor may have dropped them on the list of models.
        self.library.close();
        let (texts, others): (Vec<LocalFile>, Vec<LocalFile>) = files.into_iter().partition(is_text);
        if !texts.is_empty() {
            self.read_texts(texts);
        }
        let (models, mut documents): (Vec<LocalFile>, Vec<LocalFile>) =
            others.into_iter().partition(|file| file.name.to_ascii_lowercase().ends_with(".gguf"));
        match (models.len(), documents.len()) {
            (_, 0) => self.open_model(models),
            (0, 1) => self.open_document(documents.remove(0)),
            (models, documents) => self.refuse_files(models + documents),
        }
    }

    fn open_document(&mut self, document: LocalFile) {
        if !self.refuse_while_busy() {
            let id = self.await_on_screen(None);
            self.emit(Effect::ReadFile(id, document));
        }
    }

    fn open_model(&mut self, mut files: Vec<LocalFile>) {
        files.sort_by(|a, b| a.name.cmp(&b.name));
        let names: Vec<String> = files.iter().map(|file| file.name.clone()).collect();
        let Some(first) = names.first() else { return };
        let name = part_of(first).map_or(first.as_str(), |(stem, ..)| stem).to_owned();
        match missing_parts(&names) {
            Some(missing) if missing.is_empty() => self.choose_model(ModelChoice::Files(name), files),
            None if names.len() == 1 => self.choose_model(ModelChoice::Files(name), files),
            Some(missing) => {
                let what = plural!(
                    n = names.len() + missing.len(),
                    "\u{201c}{name}\u{201d} has {n} part; missing: {names}",
                    "\u{201c}{name}\u{201d} has {n} parts; missing: {names}",
                    name,
                    names = first_names(&missing),
                );
                self.fail_with(Message::verbatim(&what), message!("Choose all parts of the model together"));
            }
            None => self.refuse_files(names.len()),
        }
    }

    fn refuse_files(&mut self, count: usize) {
        let what = plural!(n = count, "{n} file was opened at once", "{n} files were opened at once");
        let remedy = message!("Open one explanation at a time, or one model with all its parts together");
        self.fail_with(Message::verbatim(&what), remedy);
    }

    /// Returns the id of a new request. Its result is shown, unless something else is opened first.
    fn await_on_screen(&mut self, entry: Option<GalleryEntry>) -> RequestId {
        let id = self.next_id();
        self.awaited = Some(Awaited { id, entry });
        id
    }

    /// Whether the result of this request will still be shown. Marks the request as answered.
    fn is_awaited_on_screen(&mut self, id: RequestId) -> bool {
        self.awaited.take_if(|awaited| awaited.id == id).is_some()
    }

    /// Adds the result of a request to the lesson that asked for it. Else returns it, unless the visitor has opened something else by now
    /// or a run has begun.
    fn for_screen(&mut self, id: RequestId, opened: Result<Opened, Message>) -> Option<Result<Opened, Message>> {
        if self.is_awaited_by_lesson(id) {
            self.add_to_lesson(opened);
            return None;
        }
        let is_shown = self.is_awaited_on_screen(id) && (opened.is_err() || !self.refuse_while_busy());
        is_shown.then_some(opened)
    }

    /// Shows the content of a file.
    pub(super) fn file_read(&mut self, id: RequestId, name: &str, opened: Result<Opened, Message>) {
        match self.for_screen(id, opened) {
            None => {}
            Some(Ok(opened)) => self.show(opened),
            Some(Err(error)) => self.fail_with(
                message!("\u{201c}{name}\u{201d} was not opened: {error}", name, error),
                message!("Open a file from “Save JSON” or “Export”, or a model whose name ends in .gguf"),
            ),
        }
    }

    /// Opens the link with this fragment, from the address of the page or from a file.
    pub(super) fn open_link(&mut self, fragment: &str) {
        let id = self.await_on_screen(None);
        self.emit(Effect::OpenLink(id, fragment.to_owned()));
    }

    /// Shows the content of a link.
    pub(super) fn link_opened(&mut self, id: RequestId, link: &str, opened: Result<Opened, Message>) {
        match self.for_screen(id, opened) {
            None => {}
            Some(Ok(opened)) if self.entry_awaits.take() == Some(EntryAwaits::Address) => {
                // Notices of the start of the page arrive before the link is opened.
                let notice = self.problem.take();
                self.put_on_screen(opened);
                *self.problem = notice;
                self.replace_entry_at(format!("{}#{}", self.page_address, link.trim_start_matches('#')));
            }
            Some(Ok(opened)) => self.show(opened),
            Some(Err(problem)) => {
                // The entry keeps the link.
                self.entry_awaits = None;
                self.fail_with(problem, message!("Ask for a new link, or for the saved JSON file"));
            }
        }
    }

    pub(super) fn fetched(&mut self, fetch: &Fetch, text: Option<&str>) {
        match fetch {
            Fetch::Examples => {
                *self.editor.examples = examples::parse(text.unwrap_or_default());
                self.editor.examples_are_requested = !self.editor.examples.is_empty();
                self.report_missing_unless(self.editor.examples_are_requested);
            }
            Fetch::Gallery => {
                *self.explanation.gallery = gallery::parse(text.unwrap_or_default());
                self.explanation.gallery_is_requested = !self.explanation.gallery.explanations.is_empty();
                self.report_missing_unless(self.explanation.gallery_is_requested);
            }
            Fetch::LessonTexts(_) => self.lesson_texts_fetched(text),
            Fetch::Registry => {
                *self.library.known = registry::parse(text.unwrap_or_default());
                if self.library.known.is_empty() {
                    *self.library.problem = Some(part_problem());
                }
                self.list_arrived();
            }
            Fetch::GalleryEntry(id, entry) => self.gallery_entry_fetched(*id, entry, text),
        }
    }

    /// Fetches a text that a view needs, unless examples or gallery are already loaded or requested.
    pub(super) fn fetch_once(&mut self, fetch: Fetch) {
        let is_requested = match fetch {
            Fetch::Examples => &mut self.editor.examples_are_requested,
            Fetch::Gallery => &mut self.explanation.gallery_is_requested,
            Fetch::GalleryEntry(..) | Fetch::LessonTexts(_) | Fetch::Registry => &mut false,
        };
        if !std::mem::replace(is_requested, true) {
            self.emit(Effect::Fetch(fetch));
        }
    }

    /// Shows that a part of the page is missing, unless `is_here`. The part is fetched again when it is next needed.
    pub(super) fn report_missing_unless(&mut self, is_here: bool) {
        if !is_here {
            self.fail_at(Place::Page, part_problem());
        }
    }

    /// Shows that the page is in English for lack of its texts, unless there is a more important problem.
    pub(super) fn language_missing(&mut self) {
        if self.problem.is_none() {
            self.fail_with(
                message!("The page could not be loaded in your language"),
                message!("Check the connection, then reload the page"),
            );
        }
    }

    pub(super) fn fetch_gallery_entry(&mut self, entry: GalleryEntry) {
        let id = self.await_on_screen(Some(entry.clone()));
        // Fetch the translations first, so that the lesson does not change its language on screen.
        match self.lesson_texts.missing().filter(|_| entry.is_lesson()) {
            Some(tag) => self.emit(Effect::Fetch(Fetch::LessonTexts(tag))),
            None => self.emit(Effect::Fetch(Fetch::GalleryEntry(id, entry))),
        }
    }

    fn gallery_entry_fetched(&mut self, id: RequestId, entry: &GalleryEntry, text: Option<&str>) {
        if self.is_awaited_by_lesson(id) {
            let not_here = || message!("\u{201c}{title}\u{201d} could not be fetched", title = entry.title);
            let opened = text.and_then(|json| Opened::from_json(json, Origin::Gallery));
            return self.add_to_lesson(opened.ok_or_else(not_here));
        }
        // The visitor may have opened something else by now.
        if !self.is_awaited_on_screen(id) {
            return;
        }
        match text.and_then(|json| Opened::from_json(json, Origin::Gallery)) {
            Some(_) if self.refuse_while_busy() => {}
            Some(opened) => {
                self.put_gallery_entry_on_screen(opened, entry);
                self.shown();
            }
            None => self.fail_with(
                message!("\u{201c}{title}\u{201d} could not be fetched", title = entry.title),
                message!("Check the connection, or reload the page, then choose it again"),
            ),
        }
    }

    pub(super) fn refuse_while_busy(&mut self) -> bool {
        if self.engine.is_busy() {
            self.fail_with(message!("An explanation is being made"), message!("Press Stop first, then open the other one again"));
        }
        self.engine.is_busy()
    }
}

// Saving and sharing.
impl State {
    /// Saves the lesson on screen, or else the document with the selection as its output.
    pub(super) fn save_document(&mut self) {
        if let Some(open) = self.lesson() {
            let name = format!("{}.json", title::file_name_of(&open.lesson.title));
            let bytes = open.lesson.to_json().into_bytes();
            self.emit(Effect::SaveFile { name, media_type: "application/json", bytes });
        } else if let Some(document) = self.explanation.selected_document() {
            self.emit(Effect::SaveFile {
                name: format!("{}.json", title::file_name(&document)),
                media_type: "application/json",
                bytes: document.to_json().into_bytes(),
            });
        }
    }

    /// Makes the link. The panel of the link encodes the content, because the page's first code has no encoder.
    pub(super) fn copy_link(&mut self) {
        self.explanation.close_link();
        // The address of a lesson of the gallery is short enough to be typed.
        match self.gallery_fragment().filter(|_| self.lesson().is_some()).map(str::to_owned) {
            Some(fragment) => self.show_link(&fragment),
            None => *self.explanation.is_encoding_link = self.lesson().is_some() || self.explanation.shown.is_some(),
        }
    }

    pub(super) fn link_encoded(&mut self, fragment: &str) {
        // The link may have been closed by now.
        if *self.explanation.is_encoding_link {
            *self.explanation.is_encoding_link = false;
            self.show_link(fragment);
        }
    }

    /// Shows the link, and puts it into the address bar and on the clipboard. A link that is too long for that is only shown.
    fn show_link(&mut self, fragment: &str) {
        let link = SharedLink::new(&self.page_address, fragment);
        if link.reach != Reach::BetterAsFile {
            self.replace_entry_at(link.address.clone());
            self.emit(Effect::CopyToClipboard(link.address.clone()));
        }
        *self.explanation.link = Some(link);
    }

    /// Shows or hides a part of the page for people who open the link. The author's page and its address stay the same.
    pub(super) fn show_in_link(&mut self, part: &str, is_shown: bool) {
        let Some(link) = self.explanation.link.as_ref().map(|link| link.with_part(part, is_shown)) else { return };
        if link.reach != Reach::BetterAsFile {
            self.emit(Effect::CopyToClipboard(link.address.clone()));
        }
        *self.explanation.link = Some(link);
    }

    pub(super) fn link_copied(&mut self, address: &str, is_copied: bool) {
        // Another link may be shown by now.
        if let Some(link) = self.explanation.link.as_mut().filter(|link| link.address == address) {
            link.is_copied = is_copied;
        }
    }
}

/// The first three names, and how many more there are: "a.gguf, b.gguf, c.gguf and 4 more".
fn first_names(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let more = names.len().saturating_sub(SHOWN);
    let shown = number::enumerated(names.iter().take(SHOWN).cloned());
    if more == 0 { shown } else { plural!(n = more, "{names} and {n} more", "{names} and {n} more", names = shown) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_names_the_first_are_said() {
        let names = |n: usize| (1..=n).map(|i| i.to_string()).collect::<Vec<_>>();
        assert_eq!(
            (first_names(&names(1)), first_names(&names(3)), first_names(&names(9))),
            ("1".into(), "1, 2, 3".into(), "1, 2, 3 and 6 more".into())
        );
    }
}

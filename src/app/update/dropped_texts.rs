//! Text files that the visitor drops on the page: named passages before the text of the prompt.

use crate::app::analysis::number;
use crate::app::state::State;
use crate::app::state::local_file::LocalFile;
use crate::app::state::message::{EditorMessage, Effect};
use crate::app::state::opened::Opened;
use crate::app::state::origin::Origin;
use crate::app::state::place::Place;
use crate::conversation;
use crate::problem::Problem;
use crate::request::Reading;
use glasscage_message::{Message, message};

const EXTENSIONS: [&str; 4] = [".txt", ".text", ".md", ".markdown"];
/// Maximum size of a file in bytes. Models read much less.
const MAX_BYTES: u64 = 1 << 20;
const MAX_NAME: usize = 60;

/// Whether the name is that of a text file, and not of an explanation or a model.
pub(super) fn is_text(file: &LocalFile) -> bool {
    let name = file.name.to_ascii_lowercase();
    EXTENSIONS.iter().any(|extension| name.ends_with(extension))
}

impl State {
    /// Reads text files, except those that are too large.
    pub(super) fn read_texts(&mut self, files: Vec<LocalFile>) {
        *self.problem = None;
        let (files, large): (Vec<LocalFile>, Vec<LocalFile>) = files.into_iter().partition(|file| file.bytes <= MAX_BYTES);
        if let Some(file) = large.first() {
            let most = number::bytes(MAX_BYTES);
            self.refuse_text(
                message!("\u{201c}{name}\u{201d} is too large for a prompt", name = file.name),
                message!("Choose a file of at most {most}, or paste a part of it", most),
            );
        }
        if !files.is_empty() {
            self.emit(Effect::ReadTexts(files));
        }
    }

    /// Adds the texts to the start of the prompt, or of the last turn of a conversation, each under the name of its file. The visitor's own
    /// text follows them. A single file that is a link or an explanation is opened instead.
    pub(super) fn texts_read(&mut self, files: Vec<(String, Option<Vec<u8>>)>) {
        let (is_alone, mut passages) = (files.len() == 1, String::new());
        for (name, bytes) in files {
            let text = bytes.and_then(text_of);
            if is_alone && text.as_deref().is_some_and(|text| self.opens(text)) {
                return;
            }
            match text {
                Some(text) => {
                    let name = unique_name(&(passages.clone() + &self.editor.prompt), &name);
                    passages.push_str(&format!("[{name}]\n{text}\n\n"));
                }
                None => self.refuse_text(
                    message!("\u{201c}{name}\u{201d} is not a text", name),
                    message!("Save it as plain text in UTF-8, then drop it again"),
                ),
            }
        }
        if !passages.is_empty() {
            let of_conversation = match self.editor.reading() {
                Reading::Conversation => conversation::before_last_turn(&self.editor.prompt, &passages),
                Reading::Text => None,
            };
            let prompt = of_conversation.unwrap_or_else(|| passages + &self.editor.prompt);
            *self.editor.is_open = true;
            self.editor.update(EditorMessage::PromptTyped(prompt), &self.engine, &mut self.outbox);
        }
    }

    /// Opens a text that is an explanation or a lesson, or a link to one. Returns false for other texts.
    fn opens(&mut self, text: &str) -> bool {
        let (link, opened) = (link_in(text), Opened::from_json(text, Origin::File));
        let is_opened = link.is_some() || opened.is_some();
        if is_opened && !self.refuse_while_busy() {
            link.into_iter().for_each(|fragment| self.open_link(&fragment));
            opened.into_iter().for_each(|opened| self.show(opened));
        }
        is_opened
    }

    fn refuse_text(&mut self, what: Message, remedy: Message) {
        self.fail_at(Place::Editor, Problem::new(what, remedy));
    }
}

/// The text of a file. `None` if it is blank or binary.
fn text_of(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))?;
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The fragment of a text that is only a link to an explanation or a lesson, as `glasscage export` writes it. Programs may have broken it
/// into lines.
fn link_in(text: &str) -> Option<String> {
    let (address, fragment) = text.split_once('#')?;
    let fragment: String = fragment.split_whitespace().collect();
    (!address.contains(char::is_whitespace) && Opened::is_link(&fragment)).then_some(fragment)
}

/// The name of a file without characters that end a name, and with a number if the prompt has this name already.
fn unique_name(prompt: &str, file: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || " .-_()".contains(c) { c } else { '_' };
    let name: String = file.chars().map(plain).collect();
    let name: String = name.chars().skip(name.chars().count().saturating_sub(MAX_NAME)).collect();
    let name = name.trim_start_matches(|c: char| !c.is_alphanumeric()).trim_end().to_owned();
    let is_new = |name: &String| !prompt.to_ascii_lowercase().contains(&format!("[{}]", name.to_ascii_lowercase()));
    let numbered = (2..).map(|n| format!("{n} {name}"));
    std::iter::once(name.clone()).chain(numbered).find(is_new).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::document;
    use crate::app::state::local_file::FileId;
    use crate::app::state::message;
    use crate::app::update::tests::Page;
    use crate::explanation::to_fragment;

    fn file(name: &str, bytes: u64) -> LocalFile {
        LocalFile { id: FileId(7), name: name.into(), bytes, modified_millis: 0.0 }
    }

    #[test]
    fn names_of_files_become_names_of_passages() {
        assert_eq!([" [a],b.md", "Zo\u{eb}'s (2).txt"].map(|file| unique_name("", file)), ["a__b.md", "Zo\u{eb}_s (2).txt"]);
        assert_eq!(unique_name("[a.md] [2 A.md]", "a.md"), "3 a.md");
        assert_eq!(unique_name("", &"x".repeat(99)), "x".repeat(MAX_NAME));
        assert_eq!(unique_name("", &format!("x-{}", "y".repeat(MAX_NAME - 1))), "y".repeat(MAX_NAME - 1));
    }

    #[test]
    fn dropped_texts_are_read_and_added() {
        let mut page = Page::new();
        page.send(EditorMessage::PromptTyped("Who?".into()));
        let files = vec![file("a.md", 5), file("B.TXT", 5)];
        let effects = page.send(message::Message::FilesOpened(files.clone()));
        assert!(effects.contains(&Effect::ReadTexts(files)), "{effects:?}");
        let read = |name: &str, bytes: &[u8]| (name.to_owned(), Some(bytes.to_vec()));
        page.send(message::Message::TextsRead(vec![read("a.md", b"\xef\xbb\xbfA.\r\n"), read("B.TXT", b"B."), read("c.md", b"\0")]));
        assert_eq!(page.look(|state| state.editor.prompt.clone()), "[a.md]\nA.\n\n[B.TXT]\nB.\n\nWho?");
        let problem = |page: &Page| page.look(|state| state.problem.as_ref().map(|problem| problem.what.to_string()).unwrap_or_default());
        assert!(problem(&page).contains("c.md\u{201d} is not a text"), "{}", problem(&page));
        let effects = page.send(message::Message::FilesOpened(vec![file("large.md", MAX_BYTES + 1)]));
        assert!(problem(&page).contains("too large for a prompt") && !effects.iter().any(|effect| matches!(effect, Effect::ReadTexts(_))));
        page.send(message::Message::TextsRead(vec![("gone.md".into(), None)]));
        assert!(problem(&page).contains("gone.md"), "{}", problem(&page));
    }

    #[test]
    fn dropped_link_is_opened() {
        let mut page = Page::explained();
        let link = format!("https://a.b/#{}\n", to_fragment(&document()));
        let effects = page.send_and_open(message::Message::TextsRead(vec![("link.txt".into(), Some(link.clone().into_bytes()))]));
        assert!(matches!(&effects[..], [Effect::PushEntry { text: Some(_), .. }, Effect::ScrollToExplanation]), "{effects:?}");
        let json = vec![("explanation.json.txt".into(), Some(document().to_json().into_bytes()))];
        assert_eq!(page.send(message::Message::TextsRead(json)).len(), 2, "it is an explanation");
        assert_eq!(page.look(|state| state.editor.prompt.clone()), "A. B.");
        assert_eq!(["See https://a.b/#g3.x", "#1 A", "a#b", "g3.x"].map(link_in), [const { None }; 4]);
    }

    #[test]
    fn texts_go_into_last_turn_of_conversation() {
        let mut page = Page::new();
        page.send(EditorMessage::PromptTyped("User: Hi.\nAssistant: Hello.\nUser: Who?".into()));
        page.send(message::Message::TextsRead(vec![("a.md".into(), Some(b"A.".to_vec()))]));
        let prompt = "User: Hi.\n\nAssistant: Hello.\n\nUser: [a.md]\nA.\n\nWho?";
        assert_eq!(page.look(|state| state.editor.prompt.clone()), prompt);
    }

    #[test]
    fn other_files_are_opened_as_before() {
        assert_eq!(["a.json", "a.gguf", "a.svg", "md", "a.md.png"].map(|name| is_text(&file(name, 1))), [false; 5]);
        let mut page = Page::new();
        let mixed = vec![file("a.md", 5), file("b.json", 5)];
        let effects = page.send(message::Message::FilesOpened(mixed));
        assert!(effects.iter().any(|effect| matches!(effect, Effect::ReadFile(..))), "{effects:?}");
    }
}

//! Text files that the visitor drops on the page: named passages before the text of the prompt.

use crate::app::analysis::number;
use crate::app::state::State;
use crate::app::state::local_file::LocalFile;
use crate::app::state::message::{EditorMessage, Effect};
use crate::app::state::place::Place;
use crate::problem::Problem;
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

    /// Adds the texts to the start of the prompt, each under the name of its file. The visitor's own text follows them.
    pub(super) fn texts_read(&mut self, files: Vec<(String, Option<Vec<u8>>)>) {
        let mut passages = String::new();
        for (name, bytes) in files {
            match bytes.and_then(text_of) {
                Some(text) => {
                    let name = name_beside(&(passages.clone() + &self.editor.prompt), &name);
                    passages.push_str(&format!("[{name}]\n{text}\n\n"));
                }
                None => self.refuse_text(
                    message!("\u{201c}{name}\u{201d} is not a text", name),
                    message!("Save it as plain text in UTF-8, then drop it again"),
                ),
            }
        }
        if !passages.is_empty() {
            let prompt = passages + &self.editor.prompt;
            *self.editor.is_open = true;
            self.editor.update(EditorMessage::PromptTyped(prompt), &self.engine, &mut self.outbox);
        }
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

/// The name of a file without characters that end a name, and with a number if the prompt has this name already.
fn name_beside(prompt: &str, file: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || " .-_()".contains(c) { c } else { '_' };
    let name: String = file.chars().map(plain).collect();
    let name = name.trim_start_matches(|c: char| !c.is_alphanumeric()).trim_end();
    let name: String = name.chars().skip(name.chars().count().saturating_sub(MAX_NAME)).collect();
    let is_new = |name: &String| !prompt.to_ascii_lowercase().contains(&format!("[{}]", name.to_ascii_lowercase()));
    let numbered = (2..).map(|n| format!("{n} {name}"));
    std::iter::once(name.clone()).chain(numbered).find(is_new).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::state::local_file::FileId;
    use crate::app::state::message;
    use crate::app::update::tests::Page;

    fn file(name: &str, bytes: u64) -> LocalFile {
        LocalFile { id: FileId(7), name: name.into(), bytes, modified_millis: 0.0 }
    }

    #[test]
    fn names_of_files_become_names_of_passages() {
        assert_eq!([" [a],b.md", "Zo\u{eb}'s (2).txt"].map(|file| name_beside("", file)), ["a__b.md", "Zo\u{eb}_s (2).txt"]);
        assert_eq!(name_beside("[a.md] [2 A.md]", "a.md"), "3 a.md");
        assert_eq!(name_beside("", &"x".repeat(99)), "x".repeat(MAX_NAME));
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
    fn other_files_are_opened_as_before() {
        assert_eq!(["a.json", "a.gguf", "a.svg", "md", "a.md.png"].map(|name| is_text(&file(name, 1))), [false; 5]);
        let mut page = Page::new();
        let mixed = vec![file("a.md", 5), file("b.json", 5)];
        let effects = page.send(message::Message::FilesOpened(mixed));
        assert!(effects.iter().any(|effect| matches!(effect, Effect::ReadFile(..))), "{effects:?}");
    }
}

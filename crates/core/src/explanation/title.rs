//! What an explanation is called.

use super::Document;

/// More characters are cut.
const LONGEST: usize = 70;

/// The last question of the prompt; else the sentence that is explained.
pub fn title(document: &Document) -> String {
    let last = document.generation.sentences.len().checked_sub(1);
    let explained = || document.output.last().copied().or(last).map_or("", |row| document.generation.sentence(row));
    let words: Vec<&str> = question(&document.prompt.text).unwrap_or_else(explained).split_whitespace().collect();
    shortened(&words.join(" "), LONGEST)
}

/// The last sentence of a text that ends in a question mark.
fn question(text: &str) -> Option<&str> {
    let (end, mark) = text.rmatch_indices(['?', '\u{ff1f}', '\u{61f}']).next()?;
    let before = &text[..end];
    let start = [". ", "! ", "? ", "\n", "\u{3002}"].iter().filter_map(|stop| before.rfind(stop).map(|at| at + stop.len())).max();
    Some(&text[start.unwrap_or(0)..end + mark.len()])
}

fn shortened(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let cut: String = text.chars().take(longest - 1).collect();
    format!("{}\u{2026}", cut.trim_end())
}

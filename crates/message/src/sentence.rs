//! Sentences from the texts of errors.

/// Capitalizes a text and puts `stop` after it, unless it ends as a sentence does.
pub fn sentence(text: &str, stop: &str) -> String {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return String::new() };
    let rest = chars.as_str();
    let has_stop = rest.ends_with(['.', '!', '?', '\u{3002}', '\u{ff01}', '\u{ff1f}']);
    format!("{}{rest}{}", first.to_uppercase(), if has_stop { "" } else { stop })
}

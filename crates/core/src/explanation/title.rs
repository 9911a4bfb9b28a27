//! Titles of explanations.

use super::Document;

/// Maximum number of characters. Longer titles are truncated.
const LONGEST: usize = 70;

/// Title of a document: the last question of the prompt, or the explained sentence if there is no question.
pub fn title(document: &Document) -> String {
    let last = document.generation.sentences.len().checked_sub(1);
    let explained = || document.output.last().copied().or(last).map_or("", |row| document.generation.sentence(row));
    let words: Vec<&str> = question(&document.prompt.text).unwrap_or_else(explained).split_whitespace().collect();
    shortened(&words.join(" "), LONGEST)
}

/// The last sentence of `text` that ends in a question mark.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::example::example;
    use super::*;

    fn of_prompt(text: &str) -> String {
        let mut document = example();
        Arc::make_mut(&mut document.prompt).text = text.into();
        title(&document)
    }

    #[test]
    fn the_last_question_is_the_title() {
        for (prompt, expected) in [
            ("How many are left?", "How many are left?"),
            ("Zo\u{eb} has 2. How many?\nShe eats 1. How many are left? Think!", "How many are left?"),
            ("Is it?\nReally? Yes! Who\n knows?", "knows?"),
            ("\u{6709}\u{3002}\u{51e0}\u{4e2a}\u{ff1f}", "\u{51e0}\u{4e2a}\u{ff1f}"),
            ("\u{643}\u{645} \u{628}\u{642}\u{64a}\u{61f} ", "\u{643}\u{645} \u{628}\u{642}\u{64a}\u{61f}"),
        ] {
            assert_eq!(of_prompt(prompt), expected, "{prompt}");
        }
    }

    #[test]
    fn title_without_question_is_last_explained_sentence() {
        for (output, expected) in [(vec![0], "2 - 1 = 1."), (vec![0, 1], "So 1."), (vec![], "So 1.")] {
            assert_eq!(title(&Document { output, ..example() }), expected);
        }
    }

    #[test]
    fn long_title_is_truncated_to_limit() {
        let question = |letters: usize| format!("Why {}?", "x".repeat(letters));
        assert_eq!(of_prompt(&question(LONGEST - 5)), question(LONGEST - 5));
        assert_eq!(of_prompt(&question(LONGEST - 4)), format!("Why {}\u{2026}", "x".repeat(LONGEST - 5)));
        assert_eq!(of_prompt(&format!("{} why?", "x".repeat(LONGEST - 2))), format!("{}\u{2026}", "x".repeat(LONGEST - 2)));
    }
}

//! Title of the page without an explanation, and file names of explanations.

use crate::app::i18n::translatable;
use crate::explanation::{Document, title};

/// The title of the page without an explanation, in English.
pub const HOME: &str = translatable!("Glasscage: why did the model give this answer?");
const LONGEST_FILE_NAME: usize = 40;

/// File name of an explanation, without the extension: "glasscage-how-many-figs-are-left".
pub fn file_name(document: &Document) -> String {
    file_name_of(&title(document))
}

/// File name for this title, without the extension.
pub fn file_name_of(title: &str) -> String {
    let title: String = title.chars().flat_map(char::to_lowercase).collect();
    let words: Vec<&str> = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let name = words.join("-").chars().take(LONGEST_FILE_NAME).collect::<String>();
    let name = if name.is_empty() { "explanation" } else { name.trim_end_matches('-') };
    format!("glasscage-{name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::document;
    use crate::explanation::Passage;

    fn asking(prompt: &str) -> Document {
        let whole = 0..prompt.len();
        let prompt = Passage::new(prompt, std::slice::from_ref(&whole), vec![1]);
        Document { prompt: prompt.into(), ..document() }
    }

    #[test]
    fn an_explanation_is_called_as_the_question_of_its_prompt() {
        assert_eq!(title(&asking("Ann has 3.5 figs. How many\nare left? Think first.")), "are left?");
        assert_eq!(title(&asking("Ann has 3.5 figs. How many are left?")), "How many are left?");
        assert_eq!(title(&asking("Why 3.5?")), "Why 3.5?");
        assert_eq!(title(&asking(&format!("{}?", "why ".repeat(40)))).chars().count(), 70);
        assert_eq!(file_name(&asking("?!?")), "glasscage-explanation");
        assert_eq!(title(&Document { output: Vec::new(), ..asking("Ann has 3 figs.") }), "F.");
        assert_eq!(file_name(&asking("Ann has 3 figs. How many are left?")), "glasscage-how-many-are-left");
    }

    #[test]
    fn title_without_question_uses_explained_sentence() {
        let document = Document { output: vec![1], ..asking("Go on.") };
        assert_eq!(title(&document), document.generation.sentence(1).trim());
    }
}

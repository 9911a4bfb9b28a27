//! Selects the generated sentences to explain, for a click, a click with a modifier, and Escape.

use crate::explanation::Document;

/// The output after a click on generated sentence `i`. With Ctrl, Cmd or Shift (`extend`), the sentence is added or removed. The output is
/// never empty and always ascending.
pub fn clicked(output: &[usize], i: usize, extend: bool) -> Vec<usize> {
    if !extend || output == [i] {
        return vec![i];
    }
    let mut output: Vec<usize> = output.iter().copied().filter(|&other| other != i).chain((!output.contains(&i)).then_some(i)).collect();
    output.sort_unstable();
    output
}

/// The explained sentences of a shown document.
pub fn output_of(document: &Document) -> Vec<usize> {
    if document.output.is_empty() { default_output(document.generation.sentences.len()) } else { document.output.clone() }
}

/// The output of a document that names none: its last generated sentence.
pub fn default_output(n_generated: usize) -> Vec<usize> {
    n_generated.checked_sub(1).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_click_explains_one_sentence() {
        assert_eq!(clicked(&[0, 2], 1, false), [1]);
        assert_eq!(clicked(&[1], 1, false), [1]);
    }

    #[test]
    fn modifier_click_toggles_all_but_last_sentence() {
        assert_eq!(clicked(&[2], 0, true), [0, 2]);
        assert_eq!(clicked(&[0, 2], 0, true), [2]);
        assert_eq!(clicked(&[2], 2, true), [2]);
    }

    #[test]
    fn the_last_sentence_is_explained_unless_another_is_chosen() {
        assert_eq!(default_output(4), [3]);
        assert!(default_output(0).is_empty());
    }
}

//! Splits text into sentences: first into lines, then with Punkt (Kiss & Strunk 2006), exactly like NLTK 3.10's
//! `PunktTokenizer("english")`. Other languages have their own Punkt parameters. `any_script` splits texts of visitors and models with
//! Punkt and additional rules.
//!
//! Each line is searched for potential sentence ends: `.`, `?` or `!` before closing punctuation or white space. The words around each
//! potential end decide (`token`). They are found like in NLTK's regular expressions (`language`) and judged with what Punkt learned of the
//! language (`parameters`). Finally, closing quotes and brackets move to the sentence that they close. Function names are those of
//! `nltk/tokenize/punkt.py`.
//!
//! We do not use the crate `punkt`, because it needs a nightly compiler and follows an older NLTK (no curly quotes). Other crates are
//! rule-based, not Punkt. The parameters come from the crate `punkt`, reduced to those that can change a decision: see
//! `sentences/parameters/README.md`. Characters are classified by Rust's Unicode version, which may differ from Python's (U+0295 is a
//! lower-case letter only in old versions).

mod abbreviations;
mod any_script;
mod blocks;
mod continued;
mod cost;
mod ends;
mod faces;
mod labels;
mod language;
mod markup;
mod parameters;
mod terminals;
mod token;

use std::ops::Range;

pub use any_script::sentences_in_any_script;
pub use parameters::{ENGLISH, Parameters, parameters_of};

use cost::count_read;
use language::PeriodContext;

/// Sentences of an English `text` as NLTK finds them: byte ranges, in order, never empty, without the white space between them.
///
/// The indentation of a line belongs to its first sentence, as in NLTK. A text of only white space has no sentence.
/// Cost: linear in the text, 40 MB/s for prose natively.
///
/// ```
/// let text = "Dr. Smith lives in the U.S. He likes it.\nSo do I.";
/// let found: Vec<&str> = glasscage_text::sentences::sentences(text).into_iter().map(|s| &text[s]).collect();
/// assert_eq!(found, ["Dr. Smith lives in the U.S.", "He likes it.", "So do I."]);
/// ```
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    sentences_in(text, &ENGLISH)
}

/// Sentences of `text`, with the Punkt parameters of its language.
pub fn sentences_in(text: &str, parameters: &Parameters) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut line_start = 0;
    for line in text.split('\n') {
        found.extend(span_tokenize(line, parameters).into_iter().map(|span| line_start + span.start..line_start + span.end));
        line_start += line.len() + 1;
    }
    found
}

/// Extends `sentences` so that every byte of `text` belongs to exactly one of them. White space goes to the sentence before it, and leading
/// white space to the first sentence. There is one tile per sentence, so a text without a sentence has no tile.
///
/// ```
/// # use glasscage_text::sentences::{sentences, tile};
/// let text = "\nOne.  Two.\n";
/// let tiles: Vec<&str> = tile(text, &sentences(text)).into_iter().map(|t| &text[t]).collect();
/// assert_eq!(tiles, ["\nOne.  ", "Two.\n"]);
/// ```
pub fn tile(text: &str, sentences: &[Range<usize>]) -> Vec<Range<usize>> {
    let inner_edges = sentences.iter().skip(1).map(|sentence| sentence.start);
    let starts = std::iter::once(0).chain(inner_edges.clone());
    let ends = inner_edges.chain(std::iter::once(text.len()));
    sentences.iter().zip(starts.zip(ends)).map(|(_, (start, end))| start..end).collect()
}

/// Sentences of one line.
fn span_tokenize(line: &str, parameters: &Parameters) -> Vec<Range<usize>> {
    realign_boundaries(line, &slices_from_text(line, parameters))
}

/// Splits the line at those potential sentence ends that are real. The last slice may be empty, or even end before its start.
fn slices_from_text(line: &str, parameters: &Parameters) -> Vec<Range<usize>> {
    let mut slices = Vec::new();
    let mut last_break = 0;
    for (word_start, end) in potential_end_contexts(line) {
        count_read(end.context_end - word_start);
        if token::text_contains_sentbreak(&line[word_start..end.context_end], parameters) {
            slices.push(last_break..end.end);
            last_break = end.next_start;
        }
    }
    slices.push(last_break..language::trim_end(line).len());
    slices
}

/// The potential sentence ends to judge, each with the start of the word before it. If a word has several, only the last counts:
/// `acting!!!`.
fn potential_end_contexts(line: &str) -> Vec<(usize, PeriodContext)> {
    let mut contexts = Vec::new();
    let mut previous: Option<PeriodContext> = None;
    let mut previous_word = 0..0;
    for end in language::period_contexts(line) {
        let before = &line[previous_word.end..end.start];
        count_read(before.len());
        let word_start = match before.rfind(language::is_ascii_space) {
            None | Some(0) => previous_word.start,
            Some(space) => previous_word.end + space + 1,
        };
        if previous_word.end <= word_start {
            contexts.extend(previous.map(|previous| (previous_word.start, previous)));
        }
        previous_word = word_start..end.start;
        previous = Some(end);
    }
    contexts.extend(previous.map(|previous| (previous_word.start, previous)));
    contexts
}

/// Moves closing punctuation from the start of a slice to the end of the one before: `(One. | ) Two.` becomes `(One.) | Two.`
fn realign_boundaries(line: &str, slices: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut realigned = Vec::with_capacity(slices.len());
    let mut realign = 0;
    for (i, slice) in slices.iter().enumerate() {
        let start = slice.start + realign;
        let next = slices.get(i + 1);
        let closing = next.and_then(|next| language::boundary_realignment(line.get(next.clone())?).map(|closing| (next.start, closing)));
        if let Some((next_start, closing)) = closing {
            realigned.push(start..next_start + closing.without_space);
            realign = closing.with_space;
        } else {
            realign = 0;
            realigned.extend((start < slice.end).then_some(start..slice.end));
        }
    }
    realigned
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::{sentences, tile};

    /// Checks that `cut` splits `text` into these sentences.
    pub(super) fn check_cut(cut: impl Fn(&str) -> Vec<Range<usize>>, text: &str, expect: &[&str]) {
        let found: Vec<&str> = cut(text).into_iter().map(|sentence| &text[sentence]).collect();
        assert_eq!(found, expect, "{text:?}");
    }

    fn check(text: &str, expect: &[&str]) {
        check_cut(sentences, text, expect);
    }

    #[test]
    fn newline_ends_sentence_and_carriage_return_does_not() {
        check("One line\nand another\r\n\r\nlast", &["One line", "and another", "last"]);
        check("  indented. Next.", &["  indented.", "Next."]);
        check(" \t\n\n", &[]);
    }

    #[test]
    fn abbreviation_ends_sentence_only_before_sentence_starter() {
        check(
            "Dr. Smith met Mr. Jones at 5 p.m. on Jan. 3. They talked.",
            &["Dr. Smith met Mr. Jones at 5 p.m. on Jan. 3.", "They talked."],
        );
        check("I live in the U.S. The weather is nice.", &["I live in the U.S.", "The weather is nice."]);
        check("The profit of XYZ Corp. However small.", &["The profit of XYZ Corp.", "However small."]);
    }

    #[test]
    fn an_initial_or_an_ordinal_continues_its_sentence() {
        check("George W. Bush won. J. Smith lost.", &["George W. Bush won.", "J. Smith lost."]);
        check("He ran 5. miles. It was 3.5. Then 4.", &["He ran 5. miles.", "It was 3.5.", "Then 4."]);
        check("Back to 5. Letters came.", &["Back to 5. Letters came."]); // a collocation of the training text
    }

    #[test]
    fn closing_punctuation_stays_with_the_sentence_it_closes() {
        check("\"Hello.\" She smiled. (He left.) So.", &["\"Hello.\"", "She smiled.", "(He left.)", "So."]);
        check("“Smart quotes.” She said. ‘Single.’", &["“Smart quotes.”", "She said.", "‘Single.’"]);
        check("One.[1] Two.* Three.", &["One.", "[1] Two.", "* Three."]);
    }

    #[test]
    fn ellipsis_ends_sentence_only_before_sentence_starter() {
        check("She left... He stayed... then they met!! Really?", &["She left...", "He stayed... then they met!!", "Really?"]);
        check("I mean . . . nothing.", &["I mean .", ".", ".", "nothing."]);
    }

    #[test]
    fn tiles_cover_the_text() {
        let text = " \n One.  Two.\n\nThree";
        let tiles: Vec<&str> = tile(text, &sentences(text)).into_iter().map(|tile| &text[tile]).collect();
        assert_eq!(tiles, [" \n One.  ", "Two.\n\n", "Three"]);
        assert!(tile(" \n", &sentences(" \n")).is_empty());
    }
}

//! Removes the markup of a line, because Punkt was trained on plain text. Labels, emphasis, link addresses, citations and tags are left
//! out. Inline code becomes a word. Closing marks stay with the sentence before them, opening marks with the sentence after them.

use std::ops::Range;

use super::abbreviations::{OF_ALL, ONLY_WORDS, WORDS_OF_PUNKT, is_among};
use super::cost::count_read;
use super::ends::{last_token, tail};
use super::faces::Faces;
use super::labels::{self, Label, Sequence};
use super::language::trim_end;
use super::terminals::{CLOSING, TERMINALS};

/// A line without markup, and the positions of its parts in the original line.
#[derive(Default)]
pub struct Plain {
    pub text: String,
    /// Starts of runs, in `text` and in the line.
    runs: Vec<(usize, usize)>,
    /// Positions of the opening marks in the line.
    openers: Vec<usize>,
}

/// Replacements for code and formulas that end in a period, question mark or exclamation mark.
const CODES: [&str; 3] = ["Xx.", "Xx?", "Xx!"];
/// Maximum bytes of a tag, of the address of a link, or of code. Citations have the limit `MAX_CITATION`.
const MAX_MARK: usize = 1000;
const MAX_CITATION: usize = 40;
const MAX_FENCE: usize = 4;
/// Tags that end a line.
const BREAKS: &str = "br p li div h1 h2 h3 h4 h5 h6 td th tr";
const FOOTNOTES: &str = "¹²³⁰⁴⁵⁶⁷⁸⁹†‡§";

impl Plain {
    pub fn new(line: &str) -> Self {
        let mut sequence = Sequence::default();
        let mut at = labels::prefix(line, &mut sequence);
        let mut plain = Self::default();
        let mut place = Place::default();
        let mut faces = Faces::new(&line[at..]);
        while let Some(c) = line[at..].chars().next() {
            let rest = &line[at..];
            if let Some(label) = label(&sequence, &line[..at], rest, &place, &plain.text) {
                sequence.push(&label);
                plain.push("\n", at);
                at += label.length;
                place = Place::default();
            } else if let Some(mark) = mark(line, at, &mut place) {
                plain.openers.extend(mark.opens.then_some(at));
                plain.push_instead(mark.instead, at..at + mark.length);
                place.push_all(mark.instead);
                at += mark.length;
            } else {
                let faces_length = faces.length_after(rest, place.is_after_end, place.is_after_colon);
                if faces_length > 0 {
                    at += faces_length;
                    continue;
                }
                let ends = c == ' ' && (ends_in_word(&plain.text, rest) || is_after_display(line, at));
                plain.push(if ends { "\n" } else { &rest[..c.len_utf8()] }, at);
                place.push(c);
                at += c.len_utf8();
            }
        }
        plain
    }

    fn push(&mut self, text: &str, from: usize) {
        let is_continued = self.runs.last().is_some_and(|(start, origin)| origin + self.text.len() - start == from);
        if !text.is_empty() && !is_continued {
            self.runs.push((self.text.len(), from));
        }
        self.text.push_str(text);
    }

    /// Replaces a mark. The first character of `text` maps to the start of the mark, the last one to its end. A line end maps to the text
    /// after the mark.
    fn push_instead(&mut self, text: &str, mark: Range<usize>) {
        if text == "\n" {
            return self.push(text, mark.end);
        }
        let (first, others) = text.split_at(text.len().min(1));
        self.push(first, mark.start);
        self.push(others, mark.end.saturating_sub(others.len()));
    }

    fn origin(&self, at: usize) -> usize {
        let run = self.runs.partition_point(|(start, _)| *start <= at) - 1;
        self.runs[run].1 + at - self.runs[run].0
    }

    /// Converts sentences of `text` to ranges of `line`, which include the marks that were left out.
    pub fn in_line(&self, line: &str, sentences: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut start = 0;
        let mut found = Vec::with_capacity(sentences.len());
        for (sentence, next) in sentences.iter().zip(sentences.iter().skip(1)) {
            let last = self.origin(sentence.end - 1) + 1;
            let opener = self.openers.get(self.openers.partition_point(|&opener| opener < last));
            let end = opener.copied().unwrap_or(line.len()).min(self.origin(sentence.end));
            found.push(start..end);
            start = self.origin(next.start).min(end + line[end..].len() - line[end..].trim_start().len());
        }
        found.push(start..trim_end(line).len());
        found
    }
}

/// Whether `text` ends in a word that Punkt takes for an abbreviation: "it is ok. see you". Most of them may be an abbreviation before a
/// lowercase letter.
fn ends_in_word(text: &str, rest: &str) -> bool {
    let is_last = |word: &str| text.strip_suffix(word).is_some_and(|before| !before.ends_with(char::is_alphanumeric));
    WORDS_OF_PUNKT.into_iter().any(|word| is_last(word) && (ONLY_WORDS.contains(&word) || !rest[1..].starts_with(char::is_lowercase)))
}

/// The label at the start of `rest`, which starts a word after the text `before` of the line. `text` is that text without marks.
fn label<'a>(sequence: &Sequence, before: &str, rest: &'a str, place: &Place, text: &str) -> Option<Label<'a>> {
    let label = match place.may_begin_item {
        _ if rest.starts_with(char::is_whitespace) => None,
        true => sequence.label(rest, place.is_after_sentence),
        false => sequence.label_after_words(rest, before),
    };
    label.filter(|_| !ends_in_reference(text))
}

/// Whether `text` ends in an abbreviation before the name of a thing, such as "Fig." before "A.".
fn ends_in_reference(text: &str) -> bool {
    let token = last_token(tail(text.trim_end()));
    token.starts_with(char::is_uppercase) && is_among(OF_ALL.before_numbers, &token.to_lowercase())
}

/// Whether a displayed formula ends before `at`, and a sentence starts after it: `$$x = 2$$ Hence y = 3.`
fn is_after_display(line: &str, at: usize) -> bool {
    if !["$$", "\\]"].iter().any(|end| line[..at].ends_with(end)) {
        return false;
    }
    let next = line[at..].trim_start();
    count_read(line.len() - at - next.len());
    let mut chars = next.chars();
    chars.next().is_some_and(char::is_uppercase) && chars.next().is_some_and(|c| c.is_lowercase() || c.is_whitespace())
}

/// State of the text before the current position.
#[derive(Default)]
struct Place {
    /// The end of a sentence, including closing punctuation.
    is_after_end: bool,
    ends_in_question: bool,
    /// White space after the end of a sentence or a colon.
    may_begin_item: bool,
    is_after_sentence: bool,
    is_after_colon: bool,
    is_in_emphasis: bool,
}

impl Place {
    fn push(&mut self, c: char) {
        if c.is_whitespace() {
            if self.is_after_end || self.is_after_colon {
                self.may_begin_item = true;
                self.is_after_sentence = self.is_after_end && !self.ends_in_question;
            }
            (self.is_after_end, self.is_after_colon) = (false, false);
            return;
        }
        self.may_begin_item = false;
        self.is_after_colon = matches!(c, ':' | '：');
        if is_end(c) {
            (self.is_after_end, self.ends_in_question) = (true, matches!(c, '?' | '？'));
        } else {
            self.is_after_end &= CLOSING.contains(c);
        }
    }

    fn push_all(&mut self, text: &str) {
        text.chars().for_each(|c| self.push(c));
    }
}

fn is_end(c: char) -> bool {
    ".?!…".contains(c) || TERMINALS.contains(c)
}

/// A mark that is left out of a line.
struct Mark {
    length: usize,
    opens: bool,
    instead: &'static str,
}

impl Mark {
    fn new(length: usize, opens: bool) -> Self {
        Self { length, opens, instead: "" }
    }
}

fn mark(line: &str, at: usize, place: &mut Place) -> Option<Mark> {
    let rest = &line[at..];
    let first = rest.chars().next()?;
    match first {
        '*' | '_' | '~' | '=' => emphasis(line, at, first, place),
        '`' => code(rest),
        '[' | '【' if place.is_after_end || rest.starts_with("[^") => citation(rest).map(|length| Mark::new(length, false)),
        '(' | '[' if line[..at].ends_with(']') => address(rest).map(|length| Mark::new(length, false)),
        '!' if rest.starts_with("![") && !place.is_after_end && !line[..at].ends_with(char::is_alphanumeric) => Some(Mark::new(1, true)),
        '<' => tag(rest, place),
        '$' if rest.starts_with("$$") => {
            display(rest, "$$").or_else(|| (place.is_after_end && is_apart(&rest[2..])).then(|| Mark::new(2, false)))
        }
        '\\' if rest.starts_with("\\[") => display(rest, "\\]"),
        '$' if place.is_after_end => is_apart(&rest[1..]).then(|| Mark::new(1, false)),
        '\\' if place.is_after_end => (rest.starts_with("\\)") || rest.starts_with("\\]")).then(|| Mark::new(2, false)),
        _ if place.is_after_end && FOOTNOTES.contains(first) => {
            let after = rest.trim_start_matches(|c| FOOTNOTES.contains(c));
            is_apart(after).then(|| Mark::new(rest.len() - after.len(), false))
        }
        _ => None,
    }
}

/// The first characters of `text`, at most `max` bytes.
fn near(text: &str, max: usize) -> &str {
    let end = (0..=max.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    &text[..end]
}

/// Whether `after` is empty or starts with white space.
fn is_apart(after: &str) -> bool {
    after.chars().next().is_none_or(char::is_whitespace)
}

/// A run of `*`, `_`, `~` or `=` that opens or closes emphasis. "2 * 3", "2*3", `snake_case` and "~5" are not marks.
fn emphasis(line: &str, at: usize, mark: char, place: &mut Place) -> Option<Mark> {
    let rest = &line[at..];
    let after = rest.trim_start_matches(mark);
    let length = rest.len() - after.len();
    count_read(length);
    let [before, next] = [line[..at].chars().next_back(), after.chars().next()];
    let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let is_inside_word = before.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric);
    if is_space(before) && is_space(next) || is_inside_word && (mark == '_' || length == 1) || "~=".contains(mark) && length != 2 {
        return None;
    }
    let opens = is_space(before) || !is_space(next) && !place.is_in_emphasis;
    place.is_in_emphasis = opens;
    Some(Mark::new(length, opens))
}

/// Code between backticks. It becomes a word, which ends a sentence if the code contains a space and ends in ".", "?" or "!".
fn code(rest: &str) -> Option<Mark> {
    let fence = near(rest, MAX_FENCE);
    let fence = &fence[..fence.len() - fence.trim_start_matches('`').len()];
    let after = near(&rest[fence.len()..], MAX_MARK);
    count_read(fence.len());
    let code = after.split_once(fence).map(|(code, _)| code).filter(|code| !code.trim().is_empty())?;
    let end = code.chars().next_back().filter(|end| ".?!".contains(*end) && code.contains(' '));
    let instead = end.and_then(|end| CODES.iter().find(|instead| instead.ends_with(end))).unwrap_or(&"Xxx");
    Some(Mark { length: 2 * fence.len() + code.len(), opens: false, instead })
}

/// A displayed formula within a line. It becomes a word, which ends a sentence if the formula ends in ".", "?" or "!".
fn display(rest: &str, closing: &str) -> Option<Mark> {
    let inside = near(&rest[2..], MAX_MARK).split_once(closing).map(|(inside, _)| inside)?;
    let end = inside.trim_end().chars().next_back()?;
    let instead = CODES.iter().find(|instead| instead.ends_with(end)).unwrap_or(&"Xxx");
    Some(Mark { length: inside.len() + 2 * closing.len(), opens: false, instead })
}

/// The length of a citation: "[1]", "[2, 3]", "[^note]", "[citation needed]", "[[1]](address)". A link with a text is not a citation.
fn citation(rest: &str) -> Option<usize> {
    let length = bracketed(near(rest, MAX_CITATION))?;
    let inside = rest[..length].trim_matches(['[', ']', '【', '】']);
    if !rest[length..].starts_with('(') {
        return Some(length);
    }
    let is_number = inside.chars().all(|c| c.is_ascii_digit());
    is_number.then(|| bracketed(near(&rest[length..], MAX_MARK)).map(|address| length + address))?
}

/// The length of an "(address)" or "[reference]" after the text of a link.
fn address(rest: &str) -> Option<usize> {
    let is_address = |inside: &str| !inside.contains(char::is_whitespace) || inside.contains(['"', '\'']);
    bracketed(near(rest, MAX_MARK)).filter(|length| is_address(&rest[..*length]))
}

/// The length of the bracketed text at the start of `text`, including the brackets.
fn bracketed(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, c)| {
        count_read(c.len_utf8());
        depth += i32::from("([【".contains(c)) - i32::from(")]】".contains(c));
        (depth == 0).then_some(at + c.len_utf8())
    })
}

/// An HTML tag. A tag that ends a line becomes a line end. A footnote after a sentence is left out as a whole.
fn tag(rest: &str, place: &Place) -> Option<Mark> {
    let rest = near(rest, MAX_MARK);
    let inside = &rest[1..rest.find('>').inspect(|end| count_read(*end))?];
    let closes = inside.starts_with('/');
    let (name, attributes) = inside.trim_matches('/').split_once(' ').unwrap_or((inside.trim_matches('/'), ""));
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_name || !(attributes.trim_matches(['/', ' ']).is_empty() || attributes.contains('=')) || inside.contains('<') {
        return None;
    }
    let name = name.to_ascii_lowercase();
    if name == "sup" && !closes && place.is_after_end {
        let footnote = rest.split_once("</sup>")?.0;
        return (footnote.len() < 2 * MAX_CITATION).then(|| Mark::new(footnote.len() + "</sup>".len(), false));
    }
    let breaks = BREAKS.split(' ').any(|other| other == name);
    let instead = if breaks { "\n" } else { "" };
    Some(Mark { length: inside.len() + 2, opens: !closes && !breaks, instead })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expect: &str) {
        assert_eq!(Plain::new(line).text, expect, "{line:?}");
    }

    #[test]
    fn plain_removes_markup_and_keeps_lookalikes() {
        check("> ### 2. **The _price_**. It's 2 * 3, 2*3, ~5, a_b.", "The price. It's 2 * 3, 2*3, ~5, a_b.");
        check("[Read](http://a.b/c_(d)) it.[1][^x][[3]](u) See [2] and ![a cat](c.png).¹ So", "[Read] it. See [2] and [a cat]. So");
        check("<b class=\"x\">Why?</b> If x<y. Then z>2.<sup>3</sup> So<br/>on", "Why? If x<y. Then z>2. So\non");
        check("Call `a. b()` or `Stop it.` So $x=2.$ And", "Call Xxx or Xx. So $x=2. And");
        check("Hi! 🎉 :) So $$a. b$$ is. $$x=2.$$ And \\[y\\] Hence", "Hi! So Xxx is. Xx.\nAnd Xxx\nHence");
    }

    #[test]
    fn labels_of_a_list_in_a_line_end_the_line() {
        check("Do: 1. Add. 2. Stir. 9. Wait.", "Do: \n Add. \n Stir. 9. Wait.");
        check("Two? 2. No. a) Yes", "Two? 2. No. a) Yes");
        check("A. Long. B. Short.", "Long. \n Short.");
    }

    #[test]
    fn every_place_is_found_again() {
        let line = "**Ä!** `x y` Z.[1] 3";
        let plain = Plain::new(line);
        assert_eq!(plain.text, "Ä! Xxx Z. 3");
        let found = plain.in_line(line, &[0..3, 4..10, 11..12]);
        assert_eq!(found.iter().map(|range| &line[range.clone()]).collect::<Vec<_>>(), ["**Ä!**", "`x y` Z.[1]", "3"]);
    }
}

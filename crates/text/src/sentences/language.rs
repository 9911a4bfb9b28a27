//! NLTK's `PunktLanguageVars` for English: sentence ends, words, closing punctuation. Its regular expressions are written as code.
//!
//! In the expressions in comments, `\s` is `char::is_whitespace`, `\S` is its opposite, and NONWORD is [`is_non_word`].

/// A potential sentence end, as byte offsets into the line.
pub struct PeriodContext {
    /// Start of the `.`, `?` or `!`.
    pub start: usize,
    /// End of the `.`, `?` or `!`.
    pub end: usize,
    /// Start of the next sentence if there is one: the next word, or the punctuation after the mark.
    pub next_start: usize,
    /// End of that word or punctuation.
    pub context_end: usize,
}

/// Potential sentence ends: `[.?!](?=NONWORD|\s+(?P<next_tok>\S+))`
pub fn period_contexts(line: &str) -> impl Iterator<Item = PeriodContext> {
    line.match_indices(is_sent_end_char).filter_map(|(start, mark)| {
        let end = start + mark.len();
        let (next_start, context_end) = after_period(&line[end..])?;
        Some(PeriodContext { start, end, next_start: end + next_start, context_end: end + context_end })
    })
}

/// Range of the text after a potential sentence end: a NONWORD, or a word after white space.
fn after_period(rest: &str) -> Option<(usize, usize)> {
    let first = rest.chars().next()?;
    if is_non_word(first) {
        return Some((0, first.len_utf8()));
    }
    let next_tok = rest.trim_start();
    let next_start = rest.len() - next_tok.len();
    if next_start == 0 || next_tok.is_empty() {
        return None;
    }
    let length = next_tok.find(char::is_whitespace).unwrap_or(next_tok.len());
    Some((next_start, next_start + length))
}

/// Splits off punctuation other than periods. A token is MULTICHAR, `(?=WORDSTART)\S+?` up to the end of a word, or a single `\S`.
pub fn word_tokenize(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim_start();
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = match multi_char_punct(rest) {
            Some(length) => length,
            None if is_word_start(first) => word_length(rest),
            None => first.len_utf8(),
        };
        let (token, tail) = rest.split_at(length);
        rest = tail.trim_start();
        Some(token)
    })
}

/// Bytes of the word that `rest` starts with: at least one character, up to the first `\s|$|NONWORD|MULTICHAR|,(?=$|\s|NONWORD|MULTICHAR)`.
fn word_length(rest: &str) -> usize {
    let ends_word = |rest: &str| is_delimited(rest) || rest.strip_prefix(',').is_some_and(is_delimited);
    rest.char_indices().skip(1).map(|(at, _)| at).find(|&at| ends_word(&rest[at..])).unwrap_or(rest.len())
}

/// Whether `rest` starts with `\s|$|NONWORD|MULTICHAR`.
fn is_delimited(rest: &str) -> bool {
    rest.chars().next().is_none_or(|c| c.is_whitespace() || is_non_word(c)) || multi_char_punct(rest).is_some()
}

/// Length of `-{2,}|\.{2,}|(?:\.\s){2,}\.`: a dash, an ellipsis, a spaced ellipsis.
fn multi_char_punct(rest: &str) -> Option<usize> {
    let run = |c: char| rest.len() - rest.trim_start_matches(c).len();
    [run('-'), run('.')].into_iter().find(|&length| length >= 2).or_else(|| spaced_ellipsis(rest))
}

/// Length of `(?:\.\s){2,}\.`
fn spaced_ellipsis(rest: &str) -> Option<usize> {
    let mut end = rest.strip_prefix('.').map(|_| 1)?;
    let mut periods = 1;
    while let Some(length) = space_and_period(&rest[end..]) {
        end += length;
        periods += 1;
    }
    (periods >= 3).then_some(end)
}

/// Length of `\s\.`
fn space_and_period(rest: &str) -> Option<usize> {
    let mut chars = rest.chars();
    let space = chars.next().filter(|c| c.is_whitespace())?;
    (chars.next() == Some('.')).then_some(space.len_utf8() + 1)
}

/// Length of the closing punctuation at the start of a slice, without and with the white space after it.
pub struct Closing {
    pub without_space: usize,
    pub with_space: usize,
}

/// Matches `["')\]}‘’“”«»]+?(?:\s+|(?=--)|$)` at the start of `slice`.
pub fn boundary_realignment(slice: &str) -> Option<Closing> {
    let closing = slice.char_indices().take_while(|&(_, c)| is_closing(c));
    closing.map(|(at, c)| at + c.len_utf8()).find_map(|without_space| {
        let rest = &slice[without_space..];
        let space = rest.len() - rest.trim_start().len();
        let ends = space > 0 || rest.is_empty() || rest.starts_with("--");
        ends.then_some(Closing { without_space, with_space: without_space + space })
    })
}

pub fn is_sent_end_char(c: char) -> bool {
    matches!(c, '.' | '?' | '!')
}

fn is_closing(c: char) -> bool {
    matches!(c, '"' | '\'' | ')' | ']' | '}') || is_quote(c)
}

/// Characters that cannot appear within words.
fn is_non_word(c: char) -> bool {
    matches!(c, ')' | '"' | ';' | '}' | ']' | '*' | ':' | '@' | '\'' | '(' | '{' | '[' | '?' | '!') || is_quote(c)
}

/// Whether a word token may start with this character.
fn is_word_start(c: char) -> bool {
    !matches!(c, '(' | '"' | '`' | '{' | '[' | ':' | ';' | '&' | '#' | '*' | '@' | ')' | '}' | ']' | '-' | ',')
}

fn is_quote(c: char) -> bool {
    matches!(c, '‘' | '’' | '“' | '”' | '«' | '»')
}

/// Whether `c` is in Python's `string.whitespace`.
pub fn is_ascii_space(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\x0b'
}

/// Python's `str.rstrip`, which also removes the four separators `\x1c` to `\x1f`.
pub fn trim_end(line: &str) -> &str {
    line.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '\x1c'..='\x1f'))
}

#[cfg(test)]
mod tests {
    use super::word_tokenize;

    fn check(text: &str, expect: &[&str]) {
        assert_eq!(word_tokenize(text).collect::<Vec<_>>(), expect, "{text:?}");
    }

    #[test]
    fn words_keep_their_period_and_lose_other_punctuation() {
        check("(He paid $5.50, didn't he?", &["(", "He", "paid", "$5.50", ",", "didn", "'t", "he", "?"]);
        check("e.g. 1,000 co-ops,", &["e.g.", "1,000", "co-ops", ","]);
        check("-5 `a' #b", &["-", "5", "`", "a", "'", "#", "b"]);
    }

    #[test]
    fn dashes_and_ellipses_are_tokens() {
        check("wait--what...now. . . . end", &["wait", "--", "what", "...", "now", ". . . .", "end"]);
        check(". . no", &[".", ".", "no"]);
    }
}

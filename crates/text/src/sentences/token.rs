//! Decides whether a sentence ends between two words: NLTK's `PunktToken` and the two passes that annotate it.

use super::language;
use super::parameters::{BEG_LC, LC, MID_UC, Parameters, UC};

/// `##number##`, the type of every number.
const NUMBER: &str = "##number##";

/// A word with the decisions of the first pass, which depend only on its type.
struct PunktToken<'a> {
    tok: &'a str,
    /// The case-normalized word, or [`NUMBER`].
    typ: String,
    sentbreak: bool,
    /// A known abbreviation, or an ellipsis.
    abbr_or_ellipsis: bool,
}

/// Whether a sentence ends in this text, before its last word.
pub fn text_contains_sentbreak(text: &str, parameters: &Parameters) -> bool {
    let tokens: Vec<PunktToken<'_>> = language::word_tokenize(text).map(|tok| PunktToken::first_pass(tok, parameters)).collect();
    tokens.windows(2).any(|pair| second_pass(&pair[0], &pair[1], parameters))
}

impl<'a> PunktToken<'a> {
    /// First pass: `.`, `?` and `!` are sentence breaks, and so is every word with a final period that is not a known abbreviation.
    fn first_pass(tok: &'a str, parameters: &Parameters) -> Self {
        let lower = tok.to_lowercase();
        let is_ellipsis = tok.len() >= 2 && tok.bytes().all(|b| b == b'.');
        let word = lower.strip_suffix('.').filter(|word| !word.ends_with('.') && !word.is_empty());
        let is_abbr = word.is_some_and(|word| is_abbreviation(word, parameters));
        Self {
            tok,
            sentbreak: matches!(tok, "." | "?" | "!") || word.is_some() && !is_abbr,
            abbr_or_ellipsis: is_ellipsis || is_abbr,
            typ: if is_number(tok) { NUMBER.to_owned() } else { lower },
        }
    }

    fn type_no_period(&self) -> &str {
        self.typ.strip_suffix('.').filter(|word| !word.is_empty()).unwrap_or(&self.typ)
    }

    fn type_no_sentperiod(&self) -> &str {
        if self.sentbreak { self.type_no_period() } else { &self.typ }
    }

    fn first_upper(&self) -> bool {
        self.tok.starts_with(char::is_uppercase)
    }

    fn first_lower(&self) -> bool {
        self.tok.starts_with(char::is_lowercase)
    }

    /// Whether the token is one letter and a period: `[^\W\d]\.$`.
    fn is_initial(&self) -> bool {
        let mut chars = self.tok.chars();
        chars.next().is_some_and(is_letter) && chars.as_str() == "."
    }
}

/// Second pass, which also considers the word after the period (section 4 of the paper): whether a sentence ends after `token`.
fn second_pass(token: &PunktToken<'_>, next: &PunktToken<'_>, parameters: &Parameters) -> bool {
    if !token.tok.ends_with('.') {
        return token.sentbreak;
    }
    let (typ, next_typ) = (token.type_no_period(), next.type_no_sentperiod());
    let is_initial = token.is_initial();
    // 4.1.2: both words are often seen around a period.
    if parameters.is_collocation(typ, next_typ) {
        return false;
    }
    let is_sent_starter = ortho_heuristic(next, parameters);
    // 4.2: an abbreviation or ellipsis may end a sentence as well.
    if token.abbr_or_ellipsis && !is_initial {
        let is_frequent_sent_starter = || next.first_upper() && parameters.is_sent_starter(next_typ);
        if is_sent_starter == Some(true) || is_frequent_sent_starter() {
            return true;
        }
    }
    // 4.3: initials and ordinals.
    if is_initial || typ == NUMBER {
        let is_always_upper = || next.first_upper() && parameters.ortho_context(next_typ) & LC == 0;
        if is_sent_starter == Some(false) || is_sent_starter.is_none() && is_initial && is_always_upper() {
            return false;
        }
    }
    token.sentbreak
}

/// 4.1.1: whether the case of this word shows that it starts a sentence. `None` if the case is not conclusive.
fn ortho_heuristic(token: &PunktToken<'_>, parameters: &Parameters) -> Option<bool> {
    if matches!(token.tok, ";" | ":" | "," | "." | "!" | "?") {
        return Some(false);
    }
    let context = parameters.ortho_context(token.type_no_sentperiod());
    if token.first_upper() && context & LC != 0 && context & MID_UC == 0 {
        return Some(true);
    }
    if token.first_lower() && (context & UC != 0 || context & BEG_LC == 0) {
        return Some(false);
    }
    None
}

/// Whether the word, or its part after the last hyphen, is an abbreviation.
fn is_abbreviation(word: &str, parameters: &Parameters) -> bool {
    let last_part = word.rsplit('-').next().unwrap_or(word);
    parameters.is_abbrev_type(word) || parameters.is_abbrev_type(last_part)
}

/// Whether the token matches `^-?[.,]?\d[\d,.-]*\.?$`.
fn is_number(tok: &str) -> bool {
    let tok = tok.strip_prefix('-').unwrap_or(tok);
    let tok = tok.strip_prefix(['.', ',']).unwrap_or(tok);
    tok.starts_with(is_digit) && tok.chars().all(|c| is_digit(c) || matches!(c, ',' | '.' | '-'))
}

/// NLTK's approximation of a letter: `[^\W\d]`.
fn is_letter(c: char) -> bool {
    regex_syntax::is_word_character(c) && !is_digit(c)
}

/// `\d`, a decimal digit (Nd): a numeric word character that is not alphabetic.
fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || c.is_numeric() && !c.is_alphabetic() && regex_syntax::is_word_character(c)
}

#[cfg(test)]
mod tests {
    use super::{PunktToken, is_digit, is_number, text_contains_sentbreak};
    use crate::sentences::ENGLISH;

    fn token(tok: &str) -> PunktToken<'_> {
        PunktToken::first_pass(tok, &ENGLISH)
    }

    #[test]
    fn numbers_are_decimal_digits_of_any_script() {
        assert!(["3", "-3.5.", ".5", "1,000", "٣", "2-1"].into_iter().all(is_number));
        assert!(!["", "-", "3a", "$3", "²", "Ⅷ", "½"].into_iter().any(is_number));
        assert!(is_digit('९') && !is_digit('①'));
    }

    #[test]
    fn an_initial_is_one_letter_and_a_period() {
        assert!(["J.", "É.", "_.", "\u{fe0f}."].into_iter().all(|tok| token(tok).is_initial()));
        assert!(!["5.", "..", "JJ.", "J"].into_iter().any(|tok| token(tok).is_initial()));
    }

    #[test]
    fn a_spaced_ellipsis_of_three_is_an_abbreviation() {
        assert!(token(". . .").abbr_or_ellipsis);
        assert!(token(". . . .").sentbreak);
    }

    #[test]
    fn only_a_break_before_the_last_word_counts() {
        assert!(text_contains_sentbreak("end. Now", &ENGLISH));
        assert!(!text_contains_sentbreak("Now end.", &ENGLISH));
    }
}

//! A better cut than the paper's for what visitors write: English Punkt knows no full stop but ".", and was trained on newspapers, which
//! have neither lists nor figures.

use std::ops::Range;

use super::sentences;

/// `Sentence_Terminal` of the Unicode Standard, of scripts in daily use, without ".", "?" and "!", of which Punkt judges.
const TERMINALS: &str = "。．｡！？؟۔।॥։።፧។៕။།";
/// What follows a terminal and belongs to its sentence.
const CLOSING: &str = "」』）】》〉〕］｝”’\"')]»";
/// No sentence ends in these.
const ALWAYS_CONTINUED: [&str; 4] = ["cf.", "e.g.", "i.e.", "vs."];
/// No sentence ends in these before a number.
const CONTINUED_BY_NUMBERS: [&str; 10] = ["ch.", "eq.", "eqs.", "fig.", "figs.", "p.", "pp.", "ref.", "sec.", "vol."];

/// As [`sentences`], and besides: a sentence also ends after the terminals of other scripts, and after "…" before white space and what is
/// not in lower case; the marker of a list item ("1.", "b)") belongs to the item; "e.g." and "Fig. 3" end no sentence.
///
/// ```
/// let text = "1. Tom has 5 apples, e.g. Braeburns. 他吃了两个。还剩三个。";
/// let found: Vec<&str> = glasscage::text::sentences::sentences_in_any_script(text).into_iter().map(|s| &text[s]).collect();
/// assert_eq!(found, ["1. Tom has 5 apples, e.g. Braeburns.", "他吃了两个。", "还剩三个。"]);
/// ```
pub fn sentences_in_any_script(text: &str) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for sentence in sentences(text).into_iter().flat_map(|sentence| cut_at_terminals(text, sentence)) {
        match joined.last_mut() {
            Some(last) if is_continued(text, last, &sentence) => last.end = sentence.end,
            _ => joined.push(sentence),
        }
    }
    joined
}

/// The parts of a sentence that end in a terminal, and what is left.
fn cut_at_terminals(text: &str, sentence: Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = sentence.start;
    while let Some(end) = first_end(&text[start..sentence.end]).map(|length| start + length) {
        parts.push(start..end);
        start = sentence.end - text[end..sentence.end].trim_start().len();
    }
    parts.push(start..sentence.end);
    parts
}

/// The length of the first part of `sentence` that ends in a terminal and is not all of it.
fn first_end(sentence: &str) -> Option<usize> {
    // Of a run the first: what comes after the run is the same for the others.
    let terminals = sentence.char_indices().filter(|&(at, c)| (c == '…' || TERMINALS.contains(c)) && !sentence[..at].ends_with(c));
    let ends = terminals.map(|(at, terminal)| {
        let rest = &sentence[at..];
        let after = rest.trim_start_matches(|c| c == terminal || TERMINALS.contains(c) || "?!".contains(c));
        (terminal, after.trim_start_matches(|c| CLOSING.contains(c)))
    });
    let ends_here = |(terminal, after): &(char, &str)| {
        let next = after.trim_start().chars().next();
        next.is_some_and(|next| *terminal != '…' || (after.starts_with(char::is_whitespace) && !next.is_lowercase()))
    };
    ends.into_iter().find(ends_here).map(|(_, after)| sentence.len() - after.len())
}

/// Whether `next` belongs to `sentence`, on whose line it stands.
fn is_continued(text: &str, sentence: &Range<usize>, next: &Range<usize>) -> bool {
    let words = &text[sentence.clone()];
    let last_word = words.rsplit(char::is_whitespace).next().unwrap_or_default();
    let last_word = last_word.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let starts_line = text[..sentence.start].chars().rev().take_while(|&c| c != '\n').all(char::is_whitespace);
    let is_number_next = text[next.clone()].starts_with(|c: char| c.is_ascii_digit());
    !text[sentence.end..next.start].contains('\n')
        && (starts_line && is_list_marker(words.trim())
            || ALWAYS_CONTINUED.contains(&&*last_word)
            || is_number_next && CONTINUED_BY_NUMBERS.contains(&&*last_word))
}

/// "1.", "12)", "b.", "(c)".
fn is_list_marker(words: &str) -> bool {
    let inside = words.strip_prefix('(').unwrap_or(words);
    let Some(label) = inside.strip_suffix(['.', ')']) else { return false };
    let is_number = !label.is_empty() && label.len() <= 3 && label.bytes().all(|byte| byte.is_ascii_digit());
    is_number || (label.len() == 1 && label.bytes().all(|byte| byte.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::sentences_in_any_script;
    use crate::text::sentences::sentences;
    use crate::text::sentences::tests::check_cut;

    fn check(text: &str, expect: &[&str]) {
        check_cut(sentences_in_any_script, text, expect);
    }

    #[test]
    fn sentences_end_at_the_full_stops_of_other_scripts() {
        check("汤姆有五个苹果。他吃了两个！还剩几个？", &["汤姆有五个苹果。", "他吃了两个！", "还剩几个？"]);
        check("「もう行く。」と言った。そう。", &["「もう行く。」", "と言った。", "そう。"]);
        check("राम के पास पाँच सेब हैं। उसने दो खाए। कितने बचे?", &["राम के पास पाँच सेब हैं।", "उसने दो खाए।", "कितने बचे?"]);
        check("كم تفاحة بقيت؟ بقيت ثلاث.", &["كم تفاحة بقيت؟", "بقيت ثلاث."]);
        check("真的？！是的。", &["真的？！", "是的。"]);
    }

    #[test]
    fn an_ellipsis_ends_a_sentence_before_a_capital_letter() {
        check("She left… He stayed… then they met.", &["She left…", "He stayed… then they met."]);
        check("她走了……我没走。", &["她走了……我没走。"]);
    }

    #[test]
    fn the_marker_of_a_list_item_belongs_to_the_item() {
        check("1. Add the eggs.\n2. Stir.\n(c) Wait.", &["1. Add the eggs.", "2. Stir.", "(c) Wait."]);
        check("How many are left? 5. Good.", &["How many are left?", "5.", "Good."]);
        check("How many?\n5.\nGood.", &["How many?", "5.", "Good."]);
    }

    #[test]
    fn common_abbreviations_end_no_sentence() {
        check("Take fruit, e.g. Apples. Look at Fig. 3. It helps.", &["Take fruit, e.g. Apples.", "Look at Fig. 3.", "It helps."]);
        check("See Eq. 4 and p. 12. He likes a fig. Tom does not.", &["See Eq. 4 and p. 12.", "He likes a fig.", "Tom does not."]);
    }

    #[test]
    fn plain_english_is_cut_as_by_punkt() {
        let text = "Dr. Smith lives in the U.S. He likes it! \"Does he?\" (Yes.) He has 3.5 apples.\nSo do I.";
        assert_eq!(sentences_in_any_script(text), sentences(text));
    }
}

//! A better cut than the paper's for what visitors write: Punkt in the language of the text knows no full stop but ".", and was trained
//! on newspapers, which have neither lists nor figures.

use std::ops::Range;

use super::continued::{CLOSING, is_continued, is_item};
use super::{parameters_of, sentences_in};
use crate::explanation::Language;
use crate::text::languages::{is_han, is_kana};

/// `Sentence_Terminal` of the Unicode Standard, of scripts in daily use, without ".", "?" and "!", of which Punkt judges.
const TERMINALS: &str = "。．｡！？؟۔।॥։።፧។៕။།";

/// Sentences as Punkt finds them with the parameters of `language`, and besides: a sentence also ends after the terminals of other scripts,
/// and after "…" before white space and what is not in lower case; the marker of a list item ("1.", "b)") belongs to the item, within a
/// line where the numbers count up from 1; "e.g." and "Fig. 3", or "z. B." in German, end no sentence. In Chinese and Japanese, which have
/// no white space after a sentence, ".", "?" and "!" end one before the next character.
///
/// Cost: linear in the text.
///
/// ```
/// use glasscage::explanation::Language;
/// use glasscage::text::sentences::sentences_in_any_script;
///
/// let text = "1. Tom has 5 apples, e.g. Braeburns. 他吃了两个。还剩三个。";
/// let found: Vec<&str> = sentences_in_any_script(text, Language::English).into_iter().map(|s| &text[s]).collect();
/// assert_eq!(found, ["1. Tom has 5 apples, e.g. Braeburns.", "他吃了两个。", "还剩三个。"]);
/// ```
pub fn sentences_in_any_script(text: &str, language: Language) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    let mut last_part = 0..0;
    // The number of the last list item.
    let mut item = 0;
    let mut found = sentences_in(text, parameters_of(language));
    if language == Language::French {
        give_opening_quotes_to_the_next(text, &mut found);
    }
    for sentence in found {
        for part in cut_at_terminals(text, sentence, language) {
            match joined.last_mut() {
                Some(sentence) if is_continued(text, sentence, &last_part, &part, language) => sentence.end = part.end,
                Some(sentence) if is_item(text, sentence, &part, item + 1) => {
                    sentence.end = part.end;
                    item += 1;
                }
                _ => joined.push(part.clone()),
            }
            last_part = part;
        }
    }
    joined
}

/// « Oui. » « Non. » In French white space follows an opening quote, by which Punkt takes it for a closing one.
fn give_opening_quotes_to_the_next(text: &str, sentences: &mut [Range<usize>]) {
    for i in 1..sentences.len() {
        let Some(rest) = text[sentences[i - 1].clone()].strip_suffix('«') else { continue };
        let is_on_the_line = !text[sentences[i - 1].end..sentences[i].start].contains('\n');
        let trimmed = rest.trim_end();
        if is_on_the_line && !trimmed.is_empty() && trimmed.len() < rest.len() {
            sentences[i].start = sentences[i - 1].end - '«'.len_utf8();
            sentences[i - 1].end = sentences[i - 1].start + trimmed.len();
        }
    }
}

/// The parts of a sentence that end in a terminal, and what is left.
fn cut_at_terminals(text: &str, sentence: Range<usize>, language: Language) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = sentence.start;
    while let Some(end) = first_end(&text[start..sentence.end], language).map(|length| start + length) {
        parts.push(start..end);
        start = sentence.end - text[end..sentence.end].trim_start().len();
    }
    parts.push(start..sentence.end);
    parts
}

/// The length of the first part of `sentence` that ends in a terminal and is not all of it.
fn first_end(sentence: &str, language: Language) -> Option<usize> {
    let is_end_mark = |c: char| c == '…' || TERMINALS.contains(c) || language.is_chinese_or_japanese() && ".?!".contains(c);
    let (mut run_end, mut was_certain) = (0, false);
    for (at, terminal) in sentence.char_indices().filter(|&(_, c)| is_end_mark(c)) {
        let is_certain = TERMINALS.contains(terminal);
        // What comes after a run of them is the same for each, but not every mark asks the same of it.
        if at < run_end && (was_certain || !is_certain) {
            continue;
        }
        let run = sentence[at..].trim_start_matches(|c| c == terminal || TERMINALS.contains(c) || "?!".contains(c));
        let after = run.trim_start_matches(|c| CLOSING.contains(c));
        let next = after.trim_start().chars().next();
        let ends = next.is_some_and(|next| match terminal {
            '…' => after.starts_with(char::is_whitespace) && !next.is_lowercase(),
            '.' => sentence[..at].ends_with(is_ideograph) && run.len() + 1 == sentence.len() - at && after.starts_with(is_ideograph),
            '?' | '!' => after.starts_with(|c| is_ideograph(c) || "「『（《“".contains(c)),
            _ => true,
        });
        if ends {
            return Some(sentence.len() - after.len());
        }
        (run_end, was_certain) = (sentence.len() - run.len(), is_certain);
    }
    None
}

/// A character of Chinese or Japanese.
fn is_ideograph(c: char) -> bool {
    is_han(c) || is_kana(c)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::time::{Duration, Instant};

    use super::sentences_in_any_script;
    use crate::explanation::Language;
    use crate::text::sentences::sentences;
    use crate::text::sentences::tests::check_cut;

    fn in_english(text: &str) -> Vec<Range<usize>> {
        sentences_in_any_script(text, Language::English)
    }

    fn check(text: &str, expect: &[&str]) {
        check_cut(in_english, text, expect);
    }

    #[test]
    fn sentences_end_at_the_full_stops_of_other_scripts() {
        check("汤姆有五个苹果。他吃了两个！还剩几个？", &["汤姆有五个苹果。", "他吃了两个！", "还剩几个？"]);
        check("「もう行く。」と言った。そう。", &["「もう行く。」", "と言った。", "そう。"]);
        check("राम के पास पाँच सेब हैं। उसने दो खाए। कितने बचे?", &["राम के पास पाँच सेब हैं।", "उसने दो खाए।", "कितने बचे?"]);
        check("كم تفاحة بقيت؟ بقيت ثلاث.", &["كم تفاحة بقيت؟", "بقيت ثلاث."]);
        check("真的？！是的。", &["真的？！", "是的。"]);
        check("Ա\u{589} Բ\u{589} ក\u{17d4} ខ", &["Ա\u{589}", "Բ\u{589}", "ក\u{17d4}", "ខ"]);
    }

    #[test]
    fn chinese_and_japanese_need_no_space_after_a_question() {
        let text = "真的吗?是的!他有3.5个GPT-4.1?A和B等等...行.走吧.";
        check_cut(
            |text| sentences_in_any_script(text, Language::Chinese),
            text,
            &["真的吗?", "是的!", "他有3.5个GPT-4.1?A和B等等...行.", "走吧."],
        );
        check_cut(|text| sentences_in_any_script(text, Language::Japanese), "何個?三個です!はい。", &["何個?", "三個です!", "はい。"]);
        check("真的吗?是的!", &["真的吗?是的!"]);
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
        check("Two cups. 1. One is red. 2. One is blue. Which?", &["Two cups.", "1. One is red.", "2. One is blue.", "Which?"]);
        check("How many are left? 1. Good.", &["How many are left?", "1.", "Good."]);
        check("Two are left.\n1.\nGood.", &["Two are left.", "1.", "Good."]);
        check("Two are left. 3. Good.", &["Two are left.", "3.", "Good."]);
    }

    #[test]
    fn plain_english_is_cut_as_by_punkt() {
        let text = "Dr. Smith lives in the U.S. He likes it! \"Does he?\" (Yes.) He has 3.5 apples.\nSo do I.";
        assert_eq!(in_english(text), sentences(text));
    }

    /// Eight times the text takes about eight times as long; where the time grew with its square, 64 times.
    #[test]
    fn the_time_is_linear_in_hostile_texts() {
        let n = 40_000;
        let pieces =
            ["…?", "?", "。", "。।", "…", "e.g. The ", "A. a. ", "1. ", "a。", "?”", "am 1. 2. ", "(", "z. ", "Dr. Klein ", "« a. "];
        for language in [Language::English, Language::German, Language::French, Language::Chinese] {
            for piece in pieces {
                let time = |n: usize| {
                    let text = format!("{}A{}好", " ".repeat(n), piece.repeat(n));
                    let begin = Instant::now();
                    sentences_in_any_script(&text, language);
                    begin.elapsed()
                };
                let (short, long) = (time(n / 8), time(n));
                assert!(long < 24 * short + Duration::from_secs(1), "{language:?} {piece:?}: {short:?}, {long:?}");
            }
        }
    }
}

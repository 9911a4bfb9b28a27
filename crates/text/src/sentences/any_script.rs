//! Splits texts of visitors and models better than the paper's method. Even in the language of the text, Punkt knows no full stop except
//! ".", and it was trained on newspapers, which have no markup, lists or figures. `docs/reading-the-numbers.md` defines the units.

use std::iter;
use std::ops::Range;

use super::abbreviations::is_among;
use super::blocks::{Kind, blocks};
use super::continued::{is_after_question, is_continued};
use super::cost::count_read;
use super::ends::{last_token, tail};
use super::language::trim_end;
use super::markup::Plain;
use super::terminals::{CLOSING, TERMINALS};
use super::{parameters_of, sentences_in};
use crate::languages::is_ideograph;
use glasscage_core::explanation::Language;

/// Words that start a sentence after a number even in lowercase: "tom has 5 figs and eats 2. how many are left?" They are not words of
/// languages that write ordinals with a period, because texts in unknown languages count as English.
const AFTER_NUMBERS: &str = "and answer because but combien come como cuántas cuántos dann he hoeveel how if it my please qual quale \
                             quand quantas quante quanti quantos que qui she so thanks that the then there they this thus thx wann warum \
                             was we welche wer what when where which who whose why wie wieviel wo you your";

/// Words that start a sentence with a capital letter, even after an abbreviation that Punkt knows: "at 5 p.m. She left."
const AFTER_ABBREVIATIONS: &str = "Are Can Did Do Does How Now Our Please She Then We What When Where Which Who Why You Your";

/// Sentences as Punkt finds them with the parameters of `language`, with additional rules. Sentences also end after the terminals of other
/// scripts, and after "…" before white space and a character that is not lowercase. Labels ("1.", "### Step 2.") belong to the text that
/// they number, closing marks ("**", "[1]") to the text that they close. "e.g." and "Fig. 3", or "z. B." in German, do not end a sentence.
/// A line of code, a row of a table and a displayed formula are units. Chinese and Japanese have no white space after a sentence, so ".",
/// "?" and "!" end a sentence before the next character. Text without letters and digits belongs to the sentence before it.
///
/// Cost: linear in the text.
///
/// ```
/// use glasscage_core::explanation::Language;
/// use glasscage_text::sentences::sentences_in_any_script;
///
/// let text = "1. **Tom** has 5 apples, e.g. Braeburns. 他吃了两个。还剩三个。";
/// let found: Vec<&str> = sentences_in_any_script(text, Language::English).into_iter().map(|s| &text[s]).collect();
/// assert_eq!(found, ["1. **Tom** has 5 apples, e.g. Braeburns.", "他吃了两个。", "还剩三个。"]);
/// ```
pub fn sentences_in_any_script(text: &str, language: Language) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (block, kind) in blocks(text) {
        let written = block.start..block.start + trim_end(&text[block.clone()]).len();
        let units = match kind {
            Kind::Line => in_line(&text[block], language),
            Kind::Whole | Kind::Mark => iter::once(0..written.len()).collect(),
        };
        for unit in units {
            let unit = written.start + unit.start..written.start + unit.end;
            let is_source = kind != Kind::Mark && text[unit.clone()].contains(char::is_alphanumeric);
            push(&mut found, unit, is_source);
        }
    }
    found.into_iter().map(|(unit, _)| unit).collect()
}

/// Appends a unit. A unit that cannot be a source is merged with the unit before it, or at the start with the unit after it.
fn push(found: &mut Vec<(Range<usize>, bool)>, unit: Range<usize>, is_source: bool) {
    match found.last_mut() {
        _ if unit.is_empty() => {}
        Some((last, was_source)) if !is_source || !*was_source => (last.end, *was_source) = (unit.end, *was_source || is_source),
        _ => found.push((unit, is_source)),
    }
}

/// Sentences of a line.
fn in_line(line: &str, language: Language) -> Vec<Range<usize>> {
    let plain = Plain::new(line);
    let text = &plain.text;
    let mut joined: Vec<Range<usize>> = Vec::new();
    // Whether the last sentence follows a question.
    let mut follows_question = false;
    let mut found = sentences_in(text, parameters_of(language));
    if language == Language::French {
        give_opening_quotes_to_the_next(text, &mut found);
    }
    for mut part in found.into_iter().flat_map(|sentence| cut_at_terminals(text, sentence, language)) {
        if let Some(sentence) = joined.last_mut() {
            if is_continued(text, sentence, &part, language, follows_question) {
                sentence.end = part.end;
                continue;
            }
            let length = citations_length(&text[part.clone()]);
            if length > 0 && !text[sentence.end..part.start].contains('\n') {
                sentence.end = part.start + length;
                part.start = part.end - text[sentence.end..part.end].trim_start().len();
            }
        }
        if !part.is_empty() {
            follows_question = is_after_question(text, part.start);
            joined.push(part);
        }
    }
    if joined.is_empty() {
        return iter::once(0..trim_end(line).len()).collect();
    }
    plain.in_line(line, &joined)
}

/// Length of the citations at the start of `part`, which belong to the sentence before it: "[2]", "[1, 3-5] [7]".
fn citations_length(part: &str) -> usize {
    let mut length = 0;
    while let Some((inside, _)) = part[length..].trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let is_citation = inside.starts_with(|c: char| c.is_ascii_digit())
            && inside.len() <= 40
            && inside.chars().all(|c| c.is_ascii_digit() || ",;-– ".contains(c));
        let end = part.len() - part[length..].trim_start().len() + inside.len() + 2;
        if !is_citation || !part[end..].chars().next().is_none_or(|c| c.is_whitespace() || c == '[') {
            break;
        }
        length = end;
    }
    length
}

/// Moves an opening quote to the next sentence: « Oui. » « Non. » French has white space after an opening quote, so Punkt treats it as a
/// closing one.
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

/// Splits a sentence after each terminal. The last part is the rest.
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

/// Length of the first part of `sentence` that ends in a terminal. `None` if that is the whole sentence.
fn first_end(sentence: &str, language: Language) -> Option<usize> {
    let is_end_mark = |c: char| "….".contains(c) || TERMINALS.contains(c) || language.is_chinese_or_japanese() && "?!".contains(c);
    let (mut run_end, mut was_certain) = (0, false);
    for (at, terminal) in sentence.char_indices().filter(|&(_, c)| is_end_mark(c)) {
        let is_certain = TERMINALS.contains(terminal);
        // The text after a run is the same for each of its marks. A later mark needs a check only if it is a terminal and the one before is
        // not.
        if at < run_end && (was_certain || !is_certain) {
            continue;
        }
        let run = sentence[at..].trim_start_matches(|c| c == terminal || TERMINALS.contains(c) || "?!".contains(c));
        let after = run.trim_start_matches(|c| CLOSING.contains(c));
        let next = after.trim_start().chars().next();
        count_read(sentence.len() - at - after.trim_start().len());
        let ends = next.is_some_and(|next| match terminal {
            '…' => after.starts_with(char::is_whitespace) && !next.is_lowercase(),
            '.' if language.is_chinese_or_japanese() && sentence[..at].ends_with(is_ideograph) => {
                run.len() + 1 == sentence.len() - at && after.starts_with(is_ideograph)
            }
            '.' => after.len() == run.len() && starts_after_period(&sentence[..at], after),
            '?' | '!' => after.starts_with(|c| is_ideograph(c) || "「『（《“".contains(c)),
            _ => true,
        });
        if ends {
            count_read(sentence.len() - after.len());
            return Some(sentence.len() - after.len());
        }
        (run_end, was_certain) = (sentence.len() - run.len(), is_certain);
    }
    count_read(sentence.len());
    None
}

/// Whether `after` starts a sentence after the period that follows `before`.
fn starts_after_period(before: &str, after: &str) -> bool {
    let Some(next) = after.strip_prefix(' ').map(first_word) else { return false };
    is_among(AFTER_ABBREVIATIONS, next) || is_among(AFTER_NUMBERS, next) && ends_in_count(before)
}

fn first_word(text: &str) -> &str {
    let word = text.trim_start().split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    count_read(text.len() - text.trim_start().len() + word.len());
    word
}

/// Whether `before` ends in a number and has other words.
fn ends_in_count(before: &str) -> bool {
    let number = last_token(tail(before));
    if !number.ends_with(|c: char| c.is_ascii_digit()) || number.contains(char::is_alphabetic) {
        return false;
    }
    // Trims the end, because the white space before each number is read once. That at the start would be read for each number.
    let others = &before[..before.len() - number.len()];
    let words = others.trim_end();
    count_read(others.len() - words.len());
    !words.is_empty()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::ops::Range;

    use super::sentences_in_any_script;
    use crate::sentences::cost::READ;
    use crate::sentences::tests::check_cut;
    use crate::sentences::{sentences, tile};
    use glasscage_core::explanation::Language;

    fn in_english(text: &str) -> Vec<Range<usize>> {
        sentences_in_any_script(text, Language::English)
    }

    fn check(text: &str, expect: &[&str]) {
        check_cut(in_english, text, expect);
    }

    #[test]
    fn sentences_end_at_the_full_stops_of_other_scripts() {
        check("汤姆有五个苹果。他吃了两个！还剩几个？", &["汤姆有五个苹果。", "他吃了两个！", "还剩几个？"]);
        check("「もう行く。」と言った。そう。", &["「もう行く。」と言った。", "そう。"]);
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

    /// Four times the text must cost about four times as much. Quadratic cost would be 16 times as much.
    #[test]
    fn the_cost_is_linear_in_hostile_texts() {
        let pieces = [
            "…?",
            "?",
            "。",
            "。।",
            "…",
            "e.g. The ",
            "A. a. ",
            "1. ",
            "a。",
            "?”",
            "am 1. 2. ",
            "(",
            "z. ",
            "Dr. Klein ",
            "« a. ",
            "`",
            "[",
            "](",
            "<",
            "<a ",
            "*",
            "**a",
            "$$\n",
            "\\[\nx\n",
            "```\n",
            "|a\n",
            "a.[1]",
            "a. [1]",
            "Step 1. ",
            "> 1. ",
            ".)[1]",
            "x: 1. ",
            "et al. [",
            "figs. 2 and ",
            "a.¹ ",
            "](([",
            ". 😀 ",
            "$$ a. ",
            "2. how ",
            "order no. 1 ",
            "1. a 2. b ",
            "\"a?\" and ",
        ];
        let cost = |text: String, language| {
            READ.with(|read| read.set(0));
            sentences_in_any_script(&text, language);
            READ.with(Cell::get)
        };
        for language in [Language::German, Language::French, Language::Chinese] {
            for piece in pieces {
                for before in ["", "A?"] {
                    let text = |n: usize| format!("{before}{}A{}好", " ".repeat(n), piece.repeat(n));
                    let [short, long] = [500, 2_000].map(|n| cost(text(n), language));
                    assert!(long <= 6 * short + 10_000, "{language:?} {before:?} {piece:?}: {short}, {long}");
                }
            }
        }
    }

    /// The expected sentences were split by hand.
    #[test]
    fn texts_of_visitors_and_models_are_split_as_readers_do() {
        #[derive(serde::Deserialize)]
        struct Case {
            language: Language,
            text: String,
            sentences: Vec<String>,
        }
        let lines = include_str!("../../../../tests/golden/sentences/cases.jsonl").lines();
        for Case { language, text, sentences } in lines.map(|line| serde_json::from_str(line).unwrap()) {
            let found = tile(&text, &sentences_in_any_script(&text, language));
            let found: Vec<&str> = found.into_iter().map(|tile| text[tile].trim()).collect();
            assert_eq!(found, sentences, "{language:?} {text:?}");
        }
    }

    /// An answer that a model sampled, with its sentences if a person has split it.
    #[derive(serde::Deserialize)]
    struct Answer {
        language: Language,
        text: String,
        sentences: Option<Vec<String>>,
    }

    fn answers() -> Vec<Answer> {
        let lines = include_str!("../../../../tests/golden/sentences/answers.jsonl").lines();
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn answers_of_a_model_are_split_as_by_hand() {
        let by_hand: Vec<Answer> = answers().into_iter().filter(|answer| answer.sentences.is_some()).collect();
        for Answer { language, text, sentences } in &by_hand {
            let found = tile(text, &sentences_in_any_script(text, *language));
            let found: Vec<&str> = found.into_iter().map(|tile| text[tile].trim()).collect();
            assert_eq!(Some(found), sentences.as_ref().map(|all| all.iter().map(String::as_str).collect()), "{language:?} {text:?}");
        }
        assert!(by_hand.len() >= 60, "{}", by_hand.len());
    }

    #[test]
    fn sentences_of_a_model_tile_its_answers_and_have_words() {
        let answers = answers();
        for Answer { language, text, .. } in &answers {
            let found = sentences_in_any_script(text, *language);
            let tiles = tile(text, &found);
            assert_eq!(tiles.iter().map(|tile| &text[tile.clone()]).collect::<String>(), *text);
            let is_source = |sentence: &Range<usize>| text[sentence.clone()].contains(char::is_alphanumeric);
            assert!(found.len() == 1 || found.iter().all(is_source), "{text:?}");
            let is_apart = |gap: &[Range<usize>]| text[gap[0].end..gap[1].start].chars().all(char::is_whitespace);
            assert!(found.windows(2).all(is_apart), "{text:?}");
            // What follows a label is a part of its sentence, unless the number answers a question.
            for pair in found.windows(2) {
                let is_on_the_line = !text[pair[0].end..pair[1].start].contains('\n');
                let is_answer = text[..pair[0].start].trim_end().ends_with('?');
                assert!(!(is_on_the_line && !is_answer && is_label(&text[pair[0].clone()])), "{:?} in {text:?}", &text[pair[0].clone()]);
            }
        }
        assert_eq!(answers.len(), 300);
    }

    /// Whether `text` is the label of a list item, such as "1.", "- 2)" or "**b.**".
    fn is_label(text: &str) -> bool {
        let label = text.trim_matches(|c: char| c.is_whitespace() || "#>*-_•".contains(c));
        let number = label.strip_suffix(['.', ')']).unwrap_or_default();
        !number.is_empty() && (number.chars().all(|c| c.is_ascii_digit()) && number.len() < 3 || number.len() == 1)
    }
}

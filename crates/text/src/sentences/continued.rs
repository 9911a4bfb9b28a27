//! Detects where Punkt splits a sentence that continues: after abbreviations that it does not know, before a lowercase letter, between
//! speech and the words after it, and within German dates.

use std::ops::Range;

use super::abbreviations::{
    AFTER_ONE, Abbreviations, BEFORE_NO, BEFORE_REFERENCES, ENDINGS, NUMBERED, OF_ALL, PLURALS, abbreviations_of, is_among,
};
use super::cost::count_read;
use super::ends::{TAIL, last_token, tail};
use super::labels::is_word as is_label_word;
use super::parameters_of;
use super::terminals::CLOSING;
use crate::languages::is_ideograph;
use glasscage_core::explanation::Language;

/// Dashes before speech.
const DASHES: [char; 3] = ['—', '–', '―'];
/// Words after which a number with a period is an ordinal: "im 2. Stock".
const BEFORE_ORDINALS: &str = "ab am beim das dem den der des die diesem diesen dieser ein eine einem einen einer ihr im jede jeden \
                               jeder jedes mein sein seit vom zum zur";
/// Chinese and Japanese verbs of speech. They must be within the first `BEFORE_SPEECH` characters after the quotation.
const SPEECH: &str = "说說问問道答喊叫嚷聞言尋呼";
const BEFORE_SPEECH: usize = 6;
/// English verbs of speech: "Why? asked Tom.", "“Why?” Tom asked."
const VERBS_OF_SPEECH: &str = "added agreed answered asked began called cried exclaimed explained laughed murmured muttered replied \
                               said says screamed shouted sighed thought told whispered wondered wrote yelled";
/// Words that start a sentence after a quotation in lowercase: he said "stop." then he left.
const AFTER_QUOTATIONS: &str = "he i it she so then they this we you";
/// Words after a letter that numbers a thing: "see fig. A of the book".
const AFTER_LETTERS: &str = "and are as for from has in is of on or shows that the to we with";

/// Whether `next`, which Punkt or a terminal split off, belongs to `sentence`. The caller finds [`is_after_question`] once per sentence,
/// because a sentence may be continued often.
pub fn is_continued(text: &str, sentence: &Range<usize>, next: &Range<usize>, language: Language, is_after_question: bool) -> bool {
    let between = &text[sentence.end..next.start];
    if between.contains('\n') {
        return false;
    }
    let tail = tail(&text[sentence.clone()]);
    let next = &text[next.clone()];
    let abbreviations = abbreviations_of(language);
    starts_inside(next, between.is_empty())
        || [&OF_ALL, abbreviations].into_iter().any(|list| is_open(tail, next, list, language, is_after_question))
        || is_open_before_small_letter(tail, next, language, is_capitalized(&text[sentence.start..]))
        || !is_after_question && is_initials(&text[sentence.clone()])
        || is_speech(&text[sentence.clone()], next, between)
        || language == Language::German && is_ordinal(tail, next)
}

/// Whether the text before byte `start` ends in a question mark and white space. Reads the white space.
pub fn is_after_question(text: &str, start: usize) -> bool {
    let before = text[..start].trim_end();
    count_read(start - before.len());
    before.ends_with('?')
}

/// Whether `next` cannot start a sentence: it starts with a comma or similar, or with punctuation that closes the sentence before it.
fn starts_inside(next: &str, is_adjacent: bool) -> bool {
    let after = next.trim_start_matches(|c| CLOSING.contains(c) || matches!(c, '“' | '?' | '!'));
    count_read(next.len() - after.len());
    let goes_on = |rest: &str| rest.starts_with([',', ';', ':']) && !rest[1..].starts_with(|c: char| c.is_ascii_punctuation());
    goes_on(next)
        || is_adjacent
            && after.len() < next.len()
            && (after.is_empty()
                || goes_on(after)
                || after.starts_with(|c: char| ".—– \u{a0}".contains(c) || c.is_alphabetic() && !c.is_uppercase() && !is_ideograph(c)))
}

/// Whether `tail` ends in an abbreviation of `list` that does not end the sentence before `next`.
fn is_open(tail: &str, next: &str, list: &Abbreviations, language: Language, is_after_question: bool) -> bool {
    let word = elided(last_word(tail));
    let lower = word.to_lowercase();
    let is_word = is_among(abbreviations_of(language).also_words, &lower);
    if is_among(list.always, &lower) && (lower.len() > 2 || lower == word) {
        let first = next.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
        return !is_word || !parameters_of(language).is_sent_starter(&first);
    }
    if lower == "al." && tail.to_lowercase().trim_end_matches("al.").trim_end().ends_with("et") {
        return next.starts_with(|c: char| c.is_lowercase() || c.is_ascii_digit() || "([".contains(c));
    }
    is_among(list.before_numbers, &lower)
        && (is_number_of_thing(next) || next == "no." && lower != "no.")
        && (!is_word || is_reference(tail, &lower, next, language, is_after_question))
}

/// Whether `next` starts with the number of a thing: "5", "(4)", "[3]", "IV", "A", "S1".
fn is_number_of_thing(next: &str) -> bool {
    let number = next.trim_start_matches(['(', '[']);
    let end = number.find(|c: char| !c.is_alphanumeric()).unwrap_or(number.len());
    let number = &number[..end];
    let has_digit = number.len() <= 8 && number.contains(|c: char| c.is_ascii_digit());
    let is_letter = number.len() == 1 && number.chars().all(char::is_uppercase);
    let is_roman = !number.is_empty()
        && [number.to_uppercase(), number.to_lowercase()].iter().any(|other| other == number)
        && number.chars().all(|c| "IVXLCivxlc".contains(c));
    has_digit || is_letter || is_roman
}

/// Whether an abbreviation that is also a word refers to a thing by its number. Evidence is the text before it, a capital letter in
/// languages with lowercase words, and a second number if it refers to several things.
fn is_reference(tail: &str, lower: &str, next: &str, language: Language, is_after_question: bool) -> bool {
    let before = tail[..tail.len() - last_token(tail).len()].trim_end();
    let token = last_token(tail);
    let word = last_word(tail);
    let is_in_brackets = token.len() > word.len() && token.starts_with(['(', '[']);
    let is_noun_anyway = language == Language::German || lower == "art.";
    let leads = if before.is_empty() {
        word.starts_with(char::is_uppercase) && !is_after_question
    } else {
        let previous = last_token(before).trim_start_matches(['(', '[']).to_lowercase();
        let is_capitalized = elided(word).starts_with(char::is_uppercase) && !is_noun_anyway;
        let is_alone = before.len() == last_token(before).len() && matches!(&*previous, "the" | "this");
        let is_led = is_among(BEFORE_REFERENCES, &previous) || before.ends_with([',', ';', '§']);
        is_capitalized || is_alone || if lower == "no." { is_number_sign(before, &previous, next, language) } else { is_led }
    };
    let after = next.trim_start_matches(|c: char| c.is_alphanumeric() || "()[].".contains(c)).trim_start();
    let words = ["and ", "or ", "to ", "through ", "& ", ", ", "-", "–"];
    let has_second = words.iter().any(|word| after.strip_prefix(word).is_some_and(is_number_of_thing));
    let is_word_next = language == Language::English && word.starts_with(char::is_lowercase) && starts_with_word(next);
    let is_led = leads && !is_word_next;
    if is_among(PLURALS, lower) { is_in_brackets || leads && has_second } else { is_in_brackets || is_led || has_second }
}

/// Whether the "A" or "I" at the start of `next` is a word: "a piece of art. A person looks at it", but not "fig. A of the book".
fn starts_with_word(next: &str) -> bool {
    let rest = ["A ", "I "].iter().find_map(|word| next.strip_prefix(word)).unwrap_or_default();
    let second = rest.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    second.starts_with(char::is_lowercase) && !is_among(AFTER_LETTERS, second)
}

/// Whether "no." stands for "number" between `previous` and the number at the start of `next`: "order no. 12", "at no. 5", "she is no. 1."
fn is_number_sign(before: &str, previous: &str, next: &str, language: Language) -> bool {
    let noun = previous.trim_end_matches('s');
    if [previous, noun].iter().any(|noun| is_among(NUMBERED, noun) || is_label_word(noun)) {
        return true;
    }
    let after = next.trim_start_matches(|c: char| c.is_alphanumeric() || "()[]-–".contains(c));
    let verb = after.trim_start().split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let is_one = after.is_empty() || after.starts_with(|c: char| c.is_ascii_punctuation()) || is_among(AFTER_ONE, verb);
    let joins = matches!(previous, "and" | "or" | "to" | "&");
    let is_second = joins && before.split_whitespace().rev().nth(2).is_some_and(|word| word.eq_ignore_ascii_case("no."));
    is_second
        || !joins && is_among(BEFORE_REFERENCES, previous)
        || language == Language::English && is_one && !is_among(BEFORE_NO, previous)
}

/// Whether a lowercase letter continues the sentence after a possible abbreviation (`XIV.`, `U.S.A.`, `Mrd.`), a quotation, or a dash. It
/// does not after other words, because many people write to a model without capital letters. In such a sentence, it continues only after
/// abbreviations that do not end sentences.
fn is_open_before_small_letter(tail: &str, next: &str, language: Language, is_capitalized: bool) -> bool {
    let undashed = next.trim_start_matches(['—', '–', '―', '-', ' ']);
    let Some(word) = elided(last_word(tail)).strip_suffix('.').filter(|word| !word.is_empty()) else {
        let is_quotation = tail.ends_with(|c| CLOSING.contains(c) || matches!(c, '“' | '«' | '‹' | '‘'));
        let first = next.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        let goes_on = is_capitalized || is_quotation && !is_among(AFTER_QUOTATIONS, first);
        return goes_on && undashed.starts_with(char::is_lowercase) && (is_quotation || undashed.len() < next.len());
    };
    let lower = word.to_lowercase();
    let is_english = parameters_of(language).is_sent_starter("the");
    let with_period = format!("{lower}.");
    let is_known = [&OF_ALL, abbreviations_of(language)].iter().any(|list| is_among(list.before_small_letters, &with_period));
    let is_roman = word.chars().all(|c| "IVXLC".contains(c)) && (word.len() > 1 || !is_english);
    let is_unspeakable = !is_english && lower.len() > 1 && lower.chars().all(|c| c.is_ascii_alphabetic() && !"aeiouy".contains(c));
    let is_spelled = word.contains('.') && (!is_english || word.starts_with(char::is_alphabetic));
    let is_certain = is_known && !is_among(ENDINGS, &with_period);
    next.starts_with(char::is_lowercase) && (is_certain || is_capitalized && (is_roman || is_unspeakable || is_known || is_spelled))
}

/// Whether `next` names the speaker of `sentence`: 「もう行く。」と言った, “真的吗？”他问, "really?" he asked, "Why?" Tom asked, Why? asked Tom, or
/// —¿Vienes? —preguntó él. If no verb shows it, the quotation must be the whole sentence.
fn is_speech(sentence: &str, next: &str, between: &str) -> bool {
    let is_quoted =
        sentence.starts_with(['"', '“', '”', '„', '«', '»', '‘', '\'']) && sentence.ends_with(['"', '“', '”', '«', '»', '’', '\'']);
    let is_dialogue = sentence.starts_with(DASHES) && next.trim_start_matches(DASHES).trim_start().starts_with(char::is_lowercase);
    let ends_in_speech = is_quoted || sentence.ends_with(['?', '!', '…']);
    let mut words = next.split(|c: char| !c.is_alphabetic() && c != '\'').take(2);
    let is_named = words.any(|word| is_among(VERBS_OF_SPEECH, word)) && (is_quoted || next.starts_with(char::is_lowercase));
    let first = next.split(|c: char| c.is_whitespace() || c == '.').next().unwrap_or_default();
    let is_inverted = first.starts_with(char::is_lowercase) && ["-il", "-elle", "-je"].iter().any(|pronoun| first.ends_with(pronoun));
    if is_quoted && next.starts_with(char::is_lowercase) || is_dialogue || is_inverted || ends_in_speech && is_named {
        return true;
    }
    if !between.is_empty() || !sentence.ends_with(['」', '』', '”']) {
        return false;
    }
    let mut following = next.chars().take(BEFORE_SPEECH).take_while(|c| c.is_alphanumeric());
    next.starts_with(['と', '、', '，']) || next.starts_with("って") || following.any(|c| SPEECH.contains(c))
}

/// Whether the sentence is only initials, such as "C.S." of "C.S. Lewis".
fn is_initials(sentence: &str) -> bool {
    sentence.len() <= 12
        && sentence.split_terminator('.').all(|initial| initial.chars().count() == 1 && initial.chars().all(char::is_uppercase))
}

/// The last token, from its first letter or digit on.
fn last_word(tail: &str) -> &str {
    last_token(tail).trim_start_matches(|c: char| !c.is_alphanumeric() && !"№§".contains(c))
}

/// The word without an elided article: "avv." of "l'avv."
fn elided(word: &str) -> &str {
    word.rsplit(['\'', '’']).next().unwrap_or(word)
}

/// Whether the first letter of the sentence is a capital one. Examines only the first `TAIL` characters.
fn is_capitalized(sentence: &str) -> bool {
    sentence.chars().take(TAIL).find(|c| c.is_alphabetic()).is_some_and(char::is_uppercase)
}

/// Whether a number in German is an ordinal: "der 2. | Weltkrieg", "am 31. | 12. | 2025", but not "die 5. | Danach".
fn is_ordinal(tail: &str, next: &str) -> bool {
    let mut words = tail.split_whitespace().rev();
    let is_number = |word: &str| {
        let digits = word.strip_suffix('.').unwrap_or_default();
        matches!(digits.len(), 1 | 2) && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !words.next().is_some_and(is_number) {
        return false;
    }
    let before = words.find(|word| !is_number(word)).unwrap_or_default().to_lowercase();
    let next_word = next.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    is_among(BEFORE_ORDINALS, &before) && !parameters_of(Language::German).is_sent_starter(&next_word)
}

#[cfg(test)]
mod tests {
    use super::super::any_script::sentences_in_any_script;
    use super::*;
    use crate::sentences::tests::check_cut;

    fn check(language: Language, sentences: &[&str]) {
        check_cut(|text| sentences_in_any_script(text, language), &sentences.join(" "), sentences);
    }

    #[test]
    fn common_abbreviations_end_no_sentence() {
        check(Language::English, &["Take fruit, e.g. Apples.", "Look at Fig. 3.", "It helps."]);
        check(Language::English, &["See Eq. 4 and p. 12.", "He likes a fig.", "Tom does not."]);
        check(Language::German, &["Wir brauchen Obst, z. B. Äpfel, d. h. viel.", "Frau Dr. Klein hat ca. 5 kg, s. S. 12."]);
        check(Language::German, &["Unser Verein e. V. sucht die sog. Helfer.", "Vgl. Kap. 4.", "Es gab Eis usw.", "Die Kinder kamen."]);
        check(Language::French, &["Le Dr. Petit voit la fig. 3 (chap. 4).", "C’est en 52 av. J.-C. que Rome gagna."]);
        check(Language::Spanish, &["La Sra. García leyó la pág. 12.", "El Excmo. Sr. Alcalde habló."]);
        check(Language::Italian, &["Il dott. Verdi e l'avv. Galli leggono cap. 4.", "Vedi fig. 3."]);
        check(Language::Portuguese, &["A Profa. Souza vê a tab. 4.", "O Gen. Castelo falou."]);
        check(Language::Dutch, &["Dhr. Jansen leest hfst. 4.", "Prof. Smit ook."]);
    }

    #[test]
    fn german_ordinal_does_not_end_sentence() {
        check(Language::German, &["Im 2. Stock wohnt der 1. Preis.", "An der 3. Haltestelle steigen 8 ein."]);
        check(
            Language::German,
            &["Der Vertrag endet am 31. 12. 2025.", "Eva ist 9.", "Wie alt ist Paul?", "Nimm die 5.", "Danach nichts."],
        );
    }

    #[test]
    fn lowercase_letter_continues_after_possible_abbreviation() {
        check(Language::German, &["Ludwig XIV. war König.", "Er brauchte max. drei Std. und 20 Min. bei Regen."]);
        check(Language::French, &["La S.N.C.F. annonce des retards, p. ex. des trains.", "« Viens-tu ? » demanda-t-elle.", "Oui."]);
        check(Language::Spanish, &["—¿Vienes? —preguntó él.", "Ella asintió."]);
        check(Language::Dutch, &["\"Ga je mee?\" vroeg hij.", "Ze knikte."]);
        check(Language::German, &["Ich habe viel Obst.", "wie viel esse ich?", "keine ahnung."]);
    }

    #[test]
    fn closing_quotation_starts_no_sentence() {
        check(Language::German, &["„Kommst du mit?“, fragte er.", "Sie nickte."]);
        check(Language::French, &["Quoi ?!", "C'est impossible."]);
    }
}

//! Where Punkt cuts a sentence that goes on: after a list marker, after abbreviations that it does not know, and, in languages other than
//! English, before a small letter and within dates.

use std::ops::Range;

use super::parameters_of;
use crate::explanation::Language;

/// What follows the end of a sentence and belongs to it.
pub const CLOSING: &str = "」』）】》〉〕］｝”’\"')]»";

/// Words with a period, in lower case, with spaces between them.
struct Abbreviations {
    /// They end no sentence. Those of a single letter are no capital ones: these are initials, of which Punkt judges.
    always: &'static str,
    /// They end none before a number.
    before_numbers: &'static str,
    /// They end none before a small letter.
    before_small_letters: &'static str,
}

/// Of English, and of all the others too.
const OF_ALL: Abbreviations = Abbreviations {
    always: "cf. e.g. i.e. vs.",
    before_numbers: "ch. eq. eqs. fig. figs. p. pp. ref. sec. vol.",
    before_small_letters: "",
};
const GERMAN: Abbreviations = Abbreviations {
    always: "bzw. ca. d. d.h. dipl.-ing. dr. e. evtl. fa. fam. geb. ggf. hl. hr. hrn. i. inkl. insb. prof. s. sog. st. u. v. vgl. z. z.b. \
             zzgl.",
    before_numbers: "abb. abs. anm. art. bd. gest. gr. kap. nr. s. tab. tel. ziff. zzt.",
    before_small_letters: "bes. dgl. max. min. zt.",
};
const FRENCH: Abbreviations = Abbreviations {
    always: "av. dr. mgr. mlle. mme. prof. st. ste. sté.",
    before_numbers: "art. chap. n. no. tabl. tél.",
    before_small_letters: "etc. ex. suiv.",
};
const SPANISH: Abbreviations = Abbreviations {
    always: "av. avda. dr. dra. dña. ee. excmo. prof. sr. sra. srta. sta. sto.",
    before_numbers: "art. cap. n. núm. pág. págs. tel.",
    before_small_letters: "ej. etc. mill. ud. uds. uu.",
};
const ITALIAN: Abbreviations = Abbreviations {
    always: "avv. dott. dott.ssa ing. mons. on. prof. sig. sig.ra",
    before_numbers: "art. cap. n. pag. pagg. tab. tel.",
    before_small_letters: "ecc. es. sec.",
};
const PORTUGUESE: Abbreviations = Abbreviations {
    always: "av. dr. dra. eng. gen. prof. profa. sr. sra. sta. sto. séc.",
    before_numbers: "art. cap. n. pág. págs. tab. tel.",
    before_small_letters: "etc. ex. exa. mi.",
};
const DUTCH: Abbreviations = Abbreviations {
    always: "b.v. bijv. dhr. dr. drs. fam. ing. ir. mevr. mr. mw. prof. st.",
    before_numbers: "afb. art. blz. hfst. nr. tel.",
    before_small_letters: "enz. etc.",
};

/// What Punkt's parameters of the language lack, or know and take for the end of a sentence before certain words ("Dr. Klein").
fn abbreviations_of(language: Language) -> Option<&'static Abbreviations> {
    match language {
        Language::English | Language::Chinese | Language::Japanese => None,
        Language::German => Some(&GERMAN),
        Language::French => Some(&FRENCH),
        Language::Spanish => Some(&SPANISH),
        Language::Italian => Some(&ITALIAN),
        Language::Portuguese => Some(&PORTUGUESE),
        Language::Dutch => Some(&DUTCH),
    }
}

/// After these a number with a period is an ordinal: "im 2. Stock".
const BEFORE_ORDINALS: &str = "ab am beim das dem den der des die diesem diesen dieser ein eine einem einen einer ihr im jede jeden \
                               jeder jedes mein sein seit vom zum zur";
/// Longer than two words that matter, in characters.
const TAIL: usize = 40;

/// Whether `next`, which Punkt or a terminal cut off, belongs to `sentence`, whose last part is `last`.
pub fn is_continued(text: &str, sentence: &Range<usize>, last: &Range<usize>, next: &Range<usize>, language: Language) -> bool {
    let between = &text[sentence.end..next.start];
    if between.contains('\n') {
        return false;
    }
    let is_marker = || sentence.start == last.start && is_list_marker(text[last.clone()].trim()) && starts_line(text, sentence.start);
    let tail = tail(&text[sentence.clone()]);
    let next = &text[next.clone()];
    let word = last_word(tail);
    if is_marker() || is_open(word, next, &OF_ALL) {
        return true;
    }
    let Some(abbreviations) = abbreviations_of(language) else { return false };
    is_open(elided(word), next, abbreviations)
        || is_capitalized(&text[sentence.start..]) && is_open_before_small_letter(tail, next, abbreviations)
        || between.is_empty() && next.starts_with(|c| CLOSING.contains(c) || matches!(c, '“' | '?' | '!'))
        || language == Language::German && is_ordinal(tail, next)
}

/// Whether `sentence` is nothing but the marker of list item `number`, and `next` on the same line is the item: "2. Stir.". After a
/// question a number is its answer.
pub fn is_item(text: &str, sentence: &Range<usize>, next: &Range<usize>, number: usize) -> bool {
    let label = text[sentence.clone()].trim().strip_suffix('.');
    let is_answer = || text[..sentence.start].trim_end().ends_with('?');
    let is_marker = label.is_some_and(|label| label.len() <= 3 && label.parse() == Ok(number));
    is_marker && !text[sentence.end..next.start].contains('\n') && !is_answer()
}

fn starts_line(text: &str, start: usize) -> bool {
    text[..start].chars().rev().take_while(|&c| c != '\n').all(char::is_whitespace)
}

/// "1.", "12)", "b.", "(c)".
fn is_list_marker(words: &str) -> bool {
    let inside = words.strip_prefix('(').unwrap_or(words);
    let Some(label) = inside.strip_suffix(['.', ')']) else { return false };
    let is_number = !label.is_empty() && label.len() <= 3 && label.bytes().all(|byte| byte.is_ascii_digit());
    is_number || (label.len() == 1 && label.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// The last characters: a look at whole words could cost the length of the text every time.
fn tail(text: &str) -> &str {
    let start = text.char_indices().rev().nth(TAIL - 1).map_or(0, |(at, _)| at);
    &text[start..]
}

/// Whether `word` is such an abbreviation.
fn is_open(word: &str, next: &str, abbreviations: &Abbreviations) -> bool {
    let lower = word.to_lowercase();
    let is_always = is_among(abbreviations.always, &lower) && (lower.len() > 2 || lower == word);
    is_always || is_among(abbreviations.before_numbers, &lower) && next.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether `tail` ends in what may be an abbreviation (`XIV.`, `U.S.A.`, `Mrd.`) or in a quotation, or a dash leads on, and a small letter
/// follows. Not after other words: many who write to a model leave out capital letters.
fn is_open_before_small_letter(tail: &str, next: &str, abbreviations: &Abbreviations) -> bool {
    let undashed = next.trim_start_matches(['—', '–', ' ']);
    let Some(word) = elided(last_word(tail)).strip_suffix('.').filter(|word| !word.is_empty()) else {
        let is_quotation = tail.ends_with(|c| CLOSING.contains(c) || c == '“') && !tail.ends_with([')', ']']);
        return undashed.starts_with(char::is_lowercase) && (is_quotation || undashed.len() < next.len());
    };
    let lower = word.to_lowercase();
    let is_known = is_among(abbreviations.before_small_letters, &format!("{lower}."));
    let is_roman = word.chars().all(|c| "IVXLC".contains(c));
    let is_unspeakable = lower.len() > 1 && lower.chars().all(|c| c.is_ascii_alphabetic() && !"aeiouy".contains(c));
    next.starts_with(char::is_lowercase) && (is_roman || is_unspeakable || is_known || word.contains('.'))
}

fn is_among(words: &str, word: &str) -> bool {
    words.split(' ').any(|other| other == word)
}

/// What follows the last white space, from its first letter or digit on.
fn last_word(tail: &str) -> &str {
    let word = tail.rsplit(char::is_whitespace).next().unwrap_or_default();
    word.trim_start_matches(|c: char| !c.is_alphanumeric())
}

/// "avv." of "l'avv."
fn elided(word: &str) -> &str {
    word.rsplit(['\'', '’']).next().unwrap_or(word)
}

/// Whether its first letter is a capital one.
fn is_capitalized(sentence: &str) -> bool {
    sentence.chars().take(TAIL).find(|c| c.is_alphabetic()).is_some_and(char::is_uppercase)
}

/// "der 2. | Weltkrieg", "am 31. | 12. | 2025", but not "die 5. | Danach".
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
    use crate::text::sentences::tests::check_cut;

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
    fn a_number_of_a_sequence_ends_no_german_sentence_before_its_noun() {
        check(Language::German, &["Im 2. Stock wohnt der 1. Preis.", "An der 3. Haltestelle steigen 8 ein."]);
        check(
            Language::German,
            &["Der Vertrag endet am 31. 12. 2025.", "Eva ist 9.", "Wie alt ist Paul?", "Nimm die 5.", "Danach nichts."],
        );
    }

    #[test]
    fn a_small_letter_goes_on_after_what_may_be_an_abbreviation() {
        check(Language::German, &["Ludwig XIV. war König.", "Er brauchte max. drei Std. und 20 Min. bei Regen."]);
        check(Language::French, &["La S.N.C.F. annonce des retards, p. ex. des trains.", "« Viens-tu ? » demanda-t-elle.", "Oui."]);
        check(Language::Spanish, &["—¿Vienes? —preguntó él.", "Ella asintió."]);
        check(Language::Dutch, &["\"Ga je mee?\" vroeg hij.", "Ze knikte."]);
        check(Language::German, &["Ich habe viel Obst.", "wie viel esse ich?", "keine ahnung."]);
    }

    #[test]
    fn what_closes_a_quotation_starts_no_sentence() {
        check(Language::German, &["„Kommst du mit?“, fragte er.", "Sie nickte."]);
        check(Language::French, &["Quoi ?!", "C'est impossible."]);
    }

    #[test]
    fn lists_are_sorted_and_of_words_with_a_period() {
        for Abbreviations { always, before_numbers, before_small_letters } in Language::ALL.into_iter().filter_map(abbreviations_of) {
            for list in [always, before_numbers, before_small_letters] {
                assert!(list.split(' ').is_sorted() && list.split(' ').all(|word| word.contains('.')), "{list}");
                assert_eq!(list.to_lowercase(), *list);
            }
        }
    }
}

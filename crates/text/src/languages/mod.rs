//! Detects the language of a text by its script or by its most frequent words.
//!
//! We do not use a crate because of its download size: `whatlang` 0.18 adds 66 kB after Brotli compression (it knows 70 languages), and
//! `whichlang` 0.1 adds 240 kB. Our 1,200 short words of six languages, English, and their neighbors are 2.5 kB. Among 376 prompts of two
//! lines in the six languages (`tests/golden/punkt/languages.jsonl`), whatlang reliably detects 241 and this module 347, both without an
//! error. A wrong language is worse than none here, so unclear texts count as English.

mod words;

use std::collections::{HashMap, HashSet};

use glasscage_core::explanation::Language;
use words::{FUNCTION_WORDS, WORDS_OF_OTHERS};

/// Letters and marks that only one of the languages has. Each counts like a function word, but at most `MAX_MARKS` times.
const MARKS: [(&str, Language); 6] = [
    ("ß", Language::German),
    ("¿", Language::Spanish),
    ("¡", Language::Spanish),
    ("ñ", Language::Spanish),
    ("ã", Language::Portuguese),
    ("õ", Language::Portuguese),
];
const MAX_MARKS: usize = 2;
/// Maximum length of a function word in bytes.
const LONGEST: usize = 16;

/// The language of `text`. English if the text is too short, or if its language is not one of those detected.
///
/// ```
/// use glasscage_core::explanation::Language;
/// use glasscage_text::languages::language_of;
///
/// assert_eq!(language_of("Tom hat 5 Äpfel. Er isst 2. Wie viele hat er noch?"), Language::German);
/// assert_eq!(language_of("汤姆有五个苹果。"), Language::Chinese);
/// assert_eq!(language_of("Kindergarten"), Language::English);
/// ```
pub fn language_of(text: &str) -> Language {
    by_script(text).unwrap_or_else(|| by_words(text))
}

pub fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' | '々' | '〇')
}

/// Whether `c` is Hiragana or Katakana.
pub fn is_kana(c: char) -> bool {
    let is_full_width = matches!(c, '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}');
    is_full_width || matches!(c, '\u{ff66}'..='\u{ff9f}')
}

/// Chinese or Japanese if at least one letter in five is a Chinese character or kana. The threshold is low, because English needs several
/// letters where they need one. Japanese if at least one of these characters in ten is kana.
fn by_script(text: &str) -> Option<Language> {
    let (mut han, mut kana, mut others) = (0, 0, 0);
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        *(if is_kana(c) {
            &mut kana
        } else if is_han(c) {
            &mut han
        } else {
            &mut others
        }) += 1;
    }
    let is_cjk = han + kana > 0 && 4 * (han + kana) >= others;
    is_cjk.then_some(if 10 * kana >= han + kana { Language::Japanese } else { Language::Chinese })
}

/// Maps each function word to the indices of its languages.
type Index = HashMap<&'static str, Vec<usize>>;

/// Evidence for one language.
#[derive(Clone, Default)]
struct Evidence {
    /// Score of its function words. A word counts twice if no other language of [`FUNCTION_WORDS`] has it.
    score: usize,
    n_words: usize,
    different: HashSet<&'static str>,
}

/// The language with the highest score, if it is well ahead and its function words are at least one word in six, with at least three
/// different ones. Otherwise English.
fn by_words(text: &str) -> Language {
    let evidence = evidence_in(text);
    let n_with_function_words = FUNCTION_WORDS.len();
    let best = (0..n_with_function_words).max_by_key(|&language| evidence[language].score).unwrap_or(0);
    let second = (0..evidence.len()).filter(|&other| other != best).map(|other| evidence[other].score).max().unwrap_or(0);
    let Evidence { score, n_words, different } = &evidence[best];
    let is_ahead = *score >= 5 && *score >= second + 3 && 4 * score >= 5 * second;
    let is_clear = is_ahead && different.len() >= 3 && 6 * n_words >= words_of(text).count();
    if is_clear { FUNCTION_WORDS[best].0 } else { Language::English }
}

/// Evidence for each word list, in order.
fn evidence_in(text: &str) -> Vec<Evidence> {
    let index = index();
    let mut evidence = vec![Evidence::default(); FUNCTION_WORDS.len() + WORDS_OF_OTHERS.len()];
    for (word, languages) in words_of(text).filter_map(|word| look_up(&index, word)) {
        let n_with_function_words = languages.iter().filter(|&&language| language < FUNCTION_WORDS.len()).count();
        for &language in languages {
            let Evidence { score, n_words, different } = &mut evidence[language];
            *score += if n_with_function_words <= 1 { 2 } else { 1 };
            *n_words += 1;
            different.insert(word);
        }
    }
    for (mark, language) in MARKS {
        let count = text.matches(mark).take(MAX_MARKS).count();
        let of = FUNCTION_WORDS.iter().position(|&(other, _)| other == language);
        let Evidence { score, different, .. } = &mut evidence[of.expect("a mark is of a language with words")];
        *score += 2 * count;
        different.extend((count > 0).then_some(mark));
    }
    evidence
}

/// The languages of each function word, by index. [`FUNCTION_WORDS`] come first.
fn index() -> Index {
    let mut index = Index::new();
    let lists = FUNCTION_WORDS.iter().map(|(_, words)| words).chain(&WORDS_OF_OTHERS);
    for (language, words) in lists.enumerate() {
        words.split(' ').for_each(|word| index.entry(word).or_default().push(language));
    }
    index
}

/// Runs of letters. An apostrophe belongs to the word before it: "l'" "amico".
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|c: char| !c.is_alphabetic() && !is_apostrophe(c));
    runs.flat_map(|run| run.split_inclusive(is_apostrophe)).filter(|word| word.chars().any(char::is_alphabetic))
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

/// The word as in the lists, and the languages in which it is a function word. `None` if no list has it.
fn look_up<'a>(index: &'a Index, word: &str) -> Option<(&'static str, &'a [usize])> {
    if word.len() > LONGEST {
        return None;
    }
    let lower = word.to_lowercase().replace('’', "'");
    let found = index.get_key_value(&*lower).or_else(|| index.get_key_value(lower.trim_end_matches('\'')));
    found.map(|(&word, languages)| (word, &languages[..]))
}

/// Whether `c` is a Chinese or Japanese character.
pub fn is_ideograph(c: char) -> bool {
    is_han(c) || is_kana(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(language: Language, texts: &[&str]) {
        for text in texts {
            assert_eq!(language_of(text), language, "{text}");
        }
    }

    #[test]
    fn a_question_or_two_tell_their_language() {
        check(Language::German, &["Wer hat die Tür offen gelassen?", "was ist die hauptstadt von österreich"]);
        check(Language::French, &["C’est quoi la capitale du Portugal ?", "Paul a 5 pommes. Il en mange 2. Combien lui en reste-t-il ?"]);
        check(Language::Spanish, &["¿Quién pintó Las Meninas?", "Ana tiene 5 manzanas. Se come 2. ¿Cuántas le quedan?"]);
        check(Language::Italian, &["Anna ha 5 mele. Ne mangia 2. Quante mele le restano alla fine della giornata?"]);
        check(Language::Portuguese, &["A Ana tem 5 maçãs. Ela come 2. Com quantas maçãs ela fica?"]);
        check(Language::Dutch, &["Tom heeft 5 appels. Hij eet er 2 op. Hoeveel appels heeft hij nog?"]);
    }

    #[test]
    fn chinese_and_japanese_are_told_by_their_script() {
        check(Language::Chinese, &["还剩几个？", "请解释 machine learning 和 deep learning 的区别。"]);
        check(Language::Japanese, &["りんごは何個残っていますか。", "東京タワーの高さは？"]);
        check(Language::English, &["Translate 你好 into English.", "사과가 몇 개 남았나요?", "Сколько яблок осталось?"]);
    }

    #[test]
    fn short_or_ambiguous_text_counts_as_english() {
        check(Language::English, &["", "!?", "42", "Hallo", "Der Spiegel", "Merci, Madame.", "fn main() { let de = la; }"]);
        check(Language::English, &["How do you say \"Ich habe keine Zeit\" in French, and what does it mean?"]);
        check(Language::English, &["How much is 16 plus 16 plus 16 plus 16?", "e.g. a la carte, et al., de facto, per se"]);
    }

    #[test]
    fn neighbors_of_the_six_languages_are_none_of_them() {
        let danish = "Hvor mange æbler har han så? Der er tre på bordet, og de er røde.";
        let swedish = "Hur många äpplen har han kvar? De ligger på bordet, och en av dem är röd.";
        let catalan = "Quantes pomes té ara? Els nens són a la plaça amb els seus pares i no han menjat.";
        let romanian = "Câte mere are acum? Copiii sunt în parc cu părinții lor și nu au mâncat.";
        let polish = "Ile jabłek ma teraz? Dzieci są w parku z rodzicami i nie jadły.";
        let latin = "Gallia est omnis divisa in partes tres, quarum unam incolunt Belgae.";
        check(Language::English, &[danish, swedish, catalan, romanian, polish, latin]);
    }

    #[test]
    fn no_function_word_is_longer_than_what_is_looked_up() {
        for words in FUNCTION_WORDS.iter().map(|(_, words)| words).chain(&WORDS_OF_OTHERS) {
            assert!(words.split(' ').all(|word| !word.is_empty() && word.len() <= LONGEST && word.to_lowercase() == word), "{words}");
            assert!(words.split(' ').is_sorted_by(|a, b| a < b), "{words}");
        }
    }
}

//! Labels of list items, headings and captions: "1.", "b)", "(iv)", "A.1.", "[2]", "Step 3.", "Fig. 2.". Their periods do not end
//! sentences.

use super::abbreviations::is_among;
use super::cost::count_read;
use super::ends::tail;

/// Words before the number of a label: "Step 1. Stir.".
const WORDS: &str = "abb abbildung abschnitt act allegato anexo anhang annexe appendix art article articolo artigo artikel artículo \
                     aufgabe beispiel bijlage capitolo capítulo chapitre chapter claim corollary dag day deel definition dia \
                     domanda día ejemplo ejercicio esempio esercizio etapa example exemple exemplo exercice exercise exercício \
                     exhibit fase fig figur figura figure figuur frage giorno hoofdstuk item jour kapitel lección lektion lemma les \
                     lesson lezione leçon lição no note nr oefening opción option opção paragraph part parte partie paso passaggio \
                     passo pergunta phase point pregunta problem proposition punkt punt punto q question questão regel regla regola \
                     regra remark rule règle scene schritt sección sectie section sezione seção stage stap step tab tabel tabela \
                     tabella tabelle tabla table tableau tag task teil test theorem tip unit vol volume voorbeeld vraag week § \
                     étape übung вопрос глава задача пример часть шаг №";
/// Words before a number that counts things, and is therefore not a label: "1. Tom has 2. Ann has 3."
const BEFORE_COUNTS: &str = "a about and another are at by cost costs e eat eats en et for from gave get gets give gives had has have \
                             in is just left lost need needs o oder of on only or ou plus sold take takes than the times to total u \
                             und was were with y";
const ROMANS: &str = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx";
/// Marks that belong to the text after them if they start a line.
const NOTES: [&str; 4] = ["P.S. ", "PS. ", "N.B. ", "NB. "];
/// Bullets of list items.
const BULLETS: &str = "-*+•‣◦▪●·–—";
pub const EMPHASIS: &str = "*_~";
/// Number of bytes in which to look for the second item of a list.
const AHEAD: usize = 400;

/// A label at the start of a text, without the white space after it.
pub struct Label<'a> {
    /// Number of the label: "1" of "(1)", "A.2" of "A.2.", "3" of "Step 3.".
    core: &'a str,
    has_word: bool,
    pub length: usize,
}

/// The labels that may come next within a line.
#[derive(Default)]
pub struct Sequence {
    expected: [String; 2],
}

impl Sequence {
    pub fn push(&mut self, label: &Label<'_>) {
        self.expected.rotate_left(1);
        self.expected[1] = next_core(label.core).unwrap_or_default();
    }

    /// The label at the start of `rest`, which starts a sentence, if it continues the list of its line or starts a list. After a question,
    /// a number may be the answer. After a colon, it may be part of the sentence. In both cases, only a second item shows that it is a
    /// list.
    pub fn label<'a>(&self, rest: &'a str, is_after_sentence: bool) -> Option<Label<'a>> {
        let label = label(rest)?;
        let begins_list = || match label.core {
            "1" => is_after_sentence || has_second(rest, &label),
            "a" | "A" | "i" | "I" => has_second(rest, &label),
            _ => false,
        };
        let is_next = self.expected.iter().any(|expected| expected == label.core) || label.has_word || begins_list();
        (is_next && rest[label.length..].contains(char::is_alphanumeric)).then_some(label)
    }

    /// The next label in a list whose items are words: "1. Paris 2. London". `before` is the text of the line before it.
    pub fn label_after_words<'a>(&self, rest: &'a str, before: &str) -> Option<Label<'a>> {
        let is_expected = |expected: &String| !expected.is_empty() && rest.trim_start_matches(['(', '[', '（']).starts_with(&**expected);
        let label = (before.ends_with(' ') && self.expected.iter().any(is_expected)).then(|| label(rest))??;
        let is_next = !label.has_word && self.expected.iter().any(|expected| expected == label.core);
        let word = tail(before).strip_suffix(' ')?.rsplit(char::is_whitespace).next()?;
        let is_item = word.ends_with(char::is_alphanumeric) && !is_among(BEFORE_COUNTS, &word.to_lowercase());
        (is_next && is_item && rest[label.length..].contains(char::is_alphanumeric)).then_some(label)
    }
}

/// Length of the marks at the start of a line: quotation, heading, bullets, labels. A label without text after it counts as text.
pub fn prefix(line: &str, sequence: &mut Sequence) -> usize {
    let mut at = 0;
    loop {
        at += line[at..].len() - line[at..].trim_start().len();
        let rest = &line[at..];
        if let Some(length) = block_mark(rest) {
            at += length;
            continue;
        }
        let unmarked = without_tag(rest).trim_start_matches(|c| EMPHASIS.contains(c));
        let Some(label) = label(unmarked) else { return at };
        let end = line.len() - unmarked.len() + label.length;
        if !line[end..].contains(char::is_alphanumeric) {
            return at;
        }
        sequence.push(&label);
        at = end;
    }
}

/// The text after a tag of emphasis: `<b>1.</b> Stir.`
fn without_tag(text: &str) -> &str {
    let tags = ["<b>", "</b>", "<strong>", "</strong>", "<em>", "</em>", "<i>", "</i>", "<li>", "<p>"];
    tags.iter().find_map(|tag| text.strip_prefix(tag)).unwrap_or(text)
}

/// Length of a mark such as ">", "##", "-" or "[x]".
fn block_mark(rest: &str) -> Option<usize> {
    let first = rest.chars().next()?;
    let length = match first {
        '>' => return Some(1),
        '#' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => return Some(1),
        '#' => rest.len() - rest.trim_start_matches('#').len(),
        '[' if ["[ ]", "[x]", "[X]"].iter().any(|mark| rest.starts_with(mark)) => 3,
        _ if BULLETS.contains(first) => first.len_utf8(),
        _ => NOTES.iter().find(|note| rest.starts_with(**note))?.len() - 1,
    };
    rest[length..].starts_with(char::is_whitespace).then_some(length)
}

fn label(rest: &str) -> Option<Label<'_>> {
    let inside = rest.trim_start_matches(['(', '[', '（']);
    let after_word = inside.split_once(' ').filter(|(word, _)| is_word(word)).map(|(_, numbered)| numbered);
    after_word.and_then(|numbered| numbered_label(rest, inside, numbered, true)).or_else(|| numbered_label(rest, inside, inside, false))
}

/// The label of `rest`. `numbered` starts with the number of the label, and `inside` is `rest` without an opening bracket.
fn numbered_label<'a>(rest: &'a str, inside: &str, numbered: &'a str, has_word: bool) -> Option<Label<'a>> {
    let dotted = numbered.find(|c: char| !c.is_alphanumeric() && c != '.').map_or(numbered, |end| &numbered[..end]);
    let core = dotted.trim_end_matches('.');
    let after = &numbered[core.len()..];
    let end = match &rest[..rest.len() - inside.len()] {
        "" => [".)", ").", "\\.", ".", ")", "、", "．"].into_iter().find(|end| after.starts_with(*end))?,
        "(" => [").", ".)", ")"].into_iter().find(|end| after.starts_with(*end))?,
        "[" => after.starts_with(']').then_some("]")?,
        "（" => after.starts_with('）').then_some("）")?,
        _ => return None,
    };
    let behind = without_tag(after[end.len()..].trim_start_matches(|c| EMPHASIS.contains(c)));
    let is_apart = !end.is_ascii() || behind.starts_with(char::is_whitespace) || behind.is_empty();
    // "No. a) Yes" is an answer, not a label.
    let fits = is_core(core) && !(has_word && core.starts_with(char::is_lowercase));
    (is_apart && fits).then_some(Label { core, has_word, length: rest.len() - after.len() + end.len() })
}

pub fn is_word(word: &str) -> bool {
    word.len() <= 24 && WORDS.split(' ').any(|other| other == word.trim_end_matches('.').to_lowercase())
}

/// Whether the text consists of numbers, letters and Roman numerals. Periods between them are allowed if there is a number.
fn is_core(core: &str) -> bool {
    core.len() <= 12 && core.split('.').all(is_core_part) && (!core.contains('.') || core.contains(|c: char| c.is_ascii_digit()))
}

/// Whether a part of a label is valid: "12", "b", "iv", "Q1", "2a".
fn is_core_part(part: &str) -> bool {
    let digits = part.trim_matches(char::is_alphabetic);
    let letters = part.chars().filter(|c| c.is_alphabetic()).count();
    let n_digits = digits.chars().count();
    let is_number = n_digits <= 3 && digits.chars().all(char::is_numeric);
    is_number && (letters <= 1 && letters + n_digits > 0 || n_digits == 0 && roman(part).is_some())
}

fn roman(part: &str) -> Option<usize> {
    let is_one_case = part.chars().all(char::is_lowercase) || part.chars().all(char::is_uppercase);
    is_one_case.then(|| ROMANS.split(' ').position(|roman| roman == part.to_lowercase()))?
}

/// The label number that comes next: "3" after "2", "c" after "b", "1.3" after "1.2", "II" after "I", and "A" (answer) after "Q".
fn next_core(core: &str) -> Option<String> {
    let start = core.rfind('.').map_or(0, |period| period + 1);
    let (before, last) = core.split_at(start);
    let next = if let Ok(number) = last.parse::<u32>() {
        (number + 1).to_string()
    } else if let Some(roman) = roman(last).filter(|_| last.len() > 1 || last.eq_ignore_ascii_case("i")) {
        let next = ROMANS.split(' ').nth(roman + 1)?;
        if last.starts_with(char::is_uppercase) { next.to_uppercase() } else { next.to_owned() }
    } else if last == "Q" {
        "A".to_owned()
    } else {
        let letter = last.chars().next().filter(|letter| letter.len_utf8() == last.len())?;
        char::from_u32(letter as u32 + 1)?.to_string()
    };
    Some(format!("{before}{next}"))
}

/// Whether the next label starts a sentence within `AHEAD` bytes, or the next two labels follow words.
fn has_second(rest: &str, label: &Label<'_>) -> bool {
    let ahead = &rest.as_bytes()[..rest.len().min(AHEAD)];
    count_read(ahead.len());
    let with_core = |core: &str| format!(" {}", rest[..label.length].replacen(label.core, core, 1));
    let place = |core: &str, before: &dyn Fn(u8) -> bool| {
        let next = with_core(core);
        (1..ahead.len()).find(|&at| ahead[at..].starts_with(next.as_bytes()) && before(ahead[at - 1]))
    };
    let Some(second) = next_core(label.core) else { return false };
    let ends_sentence = |byte: u8| !byte.is_ascii() || b".?!)]\"'*_".contains(&byte);
    let follows_word = |byte: u8| byte.is_ascii_alphanumeric();
    let is_third_after = |at: usize| next_core(&second).and_then(|third| place(&third, &follows_word)).is_some_and(|third| third > at);
    place(&second, &ends_sentence).is_some() || place(&second, &follows_word).is_some_and(is_third_after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_in_lower_case_and_each_is_found() {
        assert!(WORDS.split(' ').all(|word| word.to_lowercase() == word && is_word(word)));
    }

    #[test]
    fn labels_have_many_forms() {
        let labels = [
            "1.",
            "12)",
            "b.",
            "(c)",
            "A.",
            "1.1.",
            "1.2.3.",
            "II.",
            "iv)",
            "(iv).",
            "1.)",
            "[2]",
            "Step 1.",
            "Schritt 2:",
            "Q1.",
            "2a.",
            "A.1.",
            "Fig. 2.",
            "Part II.",
            "Étape 3.",
            "1、",
            "（3）",
            "Шаг 1.",
            "**",
        ];
        let lengths = labels.map(|text| label(&format!("{text} Text")).map_or(0, |label| label.length));
        let expect = labels.map(|text| if matches!(text, "**" | "Schritt 2:") { 0 } else { text.len() });
        assert_eq!(lengths, expect);
        for text in ["e.g. this", "Mix. Then", "2024. Then", "U.S. law", "3.5 figs", "1.5", "(see) it", "No. He", "Tom 5. He"] {
            assert!(label(text).is_none(), "{text}");
        }
    }

    #[test]
    fn labels_count_up() {
        let cores = ["1", "9", "b", "B", "ii", "I", "1.2", "A.1", "Q", "12a"].map(next_core);
        let expect = [Some("2"), Some("10"), Some("c"), Some("C"), Some("iii"), Some("II"), Some("1.3"), Some("A.2"), Some("A"), None];
        assert_eq!(cores, expect.map(|next| next.map(str::to_owned)));
    }
}

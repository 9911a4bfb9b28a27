//! Punkt's learned parameters for a language: NLTK's `PunktParameters`, from a folder such as `parameters/english`. Origin, license and
//! format are in `parameters/README.md`.

use glasscage_core::explanation::Language;

/// Parameters of one language. Lists have one entry per line, sorted by bytes.
pub struct Parameters {
    abbrev_types: &'static str,
    collocations: &'static str,
    sent_starters: &'static str,
    /// Words, grouped by the orthographic contexts in which they occurred, as far as these can change a decision.
    ortho_context: [(u8, &'static str); 3],
}

macro_rules! parameters {
    ($folder:literal) => {
        Parameters {
            abbrev_types: include_str!(concat!("parameters/", $folder, "/abbrev_types.txt")),
            collocations: include_str!(concat!("parameters/", $folder, "/collocations.tab")),
            sent_starters: include_str!(concat!("parameters/", $folder, "/sent_starters.txt")),
            ortho_context: [
                (MID_LC, include_str!(concat!("parameters/", $folder, "/ortho_mid_lc.txt"))),
                (MID_LC | MID_UC, include_str!(concat!("parameters/", $folder, "/ortho_mid_lc_mid_uc.txt"))),
                (BEG_LC, include_str!(concat!("parameters/", $folder, "/ortho_beg_lc.txt"))),
            ],
        }
    };
}

pub const ENGLISH: Parameters = parameters!("english");
const GERMAN: Parameters = parameters!("german");
const FRENCH: Parameters = parameters!("french");
const SPANISH: Parameters = parameters!("spanish");
const ITALIAN: Parameters = parameters!("italian");
const PORTUGUESE: Parameters = parameters!("portuguese");
const DUTCH: Parameters = parameters!("dutch");

/// The parameters for texts in this language. Chinese and Japanese have none, so their text with "." is judged as in English.
pub fn parameters_of(language: Language) -> &'static Parameters {
    match language {
        Language::English | Language::Chinese | Language::Japanese => &ENGLISH,
        Language::German => &GERMAN,
        Language::French => &FRENCH,
        Language::Spanish => &SPANISH,
        Language::Italian => &ITALIAN,
        Language::Portuguese => &PORTUGUESE,
        Language::Dutch => &DUTCH,
    }
}

// Orthographic contexts: position in a sentence (beginning, middle, unknown) and case (upper, lower).
const BEG_UC: u8 = 1 << 1;
pub const MID_UC: u8 = 1 << 2;
const UNK_UC: u8 = 1 << 3;
pub const BEG_LC: u8 = 1 << 4;
const MID_LC: u8 = 1 << 5;
const UNK_LC: u8 = 1 << 6;
pub const UC: u8 = BEG_UC | MID_UC | UNK_UC;
pub const LC: u8 = BEG_LC | MID_LC | UNK_LC;

impl Parameters {
    pub fn is_abbrev_type(&self, typ: &str) -> bool {
        contains_line(self.abbrev_types, typ)
    }

    pub fn is_collocation(&self, typ: &str, next_typ: &str) -> bool {
        self.collocations.lines().any(|line| line.split_once('\t') == Some((typ, next_typ)))
    }

    pub fn is_sent_starter(&self, typ: &str) -> bool {
        contains_line(self.sent_starters, typ)
    }

    /// The contexts in which the word occurred, as far as these can change a decision. 0 if it is unknown.
    pub fn ortho_context(&self, typ: &str) -> u8 {
        self.ortho_context.iter().find(|(_, words)| contains_line(words, typ)).map_or(0, |&(flags, _)| flags)
    }
}

/// Binary search in lines sorted by their bytes.
fn contains_line(sorted: &str, line: &str) -> bool {
    let (sorted, line) = (sorted.as_bytes(), line.as_bytes());
    let (mut low, mut high) = (0, sorted.len()); // both at the start of a line
    while low < high {
        let middle = low.midpoint(high);
        let start = sorted[..middle].iter().rposition(|&b| b == b'\n').map_or(0, |newline| newline + 1);
        let length = sorted[start..].iter().position(|&b| b == b'\n').unwrap_or(sorted.len() - start);
        match sorted[start..start + length].cmp(line) {
            std::cmp::Ordering::Less => low = start + length + 1,
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ortho_context(word: &str) -> u8 {
        ENGLISH.ortho_context(word)
    }

    #[test]
    fn every_line_is_found_and_its_neighbors_are_not() {
        for parameters in Language::ALL.map(parameters_of) {
            let ortho_context = parameters.ortho_context.map(|(_, words)| words);
            for sorted in [parameters.abbrev_types, parameters.sent_starters].into_iter().chain(ortho_context) {
                assert!(!sorted.contains('\r') && sorted.lines().is_sorted());
                for line in sorted.lines() {
                    assert!(contains_line(sorted, line), "{line:?}");
                    assert!(!contains_line(sorted, &format!("{line}\u{1}")) && !contains_line(sorted, &format!("{line}\n")));
                }
                assert!(!contains_line(sorted, "") && !contains_line(sorted, "\u{1}") && !contains_line(sorted, "~"));
            }
        }
    }

    #[test]
    fn the_counts_are_those_of_the_punkt_crate() {
        let count = |sorted: &str| sorted.lines().count();
        let counts = |language| {
            let parameters = parameters_of(language);
            [parameters.abbrev_types, parameters.collocations, parameters.sent_starters].map(count)
        };
        assert_eq!(counts(Language::English), [156, 37, 39]);
        assert_eq!(counts(Language::German), [71, 28, 107]);
        assert_eq!(counts(Language::French), [61, 18, 48]);
        assert_eq!(counts(Language::Spanish), [66, 7, 46]);
        assert_eq!(counts(Language::Italian), [125, 6, 40]);
        assert_eq!(counts(Language::Portuguese), [72, 5, 40]);
        assert_eq!(counts(Language::Dutch), [99, 37, 54]);
        assert_eq!(ENGLISH.ortho_context.map(|(_, words)| count(words)), [12_344, 2_354, 4]);
        let is_known = ENGLISH.is_abbrev_type(". . ") && ENGLISH.is_sent_starter("however");
        assert!(is_known && ENGLISH.is_collocation("##number##", "pay-fone"));
    }

    /// Checks the proof in `parameters/README.md` with all words that NLTK knows.
    #[test]
    fn reduced_orthographic_contexts_keep_all_decisions() {
        let all = include_str!("../../../../tests/golden/punkt/ortho_context.tab");
        let decisions = |flags: u8| (flags & LC != 0 && flags & MID_UC == 0, flags & LC == 0, flags & UC != 0 || flags & BEG_LC == 0);
        let mut words = 0;
        for (word, flags) in all.lines().filter_map(|line| line.rsplit_once('\t')) {
            assert_eq!(decisions(ortho_context(word)), decisions(flags.parse().unwrap()), "{word}");
            words += 1;
        }
        assert_eq!(words, 20_366);
    }
}

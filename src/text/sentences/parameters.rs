//! What Punkt learned of a language: NLTK's `PunktParameters`, read from a folder such as `english/`. Origin, license and form are in
//! its README.

/// One language. Lists have an entry a line, sorted by bytes.
pub struct Parameters {
    abbrev_types: &'static str,
    collocations: &'static str,
    sent_starters: &'static str,
    /// Words by the orthographic contexts they were seen in, as far as these matter.
    ortho_context: [(u8, &'static str); 3],
}

macro_rules! parameters {
    ($folder:literal) => {
        Parameters {
            abbrev_types: include_str!(concat!($folder, "/abbrev_types.txt")),
            collocations: include_str!(concat!($folder, "/collocations.tab")),
            sent_starters: include_str!(concat!($folder, "/sent_starters.txt")),
            ortho_context: [
                (MID_LC, include_str!(concat!($folder, "/ortho_mid_lc.txt"))),
                (MID_LC | MID_UC, include_str!(concat!($folder, "/ortho_mid_lc_mid_uc.txt"))),
                (BEG_LC, include_str!(concat!($folder, "/ortho_beg_lc.txt"))),
            ],
        }
    };
}

pub const ENGLISH: Parameters = parameters!("english");

// Orthographic contexts: beginning, middle or unknown place of a sentence; upper or lower case.
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

    /// The contexts in which the word was seen, as far as they matter; 0 for one never seen.
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
        for sorted in [ENGLISH.abbrev_types, ENGLISH.sent_starters].into_iter().chain(ENGLISH.ortho_context.map(|(_, words)| words)) {
            assert!(!sorted.contains('\r') && sorted.lines().is_sorted());
            for line in sorted.lines() {
                assert!(contains_line(sorted, line), "{line:?}");
                assert!(!contains_line(sorted, &format!("{line}\u{1}")) && !contains_line(sorted, &format!("{line}\n")));
            }
            assert!(!contains_line(sorted, "") && !contains_line(sorted, "\u{1}") && !contains_line(sorted, "~"));
        }
    }

    #[test]
    fn the_counts_are_those_of_the_punkt_crate() {
        let count = |sorted: &str| sorted.lines().count();
        assert_eq!((count(ENGLISH.abbrev_types), count(ENGLISH.collocations), count(ENGLISH.sent_starters)), (156, 37, 39));
        assert_eq!(ENGLISH.ortho_context.map(|(_, words)| count(words)), [12_344, 2_354, 4]);
        let is_known = ENGLISH.is_abbrev_type(". . ") && ENGLISH.is_sent_starter("however");
        assert!(is_known && ENGLISH.is_collocation("##number##", "pay-fone"));
    }

    /// The proof of `english/README.md`, tried on all the words that NLTK knows.
    #[test]
    fn what_is_left_of_the_orthographic_contexts_decides_as_all_of_them() {
        let all = include_str!("../../../tests/golden/punkt/ortho_context.tab");
        let decisions = |flags: u8| (flags & LC != 0 && flags & MID_UC == 0, flags & LC == 0, flags & UC != 0 || flags & BEG_LC == 0);
        let mut words = 0;
        for (word, flags) in all.lines().filter_map(|line| line.rsplit_once('\t')) {
            assert_eq!(decisions(ortho_context(word)), decisions(flags.parse().unwrap()), "{word}");
            words += 1;
        }
        assert_eq!(words, 20_366);
    }
}

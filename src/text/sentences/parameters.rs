//! What Punkt learned of English: NLTK's `PunktParameters`, read from `english/` (origin, licence and form: `english/README.md`).

const ABBREV_TYPES: &str = include_str!("english/abbrev_types.txt");
const COLLOCATIONS: &str = include_str!("english/collocations.tab");
const SENT_STARTERS: &str = include_str!("english/sent_starters.txt");
const ORTHO_CONTEXT: [(u8, &str); 3] = [
    (MID_LC, include_str!("english/ortho_mid_lc.txt")),
    (MID_LC | MID_UC, include_str!("english/ortho_mid_lc_mid_uc.txt")),
    (BEG_LC, include_str!("english/ortho_beg_lc.txt")),
];

// Orthographic contexts: beginning, middle or unknown place of a sentence; upper or lower case.
const BEG_UC: u8 = 1 << 1;
pub const MID_UC: u8 = 1 << 2;
const UNK_UC: u8 = 1 << 3;
pub const BEG_LC: u8 = 1 << 4;
const MID_LC: u8 = 1 << 5;
const UNK_LC: u8 = 1 << 6;
pub const UC: u8 = BEG_UC | MID_UC | UNK_UC;
pub const LC: u8 = BEG_LC | MID_LC | UNK_LC;

pub fn is_abbrev_type(typ: &str) -> bool {
    contains_line(ABBREV_TYPES, typ)
}

pub fn is_collocation(typ: &str, next_typ: &str) -> bool {
    COLLOCATIONS.lines().any(|line| line.split_once('\t') == Some((typ, next_typ)))
}

pub fn is_sent_starter(typ: &str) -> bool {
    contains_line(SENT_STARTERS, typ)
}

/// The contexts in which the word was seen, as far as they matter; 0 for one never seen.
pub fn ortho_context(typ: &str) -> u8 {
    ORTHO_CONTEXT.iter().find(|(_, words)| contains_line(words, typ)).map_or(0, |&(flags, _)| flags)
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

    #[test]
    fn every_line_is_found_and_its_neighbours_are_not() {
        for sorted in [ABBREV_TYPES, SENT_STARTERS].into_iter().chain(ORTHO_CONTEXT.map(|(_, words)| words)) {
            assert!(sorted.is_ascii() && !sorted.contains('\r') && sorted.lines().is_sorted());
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
        assert_eq!((count(ABBREV_TYPES), count(COLLOCATIONS), count(SENT_STARTERS)), (156, 37, 39));
        assert_eq!(ORTHO_CONTEXT.map(|(_, words)| count(words)), [12_344, 2_354, 4]);
        assert!(is_abbrev_type(". . ") && is_collocation("##number##", "pay-fone") && is_sent_starter("however"));
    }

    /// The proof of `english/README.md`, tried on all the words NLTK knows, where they are at hand.
    #[test]
    fn what_is_left_of_the_orthographic_contexts_decides_as_all_of_them() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/sentences/punkt_tab/english/ortho_context.tab");
        let Ok(all) = std::fs::read_to_string(path) else {
            return println!("skipped: no {path}");
        };
        let decisions = |flags: u8| (flags & LC != 0 && flags & MID_UC == 0, flags & LC == 0, flags & UC != 0 || flags & BEG_LC == 0);
        let mut words = 0;
        for (word, flags) in all.lines().filter_map(|line| line.rsplit_once('\t')) {
            assert_eq!(decisions(ortho_context(word)), decisions(flags.parse().unwrap()), "{word}");
            words += 1;
        }
        assert_eq!(words, 20_366);
    }
}

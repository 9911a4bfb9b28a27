//! Abbreviations that Punkt does not know, or treats as the end of a sentence.

use glasscage_core::explanation::Language;

/// Lowercase words with a period, separated by spaces.
pub struct Abbreviations {
    /// Never end a sentence. Single letters must be lowercase, because Punkt decides about capital ones, which are initials.
    pub always: &'static str,
    /// Do not end a sentence before the number of a thing: "5", "(4)", "A", "IV".
    pub before_numbers: &'static str,
    /// Do not end a sentence before a lowercase letter.
    pub before_small_letters: &'static str,
    /// Abbreviations that are also words of the language: "figs. 2 are green", "eine neue Art. 5 Tiere", "mon prof. Il rit".
    pub also_words: &'static str,
}

/// English abbreviations that are used in all languages.
pub const OF_ALL: Abbreviations = Abbreviations {
    always: "cf. e.g. i.e. vs.",
    before_numbers: "alg. app. appx. art. ch. chap. chs. cor. def. eq. eqn. eqns. eqs. ex. fig. figs. lem. no. nos. n°. nº. p. para. \
                     pp. prop. ref. refs. sec. secs. sect. tab. thm. vol. vols. § №",
    before_small_letters: "etc.",
    also_words: "",
};
/// Abbreviations of English, and for texts in unknown languages.
const ENGLISH: Abbreviations = Abbreviations {
    always: "dr. messrs. mr. mrs. ms. mt. prof.",
    before_numbers: "",
    before_small_letters: "approx. dept. esp. est. excl. hr. hrs. incl. max. min. misc. sec. temp.",
    also_words: "app. art. chap. dr. ex. fig. figs. kap. no. nos. para. prof. prop. ref. refs. sec. secs. sect. tab.",
};
/// Abbreviations in Punkt's parameters that are also lowercase words: "He feels ill. Tom helps."
pub const WORDS_OF_PUNKT: [&str; 5] = [" ill.", " ok.", " ore.", " wash.", " wed."];
/// Abbreviations before several numbers: "figs. 2 and 3".
pub const PLURALS: &str = "figs. nos. refs. secs.";
/// Words of all languages that precede a reference rather than a thing: "see fig. 3", "nach Art. 5".
pub const BEFORE_REFERENCES: &str = "& and aus by cf. dans de di e en et from gem. gemäß i.v.m. in laut mit nach o oder of or ou per s. \
                                     secondo see segundo según selon siehe to und under unter vedi ver vgl. vid. voir volgens von y zie \
                                     zu à";

const GERMAN: Abbreviations = Abbreviations {
    always: "bzw. ca. d. d.h. dipl.-ing. dr. e. evtl. fa. fam. geb. ggf. hl. hr. hrn. i. inkl. insb. prof. s. sog. st. u. v. vgl. z. z.b. \
             zzgl.",
    before_numbers: "abb. abs. anm. art. bd. gest. gr. kap. nr. s. tab. tel. ziff. zzt.",
    before_small_letters: "bes. dgl. max. min. zt.",
    also_words: "app. art. ex. kap. no. prof. tab.",
};
const FRENCH: Abbreviations = Abbreviations {
    always: "av. dr. mgr. mlle. mme. prof. st. ste. sté.",
    before_numbers: "art. chap. n. no. tabl. tél.",
    before_small_letters: "etc. ex. suiv.",
    also_words: "art. cor. ex. prof. sec. vol.",
};
const SPANISH: Abbreviations = Abbreviations {
    always: "av. avda. dr. dra. dña. ee. excmo. prof. sr. sra. srta. sta. sto.",
    before_numbers: "art. cap. n. núm. pág. págs. tel.",
    before_small_letters: "ej. etc. mill. ud. uds. uu.",
    also_words: "ex. no. prof. sec.",
};
const ITALIAN: Abbreviations = Abbreviations {
    always: "avv. dott. dott.ssa ing. mons. on. prof. sig. sig.ra",
    before_numbers: "art. cap. n. pag. pagg. tab. tel.",
    before_small_letters: "ecc. es. sec.",
    also_words: "ex. no. sec.",
};
const PORTUGUESE: Abbreviations = Abbreviations {
    always: "av. dr. dra. eng. gen. prof. profa. sr. sra. sta. sto. séc.",
    before_numbers: "art. cap. n. pág. págs. tab. tel.",
    before_small_letters: "etc. ex. exa. mi.",
    also_words: "cor. ex. no.",
};
const DUTCH: Abbreviations = Abbreviations {
    always: "b.v. bijv. dhr. dr. drs. fam. ing. ir. mevr. mr. mw. prof. st.",
    before_numbers: "afb. art. blz. hfst. nr. tel.",
    before_small_letters: "enz. etc.",
    also_words: "app. ex. prof. tab. vol.",
};

/// Abbreviations that Punkt's parameters for the language lack, or that Punkt treats as the end of a sentence before certain words ("Dr.
/// Klein").
pub fn abbreviations_of(language: Language) -> &'static Abbreviations {
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

pub fn is_among(words: &str, word: &str) -> bool {
    words.split(' ').any(|other| other == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_of_words_with_a_period() {
        let lists_of = |list: &Abbreviations| [list.always, list.before_numbers, list.before_small_letters, list.also_words];
        let lists = Language::ALL.map(abbreviations_of).into_iter().chain([&OF_ALL]).flat_map(lists_of);
        for list in lists.chain([PLURALS, BEFORE_REFERENCES]).filter(|list| !list.is_empty()) {
            assert!(
                list.split(' ').is_sorted() && (list == BEFORE_REFERENCES || list.split(' ').all(|word| word.contains(['.', '№', '§']))),
                "{list}"
            );
            assert_eq!(list.to_lowercase(), *list);
        }
    }
}

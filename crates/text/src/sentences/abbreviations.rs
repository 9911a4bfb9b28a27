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
    always: "a.k.a. approx. capt. dr. gov. hon. lt. messrs. mr. mrs. ms. mt. prof. rev. sgt. viz.",
    before_numbers: "ca. est. ext. tel. v. ver.",
    before_small_letters: "avg. blvd. dept. esp. est. excl. ft. gal. hr. hrs. hwy. incl. lb. lbs. max. min. misc. oz. rd. sec. tbsp. temp. \
                           tsp. yd. yds.",
    also_words: "app. art. chap. dr. ex. fig. figs. kap. no. nos. prof. prop. ref. refs. sec. secs. sect. tab.",
};
/// Abbreviations in Punkt's parameters that are also lowercase words: "He feels ill. Tom helps."
pub const WORDS_OF_PUNKT: [&str; 7] = ["OK.", "Ok.", "ill.", "ok.", "ore.", "wash.", "wed."];
/// The ones among [`WORDS_OF_PUNKT`] that end a sentence even before a lowercase letter.
pub const ONLY_WORDS: [&str; 5] = ["OK.", "Ok.", "ok.", "ore.", "wash."];
/// Abbreviations that end a sentence before a lowercase letter if the whole text is written in lowercase: "wait 5 min. see you".
pub const ENDINGS: &str = "ecc. enz. etc. hr. hrs. max. min. sec. ud. uds.";
/// Abbreviations before several numbers: "figs. 2 and 3".
pub const PLURALS: &str = "figs. nos. refs. secs.";
/// Words of all languages that precede a reference rather than a thing: "see fig. 3", "nach Art. 5".
pub const BEFORE_REFERENCES: &str = "& above and as at aus below between by cf. compare consult dans de di e en et for from gem. gemäß \
                                     i.v.m. in into laut mit nach o oder of on onto or ou per s. secondo see segundo según selon siehe \
                                     than through to und under unter using vedi ver vgl. via vid. voir volgens von with within y zie zu \
                                     à";
/// Nouns that people number, in addition to the words of labels: "order no. 12".
pub const NUMBERED: &str = "account album apartment bag bill box bus calle candidate car casa case chair claim class client concerto \
                            contract customer door driver entry error factory file flat flight folder form game gate group habitación \
                            house invoice issue item jar job kandidat key lane level line list locker lot machine mail maison match \
                            member message model module number op opus order page paper passenger patent pedido piece pier place plan \
                            plane plate platform player plot pool post price priority product project quartet race rank receipt record \
                            room route row rule run runner sample seat serial series set shelf shirt shop size slide slot sonata song \
                            source station store street suspect symphony team terminal ticket track train tram trial truck unit van \
                            version ward window zone";
/// Words before the answer "no": "he said no. 5 people left".
pub const BEFORE_NO: &str = "a an answer answered answers but clear definite firm flat got hard he hear heard her his i just maybe me \
                             mean means meant my of oh or plain plus que replied replies reply said say saying says she shouted simple \
                             simply so still than that the their then they think thought us vote voted well whispered with would wrote \
                             yes you";
/// Verbs after the number of one thing: "no. 5 is late".
pub const AFTER_ONE: &str = "and at by can costs did does for from had has in is may must on shall was will with would";

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
        let words = [BEFORE_REFERENCES, NUMBERED, BEFORE_NO, AFTER_ONE];
        for list in lists.chain([ENDINGS, PLURALS]).chain(words).filter(|list| !list.is_empty()) {
            assert!(
                list.split(' ').is_sorted() && (words.contains(&list) || list.split(' ').all(|word| word.contains(['.', '№', '§']))),
                "{list}"
            );
            assert_eq!(list.to_lowercase(), *list);
        }
    }
}

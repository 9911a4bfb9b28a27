//! Statements about a contrast: which prompt sentences speak for a part of the answer, and which against it.

use super::number;
use super::share_texts::Amount;
use crate::app::i18n::{in_sequence, plural, t};
use crate::explanation::{Alternative, Contrast, Document, Token};
use crate::order::descending;
use crate::shares::ContrastShares;

/// Maximum number of listed sentences.
const MAX_ROWS: usize = 20;
/// Smaller shares are not listed. They are shown as less than 1 %.
const MIN_SHARE: f64 = 0.01;

/// A contrast, formatted for display.
#[derive(Clone, Debug, PartialEq)]
pub struct ContrastWords {
    pub title: String,
    /// The log-probabilities of the part and of the alternative.
    pub facts: [String; 2],
    /// What supports the part most, and what opposes it most.
    pub verdict: String,
    /// Meaning of "for" and "against".
    pub key: String,
    /// Prompt sentences in text order.
    pub rows: Vec<ContrastRow>,
    /// What is not listed, or reaches no prompt sentence.
    pub notes: Vec<String>,
}

/// A prompt sentence, with its shares for the part and against it. Bars of shares against the part point the other way.
#[derive(Clone, Debug, PartialEq)]
pub struct ContrastRow {
    pub label: String,
    pub text: String,
    pub amounts: [Amount; 2],
    /// Its own effect, without paths through other sentences.
    pub effect: String,
}

impl ContrastWords {
    pub fn new(document: &Document, contrast: &Contrast) -> Self {
        let found = ContrastShares::of(document, contrast);
        let [part, alternative] = texts(contrast.part(&document.generation), &contrast.alternative);
        let fact = |text: &str, log_probability: f64| {
            let (log, percent) = (number::signed(log_probability), number::percent(log_probability.exp().max(f64::MIN_POSITIVE)));
            t!("\u{201c}{text}\u{201d}: log-probability {log} nats ({percent})", text, log, percent)
        };
        let [of_part, of_alternative] = contrast.log_probabilities;
        let largest = |shares: &[f64; 2]| shares[0].max(shares[1]);
        let mut listed = descending(found.shares.iter().map(largest));
        listed.retain(|&j| largest(&found.shares[j]) >= MIN_SHARE);
        listed.truncate(MAX_ROWS);
        listed.sort_unstable();
        let row = |&j: &usize| ContrastRow {
            label: document.label(j),
            text: document.source(j).trim().to_owned(),
            amounts: amounts(found.shares[j]),
            effect: t!("{effect} nats directly", effect = number::signed(contrast.effects[j])),
        };
        Self {
            title: t!("Why \u{201c}{part}\u{201d} and not \u{201c}{alternative}\u{201d}?", part, alternative),
            facts: [fact(&part, of_part), fact(&alternative, of_alternative)],
            verdict: verdict(document, &found, [&part, &alternative]),
            key: t!("For: supports \u{201c}{part}\u{201d}. Against: supports \u{201c}{alternative}\u{201d}.", part, alternative),
            notes: notes(&found, n_before(document, contrast, found.shares.len()).saturating_sub(listed.len())),
            rows: listed.iter().map(row).collect(),
        }
    }
}

/// How many of the `n_prompt` prompt sentences come before the compared part. Only they can have a share.
fn n_before(document: &Document, contrast: &Contrast, n_prompt: usize) -> usize {
    let places = document.places();
    let row = document.generation.sentence_at(contrast.span);
    let part = row.and_then(|row| places.get(n_prompt + row)).copied().unwrap_or(places.len());
    places.iter().take(n_prompt).filter(|&&place| place < part).count()
}

/// Both texts without white space around them, unless they differ only in that.
fn texts(part: &str, alternative: &str) -> [String; 2] {
    let texts = if part.trim() == alternative.trim() { [part, alternative] } else { [part.trim(), alternative.trim()] };
    texts.map(str::to_owned)
}

fn amounts([supporting, opposing]: [f64; 2]) -> [Amount; 2] {
    [(supporting, 1.0), (opposing, -1.0)].map(|(share, sign)| Amount { figure: number::percent(share), part: sign * share })
}

/// The strongest prompt sentence on each side, if its share is not tiny.
fn verdict(document: &Document, found: &ContrastShares, [part, alternative]: [&str; 2]) -> String {
    if found.effect == 0.0 {
        return t!("Nothing changes how much likelier one text is than the other.").into();
    }
    let strongest = |side: usize| {
        let j = *descending(found.shares.iter().map(|shares| shares[side])).first()?;
        Some((document.label(j), found.shares[j][side])).filter(|(_, share)| *share > 0.0)
    };
    let supporting = match strongest(0) {
        Some((label, share)) if share >= MIN_SHARE => {
            t!("{label} supports \u{201c}{part}\u{201d} most ({share}).", label, part, share = number::percent(share))
        }
        Some(_) => t!("Hardly anything in the prompt supports \u{201c}{part}\u{201d}.", part),
        None => t!("Nothing in the prompt supports \u{201c}{part}\u{201d}.", part),
    };
    let opposing = match strongest(1) {
        Some((label, share)) if share >= MIN_SHARE => {
            let share = number::percent(share);
            t!("{label} opposes it most and supports \u{201c}{alternative}\u{201d} ({share}).", label, alternative, share)
        }
        Some(_) => t!("Hardly anything in the prompt opposes it.").into(),
        None => t!("Nothing in the prompt opposes it.").into(),
    };
    let weak = if found.is_weak() { t!("The effects are very small, so these shares mean little.") } else { "" };
    let sentences: [&str; 3] = [&supporting, &opposing, weak];
    in_sequence(sentences.into_iter().filter(|words| !words.is_empty()))
}

fn notes(found: &ContrastShares, n_left_out: usize) -> Vec<String> {
    let left_out = (n_left_out > 0 && found.effect > 0.0).then(|| {
        plural!(n = n_left_out, "{n} other part of the prompt has less influence.", "{n} other parts of the prompt have less influence.")
    });
    let lost = Some(found.lost())
        .filter(|&lost| lost >= 0.005)
        .map(|share| t!("{share} of the influence ends at a step without a measurable source.", share = number::percent(share)));
    left_out.into_iter().chain(lost).collect()
}

/// The model's own alternatives to the token at which a mark begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Picks {
    /// The token without white space around it.
    pub token: String,
    /// Whether the mark goes on after the token. All of it is then compared with the alternative.
    pub is_longer: bool,
    /// The most likely alternative comes first.
    pub choices: Vec<Pick>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Pick {
    /// The text that is compared with the mark.
    pub text: String,
    /// Probability of the token.
    pub percent: String,
}

impl Picks {
    /// The alternatives at `mark`, a half-open span of the generation in code points. `None` if no token begins there, if the mark ends
    /// within that token, or if no alternative can be compared: one with other white space before it, without a visible character, with a
    /// part of a character, or with the name of a control token.
    pub fn of(document: &Document, mark: [usize; 2]) -> Option<Self> {
        let chars: Vec<char> = document.generation.text.chars().collect();
        let [start, end] = visible(&chars, mark)?;
        let is_at_start = |token: &&Token| visible(&chars, token.span).is_some_and(|span| span[0] == start);
        let token = document.tokens.iter().find(is_at_start)?;
        let own = visible(&chars, token.span).filter(|span| span[1] <= end)?;
        let string = |span: [usize; 2]| chars[span[0]..span[1]].iter().collect::<String>();
        let (before, after) = (string([token.span[0], start]), string([own[1], token.span[1]]));
        let is_longer = own[1] < end;
        let marked = string([start, end]);
        let pick = |alternative: &Alternative| {
            let rest = alternative.text.strip_prefix(&before[..])?;
            let text = if is_longer { rest } else { rest.strip_suffix(&after[..])? };
            let is_control = text == document.method.replacement || (text.starts_with('<') && text.ends_with('>'));
            let is_text = !text.is_empty() && text.trim() == text && !text.contains(char::REPLACEMENT_CHARACTER);
            let percent = number::percent(alternative.log_probability.exp());
            (is_text && !is_control && text != marked).then(|| Pick { text: text.to_owned(), percent })
        };
        let choices: Vec<Pick> = token.alternatives.iter().filter_map(pick).collect();
        (!choices.is_empty()).then(|| Self { token: string(own), is_longer, choices })
    }
}

/// The span without white space around its text. `None` if nothing is left, or if the span is not in the text.
fn visible(chars: &[char], [start, end]: [usize; 2]) -> Option<[usize; 2]> {
    let text = chars.get(start..end)?;
    let first = text.iter().position(|c| !c.is_whitespace())?;
    let last = text.iter().rposition(|c| !c.is_whitespace())?;
    Some([start + first, start + last + 1])
}

/// Number of code points in the first `n` UTF-16 code units of `text`. Browsers count the latter.
pub fn code_points(text: &str, n: usize) -> usize {
    let mut units = 0;
    text.chars()
        .take_while(|c| {
            units += c.len_utf16();
            units <= n
        })
        .count()
}

/// The part of `sentence` that `marked` is, in code points. `None` if it is not in the sentence.
pub fn place_of(sentence: &str, marked: &str) -> Option<[usize; 2]> {
    let marked = Some(marked.trim()).filter(|marked| !marked.is_empty())?;
    let at = sentence.find(marked)?;
    Some([at, at + marked.len()].map(|byte| sentence[..byte].chars().count()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::{document, with_explained_turn};

    /// Compares "E." with " X", after two prompt sentences and two steps.
    fn contrast(effects: [f64; 4]) -> Contrast {
        Contrast { span: [6, 8], alternative: "X ".into(), log_probabilities: [-0.25, -3.5], effects: effects.into() }
    }

    #[test]
    fn contrast_names_strongest_sentences_of_both_sides() {
        let words = ContrastWords::new(&document(), &contrast([0.5, 0.0, 0.0, -1.5]));
        assert_eq!(words.title, "Why \u{201c}E.\u{201d} and not \u{201c}X\u{201d}?");
        assert_eq!(words.facts[0], "\u{201c}E.\u{201d}: log-probability \u{2212}0.250 nats (78%)");
        assert_eq!(words.verdict, "P1 supports \u{201c}E.\u{201d} most (25%). P1 opposes it most and supports \u{201c}X\u{201d} (38%).");
        let figures: Vec<_> = words.rows.iter().map(|row| row.amounts.clone().map(|amount| (amount.figure, amount.part))).collect();
        let amount = |figure: &str, part| (figure.to_owned(), part);
        assert_eq!(figures[0], [amount("25%", 0.25), amount("38%", -0.375)]);
        assert_eq!((figures.len(), &words.rows[0].effect, &words.notes[..]), (2, &"0.500 nats directly".to_owned(), &[][..]));
    }

    #[test]
    fn missing_sides_and_small_effects_are_said() {
        let words = |effects| ContrastWords::new(&document(), &contrast(effects));
        let one_side = words([2.0, 0.0, 0.0, 0.0]);
        assert!(one_side.verdict.ends_with("Nothing in the prompt opposes it."), "{}", one_side.verdict);
        assert_eq!(one_side.notes, ["1 other part of the prompt has less influence."]);
        let tiny = words([2.0, -1e-6, 0.0, 0.0]);
        assert!(tiny.verdict.ends_with("Hardly anything in the prompt opposes it."), "{}", tiny.verdict);
        assert!(words([0.0, -0.01, 0.0, 0.0]).verdict.ends_with("so these shares mean little."));
        let nothing = words([0.0; 4]);
        assert!(nothing.verdict.starts_with("Nothing changes") && nothing.rows.is_empty() && nothing.notes.is_empty());
    }

    #[test]
    fn sentences_after_compared_part_are_not_counted() {
        // P2 comes after the earlier answer G1.
        let contrast = Contrast { span: [0, 2], ..contrast([0.0; 4]) };
        let of = |contrast| ContrastWords::new(&with_explained_turn(), &contrast).notes;
        assert!(of(Contrast { effects: vec![2.0, 0.0], ..contrast.clone() }).is_empty());
        let of_last_answer = Contrast { span: [4, 6], effects: vec![2.0, 0.0, 0.0], ..contrast };
        assert_eq!(of(of_last_answer), ["1 other part of the prompt has less influence."]);
    }

    #[test]
    fn picks_are_alternatives_of_marked_token() {
        // The answer is "C. D. E. F.", in tokens "C", ".", " D", ".", and so on.
        let alternatives = [" X", "Y", " \u{fffd}", " ", "<|im_end|>", " Z"];
        let alternatives = alternatives.map(|text| Alternative { text: text.into(), log_probability: -1.0 });
        let token = |start: usize, end: usize| Token { span: [start, end], log_probability: -0.5, alternatives: alternatives.to_vec() };
        let tokens = [0, 1, 2, 4, 5, 7, 8, 10].into_iter().zip([1, 2, 4, 5, 7, 8, 10, 11]).map(|(start, end)| token(start, end));
        let document = Document { tokens: tokens.collect(), ..document() };
        let texts = |mark| {
            let found = Picks::of(&document, mark)?;
            Some((found.token, found.is_longer, found.choices.into_iter().map(|pick| pick.text).collect::<Vec<_>>()))
        };
        let of_d = |is_longer| Some(("D".to_owned(), is_longer, vec!["X".to_owned(), "Z".to_owned()]));
        assert_eq!([texts([3, 4]), texts([2, 4]), texts([2, 5]), texts([3, 6])], [of_d(false), of_d(false), of_d(true), of_d(true)]);
        assert_eq!(texts([0, 1]), Some(("C".into(), false, vec!["Y".into()])), "no white space is before the first token");
        assert_eq!([texts([2, 3]), texts([0, 99]), texts([4, 3])], [None, None, None]);
        assert_eq!(Picks::of(&document, [3, 4]).unwrap().choices[0].percent, "37%");
        assert_eq!(Picks::of(&Document { tokens: Vec::new(), ..document.clone() }, [3, 4]), None);
    }

    #[test]
    fn texts_that_differ_in_white_space_keep_it() {
        assert_eq!([texts(" 24", " 36"), texts("a", " a")], [["24", "36"].map(String::from), ["a", " a"].map(String::from)]);
    }

    #[test]
    fn marks_are_counted_in_code_points() {
        assert_eq!([0, 1, 3, 4, 9].map(|n| code_points("a\u{1f600}bc", n)), [0, 1, 2, 3, 4]);
        assert_eq!(code_points("a\u{1f600}b", 2), 1, "within a character");
        assert_eq!(
            [place_of("Zo\u{eb} eats 12.", " eats "), place_of("Zo\u{eb} eats", "x"), place_of("a", " ")],
            [Some([4, 8]), None, None]
        );
    }
}

//! The text of a continuation, where it leaves the answer.

use super::variant::Continuation;

/// The text before the alternative, the alternative, and the rest. All of it is the rest if it does not begin like the answer. An
/// alternative that is a part of a character is shown as the whole character. One without text of its own, such as the end of the answer,
/// is empty.
pub fn split<'a>(continuation: &Continuation, text: &'a str) -> [&'a str; 3] {
    let Some(after) = text.strip_prefix(&continuation.before[..]) else { return ["", "", text] };
    let alternative = &continuation.branch.text;
    let length = match after.starts_with(&alternative[..]) {
        true => alternative.len(),
        false if alternative.contains(char::REPLACEMENT_CHARACTER) => after.chars().next().map_or(0, char::len_utf8),
        false => 0,
    };
    let (chosen, rest) = after.split_at(length);
    [&text[..continuation.before.len()], chosen, rest]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::Branch;

    #[test]
    fn text_is_split_at_alternative() {
        let found = |alternative: &str, text: &'static str| {
            let branch = Branch { token: 2, rank: 1, text: alternative.into() };
            split(&Continuation { before: "Zo\u{eb} has".into(), original: " 3".into(), branch }, text)
        };
        assert_eq!(found(" 4", "Zo\u{eb} has 4 figs."), ["Zo\u{eb} has", " 4", " figs."]);
        assert_eq!(found(" \u{fffd}", "Zo\u{eb} has\u{1f600}."), ["Zo\u{eb} has", "\u{1f600}", "."]);
        assert_eq!(found("<|im_end|>", "Zo\u{eb} has"), ["Zo\u{eb} has", "", ""]);
        assert_eq!(found(" 4", "Zo\u{eb}"), ["", "", "Zo\u{eb}"], "not all of it has arrived");
    }
}

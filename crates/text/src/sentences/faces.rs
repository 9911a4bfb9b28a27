//! Emoji and emoticons. After the end of a sentence they belong to it: "Great! 🎉 Let us go." If they start a line or follow a colon,
//! they are bullets of its sentences: "✅ Fast. ✅ Cheap."

use super::cost::count_read;
use super::labels::EMPHASIS;

const EMOTICONS: [&str; 20] =
    [":)", ":-)", ":(", ":-(", ";)", ";-)", ":D", ":-D", ":P", ":p", ":/", ":o", ":'(", "=)", "<3", "^^", "^_^", "xD", "XD", ":3"];
const MAX_EMOTICON: usize = 3;

/// How the faces of a line are used.
pub struct Faces {
    are_bullets: bool,
}

impl Faces {
    pub fn new(line: &str) -> Self {
        Self { are_bullets: run_length(line.trim_start_matches(|c| EMPHASIS.contains(c))) > 0 }
    }

    /// Length of the white space and the faces at the start of `rest` that belong to the sentence before it. 0 if there are none.
    pub fn length_after(&mut self, rest: &str, is_after_end: bool, is_after_colon: bool) -> usize {
        self.are_bullets |= is_after_colon && run_length(rest) > 0;
        if !is_after_end || self.are_bullets {
            return 0;
        }
        let adjacent = emoji_length(rest);
        adjacent + run_length(&rest[adjacent..])
    }
}

/// Length of the faces at the start of `text`, with the white space before each. White space or the end of the text must follow.
fn run_length(text: &str) -> usize {
    let mut length = 0;
    loop {
        let rest = text[length..].trim_start();
        let face = emoticon_length(rest).max(emoji_length(rest));
        count_read(text.len() - length - rest.len() + face);
        if face == 0 || !rest[face..].chars().next().is_none_or(char::is_whitespace) {
            return length;
        }
        length = text.len() - rest.len() + face;
    }
}

fn emoticon_length(text: &str) -> usize {
    let end = text.char_indices().take(MAX_EMOTICON + 1).find(|(_, c)| c.is_whitespace()).map_or(text.len(), |(at, _)| at);
    if EMOTICONS.contains(&&text[..end]) { end } else { 0 }
}

/// Length of a run of emoji, each with its modifiers.
fn emoji_length(text: &str) -> usize {
    if !text.starts_with(is_emoji) {
        return 0;
    }
    text.len() - text.trim_start_matches(|c| is_emoji(c) || matches!(c, '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')).len()
}

/// Whether `c` is a symbol in the Unicode blocks of emoji. Arrows are bullets, not faces.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{2793}' | '\u{2b50}' | '\u{2b55}' | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_after_a_sentence_belong_to_it() {
        let length = |rest: &str| Faces { are_bullets: false }.length_after(rest, true, false);
        assert_eq!(length(" 🎉 Let us go."), " 🎉".len());
        assert_eq!(length("👍🏽❤️ :-) 🇫🇷 So"), "👍🏽❤️ :-) 🇫🇷".len());
        assert_eq!(length("🎉我们走吧。"), "🎉".len());
        for rest in [" 🎉Let us go.", " :) not", " :)) So", " ➜ Next.", " 1️⃣ One.", " So 🎉", ""] {
            let expect = if rest == " :) not" { " :)".len() } else { 0 };
            assert_eq!(length(rest), expect, "{rest:?}");
        }
    }

    #[test]
    fn faces_that_start_a_line_or_follow_a_colon_are_bullets() {
        assert!(Faces::new("**✅ Fast.** ✅ Cheap.").are_bullets && !Faces::new("Fast. ✅ Cheap.").are_bullets);
        let mut faces = Faces::new("Why? It is: 🚀 Fast. 💰 Cheap.");
        assert_eq!(faces.length_after(" 🚀 Fast. 💰 Cheap.", false, true), 0);
        assert_eq!(faces.length_after(" 💰 Cheap.", true, false), 0);
    }
}

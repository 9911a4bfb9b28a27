//! Repairs links that mail and chat programs changed: wrapped, quoted, escaped, with text around them (RFC 3986, appendix C).
//! `link_repair.py` does the same in Python.

/// Spellings of the "#" before a fragment in various programs. The last two are the full-width one of East Asian keyboards.
const HASHES: [&str; 8] = ["#", "%23", "%2523", "&#35;", "&#x23;", "&num;", "\u{ff03}", "%EF%BC%83"];
/// Hyphens that programs add at the end of a line.
const HYPHENS: [char; 3] = ['-', '\u{2010}', '\u{2011}'];
/// Invisible characters that programs insert into long words.
const INVISIBLE: &str = "\u{ad}\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\u{2060}\u{feff}";

/// The fragment of the first Glasscage link in `text`, and everything after it. Without such a link, the text after the first "#", or all
/// of it.
pub fn fragment_in(text: &str) -> &str {
    let is_link = |at: usize| {
        let after = text[at + 1..].trim_start_matches(|c: char| c.is_ascii_digit());
        after.starts_with('.') && after.len() + 1 < text.len() - at && HASHES.iter().any(|hash| text[..at].ends_with(hash))
    };
    let start = text.match_indices(['g', 'l']).map(|(at, _)| at).find(|&at| is_link(at));
    let first_hash = || text.match_indices(['#', '\u{ff03}']).next().map(|(at, hash)| at + hash.len());
    start.or_else(first_hash).map_or(text, |start| &text[start..])
}

/// `text` without the hyphen at the end of each line, if a line ends with one. A hyphen is also a base64 digit, so only the checksum of the
/// link tells whether a program added it.
pub fn without_hyphenation(text: &str) -> Option<String> {
    let mut is_hyphenated = false;
    let lines = text.split_inclusive('\n').map(|line| {
        let words = line.strip_suffix('\n')?.trim_end();
        let before = words.strip_suffix(HYPHENS)?;
        is_hyphenated = true;
        Some([before, &line[words.len()..]])
    });
    let joined = lines.zip(text.split_inclusive('\n')).flat_map(|(parts, line)| parts.unwrap_or([line, ""])).collect();
    is_hyphenated.then_some(joined)
}

/// The base64 digits at the start of `text`, without line breaks, mail quotation marks (">"), escapes and invisible characters. The result
/// may include words after the link.
pub fn digits(text: &str) -> String {
    let mut digits = String::with_capacity(text.len());
    let mut rest = text;
    let mut starts_line = false;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = match c {
            _ if c.is_ascii_alphanumeric() || c == '-' || c == '_' => {
                digits.push(c);
                after
            }
            '\u{2010}' | '\u{2011}' | '\u{2212}' => {
                digits.push('-');
                after
            }
            _ if c.is_whitespace() || INVISIBLE.contains(c) || starts_line && matches!(c, '>' | '|') => after,
            '=' if after.starts_with(['\r', '\n']) => after,
            '\\' if after.starts_with(['-', '_']) => after,
            '<' if after.starts_with("br") || after.starts_with("wbr") => after.split_once('>').map_or("", |(_, after)| after),
            '%' => match percent_encoded(after) {
                Some((byte, after)) => {
                    digits.extend(Some(char::from(byte)).filter(|c| "-_".contains(*c)));
                    after
                }
                None => break,
            },
            _ => break,
        };
        starts_line = c == '\n' || starts_line && (c.is_whitespace() || matches!(c, '>' | '|'));
    }
    digits
}

/// The byte after a "%", and the rest of the text. The "%" may itself be encoded ("%2520"). `None` unless the byte is white space, not
/// ASCII, "-" or "_".
fn percent_encoded(mut after: &str) -> Option<(u8, &str)> {
    while let Some(rest) = after.strip_prefix("25") {
        after = rest;
    }
    let (hex, after) = after.split_at_checked(2).filter(|(hex, _)| hex.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    let byte = u8::from_str_radix(hex, 16).ok()?;
    (byte.is_ascii_whitespace() || !byte.is_ascii() || b"-_".contains(&byte)).then_some((byte, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_found_in_the_text_around_it() {
        let cases = [
            "https://a.b/#g3.A-_",
            "See #12: https://a.b/#g3.A-_",
            "https://a.b/%23g3.A-_",
            "https://a.b/%2523g3.A-_",
            "&#35;g3.A-_",
            "https://a.b/\u{ff03}g3.A-_",
            "https://a.b/%EF%BC%83g3.A-_",
            "<https://a.b/?x&amp;y#g3.A-_",
            "g: l #g3.A-_",
            "#g3.A-_",
        ];
        for text in cases {
            assert_eq!(fragment_in(text), "g3.A-_", "{text}");
        }
        assert_eq!(fragment_in("g3.A"), "g3.A");
        assert_eq!((fragment_in("x#g3"), fragment_in("x\u{ff03}g3")), ("g3", "g3"));
        assert_eq!(fragment_in("#l1.A (issue #12)"), "l1.A (issue #12)");
    }

    #[test]
    fn reformatted_digits_are_restored() {
        let changed = [
            "A-_9",
            "A-\r\n_9",
            "A-\n> _9",
            "A-\n> > | _9",
            "A- _9",
            "A\u{200b}-\u{ad}_9",
            "A%2D%5f9",
            "A-%0A_%20%2509",
            "A-=\n_9",
            "A\\-\\_9",
            "A-<br>\n_<wbr/>9",
            "A\u{2011}_9",
            "A-%E2%80%8B_9",
            "A-_9>",
            "A-_9)",
            "A-_9&x=1",
            "A-_9\u{201d}",
            "A-_9, b",
            "A-_9%",
            "A-_9%+9",
            "A-_9%+9B",
        ];
        for text in changed {
            let expect = if text == "A-%0A_%20%2509" { "A-_" } else { "A-_9" };
            assert_eq!(digits(text), expect, "{text:?}");
        }
        assert_eq!(digits("A \u{2028}B c. d"), "ABc");
    }

    #[test]
    fn one_hyphen_is_removed_at_each_line_end() {
        for (text, expect) in [
            ("A-\n_-\r\n9", Some("A\n_\r\n9")),
            ("A--\n_9", Some("A-\n_9")),
            ("A- \n_\n9", Some("A \n_\n9")),
            ("A\u{2010}\n_9", Some("A\n_9")),
            ("A-_\n9-", None),
            ("A-_9", None),
        ] {
            assert_eq!(without_hyphenation(text).as_deref(), expect, "{text:?}");
        }
    }
}

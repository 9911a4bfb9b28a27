//! Texts as people give them, without what programs put around them. Everything else in them is text, such as spaces of no width.

/// A text without the byte order mark at its start, in which every line end, also of Windows and of old Macs, is a line feed.
///
/// ```
/// assert_eq!(glasscage::text::given::given_text("\u{feff}One.\r\nTwo.\r"), "One.\nTwo.\n");
/// ```
pub fn given_text(text: &str) -> String {
    kept(text).map(|(_, c)| c).collect()
}

/// The text of a file: also without the line end that editors put at its end, one of them.
///
/// ```
/// assert_eq!(glasscage::text::given::text_of_file("One.\r\nTwo.\r\n\r\n"), "One.\nTwo.\n");
/// ```
pub fn text_of_file(text: &str) -> String {
    let given = given_text(text);
    given.strip_suffix('\n').map_or(given.clone(), str::to_owned)
}

/// The characters of [`given_text`], each with its number in `text`.
pub fn kept(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut numbered = text.chars().enumerate().peekable();
    numbered.next_if(|&(_, c)| c == '\u{feff}');
    std::iter::from_fn(move || {
        let (number, c) = numbered.next()?;
        match c {
            '\r' => Some(numbered.next_if(|&(_, c)| c == '\n').unwrap_or((number, '\n'))),
            c => Some((number, c)),
        }
    })
}

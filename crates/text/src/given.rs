//! Cleans texts that people provide: removes only what programs add around them. All other characters stay, such as zero-width spaces.

/// Removes a byte order mark at the start, and converts line ends of Windows and old Macs to line feeds.
///
/// ```
/// assert_eq!(glasscage_text::given::given_text("\u{feff}One.\r\nTwo.\r"), "One.\nTwo.\n");
/// ```
pub fn given_text(text: &str) -> String {
    kept(text).map(|(_, c)| c).collect()
}

/// The text of a file. Like [`given_text`], but also removes one line end at the end of the text, because editors add it.
///
/// ```
/// assert_eq!(glasscage_text::given::text_of_file("One.\r\nTwo.\r\n\r\n"), "One.\nTwo.\n");
/// ```
pub fn text_of_file(text: &str) -> String {
    let given = given_text(text);
    given.strip_suffix('\n').map_or(given.clone(), str::to_owned)
}

/// The characters of [`given_text`], each with its 0-based index in `text`.
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

//! Text widths in `Verdana`, `DejaVu Sans` and `Bitstream Vera Sans`. Every desktop has one of them, and their character widths agree to a
//! few percent. In other fonts, `textLength` fits the text.

/// Character widths in `DejaVu Sans` from U+0020 on, in 1/200 of the font size. 0 for characters that are not drawn.
#[rustfmt::skip]
const LATIN: [u8; 352] = [
    64, 80, 92, 168, 127, 190, 156, 55, 78, 78, 100, 168, 64, 72, 64, 67, 127, 127, 127, 127, 127, 127, 127, 127,
    127, 127, 67, 67, 168, 168, 168, 106, 200, 137, 137, 140, 154, 126, 115, 155, 150, 59, 59, 131, 111, 173, 150, 157,
    121, 157, 139, 127, 122, 146, 137, 198, 137, 122, 137, 78, 67, 78, 168, 100, 100, 123, 127, 110, 127, 123, 70, 127,
    127, 56, 56, 116, 56, 195, 127, 122, 127, 127, 82, 104, 78, 127, 118, 164, 118, 118, 105, 127, 67, 127, 168, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 64, 80, 127, 127, 127, 127, 67, 100, 100, 200, 94, 122, 168, 72, 200, 100,
    100, 168, 80, 80, 100, 127, 127, 64, 100, 80, 94, 122, 194, 194, 194, 106, 137, 137, 137, 137, 137, 137, 195, 140,
    126, 126, 126, 126, 59, 59, 59, 59, 155, 150, 157, 157, 157, 157, 157, 168, 157, 146, 146, 146, 146, 122, 121, 126,
    123, 123, 123, 123, 123, 123, 196, 110, 123, 123, 123, 123, 56, 56, 56, 56, 122, 127, 122, 122, 122, 122, 122, 168,
    122, 127, 127, 127, 127, 118, 127, 118, 137, 123, 137, 123, 137, 123, 140, 110, 140, 110, 140, 110, 140, 110, 154, 127,
    155, 127, 126, 123, 126, 123, 126, 123, 126, 123, 126, 123, 155, 127, 155, 127, 155, 127, 155, 127, 150, 127, 183, 139,
    59, 56, 59, 56, 59, 56, 59, 56, 59, 56, 118, 111, 59, 56, 131, 116, 116, 111, 56, 111, 56, 111, 75, 111,
    68, 112, 57, 150, 127, 150, 127, 150, 127, 163, 150, 127, 157, 122, 157, 122, 157, 122, 214, 205, 139, 82, 139, 82,
    139, 82, 127, 104, 127, 104, 127, 104, 127, 104, 122, 78, 122, 78, 122, 78, 146, 127, 146, 127, 146, 127, 146, 127,
    146, 127, 146, 127, 198, 164, 122, 118, 122, 137, 105, 137, 105, 137, 105, 70,
];
/// Character widths of U+0370 to U+045F.
#[rustfmt::skip]
const GREEK_AND_CYRILLIC: [u8; 240] = [
    131, 114, 172, 129, 56, 56, 150, 130, 0, 0, 100, 110, 110, 110, 67, 59, 0, 0, 0, 0, 100, 100, 138, 64,
    149, 174, 82, 0, 162, 0, 165, 165, 68, 137, 137, 111, 137, 126, 137, 150, 157, 59, 131, 137, 173, 150, 126, 157,
    150, 121, 0, 126, 122, 122, 157, 137, 157, 153, 59, 122, 132, 108, 127, 68, 116, 132, 128, 118, 122, 108, 109, 127,
    122, 68, 118, 118, 127, 112, 112, 122, 120, 127, 117, 127, 120, 116, 132, 116, 132, 167, 68, 116, 122, 116, 167, 131,
    123, 124, 140, 168, 140, 132, 167, 133, 157, 122, 130, 117, 115, 92, 132, 132, 173, 125, 187, 167, 152, 132, 158, 123,
    137, 121, 154, 125, 140, 122, 122, 107, 133, 127, 110, 56, 157, 123, 123, 121, 127, 140, 173, 130, 127, 141, 140, 141,
    126, 126, 157, 122, 140, 127, 59, 59, 59, 219, 209, 157, 142, 150, 122, 150, 137, 137, 137, 122, 156, 126, 215, 128,
    150, 150, 142, 150, 173, 150, 157, 150, 121, 140, 122, 122, 172, 137, 155, 137, 214, 219, 167, 176, 137, 140, 216, 139,
    123, 123, 118, 105, 138, 123, 180, 106, 130, 130, 121, 128, 151, 131, 122, 131, 127, 110, 117, 118, 171, 118, 136, 118,
    183, 188, 141, 158, 118, 110, 168, 120, 123, 123, 125, 105, 110, 104, 56, 56, 56, 180, 180, 130, 121, 130, 118, 131,
];
/// Character widths of U+2010 to U+203F.
#[rustfmt::skip]
const PUNCTUATION: [u8; 48] = [
    72, 72, 127, 100, 200, 200, 100, 100, 64, 64, 64, 64, 104, 104, 104, 104, 100, 100, 118, 118, 67, 133, 200, 64,
    0, 0, 0, 0, 0, 0, 0, 40, 255, 255, 45, 75, 104, 45, 75, 104, 68, 80, 80, 168, 97, 106, 100, 161,
];

const TABLES: [(u32, &[u8]); 3] = [(0x20, &LATIN), (0x370, &GREEK_AND_CYRILLIC), (0x2010, &PUNCTUATION)];

/// Combining marks, joiners, and direction marks: first and last of each range.
const WITHOUT_WIDTH: [[u32; 2]; 20] = [
    [0x0300, 0x036f],
    [0x0483, 0x0489],
    [0x0591, 0x05bd],
    [0x05bf, 0x05c7],
    [0x0610, 0x061a],
    [0x064b, 0x065f],
    [0x0670, 0x0670],
    [0x06d6, 0x06ed],
    [0x0941, 0x094d],
    [0x0e31, 0x0e31],
    [0x0e34, 0x0e3a],
    [0x0e47, 0x0e4e],
    [0x1ab0, 0x1aff],
    [0x200b, 0x200f],
    [0x202a, 0x202e],
    [0x2060, 0x2069],
    [0x20d0, 0x20ff],
    [0xfe00, 0xfe2f],
    [0x1f3fb, 0x1f3ff],
    [0xe0100, 0xe01ef],
];

/// Characters as wide as they are high (East Asian Width W and F, emoji): first and last of each range.
const WIDE: [[u32; 2]; 12] = [
    [0x1100, 0x115f],
    [0x2e80, 0x303e],
    [0x3041, 0xa4cf],
    [0xa960, 0xa97f],
    [0xac00, 0xd7a3],
    [0xf900, 0xfaff],
    [0xfe30, 0xfe6f],
    [0xff00, 0xff60],
    [0xffe0, 0xffe6],
    [0x1f300, 0x1f64f],
    [0x1f680, 0x1faff],
    [0x20000, 0x3fffd],
];

/// Right-to-left scripts: Hebrew, Arabic, Syriac, Thaana, N'Ko and others.
const FROM_THE_RIGHT: [[u32; 2]; 5] = [[0x0590, 0x08ff], [0xfb1d, 0xfdff], [0xfe70, 0xfefc], [0x10800, 0x10fff], [0x1e800, 0x1eeff]];

/// The width of a line of text, in the unit of the font size.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().map(char_width).sum::<f64>() * size
}

fn char_width(c: char) -> f64 {
    let code = u32::from(c);
    let in_table = |&(first, widths): &(u32, &[u8])| widths.get(code.checked_sub(first)? as usize).copied();
    match TABLES.iter().find_map(in_table) {
        Some(width) => f64::from(width) / 200.0,
        None if has_no_width(c) => 0.0,
        None if is_wide(c) => 1.0,
        None if is_in(&FROM_THE_RIGHT, c) && c < '\u{600}' => 0.56,
        // Joined letters are narrower than separate ones.
        None if is_in(&FROM_THE_RIGHT, c) => 0.47,
        None => 0.64,
    }
}

/// Whether the character has no width, such as a combining mark.
pub fn has_no_width(c: char) -> bool {
    is_in(&WITHOUT_WIDTH, c)
}

/// Whether the character is as wide as it is high; a line may break on either side of it.
pub fn is_wide(c: char) -> bool {
    is_in(&WIDE, c)
}

/// Whether a text is right-to-left. Its first letter decides, as with `dir="auto"`.
pub fn is_right_to_left(text: &str) -> bool {
    text.chars().find(|c| c.is_alphabetic()).is_some_and(|c| is_in(&FROM_THE_RIGHT, c))
}

fn is_in(ranges: &[[u32; 2]], c: char) -> bool {
    let code = u32::from(c);
    ranges.iter().any(|&[first, last]| (first..=last).contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_as_wide_as_in_dejavu_sans() {
        // Advance widths of DejaVuSans.ttf, 2048 units per em.
        let expected = (1401.0 + 1300.0 + 1126.0) / 2048.0;
        assert!((width("Abc", 1.0) - expected).abs() < 0.008, "{}", width("Abc", 1.0));
        assert_eq!(width("", 14.0), 0.0);
        assert!((width("\u{2026}", 10.0) - 10.0).abs() < 0.1);
    }

    #[test]
    fn wide_letters_take_a_square_and_marks_nothing() {
        assert_eq!(width("\u{6c49}\u{5b57}", 10.0), 20.0);
        assert_eq!(width("e\u{301}", 10.0), width("e", 10.0));
        assert!(width("\u{645}\u{631}", 10.0) > 7.0);
    }

    #[test]
    fn the_first_letter_decides_the_direction() {
        assert!(is_right_to_left("3. \u{645}\u{631}\u{62d}\u{628}\u{627} Tom"));
        assert!(!is_right_to_left("Tom \u{645}\u{631}"));
        assert!(!is_right_to_left("1 + 1"));
    }
}

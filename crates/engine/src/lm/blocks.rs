//! Work in blocks of bounded size.

use std::ops::Range;

/// Splits `range` into consecutive blocks of `size`. The last block may be shorter.
///
/// # Panics
/// If `size` is 0.
pub fn blocks(range: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(size).map(move |start| start..end.min(start + size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_tile_the_range() {
        assert_eq!(blocks(3..10, 3).collect::<Vec<_>>(), [3..6, 6..9, 9..10]);
        assert_eq!(blocks(4..4, 3).count(), 0);
    }
}

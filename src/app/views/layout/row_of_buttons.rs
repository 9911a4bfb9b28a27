//! Buttons in a row of which Tab reaches one; the arrow keys go to the others, as in the patterns of WAI-ARIA.

/// Where a key leads from the button at `at` of `n`: around, and to both ends.
pub fn place_after_key(key: &str, at: usize, n: usize) -> Option<usize> {
    match key {
        "ArrowRight" => Some((at + 1) % n),
        "ArrowLeft" => Some((at + n - 1) % n),
        "Home" => Some(0),
        "End" => Some(n - 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrow_keys_go_around() {
        let after = |key| place_after_key(key, 0, 3);
        assert_eq!(["ArrowRight", "ArrowLeft", "End", "Tab"].map(after), [Some(1), Some(2), Some(2), None]);
    }
}

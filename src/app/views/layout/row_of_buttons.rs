//! Keyboard navigation in a row of buttons, as in the WAI-ARIA patterns: Tab reaches one button, arrow keys move to the others.

/// Index of the button that a key moves to from `at`, of `n` buttons: arrows wrap around, Home and End go to the ends.
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

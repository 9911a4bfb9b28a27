//! Sorts by a number. All lists use one sort of indices, because the compiler would generate kilobytes of code for each type and rule.

/// The indices of `keys`, smallest key first. Equal keys keep their order.
pub fn ascending(keys: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
    order
}

/// The indices of `keys`, largest key first. Equal keys keep their order.
pub fn descending(keys: impl IntoIterator<Item = f64>) -> Vec<usize> {
    ascending(&keys.into_iter().map(|key| -key).collect::<Vec<f64>>())
}

/// `items`, largest key first. Items with equal keys keep their order.
pub fn by_descending<T: Clone>(items: &[T], key: impl Fn(&T) -> f64) -> Vec<T> {
    descending(items.iter().map(key)).into_iter().map(|i| items[i].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_keep_their_order() {
        assert_eq!(ascending(&[2.0, -1.0, 2.0, 0.0]), [1, 3, 0, 2]);
        assert_eq!(descending([2.0, -1.0, 2.0, 0.0]), [0, 2, 3, 1]);
        assert_eq!(by_descending(&["a", "ccc", "bb"], |text| text.len() as f64), ["ccc", "bb", "a"]);
    }
}

//! Fills templates.

/// Replaces each `{name}` in the template with the value of that name, or with nothing if there is none.
pub fn fill(template: &str, value: &dyn Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, name, after)) = split(rest) {
        filled.push_str(before);
        filled.push_str(&value(name).unwrap_or_default());
        rest = after;
    }
    filled + rest
}

/// Names of the placeholders in a template, in order.
pub(super) fn names(template: &str) -> impl Iterator<Item = &str> {
    let mut rest = template;
    std::iter::from_fn(move || {
        let (_, name, after) = split(rest)?;
        rest = after;
        Some(name)
    })
}

/// The text before the first placeholder, its name, and the text after it.
fn split(template: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = template.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_replaced_by_nothing() {
        let value = |name: &str| (name == "row").then(|| "{cell}".to_owned());
        assert_eq!(fill("{row} of {table}.", &value), "{cell} of .");
        assert_eq!(fill("no end {row", &value), "no end {row");
        assert_eq!(names("{row} of {table}, {row}").collect::<Vec<_>>(), ["row", "table", "row"]);
    }
}

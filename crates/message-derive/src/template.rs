//! Templates with named placeholders.

/// A text with placeholders, as in `format!`.
pub struct Template {
    /// The text without format specs: "has {found}" for "has {found:?}".
    pub text: String,
    pub placeholders: Vec<Placeholder>,
}

pub struct Placeholder {
    /// An identifier, or the number of a field.
    pub name: String,
    /// The format spec with its colon: ":?". May be empty.
    pub spec: String,
}

impl Template {
    /// Errors if a placeholder has no name, or if a brace does not belong to a placeholder.
    pub fn parse(literal: &str) -> Result<Self, &'static str> {
        let (mut text, mut placeholders) = (String::with_capacity(literal.len()), Vec::new());
        let mut rest = literal;
        while let Some((before, after)) = rest.split_once('{') {
            let (inside, after) = after.split_once('}').ok_or("a placeholder has no end")?;
            let (name, spec) = inside.split_at(inside.find(':').unwrap_or(inside.len()));
            if name.is_empty() {
                return Err("a placeholder needs a name, for translators: \"{found}\"");
            }
            if before.contains('}') || name.contains('{') {
                return Err("a brace belongs to no placeholder");
            }
            text.extend([before, "{", name, "}"]);
            placeholders.push(Placeholder { name: name.to_owned(), spec: spec.to_owned() });
            rest = after;
        }
        if rest.contains('}') { Err("a brace belongs to no placeholder") } else { Ok(Self { text: text + rest, placeholders }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_specs_are_no_part_of_text() {
        let template = Template::parse("row {row:?} has {0} cells").unwrap_or_else(|error| panic!("{error}"));
        let placeholders: Vec<_> = template.placeholders.iter().map(|found| (&*found.name, &*found.spec)).collect();
        assert_eq!((&*template.text, placeholders), ("row {row} has {0} cells", vec![("row", ":?"), ("0", "")]));
    }

    #[test]
    fn unnamed_and_broken_placeholders_are_rejected() {
        for literal in ["{} cells", "{:?}", "{row", "row}", "{a{b}", "}{a}"] {
            assert!(Template::parse(literal).is_err(), "{literal}");
        }
    }
}

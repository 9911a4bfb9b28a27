//! Finds the names of files in an answer. Names and answers in links are untrusted, so the cost does not depend on how long the names are.

use super::Group;

/// For each byte of `answer`, the first of the `groups` whose name starts there, in any case. Only names with an extension count, and only
/// if no letter or digit follows. Empty if no name has an extension.
///
/// Cost: at most two steps per character of the answer and name with an extension.
pub(super) fn file_names(groups: &[Group], answer: &str) -> Vec<Option<usize>> {
    let mut files = groups.iter().enumerate().filter(|(_, group)| has_extension(&group.name)).peekable();
    if files.peek().is_none() {
        return Vec::new();
    }
    let text = Lowercase::new(answer);
    let mut found = vec![None; answer.len()];
    for (g, Group { name, .. }) in files {
        for start in text.places(name).filter(|start| !answer[start + name.len()..].starts_with(char::is_alphanumeric)) {
            found[start].get_or_insert(g);
        }
    }
    found
}

/// The characters in lower case. A character may become several.
pub(super) fn lowercase(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase)
}

fn has_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && (1..=5).contains(&extension.len()) && extension.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

/// A text in lower case that knows where its characters come from.
struct Lowercase {
    chars: Vec<char>,
    /// For each of `chars`, and for the end: the byte where its original starts. `None` for the second and third character of one original.
    bytes: Vec<Option<usize>>,
}

impl Lowercase {
    fn new(text: &str) -> Self {
        let (mut chars, mut bytes) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len() + 1));
        for (at, original) in text.char_indices() {
            for (k, c) in original.to_lowercase().enumerate() {
                chars.push(c);
                bytes.push(Some(at).filter(|_| k == 0));
            }
        }
        bytes.push(Some(text.len()));
        Self { chars, bytes }
    }

    /// The bytes of the original where `name` starts, in any case, ascending. Places may overlap. A place has as many bytes as `name`.
    fn places(&self, name: &str) -> impl Iterator<Item = usize> {
        let pattern = Pattern::new(name);
        let mut matched = 0;
        self.chars.iter().zip(1..).filter_map(move |(&c, end)| {
            matched = pattern.matched(matched, c);
            let start = self.bytes[end - matched].filter(|_| matched == pattern.chars.len())?;
            (self.bytes[end]? - start == name.len()).then_some(start)
        })
    }
}

/// A name in lower case, prepared for the search by Knuth, Morris and Pratt (1977), which never goes back in the text.
struct Pattern {
    chars: Vec<char>,
    /// For each nonempty start of `chars`, the length of its longest end, shorter than itself, with which `chars` also starts.
    borders: Vec<usize>,
}

impl Pattern {
    fn new(name: &str) -> Self {
        let mut pattern = Self { chars: lowercase(name).collect(), borders: vec![0] };
        for at in 1..pattern.chars.len() {
            let border = pattern.matched(pattern.borders[at - 1], pattern.chars[at]);
            pattern.borders.push(border);
        }
        pattern
    }

    /// How many of `chars` the text ends with after `c`, if it ended with `matched` of them before.
    fn matched(&self, mut matched: usize, c: char) -> usize {
        while matched > 0 && self.chars.get(matched) != Some(&c) {
            matched = self.borders[matched - 1];
        }
        matched + usize::from(self.chars.get(matched) == Some(&c))
    }
}

#[cfg(test)]
mod tests {
    use super::super::GroupKind;
    use super::*;
    use crate::rng::Rng;

    fn groups(names: &[String]) -> Vec<Group> {
        let group = |name: &String| Group { name: name.clone(), kind: GroupKind::Passage, sources: [0, 1], effects: Vec::new() };
        names.iter().map(group).collect()
    }

    fn found(names: &[&str], answer: &str) -> Vec<(usize, usize)> {
        let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
        file_names(&groups(&names), answer).into_iter().enumerate().filter_map(|(at, g)| Some((at, g?))).collect()
    }

    /// [`file_names`] by its definition.
    fn compared(names: &[String], answer: &str) -> Vec<Option<usize>> {
        let is_at = |at: usize, name: &str| {
            let rest = answer.get(at..).unwrap_or_default();
            let is_start = rest.get(..name.len()).is_some_and(|start| lowercase(start).eq(lowercase(name)));
            has_extension(name) && is_start && !rest[name.len()..].starts_with(char::is_alphanumeric)
        };
        (0..answer.len()).map(|at| names.iter().position(|name| is_at(at, name))).collect()
    }

    #[test]
    fn names_need_extension_and_end() {
        assert_eq!(found(&["plan", "notes.md", "Notes.md"], "plan NOTES.md, notes.mdx"), [(5, 1)]);
        assert_eq!(found(&["b.c", "a.b.c"], "a.b.c"), [(0, 1), (2, 0)]);
        assert_eq!(found(&["ab.a"], "ab.ab.a"), [(3, 0)], "overlapping");
        let wrong = [".md", "a.", "a.abcdef", "a.\u{e4}", "a"];
        assert!(file_names(&groups(&wrong.map(String::from)), ".md a. a.abcdef a.\u{e4} a").is_empty());
    }

    #[test]
    fn places_have_as_many_bytes_as_name() {
        assert_eq!(found(&["\u{130}.a"], "\u{e9} \u{130}.A i\u{307}.a"), [(3, 0)], "one character becomes two");
        assert_eq!(found(&["k.a"], "\u{212a}.a K.a"), [(6, 0)], "the sign of Kelvin has three bytes");
    }

    #[test]
    fn random_names_are_found_as_defined() {
        let characters = ['a', 'A', 'b', '.', '.', '-', 'k', '\u{212a}', 'i', '\u{130}', '\u{307}', '\u{23a}', '\u{2c65}', '\u{3a3}'];
        let mut rng = Rng::new(1);
        let mut below = |n: usize| (rng.next_u64() % n as u64) as usize;
        let mut n_found = 0;
        for _ in 0..3000 {
            let kinds = 2 + below(characters.len() - 1);
            let mut text = |most: usize| (0..1 + below(most)).map(|_| characters[below(kinds)]).collect::<String>();
            let names: Vec<String> = (0..4).map(|_| text(4) + ".a").collect();
            let answer = (0..4).map(|k| text(6) + &names[k]).collect::<String>() + &text(20);
            let found = file_names(&groups(&names), &answer);
            assert_eq!(found, compared(&names, &answer), "{names:?} in {answer:?}");
            n_found += found.iter().flatten().count();
        }
        assert!(n_found > 3000, "{n_found}");
    }

    /// A comparison of every name at every place would take minutes.
    #[test]
    fn hostile_names_in_long_answer_are_found() {
        let names: Vec<String> = (0..100).map(|k| format!("{}{}.txt", "-".repeat(310 - k), "ab.".repeat(k / 50))).collect();
        let answer = "-".repeat(100_000) + ".txt";
        assert_eq!(file_names(&groups(&names), &answer).iter().flatten().count(), 50);
        let (names, answer) = (vec!["ab.".repeat(104) + "a"; 100], "ab.".repeat(33_333) + "a");
        let found = file_names(&groups(&names), &answer);
        let places: Vec<usize> = (0..found.len()).filter(|&at| found[at].is_some()).collect();
        assert_eq!(places, [answer.len() - 313]);
    }
}

//! Citations: names of the prompt's passages in the answer, and whether the cited passages support what cites them.

use std::ops::Range;

use super::file_names::{file_names, lowercase};
use super::groups::{label_and_number, number_of};
use super::{Document, Group};
use crate::number::SUPERSCRIPTS;

/// A passage supports a sentence if blanking it costs the sentence more than this, in nats per token: the unit of [`Group::effects`]. The
/// limit for [support](crate::shares::LITTLE_SUPPORT) does not fit, because it is for the largest drop of one token. Chosen on 72 sentences
/// of one model (`tests/golden/citations`).
pub const MIN_EFFECT: f64 = 0.35;
/// Maximum length of the text between brackets, in characters.
const MAX_INSIDE: usize = 200;
/// Maximum number of digits of a superscript number.
const MAX_DIGITS: usize = 4;

/// A citation of a passage by a generated sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    /// The sentence that cites: a 0-based row of the table.
    pub sentence: usize,
    /// Half-open span of the mark in the generation, in Unicode code points. A mark such as `[1, 2]` has several citations.
    pub span: [usize; 2],
    /// The cited passage, as an index of [`Document::groups`].
    pub group: usize,
    pub state: CitationState,
}

/// Whether the cited passage supports the sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CitationState {
    /// Blanking the cited passage costs the sentence more than [`MIN_EFFECT`], and no passage that the sentence does not cite costs more.
    Supported,
    /// It does not, but blanking this other group costs the sentence more, and more than [`MIN_EFFECT`].
    Misplaced(usize),
    /// No passage costs the sentence more than [`MIN_EFFECT`].
    Unsupported,
    /// The effects were not measured.
    Unmeasured,
}

/// A place in the answer that cites a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CitationMark {
    /// The bytes of the generation.
    pub bytes: Range<usize>,
    /// The cited passage, as an index of the groups.
    pub group: usize,
}

/// The citations of a document, in order. The cited sentence, without its marks, is what a passage must support. A mark at the start of a
/// sentence belongs to the sentence before it on the same line, unless the text goes on in lower case. Empty if words are explained.
pub fn citations(document: &Document) -> Vec<Citation> {
    let (generation, groups) = (&document.generation, &document.groups);
    if groups.is_empty() || document.unit.of_answer().is_word() {
        return Vec::new();
    }
    let marks = citation_marks(groups, &generation.text);
    let first_rows = document.first_rows_of_answers();
    let starts: Vec<usize> = generation.text.char_indices().map(|(start, _)| start).collect();
    let code_point = |byte: usize| starts.partition_point(|&start| start < byte);
    let (mut found, mut rest) = (Vec::with_capacity(marks.len()), &marks[..]);
    for (i, &[start, end]) in generation.sentences.iter().enumerate() {
        let byte = |at: usize| starts.get(at).copied().unwrap_or(generation.text.len());
        let (inside, after) = rest.split_at(rest.partition_point(|mark| mark.bytes.start < byte(end)));
        rest = after;
        let are_of_previous = are_of_previous(&generation.text, byte(start)..byte(end), inside);
        for (CitationMark { bytes, group }, is_of_previous) in inside.iter().zip(are_of_previous) {
            let sentence = i - usize::from(is_of_previous && first_rows.binary_search(&i).is_err());
            let span = [code_point(bytes.start), code_point(bytes.end)];
            found.push(Citation { sentence, span, group: *group, state: CitationState::Unmeasured });
        }
    }
    if document.explains_earlier_answers() {
        // An earlier answer cannot cite a passage after it. It means one with the same name before it.
        let (n_prompt, places) = (document.prompt.sentences.len(), document.places());
        found.retain(|citation| places[groups[citation.group].sources[0]] < places[n_prompt + citation.sentence]);
    }
    // A mark at the start of a sentence may belong to the one before it, so the marks of a sentence are next to each other here.
    for of_sentence in found.chunk_by_mut(|a, b| a.sentence == b.sentence) {
        let Some(sentence) = of_sentence.first().map(|citation| citation.sentence) else { continue };
        // A hostile document may cite many passages very often, so compute each state once.
        let mut cited: Vec<usize> = of_sentence.iter().map(|citation| citation.group).collect();
        cited.sort_unstable();
        cited.dedup();
        let states = states(groups, sentence, &cited);
        for citation in of_sentence {
            citation.state = cited.binary_search(&citation.group).map_or(CitationState::Unmeasured, |at| states[at]);
        }
    }
    found
}

/// The states of the citations in a sentence that cites the groups `cited`, which ascend. The strongest group that it does not cite
/// decides, because a sentence may need several of those that it cites. Time: O((groups + cited) log cited).
fn states(groups: &[Group], sentence: usize, cited: &[usize]) -> Vec<CitationState> {
    let effects: Option<Vec<f64>> = groups.iter().map(|group| group.effect(sentence)).collect();
    let Some(effects) = effects else { return vec![CitationState::Unmeasured; cited.len()] };
    let is_needed = |&g: &usize| effects[g] > MIN_EFFECT;
    let strongest = |others: &mut dyn Iterator<Item = usize>| others.filter(is_needed).max_by(|&a, &b| effects[a].total_cmp(&effects[b]));
    let not_cited = strongest(&mut (0..effects.len()).filter(|g| cited.binary_search(g).is_err()));
    let of_all = strongest(&mut (0..effects.len()));
    let state = |&own: &usize| match not_cited.filter(|&other| effects[other] > effects[own]) {
        Some(other) => CitationState::Misplaced(other),
        None if is_needed(&own) => CitationState::Supported,
        None => of_all.map_or(CitationState::Unsupported, CitationState::Misplaced),
    };
    cited.iter().map(state).collect()
}

/// Whether each of the `marks` in a sentence belongs to the sentence before it.
fn are_of_previous(text: &str, sentence: Range<usize>, marks: &[CitationMark]) -> Vec<bool> {
    // The texts between marks: one before each mark, and one after the last.
    let ends = marks.iter().map(|mark| mark.bytes.start).chain([sentence.end]);
    let starts = std::iter::once(sentence.start).chain(marks.iter().map(|mark| mark.bytes.end));
    let gaps: Vec<&str> = starts.zip(ends).map(|(start, end)| text.get(start..end).unwrap_or_default()).collect();
    let says = |gap: &&str| gap.contains(char::is_alphanumeric);
    let first = gaps.iter().position(says).unwrap_or(gaps.len());
    let starts_line = sentence.start == 0 || text[..sentence.start].ends_with('\n');
    // The first visible character after each mark, from the last mark to the first.
    let mut next = None;
    let next_of_gap = |gap: &&str| {
        next = gap.trim_start().chars().next().or(next);
        next
    };
    let mut visible: Vec<Option<char>> = gaps.iter().skip(1).rev().map(next_of_gap).collect();
    visible.reverse();
    let is_of_previous = |(k, next): (usize, Option<char>)| {
        // Text before the mark is in the gaps up to the one with the same index.
        first > k && (first == gaps.len() || !starts_line && !next.is_some_and(is_lower))
    };
    visible.into_iter().enumerate().map(is_of_previous).collect()
}

/// The places where `answer` cites one of the groups: `[1]`, `(1)`, `[1, 2]`, a superscript number, `Source 1`, a name in brackets, or a
/// file name. In order; marks of several passages occur several times.
pub fn citation_marks(groups: &[Group], answer: &str) -> Vec<CitationMark> {
    if groups.is_empty() {
        return Vec::new();
    }
    let names = Names::new(groups, answer);
    let (mut marks, mut at) = (Vec::new(), 0);
    while let Some(next) = answer[at..].chars().next() {
        match mark_at(&names, answer, at, next) {
            Some((length, cited)) => {
                marks.extend(cited.into_iter().map(|group| CitationMark { bytes: at..at + length, group }));
                at += length;
            }
            None => at += next.len_utf8(),
        }
    }
    marks
}

/// The names of the groups, prepared for the search in an answer.
struct Names<'a> {
    groups: &'a [Group],
    /// The names in lower case.
    lowercase: Vec<String>,
    /// The numbers of the names that have one.
    numbers: Vec<Option<usize>>,
    /// See [`file_names`].
    files: Vec<Option<usize>>,
}

impl<'a> Names<'a> {
    fn new(groups: &'a [Group], answer: &str) -> Self {
        Self {
            groups,
            lowercase: groups.iter().map(|group| lowercase(&group.name).collect()).collect(),
            numbers: groups.iter().map(|group| number_of(&group.name)).collect(),
            files: file_names(groups, answer),
        }
    }

    /// The only group that `name` can mean: the one with this name, or else the one with this number.
    fn named(&self, name: &str) -> Option<usize> {
        let lowercase: String = lowercase(name).collect();
        let has_name = self.lowercase.iter().position(|known| *known == lowercase);
        has_name.or_else(|| {
            let number = number_of(name)?;
            self.numbered(number)
        })
    }

    /// The only group with this number. `None` if there are several.
    fn numbered(&self, number: usize) -> Option<usize> {
        let mut found = (0..self.numbers.len()).filter(|&g| self.numbers[g] == Some(number));
        found.next().filter(|_| found.next().is_none())
    }

    /// The file name that starts at byte `at` of the answer: its length, and its group.
    fn file_name(&self, at: usize) -> Option<(usize, Vec<usize>)> {
        let group = self.files.get(at).copied().flatten()?;
        Some((self.groups[group].name.len(), vec![group]))
    }
}

/// The mark that starts at byte `at` with the character `first`: its length in bytes, and the cited groups.
fn mark_at(names: &Names<'_>, answer: &str, at: usize, first: char) -> Option<(usize, Vec<usize>)> {
    let (before, rest) = answer.split_at(at);
    match first {
        '[' => enclosed(names, rest, ['[', ']']).filter(|(length, _)| !rest[*length..].starts_with('(')),
        '(' => {
            // A number in parentheses at the start of a line numbers a list.
            let line = before.trim_end_matches(|c: char| c.is_whitespace() && c != '\n');
            let starts_line = line.is_empty() || line.ends_with('\n');
            enclosed(names, rest, ['(', ')'])
                .filter(|(length, _)| !(starts_line && rest[1..length - 1].bytes().all(|b| b.is_ascii_digit())))
        }
        _ if SUPERSCRIPTS.contains(&first) => superscript(names, before, rest),
        _ if before.ends_with(char::is_alphanumeric) => None,
        _ => labeled(names, rest).or_else(|| names.file_name(at)),
    }
}

/// Names between brackets, separated by commas or semicolons. `None` if one of them is not the name of a group.
fn enclosed(names: &Names<'_>, rest: &str, [opening, closing]: [char; 2]) -> Option<(usize, Vec<usize>)> {
    let mut ends = rest.char_indices().skip(1).take(MAX_INSIDE).filter(|(_, c)| [closing, '\n', opening].contains(c));
    let (end, _) = ends.next().filter(|(_, c)| *c == closing)?;
    let inside = &rest[1..end];
    let whole = names.named(inside).map(|group| vec![group]);
    let cited = whole.or_else(|| inside.split([',', ';']).map(|name| names.named(name.trim())).collect())?;
    Some((end + closing.len_utf8(), cited))
}

/// A superscript number after a word. One after a short word is a unit or a power: km\u{b2}, x\u{b2}.
fn superscript(names: &Names<'_>, before: &str, rest: &str) -> Option<(usize, Vec<usize>)> {
    let digit = |c: char| SUPERSCRIPTS.iter().position(|&superscript| superscript == c);
    let digits: Vec<usize> = rest.chars().map_while(digit).take(MAX_DIGITS).collect();
    let length: usize = rest.chars().take(digits.len()).map(char::len_utf8).sum();
    let word = before.chars().rev().take(3).take_while(|c| c.is_alphanumeric()).count();
    let is_power = (1..=2).contains(&word) || before.ends_with(char::is_numeric);
    let number = digits.iter().fold(0, |number, digit| 10 * number + digit);
    Some((length, vec![names.numbered(number)?])).filter(|_| !is_power)
}

/// "Source 1", where the text goes on after the number.
fn labeled(names: &Names<'_>, rest: &str) -> Option<(usize, Vec<usize>)> {
    let (length, _) = label_and_number(rest)?;
    let is_whole = !rest[length..].starts_with(char::is_alphanumeric);
    Some((length, vec![names.named(&rest[..length])?])).filter(|_| is_whole)
}

/// Whether the letter has an uppercase form. `char::is_lowercase` needs another table, which would make the page larger.
fn is_lower(c: char) -> bool {
    !c.to_uppercase().eq([c])
}

#[cfg(test)]
mod tests {
    use super::super::example::{example, with_explained_turns};
    use super::super::{GroupKind, Passage};
    use super::*;

    fn groups(names: &[&str]) -> Vec<Group> {
        let group =
            |(j, name): (usize, &&str)| Group { name: (*name).into(), kind: GroupKind::Passage, sources: [j, j + 1], effects: Vec::new() };
        names.iter().enumerate().map(group).collect()
    }

    fn marks(names: &[&str], answer: &str) -> Vec<(String, usize)> {
        citation_marks(&groups(names), answer).into_iter().map(|mark| (answer[mark.bytes].to_owned(), mark.group)).collect()
    }

    fn assert_marks(names: &[&str], answer: &str, expected: &[(&str, usize)]) {
        let expected: Vec<(String, usize)> = expected.iter().map(|(mark, group)| ((*mark).to_owned(), *group)).collect();
        assert_eq!(marks(names, answer), expected, "{answer:?}");
    }

    #[test]
    fn citations_name_passages_that_exist() {
        let names = ["1", "2", "13"];
        assert_marks(&names, "A [1]. B (2). C [13][2]", &[("[1]", 0), ("(2)", 1), ("[13]", 2), ("[2]", 1)]);
        assert_marks(&names, "A [1, 13]; b[2]", &[("[1, 13]", 0), ("[1, 13]", 2), ("[2]", 1)]);
        assert_marks(&names, "Nuts.\u{b2} Zo\u{eb} eats\u{b9}\u{b3}", &[("\u{b2}", 1), ("\u{b9}\u{b3}", 2)]);
        assert_marks(&names, "Source 2 and source 1: so. (Document 13)", &[("Source 2", 1), ("source 1", 0), ("(Document 13)", 2)]);
        assert_marks(&["Source 1", "Source 2"], "By [2] and Source 1.", &[("[2]", 1), ("Source 1", 0)]);
        assert_marks(
            &["notes.md", "A plan"],
            "See NOTES.md, [a plan], the plan (notes.md).",
            &[("NOTES.md", 0), ("[a plan]", 1), ("(notes.md)", 0)],
        );
    }

    #[test]
    fn other_numbers_are_not_citations() {
        let texts = [
            "[3]",
            "[1](a)",
            "[1, 3]",
            "(1) One\n (2) Two",
            "5 km\u{b2}, x\u{b9}, 10\u{b2}",
            "Source 12",
            "resource 1",
            "[\n1]",
            "[1",
            "()",
        ];
        for text in texts {
            assert_marks(&["1", "2"], text, &[]);
        }
        assert_marks(&["Source 1", "Document 1"], "[1] Document 1", &[("Document 1", 1)]);
        assert_marks(&["notes.md", "A plan"], "A plan of mynotes.md, notes.mdx", &[]);
        assert_marks(&[], "[1]", &[]);
    }

    #[test]
    fn hostile_answer_has_only_real_citations() {
        let names: Vec<String> = (0..100).map(|k| "-".repeat(300) + [".txt", "7"][k % 2]).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for hostile in ["-", "[", "[-", "(", "\u{b9}", "[1]", "source 1"] {
            let answer = hostile.repeat(100_000) + "\n [" + names[1] + "] " + names[0];
            let found: Vec<usize> = citation_marks(&groups(&names), &answer).into_iter().map(|mark| mark.group).collect();
            assert_eq!(found, [0], "{hostile}: the text between brackets is too long");
        }
    }

    fn cited(answer: &str, sentences: &[usize]) -> Vec<usize> {
        let mut start = 0;
        let spans: Vec<Range<usize>> = sentences.iter().map(|&end| std::mem::replace(&mut start, end)..end).collect();
        let generation = Passage::new(answer, &spans, vec![1; spans.len()]).into();
        let document = Document { generation, groups: groups(&["1", "2"]), ..example() };
        citations(&document).into_iter().map(|citation| citation.sentence).collect()
    }

    #[test]
    fn mark_belongs_to_sentence_that_it_ends() {
        assert_eq!(cited("A [1]. B.", &[7, 9]), [0]);
        assert_eq!(cited("A. [1] B. [2]", &[3, 10, 13]), [0, 1], "after the full stop");
        assert_eq!(cited("A. [1][2] B.", &[3, 12]), [0, 0]);
        assert_eq!(cited("A. [1] says b.", &[3, 14]), [1]);
        assert_eq!(cited("A.\n[1] B.", &[3, 9]), [1], "the start of a line");
        assert_eq!(cited("A.\n[1]", &[3, 6]), [0], "nothing else to support");
        assert_eq!(cited("[1] B.", &[6]), [0]);
        assert_eq!(cited("Zo\u{eb}. (2) A.", &[6, 12]), [0]);
    }

    #[test]
    fn answers_cite_only_what_comes_before_them() {
        let passage =
            |sources: [usize; 2]| Group { name: (sources[0] + 1).to_string(), kind: GroupKind::Passage, sources, effects: vec![1.0; 4] };
        let text = "So [1] and [3].\nB.\n\n[1]. C.";
        let generation = Passage::new(text, &[0..16, 16..20, 20..25, 25..27], vec![1; 4]).into();
        let groups = vec![passage([0, 1]), passage([2, 3])];
        let found = citations(&Document { generation, groups, ..with_explained_turns() });
        let found: Vec<(usize, usize)> = found.into_iter().map(|citation| (citation.sentence, citation.group)).collect();
        assert_eq!(found, [(0, 0), (2, 0)], "the third passage is new, and a mark stays in its answer");
    }

    #[test]
    fn state_compares_cited_passage_with_others() {
        use CitationState::{Misplaced, Supported, Unmeasured, Unsupported};
        let mut groups = groups(&["1", "2", "3"]);
        assert_eq!(states(&groups, 0, &[0]), [Unmeasured]);
        let mut states = |effects: [f64; 3], cited: &[usize]| {
            groups.iter_mut().zip(effects).for_each(|(group, effect)| group.effects = vec![effect]);
            states(&groups, 0, cited)
        };
        let effects = [0.75, 0.0, 0.5];
        assert_eq!([0, 1, 2].map(|own| states(effects, &[own])[0]), [Supported, Misplaced(0), Misplaced(0)]);
        assert_eq!(states(effects, &[0, 2]), [Supported; 2], "a sentence may need both");
        assert_eq!(states(effects, &[0, 1]), [Supported, Misplaced(2)]);
        assert_eq!(states(effects, &[1, 2]), [Misplaced(0); 2]);
        assert_eq!(states([MIN_EFFECT, -2.0, 0.0], &[0, 1]), [Unsupported; 2]);
    }

    /// Finding the strongest uncited passage anew for each citation would compare 10^12 numbers.
    #[test]
    fn strongest_uncited_passage_is_found_once_per_sentence() {
        let passage = |effect: f64| Group { name: "1".into(), kind: GroupKind::Passage, sources: [0, 1], effects: vec![effect] };
        let groups: Vec<Group> = (0..10_000).map(|k| passage(1.0 + f64::from(k))).collect();
        let cited: Vec<usize> = (0..groups.len() - 1).collect();
        assert!(states(&groups, 0, &cited).iter().all(|&state| state == CitationState::Misplaced(groups.len() - 1)));
    }

    #[test]
    fn spans_of_citations_are_code_points() {
        let document = Document { groups: groups(&["1"]), ..example() };
        let generation = Passage::new("Zo\u{eb} eats [1].", std::slice::from_ref(&(0..14)), vec![4]).into();
        let citation = Citation { sentence: 0, span: [9, 12], group: 0, state: CitationState::Unmeasured };
        assert_eq!(citations(&Document { generation, ..document.clone() }), [citation]);
        assert!(citations(&document).is_empty());
    }
}

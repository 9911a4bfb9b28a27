//! Rewrites Jinja2's dialect, as transformers extends it, into the syntax that minijinja reads.

use std::ops::Range;

use minijinja::machinery::{Span, Token};

/// Python string escapes that minijinja reads differently, each with a spelling that it reads as Python does. Python does not know the
/// escape `\/`, so both characters stay.
const ESCAPES: [(&str, &str); 4] = [("\\/", "\\\\/"), ("\\a", "\\x07"), ("\\v", "\\x0b"), ("\\\n", "")];

/// A template that is rewritten token by token.
pub struct Rewritten<'s> {
    source: &'s str,
    /// Replacements for parts of the source.
    edits: Vec<(Range<usize>, String)>,
    /// 1-based position of the last token in its tag. `None` outside of statements.
    place: Option<usize>,
    tag: Tag,
    brackets: usize,
    /// Start of an expression that may be a tuple without brackets, and whether it is one.
    tuple: Option<(usize, bool)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    Loop,
    /// A block tag, whose name is left out.
    Block,
    Other,
}

impl<'s> Rewritten<'s> {
    pub fn new(source: &'s str) -> Self {
        Self { source, edits: Vec::new(), place: None, tag: Tag::Other, brackets: 0, tuple: None }
    }

    /// Processes the next token.
    pub fn push(&mut self, token: &Token<'_>, span: &Span) {
        let span = span.start_offset as usize..span.end_offset as usize;
        self.place = match token {
            Token::BlockStart => Some(0),
            Token::BlockEnd => None,
            _ => self.place.map(|place| place + 1),
        };
        match token {
            Token::BlockStart => self.tag = Tag::Other,
            Token::Ident(name) if self.place == Some(1) => self.begin_tag(name, span.clone()),
            Token::Ident(_) if self.tag == Tag::Block && self.place.is_some() => self.replace(span.clone(), ""),
            Token::Str(_) | Token::String(_) if self.source[span.clone()].contains('\\') => {
                self.edits.push((span.clone(), unescaped(&self.source[span.clone()])));
            }
            // Jinja2 keeps the line end after the tag of a raw block.
            Token::TemplateData(text) if self.source[span.clone()].starts_with('\n') && !text.starts_with('\n') => {
                self.replace(span.start..span.start, "\n");
            }
            _ => {}
        }
        self.find_tuple(token, &span);
    }

    pub fn into_text(mut self) -> String {
        self.edits.sort_by_key(|(span, _)| span.start);
        let mut text = String::with_capacity(self.source.len());
        let mut end = 0;
        for (span, by) in self.edits {
            text.push_str(&self.source[end..span.start]);
            text.push_str(&by);
            end = span.end;
        }
        text + &self.source[end..]
    }

    fn replace(&mut self, span: Range<usize>, by: &str) {
        self.edits.push((span, by.to_owned()));
    }

    /// Starts a tag. `generation` and `block` become `with`: their content has its own variables and is written in place.
    fn begin_tag(&mut self, name: &str, span: Range<usize>) {
        self.tag = match name {
            "for" => Tag::Loop,
            "block" | "endblock" => Tag::Block,
            _ => Tag::Other,
        };
        match name {
            "generation" | "block" => self.replace(span, "with"),
            "endgeneration" | "endblock" => self.replace(span, "endwith"),
            _ => {}
        }
    }

    /// Adds brackets around a tuple without brackets: `{{ 1, 2 }}`, `{% for x in 1, 2 %}`.
    fn find_tuple(&mut self, token: &Token<'_>, span: &Range<usize>) {
        let is_in_loop = self.place.is_some() && self.tag == Tag::Loop;
        match token {
            Token::BlockStart | Token::VariableStart => {
                self.brackets = 0;
                self.tuple = matches!(token, Token::VariableStart).then_some((span.end, false));
            }
            Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => self.brackets += 1,
            Token::ParenClose | Token::BracketClose | Token::BraceClose => self.brackets = self.brackets.saturating_sub(1),
            _ if self.brackets > 0 => {}
            Token::Comma => self.tuple = self.tuple.map(|(start, _)| (start, true)),
            Token::Ident("in") if is_in_loop && self.tuple.is_none() => self.tuple = Some((span.end, false)),
            Token::Ident("if" | "recursive") if !is_in_loop => {}
            Token::Ident("if" | "recursive") | Token::BlockEnd | Token::VariableEnd => {
                if let Some((start, true)) = self.tuple.take() {
                    self.replace(start..start, "(");
                    self.replace(span.start..span.start, ")");
                }
            }
            _ => {}
        }
    }
}

/// The character whose code point has the first eight characters as hexadecimal digits. `None` if they are not such digits, or too large.
fn code_point(digits: &str) -> Option<char> {
    let digits = digits.get(..8).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

/// Rewrites a quoted text without the escapes that minijinja reads differently.
fn unescaped(quoted: &str) -> String {
    let mut text = String::with_capacity(quoted.len());
    let mut rest = quoted;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let character = rest.strip_prefix("\\U").and_then(code_point);
        let known = ESCAPES.iter().find(|(from, _)| rest.starts_with(from));
        let length = match (character, known) {
            (Some(character), _) => {
                text.push(character);
                10
            }
            (None, Some((from, to))) => {
                text.push_str(to);
                from.len()
            }
            // The backslash and the character after it.
            (None, None) => {
                let length = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                text.push_str(&rest[..length]);
                length
            }
        };
        rest = &rest[length..];
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_need_hexadecimal_digits() {
        assert_eq!(unescaped(r"'\U0001f600'"), "'\u{1f600}'");
        for text in [r"'\U+0000041'", r"'\U0000004'", r"'\U00110000'"] {
            assert_eq!(unescaped(text), text);
        }
    }
}

//! Parses a template's source into a tree. Checks size and nesting first, because parsing and dropping the tree are recursive.

use minijinja::machinery::{self, Token, ast::Stmt};
use minijinja::syntax::SyntaxConfig;

use super::budget::Budget;
use super::dialect::Rewritten;
use super::error::{Result, refused};
use super::renderer::Renderer;
use super::value::Value;

const NAME: &str = "chat_template";
/// Maximum bytes of a template, because minijinja counts columns with 16 bits. The longest of llama.cpp's 70 test templates has 17,000.
const MAX_SOURCE: usize = 60_000;
/// Maximum tokens in one tag. The longest tag in those templates has 57. A chain of operators is a tree as deep as the chain is long.
const MAX_TAG: usize = 500;
/// Maximum `elif` tags in the whole template. Those templates have up to 20. A chain of them is a tree as deep as the chain is long.
const MAX_ELIFS: usize = 100;
/// Maximum nesting of blocks and brackets. Those templates have up to 12.
const MAX_NESTING: usize = 24;

/// A template whose syntax is valid. It has at most 60,000 bytes, 500 tokens in a tag, 100 `elif` tags, and blocks and brackets nested at
/// most 24 deep.
pub struct Source(String);

impl Source {
    /// Checks the syntax and the size of a template. Errors if either is refused. Undefined variables, unknown filters and wrong types are
    /// errors of [`Source::render`].
    pub fn new(template: &str) -> Result<Self> {
        if template.len() > MAX_SOURCE {
            return refused("it is too long");
        }
        let source = Self(checked(&template.replace("\r\n", "\n").replace('\r', "\n"))?);
        source.parsed()?;
        Ok(source)
    }

    /// Whether the source contains these words.
    pub fn contains(&self, words: &str) -> bool {
        self.0.contains(words)
    }

    /// Renders the template with these variables. If several have the same name, the first one counts. The template has no other variables
    /// and no functions: see [`functions`](crate::functions). Errors if it exceeds the budget or does what Jinja2 or this crate refuses.
    pub fn render<'t>(&'t self, globals: Vec<(&'t str, Value)>, budget: Budget) -> Result<String> {
        let template = self.parsed()?;
        let takes_more = self.contains("varargs") || self.contains("kwargs");
        Renderer::new(budget, globals, takes_more).render(&template)
    }

    fn parsed(&self) -> Result<Stmt<'_>> {
        Ok(machinery::parse(&self.0, NAME, syntax()?)?)
    }
}

fn syntax() -> Result<SyntaxConfig> {
    Ok(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?)
}

/// The template in minijinja's syntax. Errors if it is too large.
fn checked(template: &str) -> Result<String> {
    let mut size = Size::default();
    let mut rewritten = Rewritten::new(template);
    for token in machinery::tokenize(template, false, syntax()?) {
        let (token, span) = token?;
        size.count(&token);
        rewritten.push(&token, &span);
        let facts = [
            (size.tag <= MAX_TAG, "a tag of it is too long"),
            (size.elifs <= MAX_ELIFS, "it has too many conditions"),
            (size.blocks + size.brackets <= MAX_NESTING, "it nests too deep"),
        ];
        if let Some((_, what)) = facts.iter().find(|(holds, _)| !holds) {
            return refused(*what);
        }
    }
    Ok(rewritten.into_text())
}

/// Size of the template that has been read, and nesting that has not ended.
#[derive(Default)]
struct Size {
    /// Number of tokens in the current tag.
    tag: usize,
    brackets: usize,
    blocks: usize,
    elifs: usize,
    /// Whether the tag is a `set` without a `=` so far. Such a tag starts a block.
    is_set_block: bool,
    /// Whether the tag is a statement, `{% .. %}`. Only its first word can begin or end a block.
    is_statement: bool,
}

impl Size {
    fn count(&mut self, token: &Token<'_>) {
        self.tag += 1;
        match token {
            Token::VariableStart | Token::BlockStart => {
                let is_statement = matches!(token, Token::BlockStart);
                *self = Self { tag: 0, brackets: 0, is_statement, ..*self };
            }
            Token::Ident(name) if self.tag == 1 && self.is_statement => self.count_block(name),
            Token::Assign => self.is_set_block = false,
            Token::BlockEnd => self.blocks += usize::from(std::mem::take(&mut self.is_set_block)),
            Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => self.brackets += 1,
            Token::ParenClose | Token::BracketClose | Token::BraceClose => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
    }

    /// Counts a tag by its first word.
    fn count_block(&mut self, name: &str) {
        match name {
            "if" | "for" | "macro" | "call" | "filter" | "with" | "block" | "autoescape" | "generation" => self.blocks += 1,
            "set" => self.is_set_block = true,
            "elif" => self.elifs += 1,
            _ if name.starts_with("end") => self.blocks = self.blocks.saturating_sub(1),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_statements_change_block_nesting() {
        let nested = |text: &str| Source::new(&format!("{}{}", format!("{{% if 1 %}}{text}").repeat(30), "{% endif %}".repeat(30)));
        assert!(nested("{{ end_of_turn }}").is_err_and(|error| error.to_string() == "it nests too deep"));
        assert!(Source::new(&"{{ generation }}".repeat(30)).is_ok(), "a variable with the name of a block");
    }
}

//! Renders Jinja templates like Python's Jinja2, within limits, because models come from untrusted sources and contain templates. minijinja
//! parses a template into a tree, and this crate evaluates the tree. Every step, every byte and every nesting level is paid for in advance
//! (`budget`), so no template can exceed its time, memory or stack, and no template can panic.
//!
//! Features that chat templates do not use are missing: inheritance and inclusion of other templates, automatic escaping.

mod arguments;
mod attributes;
mod budget;
mod compare;
mod date;
mod dialect;
mod error;
mod expressions;
mod filters;
mod lists;
mod maps;
mod methods;
mod operators;
mod predicates;
mod renderer;
mod scopes;
mod syntax;
mod texts;
mod value;
mod write;

pub use self::budget::Budget;
pub use self::date::Date;
pub use self::error::JinjaError;
pub use self::syntax::Source;
pub use self::value::{Cycler, Function, List, ListKind, Loop, Map, Value};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_rendered_within_the_budget() {
        let source = Source::new("{% for word in words %}{{ word | upper }} {% endfor %}").unwrap();
        let render = |bytes| {
            let budget = Budget::new(bytes);
            let words = Value::list(["so", "it", "is"].map(Value::text).into(), &budget)?;
            source.render(vec![("words", words)], budget)
        };
        assert_eq!(render(1 << 20).unwrap(), "SO IT IS ");
        assert!(render(100).is_err());
    }
}

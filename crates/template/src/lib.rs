#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

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
pub use self::value::{Cycler, Function, List, Loop, Map, Value, functions};

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

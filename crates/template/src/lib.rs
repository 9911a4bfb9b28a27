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
mod numbers;
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

    /// Renders an expression 100 times, with texts of 100,000 bytes.
    fn render_100_times(expression: &str) -> Result<String, JinjaError> {
        const SIZE: usize = 100_000;
        let whole = Budget::new(usize::MAX);
        let globals = vec![
            ("x", Value::text("x".repeat(SIZE))),
            ("braces", Value::text("{a}".repeat(SIZE / 3))),
            ("map", Value::map(Vec::new(), &whole)?),
            ("n", Value::list(vec![Value::Int(0); 100], &whole)?),
        ];
        let source = Source::new(&format!("{{% for i in n %}}{{% set y = {expression} %}}{{% endfor %}}"))?;
        source.render(globals, Budget::new(1 << 20))
    }

    #[test]
    fn reading_text_is_paid_for() {
        assert_eq!(render_100_times("x"), Ok(String::new()));
        let expressions = [
            "x.isascii()",
            "x.isdigit()",
            "x.casefold()",
            "x.removeprefix('b')",
            "x.removesuffix('b')",
            "x | int",
            "x | int(base=16)",
            "x | safe | int",
            "x | safe | float",
            "x | float",
            "braces.format(a='')",
            "[map] | map(attribute=x) | list",
            "[map] | sort(attribute=x)",
            "[map] | sort(attribute=',' ~ x)",
            &format!("'{}'", "x".repeat(50_000)),
        ];
        for expression in expressions {
            assert_eq!(render_100_times(expression), Err(JinjaError::TooMuchWork), "{}", &expression[..expression.len().min(40)]);
        }
    }

    #[test]
    fn first_of_equal_names_is_formatted() {
        let source = Source::new("{{ '{a}{b}'.format(a=1, b=2, **{'a': 3}) }}").unwrap();
        assert_eq!(source.render(Vec::new(), Budget::new(1 << 20)).unwrap(), "12");
    }
}

//! Renders a chat template with variables from a JSON object, on a fixed day:
//! `cargo run --example render -- TEMPLATE VARIABLES.json`. Without arguments, it renders a short template.

use std::error::Error;
use std::fs;

use glasscage_template::{Budget, Date, Source, Value, functions};

const TEMPLATE: &str = "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}{% endfor %}<|assistant|>";
const VARIABLES: &str = r#"{"messages": [{"role": "user", "content": "How many figs?"}]}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = std::env::args().skip(1).map(fs::read_to_string);
    let mut next_or = |default: &str| files.next().unwrap_or_else(|| Ok(default.to_owned()));
    let (template, variables) = (next_or(TEMPLATE)?, next_or(VARIABLES)?);

    let template = Source::new(&template)?;
    let budget = Budget::new(1 << 20);
    let json: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&variables)?;
    let mut variables = Vec::new();
    for (name, value) in &json {
        variables.push((name.as_str(), Value::from_json(value, &budget)?));
    }
    variables.extend(functions(Date::new(2026, 11, 28).ok_or("a day that does not exist")?));
    println!("{}", template.render(variables, budget)?);
    Ok(())
}

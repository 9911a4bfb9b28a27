//! The tables of options in `docs/command-line.md`, generated from clap's definition.

use std::fmt::Write;

use clap::builder::PossibleValue;
use clap::{Arg, Command, CommandFactory};

use crate::Cli;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/command-line.md");
const MARKER: &str = "<!-- options: `GLASSCAGE_WRITE_OPTIONS=1 cargo test --package glasscage-cli options` writes all below -->\n";

#[test]
fn documentation_lists_all_options() {
    let page = std::fs::read_to_string(PAGE).expect("docs/command-line.md");
    let (text, tables) = page.split_once(MARKER).expect("the marker above the tables");
    let written = command().get_subcommands().filter(|command| command.get_name() != "help").map(section).collect::<String>();
    if std::env::var_os("GLASSCAGE_WRITE_OPTIONS").is_some() {
        std::fs::write(PAGE, format!("{text}{MARKER}{written}")).expect("the page is written");
    } else {
        assert_eq!(tables, written, "write them again: {MARKER}");
    }
}

#[test]
fn every_option_has_help() {
    let command = command();
    let silent = command.get_subcommands().flat_map(|command| {
        let without_help = options(command).filter(|option| option.get_help().is_none());
        without_help.map(|option| format!("{} --{}", command.get_name(), option.get_id())).collect::<Vec<_>>()
    });
    assert_eq!(silent.collect::<Vec<_>>(), Vec::<String>::new());
}

fn command() -> Command {
    let mut command = Cli::command();
    command.build();
    command
}

fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|option| option.get_id() != "help")
}

/// A heading, the description of the command, and a table of its options if it has any.
fn section(command: &Command) -> String {
    let about = command.get_about().expect("every command has help").to_string();
    let mut section = format!("\n### `{}`\n\n{}\n", command.get_name(), cell(&about));
    if options(command).count() > 0 {
        section += "\n| option | what it does | default |\n| --- | --- | --- |\n";
        options(command).for_each(|option| section += &row(option));
    }
    section
}

fn row(option: &Arg) -> String {
    let mut name = option.get_long().map(|name| format!("--{name}")).unwrap_or_default();
    if option.get_action().takes_values() {
        let values = option.get_value_names().expect("a built command has names of values");
        values.iter().for_each(|value| write!(name, " {value}").expect("a text takes everything"));
    }
    let help = option.get_help().expect("every option has help").to_string();
    let default: Vec<_> =
        option.get_default_values().iter().map(|value| value.to_string_lossy()).filter(|value| !value.is_empty()).collect();
    let default = match default.join(",") {
        _ if option.is_required_set() => "required".to_owned(),
        none if none.is_empty() || !option.get_action().takes_values() => String::new(),
        value => format!("`{value}`"),
    };
    format!("| `{}` | {}{} | {default} |\n", name.trim(), cell(&help), values(&option.get_possible_values()))
}

/// The values to choose from: ": `cpu`, `gpu`", with their help if they have any.
fn values(values: &[PossibleValue]) -> String {
    let value = |value: &PossibleValue| match value.get_help() {
        Some(help) => format!("`{}` ({})", value.get_name(), cell(&help.to_string())),
        None => format!("`{}`", value.get_name()),
    };
    let is_flag = values.iter().any(|value| value.get_name() == "true");
    if values.is_empty() || is_flag { String::new() } else { format!(": {}", values.iter().map(value).collect::<Vec<_>>().join(", ")) }
}

/// Escapes text for a Markdown table.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

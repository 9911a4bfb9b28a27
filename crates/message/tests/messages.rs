//! Messages of error types and of `message!`, and what is shown of them.

use glasscage_message::{Argument, Gigabytes, Message, ToMessage, message, sentence};

const MOST: usize = 3;

#[derive(Debug, thiserror::Error, ToMessage)]
#[error("{key} is {found} instead of {expected}")]
struct WrongType {
    key: &'static str,
    found: Message,
    expected: Message,
    offset: u64,
}

#[derive(Debug, thiserror::Error, ToMessage)]
enum FileError {
    #[error("this file ends early")]
    Truncated,
    #[error("this file has version {0}")]
    Version(u32),
    #[error("this file has {n} parts, more than {MOST}: {names:?}")]
    Parts { n: usize, names: Vec<String> },
    #[error("row {number} of {rows} has {missing} cells too few", number = .row + 1, missing = rows - (row + 1))]
    Row { row: usize, rows: usize },
    #[error("step {number} is missing", number = .0 + 1)]
    Step(usize),
    #[error("it cannot be read: {0}")]
    Read(#[from] std::io::Error),
    #[error(transparent)]
    WrongType(#[from] WrongType),
    #[error("{error}: {file}, one of several files")]
    InFile { error: Box<Self>, file: String },
}

fn wrong_type() -> WrongType {
    WrongType { key: "general.name", found: message!("a number"), expected: message!("a text"), offset: 7 }
}

fn errors() -> [FileError; 8] {
    [
        FileError::Truncated,
        FileError::Version(9),
        FileError::Parts { n: 4, names: vec!["a".into(), "b".into()] },
        FileError::Row { row: 1, rows: 5 },
        FileError::Step(0),
        std::io::Error::other("the disk is gone").into(),
        wrong_type().into(),
        FileError::InFile { error: Box::new(FileError::Version(9)), file: "b.gguf".into() },
    ]
}

/// Shows a message with every template in capitals, in place of a translation.
fn loud(message: &Message) -> String {
    let mut is_name = false;
    let letter = |letter: char| {
        is_name = letter == '{' || (is_name && letter != '}');
        if is_name { letter } else { letter.to_ascii_uppercase() }
    };
    let template: String = message.template().chars().map(letter).collect();
    message.filled(&template, &|argument| match argument {
        Argument::Message(message) => loud(message),
        other => other.to_string(),
    })
}

#[test]
fn a_message_reads_as_its_error() {
    for error in errors() {
        assert_eq!(error.to_message().to_string(), error.to_string());
    }
}

#[test]
fn templates_name_their_placeholders() {
    let templates = errors().map(|error| error.to_message().template().to_owned());
    let expected = [
        "this file ends early",
        "this file has version {0}",
        "this file has {n} parts, more than {MOST}: {names}",
        "row {number} of {rows} has {missing} cells too few",
        "step {number} is missing",
        "it cannot be read: {0}",
        "{cause}",
        "{error}: {file}, one of several files",
    ];
    assert_eq!(templates, expected);
}

#[test]
fn only_messages_are_translated() {
    let shown = errors().map(|error| loud(&error.to_message()));
    assert_eq!(shown[5], "IT CANNOT BE READ: the disk is gone");
    assert_eq!(shown[6], "general.name IS A NUMBER INSTEAD OF A TEXT");
    assert_eq!(shown[7], "THIS FILE HAS VERSION 9: b.gguf, ONE OF SEVERAL FILES");
}

#[test]
fn a_translation_has_its_own_order() {
    let (name, n) = ("output", 3);
    let message = message!("tensor {name} has {n} of {all} rows", n, all = n + 1);
    let show = |template| message.filled(template, &Argument::to_string);
    assert_eq!(show("{n}/{all}: {name}"), "3/4: output");
    assert_eq!(show("{name}, {name}, {unknown}{"), "output, output, {");
    assert_eq!(name, "output");
}

#[test]
fn values_with_braces_stay_as_they_are() {
    let name = "{n}";
    assert_eq!(message!("{name} has {n} parts", n = 2).to_string(), "{n} has 2 parts");
    assert_eq!(Message::verbatim(&"{odd}").to_string(), "{odd}");
}

#[test]
fn messages_survive_serialization() {
    for message in errors().map(|error| error.to_message()).into_iter().chain([message!("{memory} free", memory = Gigabytes(7 << 30))]) {
        let json = serde_json::to_string(&message).unwrap();
        assert_eq!(serde_json::from_str::<Message>(&json).unwrap(), message, "{json}");
    }
    assert_eq!(serde_json::to_string(&message!("part {n}", n = 2)).unwrap(), r#"["part {n}",[{"Text":"2"}]]"#);
}

#[test]
fn memory_is_shown_in_gigabytes() {
    assert_eq!(message!("it needs {memory}", memory = Gigabytes(1_940_000_000)).to_string(), "it needs 1.9 GB");
}

#[test]
fn a_long_argument_loses_its_middle() {
    let longest = "\u{e9}".repeat(480);
    assert_eq!(message!("{longest}").to_string(), longest);
    let name = "\u{e9}\u{1f600}".repeat(50_000);
    let shown = message!("no tensor {name} here").to_string();
    assert_eq!(shown.chars().count(), "no tensor  here".len() + 360 + 3 + 120);
    assert!(shown.starts_with("no tensor \u{e9}") && shown.contains(" \u{2026} ") && shown.ends_with("\u{1f600} here"));
}

#[test]
fn a_sentence_has_a_capital_and_one_stop() {
    assert_eq!(sentence("the file ends", "."), "The file ends.");
    assert_eq!(sentence("The file ends.", "."), "The file ends.");
    assert_eq!(sentence("\u{5f15}\u{64ce}\u{5df2}\u{505c}\u{6b62}", "\u{3002}"), "\u{5f15}\u{64ce}\u{5df2}\u{505c}\u{6b62}\u{3002}");
    assert_eq!(sentence("", "."), "");
}

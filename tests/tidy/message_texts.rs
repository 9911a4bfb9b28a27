//! Collects the templates of messages that the page shows (`crates/message`): in `message!(..)`, and in the `#[error(..)]` of error types.

use proc_macro2::{Group, TokenStream, TokenTree};

use crate::tokens::{code, for_all};
use crate::workspace;

/// Folders without messages for users of the page.
const ELSEWHERE: [&str; 4] = ["crates/cli/", "crates/kernel-interpreter/", "crates/message/", "crates/message-derive/"];

#[test]
fn every_error_can_be_translated() {
    let is_error = |(_, attributes): &(String, String)| attributes.contains("thiserror::Error");
    let (shown, silent): (Vec<_>, Vec<_>) =
        files().iter().flat_map(|file| derives(file)).filter(is_error).partition(|(_, attributes)| attributes.contains("ToMessage"));
    assert!(shown.len() > 20, "error types are found");
    assert!(silent.is_empty(), "these errors do not derive ToMessage, so the page would show them in English: {silent:?}");
}

/// The attributes of each type of the file that derives something, from `derive` on.
fn derives(file: &str) -> Vec<(String, String)> {
    let text = workspace::read(file).expect("a tracked file");
    let attributes = text.split("#[derive(").skip(1).filter_map(|rest| rest.split("enum ").next()?.split("struct ").next());
    attributes.map(|attributes| (file.to_owned(), attributes.to_owned())).collect()
}

/// All templates with words, without format specs, as the macros of `crates/message` make them.
pub fn message_texts() -> Vec<String> {
    let mut found = Vec::new();
    files().iter().for_each(|file| collect(code(file), &mut found));
    found.iter().map(|text| without_specs(text)).filter(|text| has_words(text)).collect()
}

fn files() -> Vec<String> {
    let is_source = |file: &String| {
        let is_ours = file.starts_with("src/") || file.starts_with("crates/");
        is_ours && !ELSEWHERE.iter().any(|folder| file.starts_with(folder)) && !file.contains("/tests/") && !file.ends_with("tests.rs")
    };
    workspace::tracked(&["rs"]).into_iter().filter(is_source).collect()
}

/// Adds the literals of `message!(".." ..)` and `#[error(".." ..)]`, except in test modules.
fn collect(code: TokenStream, found: &mut Vec<String>) {
    let literal = |arguments: &Group| first_literal(arguments.stream());
    for_all(code, &mut |tokens| match tokens {
        [TokenTree::Ident(name), TokenTree::Punct(mark), TokenTree::Group(arguments), ..] if name == "message" && mark.as_char() == '!' => {
            found.extend(literal(arguments));
        }
        [TokenTree::Ident(name), TokenTree::Group(arguments)] if name == "error" => found.extend(literal(arguments)),
        _ => {}
    });
}

fn first_literal(arguments: TokenStream) -> Option<String> {
    Some(syn::parse2::<syn::LitStr>(arguments.into_iter().next()?.into()).ok()?.value())
}

/// "tensor {name} has {found:?}" becomes "tensor {name} has {found}".
fn without_specs(text: &str) -> String {
    let mut parts = text.split('{');
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (inside, after) = part.split_once('}').unwrap_or_else(|| panic!("a brace in {text}"));
        let name = inside.split(':').next().unwrap_or_default();
        whole += &format!("{{{name}}}{after}");
    }
    whole
}

/// Whether there is anything to translate except placeholders.
fn has_words(text: &str) -> bool {
    text.split('{').enumerate().any(|(i, part)| {
        let words = if i == 0 { part } else { part.split_once('}').map_or(part, |(_, after)| after) };
        words.contains(char::is_alphabetic)
    })
}

#[test]
fn templates_are_found() {
    let code = r#"
        //! What can go wrong.
        #[derive(Debug, thiserror::Error, ToMessage)]
        #[error("row {row:?} has {n} cells", n = .0)]
        struct Row;
        #[error("{0}")]
        #[error(transparent)]
        struct Other;
        fn f() {
            Err(Problem::new(message!("no {a} here: {b:.0}"), message!("Try again")));
            Ok(tell("not for visitors"));
        }
        #[cfg(test)]
        mod tests { fn f() { message!("of a test") } }
        fn g() { message!("the last one") }
    "#;
    let mut found = Vec::new();
    collect(code.parse().expect("code"), &mut found);
    let texts: Vec<String> = found.iter().map(|text| without_specs(text)).filter(|text| has_words(text)).collect();
    assert_eq!(texts, ["row {row} has {n} cells", "no {a} here: {b}", "Try again", "the last one"]);
}

//! Collects the English problem texts of engine, library and documents, which the page translates (`app/i18n/problems`).

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::workspace;

/// Folders that produce problems. The page itself has other macros.
const SOURCES: [&str; 2] = ["src/worker/", "crates/"];
/// Folders whose texts users of the page do not see.
const ELSEWHERE: [&str; 2] = ["crates/cli/", "crates/kernel-interpreter/"];
/// Files whose texts are all for users: remedies, notices, words that errors quote.
const WHOLE: [&str; 9] = [
    "crates/engine/src/choice.rs",
    "crates/engine/src/self_test.rs",
    "crates/engine/src/gpu/self_test/mod.rs",
    "crates/library/src/address.rs",
    "crates/library/src/errors.rs",
    "crates/library/src/fit.rs",
    "crates/model/src/config/mod.rs",
    "crates/model/src/gguf/metadata.rs",
    "crates/session/src/problems.rs",
];
/// Names of constants that hold a problem text.
const CONSTANTS: [&str; 2] = ["FAILURE", "REMEDY"];
/// Macros and functions whose texts are for developers.
const ASSERTIONS: [&str; 6] = ["assert", "assert_eq", "debug_assert", "expect", "panic", "unreachable"];

/// All problem texts, with numbered placeholders.
pub fn problem_texts() -> Vec<String> {
    let mut found = Vec::new();
    for file in workspace::tracked(&["rs"]) {
        let is_source = SOURCES.iter().any(|folder| file.starts_with(folder)) && !ELSEWHERE.iter().any(|folder| file.starts_with(folder));
        if is_source && !file.contains("/tests/") && !file.ends_with("tests.rs") {
            let code = workspace::read(&file).expect("a tracked file").parse().unwrap_or_else(|error| panic!("{file}: {error}"));
            collect(code, WHOLE.contains(&&*file), &mut found);
        }
    }
    found.iter().map(|text| numbered(text)).filter(|text| is_sentence(text)).collect()
}

/// Adds the literals of `#[error("..")]`, of problem and error constructors, and of [`CONSTANTS`]. If `takes_all`, adds all
/// others, too.
fn collect(code: TokenStream, takes_all: bool, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    let mut i = 0;
    while i < tokens.len() {
        match &tokens[i..] {
            rest if is_test_module(rest) => i += 4,
            [TokenTree::Punct(hash), TokenTree::Punct(mark), TokenTree::Group(_), ..] if (hash.as_char(), mark.as_char()) == ('#', '!') => {
                i += 2;
            }
            [TokenTree::Punct(mark), TokenTree::Group(attribute), ..] if mark.as_char() == '#' => {
                found.extend(of_error_attribute(attribute));
                i += 1;
            }
            [TokenTree::Ident(name), rest @ ..] if ASSERTIONS.iter().any(|assertion| name == assertion) => {
                i += rest.iter().take_while(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == '!')).count() + 1;
            }
            [TokenTree::Ident(_), TokenTree::Punct(a), TokenTree::Punct(b), TokenTree::Ident(_), TokenTree::Group(arguments), ..]
                if (a.as_char(), b.as_char()) == (':', ':') && makes_problem(&tokens[i], &tokens[i + 3]) =>
            {
                collect(arguments.stream(), true, found);
                i += 4;
            }
            // `const REMEDY: &str = "..";`, or `FAILURE`.
            [TokenTree::Ident(name), _, _, _, _, text @ TokenTree::Literal(_), ..] if CONSTANTS.iter().any(|constant| name == constant) => {
                found.extend(literal(text));
                i += 5;
            }
            [TokenTree::Group(group), ..] => collect(group.stream(), takes_all, found),
            [TokenTree::Literal(_), ..] if takes_all => found.extend(literal(&tokens[i])),
            _ => {}
        }
        i += 1;
    }
}

/// Whether this is `Problem::new(..)`, or an error variant with arguments.
fn makes_problem(path: &TokenTree, name: &TokenTree) -> bool {
    let (path, name) = (path.to_string(), name.to_string());
    (path == "Problem" && name == "new") || (path.ends_with("Error") && name.starts_with(char::is_uppercase))
}

pub fn is_test_module(tokens: &[TokenTree]) -> bool {
    let start: Vec<String> = tokens.iter().take(3).map(|token| token.to_string().replace(' ', "")).collect();
    matches!(&start[..], [hash, cfg, module] if hash == "#" && cfg.starts_with("[cfg(") && cfg.contains("test") && module == "mod")
}

fn of_error_attribute(attribute: &Group) -> Option<String> {
    let mut tokens = attribute.stream().into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Ident(name)), Some(TokenTree::Group(text))) if name == "error" && text.delimiter() == Delimiter::Parenthesis => {
            literal(&text.stream().into_iter().next()?)
        }
        _ => None,
    }
}

fn literal(token: &TokenTree) -> Option<String> {
    Some(syn::parse2::<syn::LitStr>(token.clone().into()).ok()?.value())
}

/// The text with numbered placeholders and without a full stop: "tensor {name} has {found:?}" becomes "tensor {0} has {1}".
fn numbered(text: &str) -> String {
    let mut parts = text.trim_end_matches('.').split('{');
    let mut numbered = parts.next().unwrap_or_default().to_owned();
    for (i, part) in parts.enumerate() {
        let (_, after) = part.split_once('}').unwrap_or_else(|| panic!("a brace in {text}"));
        numbered += &format!("{{{i}}}{after}");
    }
    numbered
}

/// Whether the text has words to translate: several words, or one word and a placeholder.
fn is_sentence(text: &str) -> bool {
    let is_place = |word: &&str| word.starts_with('{') || !word.contains(char::is_alphabetic);
    text.trim().contains(' ') && !text.split_whitespace().all(|word| is_place(&word))
}

#[test]
fn problem_texts_are_found() {
    let code = r#"
        //! What can go wrong.
        #[error("row {row:?} has {} cells", .0)]
        struct Row;
        #[error("{0}")]
        struct Other;
        fn f() {
            const REMEDY: &str = "Try again.";
            Err(Problem::new(format!("no {a} here: {b:.0}"), REMEDY));
            Err(CodeError::Damaged("a key.with.dots is lost".into()));
            Ok(tell("not for visitors"));
        }
        #[cfg(test)]
        mod tests { fn f() { Problem::new("of a test", "of a test") } }
    "#;
    let texts = |takes_all| {
        let mut found = Vec::new();
        collect(code.parse().expect("code"), takes_all, &mut found);
        found.iter().map(|text| numbered(text)).filter(|text| is_sentence(text)).collect::<Vec<_>>()
    };
    let of_errors = ["row {0} has {1} cells", "Try again", "no {0} here: {1}", "a key.with.dots is lost"];
    assert_eq!(texts(false), of_errors);
    assert_eq!(texts(true), [&of_errors[..], &["not for visitors"]].concat());
}

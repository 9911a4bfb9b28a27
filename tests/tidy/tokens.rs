//! Rust code as tokens.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::workspace;

/// The tokens of a tracked file.
pub fn code(file: &str) -> TokenStream {
    workspace::read(file).expect("a tracked file").parse().unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Calls `look` with the tokens from each token on, except in code that is only compiled for tests.
pub fn for_all(code: TokenStream, look: &mut dyn FnMut(&[TokenTree])) {
    let tokens = without_tests(code);
    for (i, token) in tokens.iter().enumerate() {
        look(&tokens[i..]);
        if let TokenTree::Group(group) = token {
            for_all(group.stream(), look);
        }
    }
}

/// The tokens without the items, among them, that are only compiled for tests.
pub fn without_tests(code: TokenStream) -> Vec<TokenTree> {
    let (mut tokens, mut rest) = (Vec::new(), &code.into_iter().collect::<Vec<_>>()[..]);
    while let Some((first, after)) = rest.split_first() {
        match rest {
            [TokenTree::Punct(hash), TokenTree::Punct(mark), TokenTree::Group(attribute), ..]
                if hash.as_char() == '#' && mark.as_char() == '!' && is_for_tests(attribute) =>
            {
                return Vec::new();
            }
            [TokenTree::Punct(hash), TokenTree::Group(attribute), item @ ..] if hash.as_char() == '#' && is_for_tests(attribute) => {
                let end = item.iter().position(ends_item).map_or(item.len(), |at| at + 1);
                rest = &item[end..];
            }
            _ => {
                tokens.push(first.clone());
                rest = after;
            }
        }
    }
    tokens
}

/// Whether the attribute is `[cfg(test)]` or `[cfg(all(test, ..))]`.
fn is_for_tests(attribute: &proc_macro2::Group) -> bool {
    let condition = attribute.to_string().replace(' ', "");
    condition == "[cfg(test)]" || condition.starts_with("[cfg(all(test,")
}

/// Whether an item ends here: with its body or its semicolon.
fn ends_item(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(body) if body.delimiter() == Delimiter::Brace) || token.to_string() == ";"
}

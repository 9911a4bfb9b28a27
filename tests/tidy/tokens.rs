//! Rust code as tokens.

use proc_macro2::{TokenStream, TokenTree};

use crate::workspace;

/// The tokens of a tracked file.
pub fn code(file: &str) -> TokenStream {
    workspace::read(file).expect("a tracked file").parse().unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Calls `look` with the tokens from each token on, except in test modules.
pub fn for_all(code: TokenStream, look: &mut dyn FnMut(&[TokenTree])) {
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    let mut i = 0;
    while i < tokens.len() {
        if is_test_module(&tokens[i..]) {
            // `#`, `[cfg(test)]`, `mod`, its name, its body.
            i += 5;
            continue;
        }
        look(&tokens[i..]);
        if let TokenTree::Group(group) = &tokens[i] {
            for_all(group.stream(), look);
        }
        i += 1;
    }
}

fn is_test_module(tokens: &[TokenTree]) -> bool {
    let start: Vec<String> = tokens.iter().take(3).map(|token| token.to_string().replace(' ', "")).collect();
    matches!(&start[..], [hash, cfg, module] if hash == "#" && cfg.starts_with("[cfg(") && cfg.contains("test") && module == "mod")
}

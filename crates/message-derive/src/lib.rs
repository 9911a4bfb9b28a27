//! The macros of `glasscage-message`, which documents them.

mod arguments;
mod error;
mod template;

use proc_macro::TokenStream;
use syn::parse_macro_input;

use self::arguments::Text;

/// Implements `ToMessage` for an error type by the attributes that thiserror reads.
#[proc_macro_derive(ToMessage, attributes(error))]
pub fn to_message(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item);
    error::to_message(&item).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a `Message` of a literal with named placeholders and their values.
#[proc_macro]
pub fn message(arguments: TokenStream) -> TokenStream {
    let text: Text = parse_macro_input!(arguments);
    text.message(&|name| name.parse().expect("a name")).unwrap_or_else(syn::Error::into_compile_error).into()
}

//! A literal with named placeholders and the values that follow it.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitStr, Token};

use crate::template::{Placeholder, Template};

/// `"{name} has {n} parts", name, n = parts.len()`, the arguments of `message!` and of `#[error(..)]`.
pub struct Text {
    literal: LitStr,
    /// Expressions by name. A placeholder without an expression names a variable, a constant or a field.
    pub values: BTreeMap<String, TokenStream>,
}

impl Parse for Text {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let literal = input.parse()?;
        let mut values = BTreeMap::new();
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let name: Ident = input.parse()?;
            let value = match input.parse::<Option<Token![=]>>()? {
                Some(_) => expression(input)?,
                None => quote!(#name),
            };
            values.insert(name.to_string(), value);
        }
        if input.is_empty() { Ok(Self { literal, values }) } else { Err(input.error("a value needs a name: `name = value`")) }
    }
}

/// The tokens up to the next comma.
fn expression(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut tokens = Vec::<TokenTree>::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        tokens.push(input.parse()?);
    }
    Ok(tokens.into_iter().collect())
}

impl Text {
    pub fn template(&self) -> syn::Result<Template> {
        let template = Template::parse(&self.literal.value()).map_err(|what| syn::Error::new(self.literal.span(), what))?;
        match self.values.keys().find(|name| !template.placeholders.iter().any(|placeholder| placeholder.name == **name)) {
            Some(unused) => Err(syn::Error::new(self.literal.span(), format!("the text has no placeholder {{{unused}}}"))),
            None => Ok(template),
        }
    }

    /// The expression of the message. `variable` finds what a placeholder names that has no value.
    pub fn message(&self, variable: &dyn Fn(&str) -> TokenStream) -> syn::Result<TokenStream> {
        let Template { text, placeholders } = self.template()?;
        let arguments = placeholders.iter().map(|Placeholder { name, spec }| {
            let value = self.values.get(name).cloned().unwrap_or_else(|| variable(name));
            match format!("{{{spec}}}") {
                plain if plain == "{}" => quote!((&::glasscage_message::Value(&(#value))).argument()),
                spec => quote!(::glasscage_message::Argument::text(&::core::format_args!(#spec, #value))),
            }
        });
        Ok(quote! {{
            #[allow(unused_imports, reason = "the types of the values decide which of them gives `argument`")]
            use ::glasscage_message::{ArgumentOfMessage as _, ArgumentOfText as _};
            ::glasscage_message::Message::new(#text, ::std::vec![#(#arguments),*])
        }})
    }
}

//! Messages of error types, by the attributes that thiserror reads.

use proc_macro2::{Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::{Attribute, Data, DeriveInput, Fields};

use crate::arguments::Text;

pub fn to_message(item: &DeriveInput) -> syn::Result<TokenStream> {
    let DeriveInput { ident, generics, .. } = item;
    let arms = match &item.data {
        Data::Enum(data) => {
            let arm = |variant: &syn::Variant| {
                let name = &variant.ident;
                arm(&quote!(Self::#name), &variant.attrs, &variant.fields, name.span())
            };
            data.variants.iter().map(arm).collect::<syn::Result<Vec<_>>>()?
        }
        Data::Struct(data) => vec![arm(&quote!(Self), &item.attrs, &data.fields, ident.span())?],
        Data::Union(_) => return Err(syn::Error::new(ident.span(), "a union is not an error")),
    };
    let (implementation, types, bounds) = generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #implementation ::glasscage_message::ToMessage for #ident #types #bounds {
            fn to_message(&self) -> ::glasscage_message::Message {
                match self { #(#arms)* }
            }
        }
    })
}

/// The arm of a variant: `Self::Version(_0) => Message::new(..),`.
fn arm(path: &TokenStream, attributes: &[Attribute], fields: &Fields, span: Span) -> syn::Result<TokenStream> {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("error"));
    let attribute = attribute.ok_or_else(|| syn::Error::new(span, "an error needs its text: `#[error(\"..\")]`"))?;
    let names: Vec<Ident> = fields.iter().enumerate().map(|(i, field)| field.ident.clone().unwrap_or_else(|| nth_field(i))).collect();
    let mut text = match attribute.parse_args::<Ident>() {
        Ok(transparent) if transparent == "transparent" => syn::parse2(quote!("{cause}", cause = .0))?,
        _ => attribute.parse_args::<Text>()?,
    };
    text.values.values_mut().for_each(|value| *value = with_fields(std::mem::take(value)));
    let field = |name: &str| {
        let name = name.parse().map_or_else(|_| Ident::new(name, span), nth_field);
        quote!(#name)
    };
    let message = text.message(&field)?;
    let used = names.iter().map(|name| {
        let is_used = mentions(message.clone(), name);
        match (fields, is_used) {
            (Fields::Named(_), true) => quote!(#name,),
            (Fields::Named(_), false) => quote!(),
            (_, true) => quote!(#name,),
            (_, false) => quote!(_,),
        }
    });
    Ok(match fields {
        Fields::Named(_) => quote!(#path { #(#used)* .. } => #message,),
        Fields::Unnamed(_) => quote!(#path(#(#used)*) => #message,),
        Fields::Unit => quote!(#path => #message,),
    })
}

fn nth_field(i: usize) -> Ident {
    format_ident!("_{i}")
}

/// Replaces the fields of an expression by their variables: `.0 + 1` becomes `_0 + 1`, and `.name` becomes `name`.
fn with_fields(expression: TokenStream) -> TokenStream {
    let mut tokens = expression.into_iter().peekable();
    let mut replaced = Vec::<TokenTree>::new();
    while let Some(token) = tokens.next() {
        let begins = replaced.last().is_none_or(|before| matches!(before, TokenTree::Punct(_)));
        match (token, tokens.peek()) {
            (TokenTree::Punct(dot), Some(TokenTree::Literal(i))) if begins && dot.as_char() == '.' => {
                replaced.push(Ident::new(&format!("_{i}"), i.span()).into());
                tokens.next();
            }
            (TokenTree::Punct(dot), Some(TokenTree::Ident(_))) if begins && dot.as_char() == '.' && dot.spacing() == Spacing::Alone => {}
            (TokenTree::Group(group), _) => {
                replaced.push(proc_macro2::Group::new(group.delimiter(), with_fields(group.stream())).into());
            }
            (token, _) => replaced.push(token),
        }
    }
    replaced.into_iter().collect()
}

fn mentions(code: TokenStream, name: &Ident) -> bool {
    code.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}

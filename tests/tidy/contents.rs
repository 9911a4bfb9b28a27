//! Items, imports and paths of a source file, without test-only code.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Ident, Item, Meta, MetaList, Token, UseTree};

/// A path as written, such as `super`, `kernels`, `argmax`. One that starts with `::` has an empty first segment.
pub type Path = Vec<String>;

/// One module of a file.
#[derive(Debug, Default)]
pub struct Contents {
    /// Names of the items defined here.
    pub items: BTreeSet<String>,
    /// Imports by `use`, anywhere in the module.
    pub imports: Vec<Import>,
    /// Paths in code, in macro calls and in attributes.
    pub paths: Vec<Path>,
    /// Submodules.
    pub modules: Vec<(String, Place)>,
}

/// Location of a module.
#[derive(Debug)]
pub enum Place {
    Here(Contents),
    /// In the file with its name.
    File,
    /// In the file of `#[path = ".."]`, relative to the folder of the declaring file.
    FileAt(String),
}

#[derive(Debug, PartialEq)]
pub struct Import {
    /// The name in this module; `*` for all names of a module.
    pub name: String,
    pub path: Path,
    /// Whether other modules can use it from here: `pub use`, also `pub(crate) use`.
    pub is_public: bool,
}

impl Contents {
    /// Contents of a whole file. Empty if the file starts with `#![cfg(test)]`.
    pub fn of_file(text: &str) -> syn::Result<Self> {
        let file = syn::parse_file(text)?;
        let mut contents = Self::default();
        if !is_for_tests(&file.attrs) {
            file.items.iter().for_each(|item| contents.visit_item(item));
        }
        Ok(contents)
    }

    fn add_module(&mut self, module: &syn::ItemMod) {
        let place = match &module.content {
            Some((_, items)) => {
                let mut contents = Self::default();
                items.iter().for_each(|item| contents.visit_item(item));
                Place::Here(contents)
            }
            None => module.attrs.iter().find_map(file_of_attribute).map_or(Place::File, Place::FileAt),
        };
        self.modules.push((plain(&module.ident), place));
    }

    fn add_imports(&mut self, tree: &UseTree, mut path: Path, is_public: bool) {
        let name = match tree {
            UseTree::Path(tree) => {
                path.push(plain(&tree.ident));
                return self.add_imports(&tree.tree, path, is_public);
            }
            UseTree::Group(group) => return group.items.iter().for_each(|tree| self.add_imports(tree, path.clone(), is_public)),
            UseTree::Name(tree) if tree.ident == "self" => path.last().cloned().unwrap_or_default(),
            UseTree::Name(tree) => {
                path.push(plain(&tree.ident));
                plain(&tree.ident)
            }
            UseTree::Rename(tree) => {
                if tree.ident != "self" {
                    path.push(plain(&tree.ident));
                }
                plain(&tree.rename)
            }
            UseTree::Glob(_) => "*".into(),
        };
        self.imports.push(Import { name, path, is_public });
    }

    /// Adds paths in tokens that only a macro understands.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path = Path::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.end_path(&mut path);
                    }
                    path.push(plain(&ident));
                }
                TokenTree::Group(group) => {
                    self.end_path(&mut path);
                    self.add_tokens(group.stream());
                }
                TokenTree::Literal(_) | TokenTree::Punct(_) => self.end_path(&mut path),
            }
            colons = 0;
        }
        self.end_path(&mut path);
    }

    fn end_path(&mut self, path: &mut Path) {
        if !path.is_empty() {
            self.paths.push(std::mem::take(path));
        }
    }
}

impl<'ast> Visit<'ast> for Contents {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = head(item);
        if is_for_tests(attributes) {
            return;
        }
        self.items.extend(name.map(plain));
        match item {
            Item::Use(import) => {
                let start = if import.leading_colon.is_some() { vec![String::new()] } else { Path::new() };
                self.add_imports(&import.tree, start, !matches!(import.vis, syn::Visibility::Inherited));
            }
            Item::Mod(module) => self.add_module(module),
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let attributes = match item {
            syn::ImplItem::Const(item) => &item.attrs,
            syn::ImplItem::Fn(item) => &item.attrs,
            syn::ImplItem::Type(item) => &item.attrs,
            syn::ImplItem::Macro(item) => &item.attrs,
            _ => return,
        };
        if !is_for_tests(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if !is_for_tests(&local.attrs) {
            visit::visit_local(self, local);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let start = path.leading_colon.map(|_| String::new());
        self.paths.push(start.into_iter().chain(path.segments.iter().map(|segment| plain(&segment.ident))).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.add_tokens(call.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if !attribute.path().is_ident("doc") {
            visit::visit_attribute(self, attribute);
        }
    }

    fn visit_meta_list(&mut self, list: &'ast MetaList) {
        self.add_tokens(list.tokens.clone());
        // serde takes paths as strings.
        let texts = list.tokens.clone().into_iter().filter_map(|token| syn::parse2::<syn::LitStr>(token.into()).ok());
        texts.filter_map(|text| text.parse::<syn::Path>().ok()).for_each(|path| self.visit_path(&path));
        self.visit_path(&list.path);
    }

    /// `pub(in path)` limits who may use an item; it does not use the path.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

fn plain(ident: &Ident) -> String {
    ident.to_string().trim_start_matches("r#").to_owned()
}

/// The attributes and the name of an item.
fn head(item: &Item) -> (&[Attribute], Option<&Ident>) {
    match item {
        Item::Const(item) => (&item.attrs, Some(&item.ident)),
        Item::Enum(item) => (&item.attrs, Some(&item.ident)),
        Item::ExternCrate(item) => (&item.attrs, Some(&item.ident)),
        Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
        Item::ForeignMod(item) => (&item.attrs, None),
        Item::Impl(item) => (&item.attrs, None),
        Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
        Item::Mod(item) => (&item.attrs, None),
        Item::Static(item) => (&item.attrs, Some(&item.ident)),
        Item::Struct(item) => (&item.attrs, Some(&item.ident)),
        Item::Trait(item) => (&item.attrs, Some(&item.ident)),
        Item::TraitAlias(item) => (&item.attrs, Some(&item.ident)),
        Item::Type(item) => (&item.attrs, Some(&item.ident)),
        Item::Union(item) => (&item.attrs, Some(&item.ident)),
        Item::Use(item) => (&item.attrs, None),
        _ => (&[], None),
    }
}

/// The path in `#[path = ".."]`.
fn file_of_attribute(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(syn::MetaNameValue { path, value: syn::Expr::Lit(literal), .. }) if path.is_ident("path") => match &literal.lit {
            syn::Lit::Str(file) => Some(file.value()),
            _ => None,
        },
        _ => None,
    }
}

/// Whether `#[cfg(..)]` requires `test`.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).map(Attribute::parse_args);
    conditions.flatten().any(|condition| needs_test(&condition))
}

fn needs_test(condition: &Meta) -> bool {
    let parts = |list: &MetaList| list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).unwrap_or_default();
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => parts(list).iter().any(needs_test),
        Meta::List(list) if list.path.is_ident("any") => parts(list).iter().all(needs_test),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        Contents::of_file(text).unwrap().paths.iter().map(|path| path.join("::")).collect()
    }

    fn imports(text: &str) -> Vec<(String, String)> {
        Contents::of_file(text).unwrap().imports.into_iter().map(|import| (import.name, import.path.join("::"))).collect()
    }

    #[test]
    fn groups_and_renames_are_resolved() {
        let expected = [("a", "crate::a"), ("c", "crate::a::b"), ("d", "super::d"), ("*", "self::e"), ("f", "::f")];
        let text = "use crate::a::{self, b as c}; use {super::d, self::e::*}; use ::f;";
        assert_eq!(imports(text), expected.map(|(name, path)| (name.to_owned(), path.to_owned())));
    }

    #[test]
    fn paths_are_found_everywhere() {
        assert_eq!(paths("fn f(x: super::A) { crate::b::g::<u8>() }"), ["super::A", "crate::b::g", "u8"]);
        assert_eq!(paths("fn f() { format!(\"{}\", [super::b::G, x]) }"), ["format", "super::b::G", "x"]);
        assert!(paths("#[derive(crate::a::D)] #[serde(default = \"super::d\")] struct S;").contains(&"super::d".into()));
        assert!(paths("#[derive(crate::a::D)] struct S;").contains(&"crate::a::D".into()));
    }

    #[test]
    fn only_test_code_is_excluded() {
        assert_eq!(paths("#[cfg(test)] mod tests { fn f() { super::g() } } fn h() { crate::i() }"), ["crate::i"]);
        assert_eq!(paths("#[cfg(all(test, unix))] fn f() { super::g() }"), [""; 0]);
        assert_eq!(paths("#![cfg(test)] fn f() { super::g() }"), [""; 0]);
        assert_eq!(paths("impl S { #[cfg(test)] fn f() { super::g() } fn h() { i::j() } }"), ["S", "i::j"]);
        assert!(paths("#[cfg(any(test, unix))] fn f() { super::g() }").contains(&"super::g".into()));
        assert!(paths("#[cfg(not(test))] fn f() { super::g() }").contains(&"super::g".into()));
    }

    #[test]
    fn visibility_does_not_count_as_use() {
        assert_eq!(paths("pub(in crate::a) struct S; pub(super) fn f() {}"), [""; 0]);
    }
}

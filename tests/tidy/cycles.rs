//! Finds dependency cycles between the files of a crate. Cargo allows none between crates.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};

use crate::tokens::without_tests;

/// A path as written, such as `super`, `kernels`, `argmax`; or the names from the root of the crate down to a module.
type Path = Vec<String>;

/// The names in the code of a module.
#[derive(Default)]
struct Module {
    file: String,
    /// Names imported by `use`, with their paths.
    imports: Vec<(String, Path)>,
    /// Names passed on by `pub use`.
    exports: Vec<(String, Path)>,
    /// Paths and words elsewhere in the code.
    paths: BTreeSet<Path>,
}

/// The modules of a crate.
pub struct Crate(BTreeMap<Path, Module>);

impl Crate {
    /// A crate with these files. Their names are relative to the folder of its root: `a/b.rs` and `a/b/mod.rs` are the module `a::b`.
    pub fn new(files: impl IntoIterator<Item = (String, TokenStream)>) -> Self {
        let path = |file: &str| {
            file.trim_end_matches(".rs").split('/').filter(|name| !["mod", "lib", "main"].contains(name)).map(str::to_owned).collect()
        };
        let module = |(file, code): (String, TokenStream)| {
            let mut module = Module { file, ..Module::default() };
            module.read(code);
            (path(&module.file), module)
        };
        Self(files.into_iter().map(module).collect())
    }

    /// The largest groups of files that all depend on each other, directly or through others.
    pub fn cycles(&self) -> BTreeSet<BTreeSet<&str>> {
        let needs: BTreeMap<&str, BTreeSet<&str>> = self.0.iter().map(|(path, module)| (&*module.file, self.needs(path))).collect();
        let reached: BTreeMap<&str, BTreeSet<&str>> = needs.keys().map(|&file| (file, reached_from(file, &needs))).collect();
        let cycle = |file: &&str| reached[file].iter().copied().filter(|other| reached[other].contains(file)).collect();
        needs.keys().map(cycle).filter(|cycle: &BTreeSet<&str>| !cycle.is_empty()).collect()
    }

    /// The other files whose items a module uses. `pub use` alone uses nothing.
    fn needs(&self, path: &Path) -> BTreeSet<&str> {
        let module = &self.0[path];
        let exported = module.exports.iter().filter(|(name, _)| module.paths.contains(std::slice::from_ref(name)));
        let used = module.imports.iter().chain(exported).map(|(_, path)| path).chain(&module.paths);
        let files = used.filter_map(|used| self.owner(path, used)).map(|owner| &*self.0[&owner].file);
        files.filter(|file| *file != module.file).collect()
    }

    /// The module that defines the item at the end of a path. `None` if a module is there, or an item of another crate.
    fn owner(&self, from: &Path, path: &[String]) -> Option<Path> {
        let (mut module, mut rest) = self.start(from, path)?;
        loop {
            let (name, after) = rest.split_first()?;
            let child = [&module[..], std::slice::from_ref(name)].concat();
            let is_module = self.0.contains_key(&child);
            let exports = self.0.get(&module).map_or(&[][..], |module| &module.exports);
            // Before `::`, a name is a module. At the end, it may be an item of the same name.
            if (!is_module || after.is_empty())
                && let Some((_, export)) = exports.iter().find(|(exported, _)| exported == name)
            {
                return self.owner(&module, &[export, after].concat());
            }
            if !is_module {
                return Some(module).filter(|module| self.0.contains_key(module));
            }
            (module, rest) = (child, after);
        }
    }

    /// The module from which a path goes on, and the rest of the path.
    fn start<'a>(&self, from: &Path, path: &'a [String]) -> Option<(Path, &'a [String])> {
        let (first, rest) = path.split_first()?;
        let ups = path.iter().take_while(|name| *name == "super").count();
        match first.as_str() {
            "crate" => return Some((Path::new(), rest)),
            "self" => return Some((from.clone(), rest)),
            "super" => return Some((from[..from.len().checked_sub(ups)?].to_vec(), &path[ups..])),
            _ if self.0.contains_key(&[&from[..], &path[..1]].concat()) => return Some((from.clone(), path)),
            _ => {}
        }
        // The name of an imported module.
        let (_, import) = self.0[from].imports.iter().find(|(name, import)| name == first && import[0] != *first)?;
        let (mut module, names) = self.start(from, import)?;
        module.extend(names.iter().cloned());
        self.0.contains_key(&module).then_some((module, rest))
    }
}

impl Module {
    fn read(&mut self, code: TokenStream) {
        let tokens = without_tests(code);
        let mut i = 0;
        while i < tokens.len() {
            match &tokens[i] {
                TokenTree::Ident(word) if word == "use" => {
                    let end = i + tokens[i..].iter().position(|token| is(token, ';')).unwrap_or(0);
                    let names = imports(&tokens[i + 1..end.max(i + 1)], &[]);
                    let place = if is_public(&tokens[..i]) { &mut self.exports } else { &mut self.imports };
                    place.extend(names);
                    i = end;
                }
                TokenTree::Ident(_) => {
                    let mut path = vec![tokens[i].to_string()];
                    while let [colon, second, TokenTree::Ident(name), ..] = &tokens[i + 1..]
                        && is(colon, ':')
                        && is(second, ':')
                    {
                        path.push(name.to_string());
                        i += 3;
                    }
                    self.paths.insert(path);
                }
                TokenTree::Group(group) => self.read(group.stream()),
                // serde takes paths as texts.
                TokenTree::Literal(text) => {
                    let path = text.to_string().trim_matches('"').split("::").map(str::to_owned).collect::<Path>();
                    self.paths.extend(Some(path).filter(|path| path.len() > 1));
                }
                TokenTree::Punct(_) => {}
            }
            i += 1;
        }
    }
}

/// The imports of a tree such as `super::{a::A, b as c}`, below `start`.
fn imports(tree: &[TokenTree], start: &[String]) -> Vec<(String, Path)> {
    let branch = |tokens: &[TokenTree]| {
        let mut path = start.to_vec();
        for (i, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(word) if word == "as" => return vec![(tokens[i + 1].to_string(), path)],
                TokenTree::Ident(word) if word == "self" && !path.is_empty() => {}
                TokenTree::Group(group) => return imports(&group.stream().into_iter().collect::<Vec<_>>(), &path),
                token if is(token, ':') => {}
                token => path.push(token.to_string()),
            }
        }
        path.last().cloned().map(|name| (name, path)).into_iter().collect()
    };
    tree.split(|token| is(token, ',')).flat_map(branch).collect()
}

/// Whether the tokens before `use` end with `pub` or `pub(..)`.
fn is_public(before: &[TokenTree]) -> bool {
    matches!(before, [.., TokenTree::Ident(word)] | [.., TokenTree::Ident(word), TokenTree::Group(_)] if word == "pub")
}

fn is(token: &TokenTree, punct: char) -> bool {
    matches!(token, TokenTree::Punct(other) if other.as_char() == punct)
}

fn reached_from<'a>(file: &str, needs: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = needs[file].iter().copied().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(&needs[next]);
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let tokens = |text: &str| text.parse().expect("code");
        let files = Crate::new(files.iter().map(|(file, text)| ((*file).to_owned(), tokens(text))));
        files.cycles().into_iter().map(|cycle| cycle.into_iter().map(str::to_owned).collect()).collect()
    }

    const C: (&str, &str) = ("c.rs", "pub fn h() { vec![1, crate::a::f()] }");

    #[test]
    fn cycle_is_found_in_any_notation() {
        let a = ("a.rs", "use super::b as other; pub fn f() { other::g() }");
        for b in [
            "#[cfg(test)] mod tests {} fn g() { super::c::h() }",
            "use crate::{c::{self, h}, a as x}; fn g() {}",
            "use super::c as x; fn g() { format!(\"{}\", [x::h()]) }",
            "fn g() {} #[serde(with = \"crate::c::h\")] struct S;",
            "#[cfg(not(test))] use super::c::*; fn g() {}",
        ] {
            assert_eq!(found(&[("lib.rs", ""), a, ("b.rs", b), C]), [["a.rs", "b.rs", "c.rs"]], "{b}");
        }
        assert_eq!(found(&[("a.rs", "pub fn f() {}"), ("b.rs", "use super::c::h; fn g() {}"), C]), [[""; 0]; 0]);
    }

    #[test]
    fn tests_modules_and_reexports_make_no_cycle() {
        let inside = ("a/inside.rs", "pub struct F(super::A);");
        let rest = [
            ("b.rs", "use crate::c::C; pub struct B;"),
            ("c.rs", "use super::b; pub struct C; #[cfg(test)] use b::B; #[cfg(all(test, unix))] fn f(_: b::B) {}"),
            ("d.rs", "#![cfg(test)] use super::a::F;"),
        ];
        let mut files = vec![("a/mod.rs", "mod inside; pub(crate) use inside::F; pub struct A(super::d::D);"), inside];
        files.extend(rest);
        assert_eq!(found(&files), [[""; 0]; 0]);
        files[0].1 = "mod inside; pub use inside::F; pub struct A; fn f(_: F) {}";
        assert_eq!(found(&files), [["a/inside.rs", "a/mod.rs"]]);
        files[0].1 = "mod inside; pub use inside::F; pub struct A(super::e::E);";
        files.push(("e.rs", "pub struct E(super::a::F);"));
        assert_eq!(found(&files), [["a/inside.rs", "a/mod.rs", "e.rs"]]);
    }
}

//! The modules of all workspace crates, and the resolution of paths.

use std::collections::{BTreeMap, BTreeSet};

use crate::contents::{Contents, Import, Path, Place};

/// A module: the root file of its crate, then the names down to the module.
pub type ModuleId = Vec<String>;

/// A module and its file.
#[derive(Debug)]
pub struct Module {
    pub file: String,
    items: BTreeSet<String>,
    children: BTreeSet<String>,
    imports: Vec<Import>,
    paths: Vec<Path>,
}

/// The target of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    Module(ModuleId),
    /// An item that this module defines.
    Item(ModuleId),
    /// The name of an external crate.
    External(String),
}

/// A use of a target by a module.
#[derive(Debug)]
pub struct Reference {
    pub target: Target,
    /// Whether the reference re-exports an item of a submodule.
    pub is_reexport: bool,
}

/// All crates together.
#[derive(Debug, Default)]
pub struct ModuleTree {
    pub modules: BTreeMap<ModuleId, Module>,
    /// Library names of the workspace crates, with their root files.
    pub libraries: BTreeMap<String, String>,
    /// Names of the external crates.
    pub outside: BTreeSet<String>,
}

/// Enough for real chains of imports. Stops at import cycles.
const MOST_IMPORTS_IN_A_CHAIN: usize = 16;

impl ModuleTree {
    /// Adds the crate with this root, and all files of its modules, read with `read`.
    ///
    /// # Panics
    /// If a file is missing or is not valid Rust.
    pub fn add_crate(&mut self, root: &str, read: &impl Fn(&str) -> Option<String>) {
        let contents = read_file(root, read).unwrap_or_else(|| panic!("{root} is missing"));
        self.add_module(vec![root.to_owned()], root, parent(root), contents, read);
    }

    /// `folder` contains the files of the submodules.
    fn add_module(&mut self, id: ModuleId, file: &str, folder: &str, contents: Contents, read: &impl Fn(&str) -> Option<String>) {
        let Contents { items, imports, paths, modules } = contents;
        let children = modules.iter().map(|(name, _)| name.clone()).collect();
        self.modules.insert(id.clone(), Module { file: file.to_owned(), items, children, imports, paths });
        for (name, place) in modules {
            let (child, inside) = ([&id[..], std::slice::from_ref(&name)].concat(), format!("{folder}/{name}"));
            let (candidates, inside) = match place {
                Place::Here(contents) => {
                    self.add_module(child, file, &inside, contents, read);
                    continue;
                }
                Place::File => (vec![format!("{inside}.rs"), format!("{inside}/mod.rs")], inside),
                // A file with an explicit path has the files of its submodules in its own folder.
                Place::FileAt(other) => {
                    let other = joined(parent(file), &other);
                    (vec![other.clone()], parent(&other).to_owned())
                }
            };
            let found = candidates.iter().find_map(|file| Some((file, read_file(file, read)?)));
            let (file, contents) = found.unwrap_or_else(|| panic!("{file}: module {name} has no file"));
            self.add_module(child, file, &inside, contents, read);
        }
    }

    /// All references of the module, in its imports and in its code.
    pub fn references(&self, id: &ModuleId) -> Vec<Reference> {
        let module = &self.modules[id];
        let imports = module.imports.iter().filter_map(|import| {
            let target = self.resolve(id, &import.path, 0)?;
            let is_inside = matches!(&target, Target::Item(other) | Target::Module(other) if other.starts_with(id));
            Some(Reference { is_reexport: import.is_public && is_inside, target: as_used(import, target) })
        });
        let in_code = module.paths.iter().filter_map(|path| self.resolve(id, path, 0));
        imports.chain(in_code.map(|target| Reference { target, is_reexport: false })).collect()
    }

    fn resolve(&self, from: &ModuleId, path: &[String], depth: usize) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "" => self.crate_named(rest.first()?).and_then(|target| self.walk(target, &rest[1..], depth)),
            "crate" => self.walk(Target::Module(from[..1].to_vec()), rest, depth),
            "self" => self.walk(Target::Module(from.clone()), rest, depth),
            "super" => self.resolve_in_parent(from, rest, depth),
            _ => self.named(from, first, !rest.is_empty(), depth).and_then(|target| self.walk(target, rest, depth)),
        }
    }

    /// Resolves the rest of a path after `super`, which may be repeated.
    fn resolve_in_parent(&self, from: &ModuleId, rest: &[String], depth: usize) -> Option<Target> {
        let parent = from[..from.len() - 1].to_vec();
        match rest.split_first() {
            Some((first, rest)) if first == "super" => self.resolve_in_parent(&parent, rest, depth),
            _ => self.walk(Target::Module(parent), rest, depth),
        }
    }

    /// Follows the remaining segments of a path. They have no effect inside an item and in external crates.
    fn walk(&self, start: Target, rest: &[String], depth: usize) -> Option<Target> {
        match (&start, rest.split_first()) {
            (Target::Module(id), Some((next, rest))) => {
                let target = self.member(id, next, !rest.is_empty(), depth).unwrap_or_else(|| Target::Item(id.clone()));
                self.walk(target, rest, depth)
            }
            _ => Some(start),
        }
    }

    /// Target of a path that starts with `name`: something in the module, or a crate.
    fn named(&self, from: &ModuleId, name: &str, is_prefix: bool, depth: usize) -> Option<Target> {
        self.member(from, name, is_prefix, depth).or_else(|| self.crate_named(name))
    }

    fn crate_named(&self, name: &str) -> Option<Target> {
        let written_here = self.libraries.get(name).map(|root| Target::Module(vec![root.clone()]));
        written_here.or_else(|| self.outside.contains(name).then(|| Target::External(name.to_owned())))
    }

    /// Target of `name` in a module. Before `::`, a module takes precedence over a function of the same name. At the end of a path, the
    /// function does.
    fn member(&self, id: &ModuleId, name: &str, is_prefix: bool, depth: usize) -> Option<Target> {
        if depth > MOST_IMPORTS_IN_A_CHAIN {
            return None;
        }
        let module = self.modules.get(id)?;
        let child = || module.children.contains(name).then(|| Target::Module([&id[..], &[name.to_owned()]].concat()));
        let item = || module.items.contains(name).then(|| Target::Item(id.clone()));
        let import = || self.imported(id, &module.imports, name, depth);
        if is_prefix { child().or_else(item).or_else(import) } else { item().or_else(import).or_else(child) }
    }

    fn imported(&self, id: &ModuleId, imports: &[Import], name: &str, depth: usize) -> Option<Target> {
        let own = imports.iter().filter(|import| import.name == name).find_map(|import| self.resolve(id, &import.path, depth + 1));
        let of_all = |import: &Import| match self.resolve(id, &import.path, depth + 1)? {
            Target::Module(other) if other != *id => self.member(&other, name, true, depth + 1),
            _ => None,
        };
        own.or_else(|| imports.iter().filter(|import| import.name == "*").find_map(of_all))
    }
}

/// A module that imports all names of another one depends on its items.
fn as_used(import: &Import, target: Target) -> Target {
    match target {
        Target::Module(id) if import.name == "*" => Target::Item(id),
        target => target,
    }
}

fn read_file(path: &str, read: &impl Fn(&str) -> Option<String>) -> Option<Contents> {
    read(path).map(|text| Contents::of_file(&text).unwrap_or_else(|error| panic!("{path}: {error}")))
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The path of `file` relative to `folder`.
fn joined(folder: &str, file: &str) -> String {
    match file.strip_prefix("../") {
        Some(rest) => joined(parent(folder), rest),
        None if folder.is_empty() => file.to_owned(),
        None => format!("{folder}/{file}"),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A tree of these files, with the crate `glasscage` (`src/lib.rs`) and the external crate `leptos`.
    pub fn tree(files: &[(&str, &str)]) -> ModuleTree {
        let mut tree = ModuleTree { outside: ["leptos".to_owned()].into(), ..ModuleTree::default() };
        tree.libraries.insert("glasscage".into(), "src/lib.rs".into());
        let read = |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
        for (root, _) in files.iter().filter(|(name, _)| name.ends_with("lib.rs") || name.ends_with("main.rs")) {
            tree.add_crate(root, &read);
        }
        tree
    }

    fn leads_to(tree: &ModuleTree, from: &[&str], path: &str) -> Option<Target> {
        let from: ModuleId = from.iter().map(|&name| name.to_owned()).collect();
        tree.resolve(&from, &path.split("::").map(str::to_owned).collect::<Vec<_>>(), 0)
    }

    fn item(names: &[&str]) -> Option<Target> {
        Some(Target::Item(names.iter().map(|&name| name.to_owned()).collect()))
    }

    #[test]
    fn paths_resolve_to_definitions() {
        let tree = tree(&[
            ("src/lib.rs", "pub mod a; pub mod b; mod c { pub struct C; }"),
            ("src/a/mod.rs", "mod deep; pub use deep::Deep; pub struct A;"),
            ("src/a/deep.rs", "pub struct Deep; pub fn a() {}"),
            ("src/b.rs", "use crate::a; pub use super::a::*; use leptos as web;"),
            ("src/bin/tool/main.rs", "use glasscage::a::A;"),
        ]);
        let b = ["src/lib.rs", "b"];
        assert_eq!(leads_to(&tree, &b, "super::a::Deep"), item(&["src/lib.rs", "a", "deep"]));
        assert_eq!(leads_to(&tree, &b, "a::A::new"), item(&["src/lib.rs", "a"]));
        assert_eq!(leads_to(&tree, &b, "Deep"), item(&["src/lib.rs", "a", "deep"]));
        assert_eq!(leads_to(&tree, &b, "crate::c::C"), item(&["src/lib.rs", "c"]));
        assert_eq!(leads_to(&tree, &["src/lib.rs", "a", "deep"], "super::super::b"), Some(Target::Module(b.map(str::to_owned).to_vec())));
        assert_eq!(leads_to(&tree, &b, "web::Owner"), Some(Target::External("leptos".into())));
        assert_eq!(leads_to(&tree, &["src/bin/tool/main.rs"], "glasscage::b::A"), item(&["src/lib.rs", "a"]));
        assert_eq!(leads_to(&tree, &b, "T::new"), None);
    }
}

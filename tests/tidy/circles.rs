//! Detects dependency cycles between files.

use std::collections::{BTreeMap, BTreeSet};

use crate::module_tree::{ModuleTree, Target};

/// For each file, the files whose items it uses. A module that only re-exports items of its submodules does not depend on them.
pub fn needs(tree: &ModuleTree) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut needs = BTreeMap::<&str, BTreeSet<&str>>::new();
    for (id, module) in &tree.modules {
        let own = needs.entry(&module.file).or_default();
        for reference in tree.references(id).into_iter().filter(|reference| !reference.is_reexport) {
            if let Target::Item(other) = reference.target {
                own.insert(&tree.modules[&other].file);
            }
        }
        own.remove(&*module.file);
    }
    needs
}

/// The largest groups of files that all depend on each other, directly or through others.
pub fn circles<'a>(needs: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<BTreeSet<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = needs.keys().map(|&file| (file, reached_from(file, needs))).collect();
    let circle = |file: &&'a str| reached[file].iter().copied().filter(|other| reached[other].contains(file)).collect();
    needs.keys().map(circle).filter(|circle: &BTreeSet<&str>| !circle.is_empty()).collect()
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
    use crate::module_tree::tests::tree;

    fn found(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let tree = tree(files);
        let found = circles(&needs(&tree));
        found.into_iter().map(|circle| circle.into_iter().map(str::to_owned).collect()).collect()
    }

    const LIB: (&str, &str) = ("src/lib.rs", "mod a; mod b; mod c;");

    #[test]
    fn three_file_cycle_is_found_in_any_notation() {
        let b = ("src/b.rs", "#[cfg(test)] mod tests {} fn g() { super::c::h() }");
        let c = ("src/c.rs", "pub fn h() { vec![1, crate::a::f()] }");
        assert_eq!(
            found(&[LIB, ("src/a.rs", "use super::b as other; pub fn f() { other::g() }"), b, c]),
            [["src/a.rs", "src/b.rs", "src/c.rs"]]
        );
        assert_eq!(found(&[LIB, ("src/a.rs", "pub fn f() {}"), b, c]), [[""; 0]; 0]);
    }

    #[test]
    fn tests_and_reexports_make_no_cycle() {
        let a = ("src/a.rs", "mod inside; pub use inside::F; pub struct A;");
        let inside = ("src/a/inside.rs", "pub struct F(super::A);");
        let rest = [
            ("src/b.rs", "use crate::c::C; pub struct B;"),
            ("src/c.rs", "pub struct C; #[cfg(test)] mod tests { use super::super::b::B; }"),
        ];
        assert_eq!(found(&[LIB, a, inside, rest[0], rest[1]]), [[""; 0]; 0]);
        let user = ("src/a.rs", "mod inside; pub use inside::F; pub struct A; fn f(_: F) {}");
        assert_eq!(found(&[LIB, user, inside, rest[0], rest[1]]), [["src/a.rs", "src/a/inside.rs"]]);
    }
}

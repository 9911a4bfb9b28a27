//! The table of the modules of page and workers in `src/lib.rs`: which module may use which, and which may touch the browser. Which crate
//! may use which is in the crates' `Cargo.toml`.

use std::collections::BTreeSet;

use crate::module_tree::{ModuleId, ModuleTree, Target};

/// A row of the table.
#[derive(Debug, Default, PartialEq)]
pub struct Rule {
    /// For example `worker/engine`. Also applies to submodules without their own row.
    pub module: String,
    pub may_use: Vec<String>,
    pub may_touch: Vec<String>,
}

/// Restricted external crates, grouped by the word that the table uses for them.
const GROUPS: &[(&str, &[&str])] = &[
    ("web", &["console_error_panic_hook", "gloo", "js_sys", "serde_wasm_bindgen", "wasm_bindgen", "wasm_bindgen_futures", "web_sys"]),
    ("leptos", &["leptos", "wasm_split_helpers"]),
];

/// Parses the table `| module | .. | may use | may touch |` in the documentation of `src/lib.rs`. A row without a module continues the
/// row above.
pub fn rules(lib: &str) -> Vec<Rule> {
    let rows = lib.lines().filter_map(|line| line.strip_prefix("//! |")).map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    let mut rows = rows.skip_while(|cells| cells[0] != "module");
    assert_eq!(rows.next().map(|cells| cells.len()), Some(5), "the table of modules has four columns");
    let mut rules: Vec<Rule> = Vec::new();
    for cells in rows.skip(1) {
        if !cells[0].is_empty() {
            rules.push(Rule { module: name(cells[0]), ..Rule::default() });
        }
        let rule = rules.last_mut().expect("the first row names a module");
        rule.may_use.extend(names(cells[2]));
        rule.may_touch.extend(names(cells[3]));
    }
    rules
}

fn names(cell: &str) -> impl Iterator<Item = String> {
    cell.split(',').map(name).filter(|name| !name.is_empty())
}

/// The name in a cell, without markup.
fn name(cell: &str) -> String {
    cell.trim_matches(|c: char| c.is_whitespace() || "[]`".contains(c)).to_owned()
}

/// Descriptions of all violations, including permissions that no module uses.
pub fn violations(tree: &ModuleTree, rules: &[Rule]) -> BTreeSet<String> {
    let mut violations = BTreeSet::new();
    let mut used = BTreeSet::new();
    for id in tree.modules.keys().filter(|id| id.len() > 1 || is_program(id)) {
        let (file, path) = (&tree.modules[id].file, path(id));
        let Some(own) = rule_of(&path, rules) else {
            violations.insert(format!("{file}: module {path} is in no row of the table"));
            continue;
        };
        for name in tree.references(id).iter().filter_map(|reference| name_in_table(&reference.target, rules)) {
            if !lies_in(name, &own.module) && !own.allows(name) {
                violations.insert(format!("{file}: {} may not use {name}", own.module));
            }
            used.insert((&*own.module, name.to_owned()));
        }
    }
    for rule in rules {
        let is_used = |name: &str| used.iter().any(|(module, used)| *module == rule.module && lies_in(used, name));
        let unused = rule.may_use.iter().chain(&rule.may_touch).filter(|name| !is_used(name));
        violations.extend(unused.map(|name| format!("the table allows {} to use {name}, which it does not", rule.module)));
    }
    violations
}

impl Rule {
    fn allows(&self, name: &str) -> bool {
        self.may_use.iter().chain(&self.may_touch).any(|allowed| lies_in(name, allowed))
    }
}

/// The name of a target in the table; `None` if every module may use it.
fn name_in_table<'a>(target: &'a Target, rules: &'a [Rule]) -> Option<&'a str> {
    match target {
        Target::External(name) => GROUPS.iter().find(|(_, crates)| crates.contains(&&**name)).map(|(group, _)| *group),
        Target::Module(id) | Target::Item(id) => rule_of(&path(id), rules).map(|rule| &*rule.module),
    }
}

/// Whether the crate is a program, whose root module contains code.
fn is_program(id: &ModuleId) -> bool {
    id[0].starts_with("src/bin/")
}

/// The name of a module in the table: `worker/client`, `bin/viewer`.
fn path(id: &ModuleId) -> String {
    let root = id[0].trim_start_matches("src/").trim_end_matches(".rs");
    Some(root).filter(|root| *root != "lib").into_iter().chain(id[1..].iter().map(String::as_str)).collect::<Vec<_>>().join("/")
}

/// The most specific row that contains the module.
fn rule_of<'a>(path: &str, rules: &'a [Rule]) -> Option<&'a Rule> {
    rules.iter().filter(|rule| lies_in(path, &rule.module)).max_by_key(|rule| rule.module.len())
}

fn lies_in(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module_tree::tests::tree;

    const TABLE: &str = "\
//! | module | holds | may use | may touch |
//! | --- | --- | --- | --- |
//! | [`graph`] | edges | `table` | |
//! | [`table`] | cells | | |
//! | `view` | pages | graph | |
//! | | | | leptos |
";

    fn found(graph: &str, table: &str) -> Vec<String> {
        let view = ("src/view/mod.rs", "use crate::graph::Edge; fn f() { leptos::mount() }");
        let lib = ("src/lib.rs", "mod view; mod graph; mod table;");
        let tree = tree(&[lib, view, ("src/graph.rs", graph), ("src/table.rs", table)]);
        violations(&tree, &rules(TABLE)).into_iter().collect()
    }

    const GRAPH: &str = "use crate::table::Table; pub struct Edge;";

    #[test]
    fn table_is_parsed() {
        let rule = Rule { module: "view".into(), may_use: vec!["graph".into()], may_touch: vec!["leptos".into()] };
        assert_eq!(rules(TABLE)[2], rule);
        assert_eq!(rules(TABLE)[1], Rule { module: "table".into(), may_use: Vec::new(), may_touch: Vec::new() });
    }

    #[test]
    fn allowed_import_passes() {
        assert_eq!(found(GRAPH, "pub struct Table;"), [""; 0]);
    }

    #[test]
    fn forbidden_import_is_found_in_any_notation() {
        let refused = ["src/table.rs: table may not use graph"];
        for upward in [
            "use crate::graph::Edge;",
            "use crate::{graph::Edge};",
            "use super::graph::{self, Edge as Other};",
            "fn f() -> super::graph::Edge { panic!() }",
            "#[cfg(test)] mod tests {} fn f() { let _ = crate::graph::Edge; }",
            "mod inside { use super::super::graph::Edge; }",
            "fn f() { println!(\"{}\", crate::graph::Edge) }",
            "fn f() { use crate as all; let _ = all::graph::Edge; }",
            "#[serde(with = \"crate::graph\")] struct S;",
        ] {
            assert_eq!(found(GRAPH, &format!("pub struct Table; {upward}")), refused, "{upward}");
        }
    }

    #[test]
    fn restricted_crate_is_found() {
        assert_eq!(
            found(GRAPH, "pub struct Table; #[cfg(test)] mod tests {} fn f(_: leptos::Owner) {}"),
            ["src/table.rs: table may not use leptos"]
        );
        assert_eq!(found(GRAPH, "pub struct Table; use ::leptos as web;"), ["src/table.rs: table may not use leptos"]);
    }

    #[test]
    fn tests_may_use_anything() {
        assert_eq!(found(GRAPH, "pub struct Table; #[cfg(test)] mod tests { use crate::graph::Edge; }"), [""; 0]);
    }

    #[test]
    fn unused_permission_is_found() {
        assert_eq!(found("pub struct Edge;", ""), ["the table allows graph to use table, which it does not"]);
    }
}

//! Style sheets in forced colors. There the browser replaces all backgrounds and removes shadows, so what a background or a shadow alone
//! shows is lost, unless a rule for forced colors draws it otherwise.

use std::collections::BTreeSet;

use crate::workspace;

/// Rules with a background or a shadow but without a line, which forced colors may lose, and why.
const NEEDS_NO_LINE: &[(&str, &str)] = &[
    ("#results", "has a border with others"),
    ("#search-field", "has a border with others"),
    (".answers .card", "a card has a border"),
    (".answers .original", "its heading names it"),
    (".banner.good", "its words say it"),
    (".direct .bar:not(.minus)", "a bar"),
    (".entries.methods th:first-child", "ground"),
    (".flow .sentence.lit", "lit like other sentences"),
    (".heat tbody td.absent", "it is empty"),
    (".heat th", "ground"),
    (".heat thead td", "ground"),
    (".heat.signed tbody td", "a cell like others"),
    (".heat.signed tbody td.minus", "a cell like others"),
    (".markable .asked", "it has a badge"),
    (".markable label.marked", "its box is checked"),
    (".markable label.wrong", "the verdict says it"),
    (".marks .marked", "it has a check mark"),
    (".status.active", "ground"),
    (".verdict.warn", "its words say it"),
    (".welcome li::before", "it has a number"),
    ("body", "ground"),
    ("code", "its font shows it"),
    ("pre", "has a border with others"),
    ("pre code", "ground"),
];

/// A rule, with the conditions around it.
#[derive(Debug, PartialEq)]
struct Rule {
    conditions: String,
    selector: String,
    declarations: String,
}

/// The rules of a style sheet. Understands comments and nested conditions.
fn rules(css: &str) -> Vec<Rule> {
    let without_comments =
        css.split("/*").enumerate().map(|(i, part)| if i == 0 { part } else { part.split_once("*/").map_or("", |(_, rest)| rest) });
    let (mut rules, mut heads, mut text) = (Vec::new(), Vec::<String>::new(), String::new());
    for c in without_comments.collect::<String>().chars() {
        match c {
            '{' => heads.push(std::mem::take(&mut text).split_whitespace().collect::<Vec<_>>().join(" ")),
            '}' => {
                let selector = heads.pop().expect("braces come in pairs");
                let declarations = std::mem::take(&mut text);
                if !declarations.trim().is_empty() && !selector.starts_with('@') {
                    rules.push(Rule { conditions: heads.join(" "), selector, declarations });
                }
            }
            c => text.push(c),
        }
    }
    rules
}

impl Rule {
    fn is_for_forced_colors(&self) -> bool {
        self.conditions.contains("forced-colors: active")
    }

    /// Whether it draws a ground or a shadow, and no line.
    fn has_only_a_ground(&self) -> bool {
        let names = || self.declarations.split(';').filter_map(|declaration| Some(declaration.split_once(':')?.0.trim()));
        let is_line =
            |name: &str| name != "border-radius" && ["border", "outline", "text-decoration"].iter().any(|line| name.starts_with(line));
        names().any(|name| name.starts_with("background") || name == "box-shadow") && !names().any(is_line)
    }

    /// The selectors of the list, without those for a pointer.
    fn selectors(&self) -> impl Iterator<Item = &str> {
        let mut depth = 0;
        let is_between = move |c: char| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == ',' && depth == 0
        };
        self.selector.split(is_between).map(str::trim).filter(|selector| !selector.contains(":hover") && !selector.contains("::backdrop"))
    }
}

#[test]
fn forced_colors_lose_nothing_that_a_background_shows() {
    let sheets = workspace::tracked(&["css"]).into_iter().filter_map(|file| workspace::read(&file));
    let all: Vec<Rule> = sheets.flat_map(|css| rules(&css)).collect();
    let forced: String = all.iter().filter(|rule| rule.is_for_forced_colors()).map(|rule| format!("{} ", rule.selector)).collect();
    let others = all.iter().filter(|rule| !rule.is_for_forced_colors() && !rule.conditions.contains("print"));
    let grounds: BTreeSet<&str> = others.filter(|rule| rule.has_only_a_ground()).flat_map(Rule::selectors).collect();
    let needs_no_line: BTreeSet<&str> = NEEDS_NO_LINE.iter().map(|(selector, _)| *selector).collect();
    let is_drawn = |selector: &&str| {
        let last = selector.rsplit_once(' ').map_or(*selector, |(_, last)| last);
        // The name of an element alone says too little.
        forced.contains(if last.starts_with(['.', '[']) { last } else { selector })
    };
    let lost: Vec<&str> = grounds.difference(&needs_no_line).copied().filter(|selector| !is_drawn(selector)).collect();
    assert_eq!(lost, [""; 0], "draw a line for forced colors, or say why none is needed");
    let stale: Vec<&&str> = needs_no_line.difference(&grounds).collect();
    assert!(stale.is_empty(), "no such rule: {stale:?}");
}

#[test]
fn rules_are_found_in_nested_conditions() {
    let css = "/* a { } */ b, c:is(d, e) { background: red; } @media (forced-colors: active) { f { border: 0; } }";
    let found = rules(css);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!((found[0].selectors().collect::<Vec<_>>(), found[0].has_only_a_ground()), (vec!["b", "c:is(d, e)"], true));
    assert!(found[1].is_for_forced_colors() && !found[1].has_only_a_ground());
}

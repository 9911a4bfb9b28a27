//! Numbers the names that a program imports from its script. wasm-bindgen ends each name with a hash, which does not compress. A number of
//! the same length saves about 6 kB of the page.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use memchr::memmem;

/// The programs in `dist`, each of which has a script and a module.
const PROGRAMS: [&str; 3] = ["app", "engine", "viewer"];
/// Start of the imported names.
const PREFIX: &str = "__wb";
/// Number of hexadecimal digits of the hash at the end of a name.
const HASH_DIGITS: usize = 16;

/// Renames the imports of all programs in `dist`, in their scripts and modules alike.
pub fn number(dist: &Path) -> Result<()> {
    PROGRAMS.into_iter().try_for_each(|program| {
        let [script, module] = [format!("{program}.js"), format!("{program}_bg.wasm")].map(|name| dist.join(name));
        let text = fs::read_to_string(&script).with_context(|| format!("cannot read {}", script.display()))?;
        let mut bytes = fs::read(&module).with_context(|| format!("cannot read {}", module.display()))?;
        let text = renamed(&text, &mut bytes).with_context(|| format!("the imports of {program}"))?;
        fs::write(script, text)?;
        Ok(fs::write(module, bytes)?)
    })
}

/// The script with numbered imports. Renames them in the module, too, whose length stays the same.
fn renamed(script: &str, module: &mut [u8]) -> Result<String> {
    let mut hashed: Vec<&str> = words(script).filter(|word| has_hash(word)).collect();
    // Names of the same length differ in two digits only, if they are next to each other.
    hashed.sort_by_key(|name| (name.len(), *name));
    hashed.dedup();
    let mut names = BTreeMap::new();
    for (number, name) in hashed.into_iter().enumerate() {
        let numbered = format!("{PREFIX}{number:0width$}", width = name.len() - PREFIX.len());
        ensure!(!script.contains(&*numbered), "{numbered} is already a name");
        ensure!(replace(module, name, &numbered), "the module does not import {name}");
        names.insert(name, numbered);
    }
    Ok(words(script).map(|word| names.get(word).map_or(word, String::as_str)).collect())
}

/// Names and what stands between them, in order.
fn words(script: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_$".contains(c);
    let mut rest = script;
    std::iter::from_fn(move || {
        let in_name = is_part(rest.chars().next()?);
        let (word, after) = rest.split_at(rest.find(|c| is_part(c) != in_name).unwrap_or(rest.len()));
        rest = after;
        Some(word)
    })
}

fn has_hash(name: &str) -> bool {
    let Some((start, hash)) = name.split_at_checked(name.len().saturating_sub(HASH_DIGITS)) else { return false };
    start.starts_with(PREFIX) && start.ends_with('_') && hash.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// Replaces a name by another one of the same length. Returns whether the module has it.
fn replace(module: &mut [u8], name: &str, by: &str) -> bool {
    let places: Vec<usize> = memmem::find_iter(module, name).collect();
    for &place in &places {
        module[place..place + name.len()].copy_from_slice(by.as_bytes());
    }
    !places.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_numbered_in_script_and_module() {
        let script = "const imports = {__wbg_get_0123456789abcdef: a => a.b, __wbg_get_fedcba9876543210: 1, __wbindgen_free: 2};";
        let mut module = *b"\0asm\x1a__wbg_get_fedcba9876543210\0\x1a__wbg_get_0123456789abcdef\0__wbindgen_free";
        let text = renamed(script, &mut module).unwrap();
        assert_eq!(text, "const imports = {__wb0000000000000000000000: a => a.b, __wb0000000000000000000001: 1, __wbindgen_free: 2};");
        assert_eq!(&module, b"\0asm\x1a__wb0000000000000000000001\0\x1a__wb0000000000000000000000\0__wbindgen_free");
    }

    #[test]
    fn script_and_module_must_belong_together() {
        let mut other = *b"__wbg_set_0123456789abcdef";
        assert!(renamed("__wbg_get_0123456789abcdef", &mut other).is_err());
        assert_eq!(renamed("no_import_0123456789abcdef", &mut []).unwrap(), "no_import_0123456789abcdef");
    }
}

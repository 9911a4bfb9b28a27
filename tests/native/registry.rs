//! Checks the registry of known models against its published schema, and the documentation of models against the engine.

use std::collections::BTreeSet;

use glasscage::model::arch::ARCHITECTURES;
use glasscage::model::quant::QUANTS;
use serde_json::Value;

fn registry() -> Value {
    serde_json::from_str(include_str!("../../public/models/registry.json")).expect("the registry is JSON")
}

fn schema() -> jsonschema::Validator {
    let schema = serde_json::from_str(include_str!("../../public/schema/registry-1.json")).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is a schema")
}

#[test]
fn registry_follows_schema() {
    let errors: Vec<String> = schema().iter_errors(&registry()).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
}

#[test]
fn schema_refuses_invalid_downloads() {
    for (field, wrong) in [("address", "http://huggingface.co/a/b/resolve/main/c.gguf"), ("sha256", "unknown"), ("architecture", "bloom")] {
        let mut other = registry();
        other["models"][0][field] = wrong.into();
        assert!(!schema().is_valid(&other), "{field}");
    }
}

#[test]
fn schema_lists_architectures() {
    let schema: Value = serde_json::from_str(include_str!("../../public/schema/registry-1.json")).expect("the schema is JSON");
    let listed = schema["properties"]["models"]["items"]["properties"]["architecture"]["enum"].as_array().expect("a list");
    let known = ARCHITECTURES.iter().map(|architecture| architecture.name);
    assert!(known.eq(listed.iter().filter_map(Value::as_str)), "{listed:?}");
}

#[test]
fn documentation_lists_architectures_and_tensor_types() {
    let page = include_str!("../../docs/models.md");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line.split('|').nth(1)).collect();
    let listed = rows.iter().flat_map(|row| row.split('`').skip(1).step_by(2)).filter(|name| *name != "general.architecture");
    assert_eq!(listed.collect::<BTreeSet<_>>(), ARCHITECTURES.iter().map(|architecture| architecture.name).collect());
    let types = page.split_once("Tensors may be of the types ").and_then(|(_, rest)| rest.split_once(". ")).expect("a sentence").0;
    let listed = types.split([',', ' ', '\n']).filter(|word| !word.is_empty() && *word != "and");
    assert_eq!(listed.collect::<BTreeSet<_>>(), QUANTS.iter().map(|quant| quant.name).collect());
}

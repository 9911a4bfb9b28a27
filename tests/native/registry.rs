//! Checks the registry of known models against its published schema.

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

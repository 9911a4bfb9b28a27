//! The known models against their published schema.

use serde_json::Value;

fn registry() -> Value {
    serde_json::from_str(include_str!("../../public/models/registry.json")).expect("the registry is JSON")
}

fn schema() -> jsonschema::Validator {
    let schema = serde_json::from_str(include_str!("../../public/schema/registry-1.json")).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is a schema")
}

#[test]
fn the_registry_follows_its_schema() {
    let errors: Vec<String> = schema().iter_errors(&registry()).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
}

#[test]
fn the_schema_refuses_what_a_page_could_not_download() {
    for (field, wrong) in [("address", "http://huggingface.co/a/b/resolve/main/c.gguf"), ("sha256", "unknown"), ("architecture", "bloom")] {
        let mut other = registry();
        other["models"][0][field] = wrong.into();
        assert!(!schema().is_valid(&other), "{field}");
    }
}

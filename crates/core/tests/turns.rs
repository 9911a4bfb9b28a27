//! Documents about conversations with turns that do not fit: refused, and mostly by the published schema, too.

#![cfg(not(target_arch = "wasm32"))]

use glasscage_core::explanation::{Document, DocumentError};
use serde_json::Value;

/// An explanation as if its prompt were a conversation.
const WITH_TURNS: &str = include_str!("golden/turns.json");
/// A conversation whose earlier answer is explained.
const WITH_EXPLAINED_TURNS: &str = include_str!("golden/explained-turns.json");

fn schema() -> jsonschema::Validator {
    let schema = serde_json::from_str(include_str!("../../../public/schema/explanation-3.json")).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is a schema")
}

#[test]
fn inconsistent_turns_are_rejected() {
    let refused = |path: &str, value: Value| {
        let mut document: Value = serde_json::from_str(WITH_TURNS).unwrap();
        *document.pointer_mut(&format!("/turns{path}")).unwrap() = value;
        (Document::from_json(&document.to_string()).unwrap_err(), schema().is_valid(&document))
    };
    for (path, value) in [("/0/sentences", 2), ("/3/sentences", 1 << 30)] {
        assert_eq!(refused(path, value.into()), (DocumentError::Turns, true), "{path} {value}");
    }
    assert_eq!(refused("/0/sentences", 0.into()), (DocumentError::Turns, false));
    for (path, role) in [("/1/role", "system"), ("/3/role", "assistant")] {
        assert_eq!(refused(path, role.into()), (DocumentError::Turns, true), "{path} {role}");
    }
    for (path, value) in [("/0/role", Value::from("tool")), ("/0/sentences", (-1).into()), ("/0", Value::Null), ("", 7.into())] {
        let (error, is_valid) = refused(path, value);
        assert!(matches!(error, DocumentError::Json(_)) && !is_valid, "{path}");
    }
    let example: Value = serde_json::from_str(WITH_TURNS).unwrap();
    for key in ["role", "sentences"] {
        let mut without = example.clone();
        without["turns"][0].as_object_mut().unwrap().remove(key);
        assert!(Document::from_json(&without.to_string()).is_err() && !schema().is_valid(&without), "{key}");
    }
}

#[test]
fn inconsistent_explained_turns_are_rejected() {
    let refused = |path: &str, value: Value| {
        let mut document: Value = serde_json::from_str(WITH_EXPLAINED_TURNS).unwrap();
        *document.pointer_mut(path).unwrap() = value;
        (Document::from_json(&document.to_string()).unwrap_err(), schema().is_valid(&document))
    };
    for (path, value) in [
        ("/turns/2/explained", Value::from(false)),
        ("/turns/2/role", "user".into()),
        ("/turns/2/sentences", 4.into()),
        ("/turns/2/sentences", (1_u64 << 62).into()),
        ("/table/0/2", 0.5.into()),
        ("/table/1/2", (-1e-3).into()),
        ("/contrasts/0/effects/2", 0.5.into()),
    ] {
        assert_eq!(refused(path, value), (DocumentError::Turns, true), "{path}");
    }
    for value in [Value::Null, 1.into(), "true".into()] {
        let (error, is_valid) = refused("/turns/2/explained", value);
        assert!(matches!(error, DocumentError::Json(_)) && !is_valid);
    }
}

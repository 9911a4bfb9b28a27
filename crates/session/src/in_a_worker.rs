//! Tests that the WebAssembly engine in a real browser worker computes the same numbers as the native engine.

use std::ops::ControlFlow;

use wasm_bindgen_test::wasm_bindgen_test;

use super::{ExplainResult, Session};
use glasscage_core::explanation::{Document, Manifest};
use glasscage_model::source::BytesInMemory;
use glasscage_protocol::request::{BackendChoice, Question};

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

const DEMO: &[u8] = include_bytes!("../../../tests/fixtures/models/demo.gguf");
/// An explanation made by the native command line.
const NATIVE: &str = include_str!("../../../tests/fixtures/gallery/01-equal-groups.json");

#[wasm_bindgen_test]
async fn the_demo_model_explains_as_it_does_natively() {
    let native = Document::from_json(NATIVE).unwrap();
    let session = Session::load(&BytesInMemory(DEMO.to_vec()), BackendChoice::Cpu, &mut async |_| ControlFlow::Continue(())).await;
    let mut session = session.unwrap().unwrap();
    let question = Question::greedy(&native.prompt.text);
    let outcome = session.explain(&question, &mut async |_| ControlFlow::Continue(())).await.unwrap();
    let ExplainResult::Explained(document) = outcome else { panic!("nobody stopped it") };
    assert_eq!(document.generation, native.generation);
    // Builds for the page also name their commit.
    let version = native.manifest.glasscage.clone();
    assert_eq!(Manifest { glasscage: version, ..document.manifest }, native.manifest);
    for (wasm, native) in document.table.rows().flatten().zip(native.table.rows().flatten()) {
        assert!((wasm.unwrap() - native.unwrap()).abs() < 1e-3, "{wasm:?} {native:?}");
    }
}

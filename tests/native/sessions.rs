//! Sessions with the models of the checkout.

use std::ops::ControlFlow;
use std::path::Path;

use glasscage::engine::Engine;
use glasscage::explanation::Document;
use glasscage::model::source::NativeFile;
use glasscage::problem::Problem;
use glasscage::request::{BackendChoice, Question};
use glasscage::session::{ExplainResult, Session};

/// The built-in model of the tests.
pub const DEMO: &str = "tests/fixtures/models/demo.gguf";
pub const STORIES: &str = "tests/golden/stories260k/stories260k-f32.gguf";

/// Loads the model at this path in the checkout.
pub fn session(model: &str, backend: BackendChoice) -> Session<Engine> {
    let source = NativeFile::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join(model)).expect("the model is in the checkout");
    let mut go_on = async |_| ControlFlow::Continue(());
    let session = Session::load(&source, backend, &mut go_on);
    pollster::block_on(session).expect("it loads").expect("nothing stopped it")
}

/// The explanation, or why there is none.
pub fn outcome(session: &mut Session<Engine>, question: &Question) -> Result<Document, Problem> {
    match pollster::block_on(session.explain(question, &mut async |_| ControlFlow::Continue(())))? {
        ExplainResult::Explained(document) => Ok(*document),
        other => panic!("{other:?}"),
    }
}

/// The explanation of a question that can be explained.
pub fn explain(session: &mut Session<Engine>, question: &Question) -> Document {
    outcome(session, question).expect("it can be explained")
}

//! Models in several files are read like one file.

use std::ops::ControlFlow;

use glasscage::model::gguf::Gguf;
use glasscage::model::source::{BytesInMemory, Joined};
use glasscage::request::{BackendChoice, Question};
use glasscage::session::{ExplainResult, Session};

use crate::split_model;

fn joined(parts: Vec<Vec<u8>>) -> Joined<BytesInMemory> {
    Joined::new(parts.into_iter().map(BytesInMemory).collect())
}

#[test]
fn split_model_explains_like_whole_model() {
    let whole = BytesInMemory(std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/models/demo.gguf")).unwrap());
    let question = Question::greedy("Ann has 3 figs. Bob has 4 nuts. How many nuts does Bob have?");
    let explain = |outcome: ExplainResult| match outcome {
        ExplainResult::Explained(document) => (document.generation, document.table),
        _ => panic!("the run stopped early"),
    };
    pollster::block_on(async {
        let mut go_on = async |_| ControlFlow::Continue(());
        let mut one = Session::load(&whole, BackendChoice::Cpu, &mut go_on).await.unwrap().unwrap();
        let mut three = Session::load(&joined(split_model::demo_in_parts(3)), BackendChoice::Cpu, &mut go_on).await.unwrap().unwrap();
        let mut on_event = async |_| ControlFlow::Continue(());
        let (one, three) = (one.explain(&question, &mut on_event).await.unwrap(), three.explain(&question, &mut on_event).await.unwrap());
        assert_eq!(explain(one), explain(three));
    });
}

#[test]
fn missing_and_misordered_parts_are_reported() {
    let error = |parts: Vec<Vec<u8>>| pollster::block_on(Gguf::read(&joined(parts))).unwrap_err().to_string();
    let parts = split_model::demo_in_parts(3);
    assert!(error(vec![parts[1].clone()]).contains("part 2 of 3"));
    assert!(error(vec![parts[0].clone(), parts[2].clone()]).contains("part 1 of 3"));
    assert!(error(vec![parts[0].clone(), parts[2].clone(), parts[1].clone()]).contains("part 3 of 3"));
}

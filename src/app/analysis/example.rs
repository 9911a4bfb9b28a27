//! A document for tests.

use crate::explanation::{
    Aggregation, Answer, Compression, Document, FORMAT, Language, Manifest, Method, Model, PLAIN_VERSION, Passage, SentenceRule, Speaker,
    Turn, Unit, Weighting,
};
use crate::graph::Normalization;
use crate::shares::Shares;
use crate::table::Table;

/// The shares in the generated sentences `output` of the example.
pub fn shares(output: &[usize]) -> Shares {
    shares_in(document(), output)
}

/// The shares in the generated sentences `output` of a document.
pub fn shares_in(document: Document, output: &[usize]) -> Shares {
    Shares::of(&Document { output: output.to_vec(), ..document })
}

/// The example as if its first generated sentence were an earlier answer, between the two sentences of the prompt.
pub fn with_explained_turn() -> Document {
    let prompt = Passage::new("A.\n\nB.", &[0..4, 4..6], vec![2, 2]);
    let generation = Passage::new("C.\n\nD. E. F.", &[0..4, 4..7, 7..10, 10..12], vec![2; 4]);
    let turns = vec![Turn::given(Speaker::User, 1), Turn::explained(1), Turn::given(Speaker::User, 1)];
    Document { prompt: prompt.into(), generation: generation.into(), turns, ..document() }.versioned()
}

/// P1 -> G1; P2 and G1 -> G2 half each; no source -> G3; a weak P2 -> G4.
pub fn document() -> Document {
    let rows: [&[f64]; 4] = [&[1.0, 0.0], &[-0.5, 0.5, 0.5], &[0.0, -0.1, 0.0, 0.0], &[0.0, 0.01, 0.0, 0.0, 0.0]];
    Document {
        format: FORMAT.into(),
        version: PLAIN_VERSION,
        unit: Unit::Sentence,
        prompt: Passage::new("A. B.", &[0..3, 3..5], vec![2, 2]).into(),
        generation: Passage::new("C. D. E. F.", &[0..3, 3..6, 6..9, 9..11], vec![2; 4]).into(),
        table: Table::from_fn(2, 4, |i, j| Some(rows[i][j])),
        alone: None,
        joint: Vec::new(),
        flow: None,
        turns: Vec::new(),
        support: Vec::new(),
        tokens: Vec::new(),
        contrasts: Vec::new(),
        groups: Vec::new(),
        output: vec![3],
        method: Method {
            id: "pert".into(),
            unit: None,
            aggregation: Aggregation::Mean,
            compression: Compression::None,
            weighting: Weighting::None,
            normalization: Normalization::Full,
            replacement: "<|im_end|>".into(),
            passes: [5, 5],
        },
        manifest: Manifest {
            model: Model::default(),
            template: "chat".into(),
            answer: Answer::Given {},
            backend: "candle-cpu".into(),
            precision: "f32".into(),
            table_precision: "f64".into(),
            glasscage: "0.1.0".into(),
            producer: None,
            sentence_rule: SentenceRule::Punkt,
            language: Language::English,
        },
    }
}

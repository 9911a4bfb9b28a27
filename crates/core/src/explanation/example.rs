//! Small example document for the unit tests.

use super::{
    Aggregation, Alternative, Answer, AnswerStop, Compression, Contrast, Document, FORMAT, Language, Manifest, Method, Model,
    PLAIN_VERSION, Passage, Sampling, SentenceRule, Speaker, Token, Turn, Unit, VERSION, Weighting,
};
use crate::graph::Normalization;
use crate::table::Table;

/// Two prompt and two generated sentences, with a multibyte character.
pub fn example() -> Document {
    Document {
        format: FORMAT.into(),
        version: PLAIN_VERSION,
        unit: Unit::Sentence,
        prompt: Passage::new("Zoë has 2 figs. She eats 1.", &[0..17, 17..28], vec![6, 5]).into(),
        generation: Passage::new("2 - 1 = 1. So 1.", &[0..11, 11..16], vec![7, 3]).into(),
        turns: Vec::new(),
        table: Table::from_fn(2, 2, |i, j| Some([[0.5, 1.25, 0.0], [-0.125, 0.1, 2.0]][i][j])),
        alone: None,
        joint: Vec::new(),
        flow: None,
        support: Vec::new(),
        tokens: Vec::new(),
        contrasts: Vec::new(),
        groups: Vec::new(),
        output: vec![1],
        method: Method {
            id: "pert".into(),
            unit: None,
            aggregation: Aggregation::Mean,
            compression: Compression::None,
            weighting: Weighting::None,
            normalization: Normalization::Full,
            replacement: "<|im_end|>".into(),
            passes: [3, 3],
        },
        manifest: Manifest {
            model: Model { name: "tiny".into(), architecture: "qwen3".into(), quantization: "Q8_0".into(), ..Model::default() },
            template: "chat".into(),
            answer: Answer::Generated {
                sampling: Sampling::GREEDY,
                max_tokens: 64,
                thinking: None,
                stop: AnswerStop::End,
                warning: None,
                branches: Vec::new(),
            },
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

/// The example with its tokens. Each has two alternatives.
pub fn with_tokens() -> Document {
    let ends = [1, 2, 4, 5, 7, 9, 11, 13, 15, 16];
    let token = |(k, &end): (usize, &usize)| {
        let start = k.checked_sub(1).map_or(0, |before| ends[before]);
        let alternative = |text: &str, log_probability| Alternative { text: text.into(), log_probability };
        let alternatives = vec![alternative("\u{fffd}", -1.5), alternative(" 3", -2.25)];
        Token { span: [start, end], log_probability: -0.125 * k as f64, alternatives }
    };
    Document { version: VERSION, tokens: ends.iter().enumerate().map(token).collect(), ..example() }
}

/// The example with a comparison of its last number with another one.
pub fn with_contrast() -> Document {
    let contrast = Contrast { span: [13, 16], alternative: " 3.".into(), log_probabilities: [-0.25, -3.5], effects: vec![1.5, -0.25, 2.0] };
    Document { version: VERSION, contrasts: vec![contrast], ..example() }
}

/// The example as if its prompt were a conversation: a system message and the user's turn.
pub fn with_turns() -> Document {
    let turns = [Speaker::System, Speaker::User].map(|role| Turn::given(role, 1));
    Document { version: VERSION, turns: turns.into(), ..example() }
}

/// A conversation of four turns and the last answer. The earlier answer is explained: its units are G1 and G2.
pub fn with_explained_turns() -> Document {
    let prompt = Passage::new("Be brief.\n\nZoë has 2 figs.\n\nShe finds 1.", &[0..11, 11..29, 29..41], vec![3, 6, 5]);
    let generation = Passage::new("Good. She has 2.\n\n2 + 1 = 3. So 3.", &[0..6, 6..18, 18..29, 29..34], vec![2, 6, 7, 3]);
    let turns = vec![Turn::given(Speaker::System, 1), Turn::given(Speaker::User, 1), Turn::explained(2), Turn::given(Speaker::User, 1)];
    let rows: [&[f64]; 4] =
        [&[0.5, 0.25, 0.0], &[0.25, 2.0, 0.0, 0.125], &[0.0, 0.5, 1.5, -0.125, 0.75], &[0.125, 0.25, 0.5, 0.0, 0.25, 2.0]];
    let table = Table::from_fn(3, 4, |i, j| Some(rows[i][j]));
    Document { version: VERSION, prompt: prompt.into(), generation: generation.into(), turns, table, output: vec![3], ..example() }
}

//! Fuzzes files and links that contain explanations and lessons.

use arbitrary::Unstructured;
use glasscage_core::open::{open_any, open_fragment};
use serde_json::Value;

use crate::hostile::{HOSTILE, replace, show};

const EXPLANATION: &str = include_str!("../../../public/gallery/01-equal-groups.json");
const WITH_TOKENS: &str = include_str!("../../../crates/core/tests/golden/tokens.json");
const WITH_CONTRASTS: &str = include_str!("../../../crates/core/tests/golden/contrasts.json");
const WITH_TURNS: &str = include_str!("../../../crates/core/tests/golden/turns.json");
const WITH_EXPLAINED_TURNS: &str = include_str!("../../../crates/core/tests/golden/explained-turns.json");
const OF_PARAGRAPHS: &str = include_str!("../../../crates/core/tests/golden/paragraphs.json");
const WITH_BRANCHES: &str = include_str!("../../../crates/core/tests/golden/branches.json");
const WITH_PASSAGES: &str = include_str!("../../../crates/core/tests/golden/passages.json");
const LESSON: &str = include_str!("../../../public/gallery/lesson-a-mistake-explained.json");

pub fn files(bytes: &[u8]) {
    if let Ok(opened) = open_any(bytes) {
        show(opened);
    }
}

pub fn links(bytes: &[u8]) {
    if let Some(Ok(opened)) = std::str::from_utf8(bytes).ok().and_then(open_fragment) {
        show(opened);
    }
}

/// Replaces some values of a valid file.
pub fn json(bytes: &[u8]) {
    let mut u = Unstructured::new(bytes);
    let of_version_3 = [WITH_TOKENS, WITH_CONTRASTS, WITH_TURNS, WITH_EXPLAINED_TURNS, WITH_BRANCHES, WITH_PASSAGES, OF_PARAGRAPHS];
    let texts = [&of_version_3[..], &[EXPLANATION, LESSON]].concat();
    let Ok(file) = u.choose(&texts) else { return };
    let mut file: Value = serde_json::from_str(file).expect("a file of ours");
    while !u.is_empty() {
        let (Ok(at), Ok(hostile)) = (u.arbitrary::<u32>(), u.choose(&HOSTILE)) else { break };
        replace(&mut file, at as usize, hostile);
    }
    if let Ok(opened) = open_any(file.to_string().as_bytes()) {
        show(opened);
    }
}

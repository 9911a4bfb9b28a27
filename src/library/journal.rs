//! What is written beside a model's bytes, so that nothing but a whole and verified file is ever taken for one.
//!
//! A model's folder holds `journal.json` (what it is to be, written before its first byte), a data file for each part, beside it
//! a mark of how many of its bytes are safely stored, and `complete.json`, written last. Each is written once or overwritten in
//! place, so a tab killed at any moment leaves less, never something wrong: a file that cannot be read counts as absent.

use serde::{Deserialize, Serialize};

use super::answer::Version;
use super::messages::Wanted;

pub const JOURNAL: &str = "journal.json";
pub const COMPLETE: &str = "complete.json";
pub const USED: &str = "used";

/// The name of the data file of part `i`, from 0.
pub fn data(i: usize) -> String {
    format!("part-{i}")
}

/// The name of its mark: the bytes of it that are safely stored.
pub fn stored(i: usize) -> String {
    format!("part-{i}.stored")
}

/// What a download is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Journal {
    pub wanted: Wanted,
    /// Of each part, as the server named its version.
    pub etags: Vec<Option<String>>,
}

/// What was verified of a whole model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Complete {
    /// Length of each part.
    pub bytes: Vec<u64>,
    /// Of all parts one after the other, as the engine computes it when it loads the model.
    pub sha256: String,
}

/// Written in 20 digits so that a later mark overwrites an earlier one whole.
pub fn mark(bytes: u64) -> String {
    format!("{bytes:020}")
}

/// How many bytes of a data file can be built on: as many as are marked, and there. None of a damaged mark.
pub fn usable(mark: Option<&str>, on_disk: u64) -> u64 {
    mark.filter(|mark| mark.len() == 20).and_then(|mark| mark.parse().ok()).unwrap_or(0).min(on_disk)
}

impl Journal {
    /// Of a download that begins. What can be read in this tab only is of no use to a later one.
    pub fn new(mut wanted: Wanted, etags: Vec<Option<String>>) -> Self {
        wanted.parts.iter_mut().for_each(|part| part.local = None);
        Self { wanted, etags }
    }

    /// The version of part `i`, as far as it is known.
    pub fn version(&self, i: usize) -> Version {
        Version { total: self.wanted.parts[i].bytes, etag: self.etags.get(i).cloned().flatten() }
    }

    /// Whether what was stored for this journal can be the beginning of `wanted`.
    pub fn continues(&self, wanted: &Wanted) -> bool {
        let pairs = self.wanted.parts.iter().zip(&wanted.parts);
        self.wanted.parts.len() == wanted.parts.len()
            && pairs.into_iter().all(|(old, new)| {
                let same_bytes = old.bytes.is_none() || new.bytes.is_none() || old.bytes == new.bytes;
                let same_hash = old.sha256.is_none() || new.sha256.is_none() || old.sha256 == new.sha256;
                old.address == new.address && same_bytes && same_hash
            })
    }
}

/// Whether a folder holds a whole model: every part has the length that was verified.
pub fn is_complete(complete: Option<&Complete>, on_disk: &[u64]) -> bool {
    complete.is_some_and(|complete| !on_disk.is_empty() && complete.bytes == on_disk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::messages::Part;

    fn wanted(bytes: Option<u64>, sha256: Option<&str>) -> Wanted {
        let part = Part { address: "https://a.b/c.gguf".into(), bytes, sha256: sha256.map(str::to_owned), local: None };
        Wanted { name: "c".into(), parts: vec![part] }
    }

    #[test]
    fn only_marked_bytes_that_are_there_are_built_on() {
        assert_eq!(usable(Some(&mark(500)), 700), 500);
        assert_eq!(usable(Some(&mark(500)), 300), 300);
        for damaged in [None, Some(""), Some("0000000000000000500"), Some("what is this, pray? ")] {
            assert_eq!(usable(damaged, 700), 0);
        }
    }

    #[test]
    fn a_download_goes_on_only_as_the_same_file() {
        let journal = Journal { wanted: wanted(Some(9), None), etags: vec![None] };
        assert!(journal.continues(&wanted(None, None)) && journal.continues(&wanted(Some(9), Some("ab"))));
        assert!(!journal.continues(&wanted(Some(10), None)));
        let hashed = Journal { wanted: wanted(Some(9), Some("ab")), etags: vec![None] };
        assert!(!hashed.continues(&wanted(Some(9), Some("cd"))));
        let mut elsewhere = wanted(Some(9), None);
        elsewhere.parts[0].address.push('x');
        assert!(!journal.continues(&elsewhere));
    }

    #[test]
    fn a_copy_of_a_file_goes_on_when_the_same_file_is_chosen_again() {
        let chosen = |bytes, modified, local: &str| {
            let part = Part { local: Some(local.into()), ..Part::of_device("c.gguf", bytes, modified) };
            Wanted { name: "c".into(), parts: vec![part] }
        };
        let journal = Journal::new(chosen(9, 1.5, "blob:1"), vec![None]);
        assert!(journal.wanted.is_copy() && journal.wanted.parts[0].local.is_none());
        assert!(journal.continues(&chosen(9, 1.5, "blob:2")));
        assert!(!journal.continues(&chosen(9, 2.5, "blob:2")) && !journal.continues(&chosen(10, 1.5, "blob:2")));
    }

    #[test]
    fn a_model_is_complete_when_it_was_verified_and_is_still_as_long() {
        let complete = Complete { bytes: vec![3, 4], sha256: "ab".into() };
        assert!(is_complete(Some(&complete), &[3, 4]));
        assert!(!is_complete(Some(&complete), &[3, 3]) && !is_complete(Some(&complete), &[3]) && !is_complete(None, &[3, 4]));
    }
}

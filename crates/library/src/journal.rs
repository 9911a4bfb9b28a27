//! Metadata files stored with a model. They ensure that only complete, verified files are used as a model.
//!
//! The folder of a model contains `journal.json` (the description of the download, written before the first byte) and `complete.json`
//! (written last). For each file of the model, it contains a data file and a checkpoint (the number of bytes that are safely stored). Each
//! file is written once or overwritten in place, and unreadable files count as missing. A tab killed at any moment therefore leaves too
//! little data, but never wrong data.
//!
//! Names and JSON are the same as in all earlier versions, so stored models stay readable.

use serde::{Deserialize, Serialize};

use super::download_spec::{DownloadSpec, FileSpec};
use super::http_response::FileVersion;

pub const JOURNAL: &str = "journal.json";
pub const COMPLETE: &str = "complete.json";
/// Contains the time of the last load, in milliseconds since 1970.
pub const LAST_USED: &str = "used";

/// Name of data file `i` (0-based).
pub fn data_file(i: usize) -> String {
    format!("part-{i}")
}

/// Name of the checkpoint of data file `i`.
pub fn checkpoint_file(i: usize) -> String {
    format!("part-{i}.stored")
}

/// Description of a download, and the versions of its files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Journal {
    #[serde(rename = "wanted")]
    pub spec: DownloadSpec,
    /// `ETag` of each file, if the server sends it.
    pub etags: Vec<Option<String>>,
    /// Last-Modified of each file, if the server sends it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modified: Vec<Option<String>>,
}

/// Verified properties of a complete model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// Length of each file.
    pub bytes: Vec<u64>,
    /// SHA-256 of all files concatenated. The engine computes the same hash when it loads the model.
    pub sha256: String,
}

/// Content of a checkpoint. It always has 20 digits, so that a later one overwrites an earlier one completely.
pub fn checkpoint(bytes: u64) -> String {
    format!("{bytes:020}")
}

/// Number of bytes from which a download can resume: the checkpoint, at most the file length. 0 if the checkpoint is missing or damaged.
pub fn resumable_bytes(checkpoint: Option<&str>, on_disk: u64) -> u64 {
    checkpoint.filter(|text| text.len() == 20).and_then(|text| text.parse().ok()).unwrap_or(0).min(on_disk)
}

impl Journal {
    /// The journal of a new download.
    pub fn new(spec: DownloadSpec, versions: &[FileVersion]) -> Self {
        let etags = versions.iter().map(|version| version.etag.clone()).collect();
        let modified: Vec<Option<String>> = versions.iter().map(|version| version.last_modified.clone()).collect();
        let modified = if modified.iter().any(Option::is_some) { modified } else { Vec::new() };
        Self { spec: spec.without_object_urls(), etags, modified }
    }

    /// The version of each file.
    pub fn versions(&self) -> Vec<FileVersion> {
        let known = |list: &[Option<String>], i: usize| list.get(i).cloned().flatten();
        let version = |(i, file): (usize, &FileSpec)| FileVersion {
            total: file.bytes,
            etag: known(&self.etags, i),
            last_modified: known(&self.modified, i),
        };
        self.spec.files.iter().enumerate().map(version).collect()
    }

    /// Whether the bytes stored for this journal can be the beginning of `spec`.
    pub fn continues(&self, spec: &DownloadSpec) -> bool {
        let pairs = self.spec.files.iter().zip(&spec.files);
        self.spec.files.len() == spec.files.len()
            && pairs.into_iter().all(|(old, new)| {
                let same_bytes = old.bytes.is_none() || new.bytes.is_none() || old.bytes == new.bytes;
                let same_hash = old.sha256.is_none() || new.sha256.is_none() || old.sha256 == new.sha256;
                old.address == new.address && same_bytes && same_hash
            })
    }
}

/// Whether a folder contains a complete model: every data file has its verified length.
pub fn is_complete(completion: Option<&Completion>, on_disk: &[u64]) -> bool {
    completion.is_some_and(|completion| !on_disk.is_empty() && completion.bytes == on_disk)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(bytes: Option<u64>, sha256: Option<&str>) -> DownloadSpec {
        let file = FileSpec { address: "https://a.b/c.gguf".into(), bytes, sha256: sha256.map(str::to_owned), object_url: None };
        DownloadSpec { name: "c".into(), files: vec![file] }
    }

    #[test]
    fn state_of_earlier_versions_is_read() {
        let journal =
            r#"{"wanted":{"name":"c","parts":[{"address":"https://a.b/c.gguf","bytes":9,"sha256":null}]},"etags":["\"v1\"",null]}"#;
        let expected = Journal { spec: spec(Some(9), None), etags: vec![Some("\"v1\"".into()), None], modified: Vec::new() };
        assert_eq!(serde_json::from_str::<Journal>(journal).unwrap(), expected);
        assert_eq!(serde_json::to_string(&expected).unwrap(), journal);
        let complete = r#"{"bytes":[3,4],"sha256":"ab"}"#;
        let expected = Completion { bytes: vec![3, 4], sha256: "ab".into() };
        assert_eq!(serde_json::from_str::<Completion>(complete).unwrap(), expected);
        assert_eq!(
            (data_file(0), checkpoint_file(1), checkpoint(7)),
            ("part-0".into(), "part-1.stored".into(), "00000000000000000007".into())
        );
    }

    #[test]
    fn versions_of_files_are_kept() {
        let version = FileVersion { total: Some(9), etag: None, last_modified: Some("Thu, 01 Jan 2026 00:00:00 GMT".into()) };
        let journal = Journal::new(spec(Some(9), None), std::slice::from_ref(&version));
        let read: Journal = serde_json::from_str(&serde_json::to_string(&journal).unwrap()).unwrap();
        assert_eq!((read.versions(), &read), (vec![version], &journal));
        assert!(!serde_json::to_string(&Journal::new(spec(None, None), &[FileVersion::default()])).unwrap().contains("modified"));
    }

    #[test]
    fn resume_requires_bytes_on_disk_and_in_checkpoint() {
        assert_eq!(resumable_bytes(Some(&checkpoint(500)), 700), 500);
        assert_eq!(resumable_bytes(Some(&checkpoint(500)), 300), 300);
        for damaged in [None, Some(""), Some("0000000000000000500"), Some("what is this, pray? ")] {
            assert_eq!(resumable_bytes(damaged, 700), 0);
        }
    }

    #[test]
    fn a_download_goes_on_only_as_the_same_file() {
        let journal = Journal::new(spec(Some(9), None), &[FileVersion::default()]);
        assert!(journal.continues(&spec(None, None)) && journal.continues(&spec(Some(9), Some("ab"))));
        assert!(!journal.continues(&spec(Some(10), None)));
        let hashed = Journal::new(spec(Some(9), Some("ab")), &[]);
        assert!(!hashed.continues(&spec(Some(9), Some("cd"))));
        assert!(hashed.continues(&spec(Some(9), Some("ab"))) && !hashed.continues(&spec(Some(10), Some("ab"))));
        let mut elsewhere = spec(Some(9), None);
        elsewhere.files[0].address.push('x');
        assert!(!journal.continues(&elsewhere));
        let mut with_another = spec(Some(9), None);
        with_another.files.push(FileSpec::default());
        assert!(!journal.continues(&with_another));
    }

    #[test]
    fn local_copy_continues_only_for_same_file() {
        let chosen = |bytes, modified, url: &str| {
            let file = FileSpec { object_url: Some(url.into()), ..FileSpec::local("c.gguf", bytes, modified) };
            DownloadSpec { name: "c".into(), files: vec![file] }
        };
        let journal = Journal::new(chosen(9, 1.5, "blob:1"), &[]);
        assert!(journal.spec.is_local_copy() && journal.spec.files[0].object_url.is_none());
        assert!(journal.continues(&chosen(9, 1.5, "blob:2")));
        assert!(!journal.continues(&chosen(9, 2.5, "blob:2")) && !journal.continues(&chosen(10, 1.5, "blob:2")));
    }

    #[test]
    fn complete_model_has_verified_file_lengths() {
        let completion = Completion { bytes: vec![3, 4], sha256: "ab".into() };
        assert!(is_complete(Some(&completion), &[3, 4]));
        assert!(!is_complete(Some(&completion), &[3, 3]) && !is_complete(Some(&completion), &[3]) && !is_complete(None, &[3, 4]));
        let of_nothing = Completion { bytes: Vec::new(), sha256: "ab".into() };
        assert!(!is_complete(Some(&of_nothing), &[]), "a folder without files is no model");
    }
}

//! Description of a download: a model in one or several files, with their addresses.

use serde::{Deserialize, Serialize};

use super::address::{all_parts, file_address, file_name, part_of};
use glasscage_protocol::problem::Problem;

/// A model to download. Stored as JSON in journals and in the page's storage, so its keys stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DownloadSpec {
    /// Name shown to the visitor.
    pub name: String,
    /// One file, or the parts of a split model in order.
    #[serde(rename = "parts")]
    pub files: Vec<FileSpec>,
}

/// One file of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileSpec {
    /// Published address. For a local file, a name that changes when the file changes.
    pub address: String,
    /// URL from which the browser can read a local file. It is never stored, because object URLs end with the tab.
    #[serde(default, rename = "local", skip_serializing_if = "Option::is_none")]
    pub object_url: Option<String>,
    /// Length, if known.
    pub bytes: Option<u64>,
    /// In lower-case hexadecimal, if known.
    pub sha256: Option<String>,
}

/// Prefix of the addresses of local files.
const LOCAL: &str = "file:";

impl FileSpec {
    /// A local file. Its length and modification time distinguish it from other files of the same name.
    pub fn local(name: &str, bytes: u64, modified_millis: f64) -> Self {
        Self { address: format!("{LOCAL}{name}?{bytes}&{modified_millis}"), bytes: Some(bytes), ..Self::default() }
    }

    /// Address from which its bytes are read.
    pub fn source(&self) -> &str {
        self.object_url.as_deref().unwrap_or(&self.address)
    }
}

impl DownloadSpec {
    /// The model at these addresses. Nothing else is known about it.
    pub fn at(name: impl Into<String>, addresses: Vec<String>) -> Self {
        let file = |address| FileSpec { address, ..FileSpec::default() };
        Self { name: name.into(), files: addresses.into_iter().map(file).collect() }
    }

    /// The model at a typed address, with all parts if it is split. Errors if the input is not the address of a GGUF file.
    pub fn typed(typed: &str) -> Result<Self, Problem> {
        let address = file_address(typed)?;
        let file = file_name(&address);
        let name = part_of(&file).map_or(file.as_str(), |(stem, ..)| stem).trim_end_matches(".gguf");
        Ok(Self::at(name, all_parts(&address)))
    }

    /// Whether this is a copy of local files.
    pub fn is_local_copy(&self) -> bool {
        self.files.iter().any(|file| file.address.starts_with(LOCAL))
    }

    /// Total length of all files, if known.
    pub fn bytes(&self) -> Option<u64> {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// The object URLs of its local files.
    pub fn object_urls(&self) -> Vec<String> {
        self.files.iter().filter_map(|file| file.object_url.clone()).collect()
    }

    /// The same download without object URLs, to be stored.
    pub fn without_object_urls(mut self) -> Self {
        self.files.iter_mut().for_each(|file| file.object_url = None);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_of_earlier_visits_is_read() {
        let stored = r#"{"name":"c","parts":[{"address":"https://a.b/c.gguf","bytes":9,"sha256":null}]}"#;
        let file = FileSpec { address: "https://a.b/c.gguf".into(), bytes: Some(9), ..FileSpec::default() };
        let spec = DownloadSpec { name: "c".into(), files: vec![file] };
        assert_eq!(serde_json::from_str::<DownloadSpec>(stored).unwrap(), spec);
        assert_eq!(serde_json::to_string(&spec).unwrap(), stored);
    }

    #[test]
    fn local_file_is_read_by_object_url() {
        let file = FileSpec::local("c.gguf", 9, 1.5);
        assert_eq!((file.source(), file.bytes), (file.address.as_str(), Some(9)));
        let opened = FileSpec { object_url: Some("blob:1".into()), ..file };
        assert_eq!(opened.source(), "blob:1");
        let spec = DownloadSpec { name: "c".into(), files: vec![opened, FileSpec::default()] };
        assert!(spec.is_local_copy());
        assert_eq!(spec.object_urls(), ["blob:1"]);
        assert_eq!(spec.without_object_urls().object_urls(), [""; 0]);
    }

    #[test]
    fn model_length_requires_all_file_lengths() {
        let mut spec = DownloadSpec::at("c", vec!["https://a.b/1".into(), "https://a.b/2".into()]);
        assert_eq!((spec.name.as_str(), spec.is_local_copy()), ("c", false));
        assert_eq!(spec.files.iter().map(FileSpec::source).collect::<Vec<_>>(), ["https://a.b/1", "https://a.b/2"]);
        spec.files[0].bytes = Some(3);
        assert_eq!(spec.bytes(), None);
        spec.files[1].bytes = Some(4);
        assert_eq!(spec.bytes(), Some(7));
    }
}

//! Local files. The state knows their properties, but not their contents.

/// Id of a local file. [`crate::app::effects`] keeps the browser's handle under this id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId(pub u32);

/// Properties of a local file.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalFile {
    pub id: FileId,
    pub name: String,
    pub bytes: u64,
    /// Time of the last change, in milliseconds since 1970.
    pub modified_millis: f64,
}

//! Local files, of which the state knows everything but the contents.

/// A file of this device, by the number under which [`crate::app::effects`] holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId(pub u32);

/// What the page knows of a file of this device.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalFile {
    pub id: FileId,
    pub name: String,
    pub bytes: u64,
    /// When it was last changed, in milliseconds since 1970.
    pub modified_millis: f64,
}

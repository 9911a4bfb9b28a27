//! Versions of the document format.

/// The newest version that this page opens.
pub const VERSION: u32 = 3;
/// Version of a document without fields that are new in version 3. New documents start with it.
pub const PLAIN_VERSION: u32 = 2;

/// The smallest version with all fields of a document, so that older pages open it if they can. `version` is that of the document so far:
/// one of version 1 keeps its version unless it has fields of version 3.
pub(super) fn smallest_version(version: u32, uses_version_3: bool) -> u32 {
    if uses_version_3 { VERSION } else { PLAIN_VERSION.min(version) }
}

//! Versions of the document format. Only this file decides which version a document has.

use super::Document;

/// The newest version that this page opens.
pub const VERSION: u32 = 3;
/// Version of a document without fields that are new in version 3. New documents start with it.
pub const PLAIN_VERSION: u32 = 2;

/// The smallest version with all fields that the document uses, so that older pages open it if they can. A document of version 1 keeps its
/// version.
pub(super) fn smallest_version(document: &Document) -> u32 {
    let Document { tokens, contrasts, version, .. } = document;
    let uses_version_3 = !tokens.is_empty() || !contrasts.is_empty();
    if uses_version_3 { VERSION } else { PLAIN_VERSION.min(*version) }
}

#[cfg(test)]
mod tests {
    use super::super::example::{example, with_contrast, with_tokens};
    use super::*;

    #[test]
    fn documents_have_smallest_possible_version() {
        let version_of = |document: Document| Document::from_json(&document.to_json()).unwrap().version;
        for (version, written) in [(1, 1), (2, 2), (3, 2)] {
            assert_eq!(version_of(Document { version, ..example() }), written);
            assert_eq!(version_of(Document { version, ..with_tokens() }), 3);
            assert_eq!(version_of(Document { version, ..with_contrast() }), 3);
        }
    }
}

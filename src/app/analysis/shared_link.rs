//! A link that holds the whole explanation, and how far such a link gets.

use super::number::grouped;
use crate::app::i18n::t;

/// Chat programs cut longer links.
const CUT_BY_CHATS: usize = 2_000;
/// A file travels better than a longer link.
const BETTER_AS_FILE: usize = 8_000;

/// A link, and how far it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedLink {
    pub address: String,
    pub reach: Reach,
    /// Whether it is on the clipboard.
    pub is_copied: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Anywhere,
    CutByChats,
    BetterAsFile,
}

impl SharedLink {
    /// The page's address (any fragment is dropped) with this fragment.
    pub fn new(page_address: &str, fragment: &str) -> Self {
        let page = page_address.split('#').next().unwrap_or_default();
        let address = format!("{page}#{fragment}");
        let reach = match address.len() {
            length if length > BETTER_AS_FILE => Reach::BetterAsFile,
            length if length > CUT_BY_CHATS => Reach::CutByChats,
            _ => Reach::Anywhere,
        };
        Self { address, reach, is_copied: false }
    }

    /// What the author should know before sending it.
    pub fn advice(&self) -> String {
        let length = grouped(self.address.len() as u64);
        match self.reach {
            Reach::Anywhere => t!("{length} characters: short enough for mail and chat.", length),
            Reach::CutByChats => t!(
                "{length} characters: some chat programs cut links after {most}, so mail it or send the file.",
                length,
                most = grouped(CUT_BY_CHATS as u64),
            ),
            Reach::BetterAsFile => t!("{length} characters: too long for most programs. Send the file instead.", length),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_fragment_is_replaced() {
        assert_eq!(SharedLink::new("https://a.b/c/#g1.old", "g1.new").address, "https://a.b/c/#g1.new");
    }

    #[test]
    fn advice_follows_the_length() {
        let reach = |length: usize| SharedLink::new("", &"x".repeat(length - 1)).reach;
        assert_eq!([2_000, 2_001, 8_000, 8_001].map(reach), [Reach::Anywhere, Reach::CutByChats, Reach::CutByChats, Reach::BetterAsFile]);
        assert_eq!(SharedLink::new("", &"x".repeat(2_999)).advice().split(':').next(), Some("3,000 characters"));
    }
}

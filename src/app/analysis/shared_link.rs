//! Links that contain a whole explanation, with advice on their length.

use super::number::grouped;
use crate::app::i18n::t;

/// Some chat programs truncate links that are longer than this number of characters.
const CUT_BY_CHATS: usize = 2_000;
/// A file is better than a link that is longer than this number of characters.
const BETTER_AS_FILE: usize = 8_000;

/// Address parameter that lists the page parts to hide, separated by commas.
const HIDE: &str = "hide=";

/// The parameter that hides these parts. `None` if there are none.
pub fn hide_parameter(hidden: &[&str]) -> Option<String> {
    (!hidden.is_empty()).then(|| format!("{HIDE}{}", hidden.join(",")))
}

/// Removes `part` from the list of hidden parts if `is_shown`, else puts it at the end.
pub fn set_shown<'a>(hidden: &mut Vec<&'a str>, part: &'a str, is_shown: bool) {
    hidden.retain(|other| *other != part);
    if !is_shown {
        hidden.push(part);
    }
}

/// A link, and which programs its length suits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedLink {
    pub address: String,
    pub reach: Reach,
    /// Whether the link was copied to the clipboard.
    pub is_copied: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Anywhere,
    CutByChats,
    BetterAsFile,
}

impl SharedLink {
    /// A link to the page with this fragment. Any fragment of `page_address` is dropped.
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

    /// Page parts that the link hides, with the names of `?hide=`.
    pub fn hidden(&self) -> Vec<&str> {
        let page = self.address.split('#').next().unwrap_or_default();
        let parameters = page.split_once('?').map_or("", |(_, query)| query).split('&');
        let hidden = parameters.filter_map(|parameter| parameter.strip_prefix(HIDE)).flat_map(|parts| parts.split(','));
        hidden.filter(|part| !part.is_empty()).collect()
    }

    /// The link with this page part shown or hidden.
    pub fn with_part(&self, part: &str, is_shown: bool) -> Self {
        let mut hidden = self.hidden();
        set_shown(&mut hidden, part, is_shown);
        let (page, fragment) = self.address.split_once('#').unwrap_or((&self.address, ""));
        let (path, query) = page.split_once('?').unwrap_or((page, ""));
        let hide = hide_parameter(&hidden);
        let others = query.split('&').filter(|parameter| !parameter.is_empty() && !parameter.starts_with(HIDE));
        let query: Vec<&str> = others.chain(hide.as_deref()).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        Self::new(&format!("{path}{mark}{}", query.join("&")), fragment)
    }

    /// Advice for the author on the length of the link.
    pub fn advice(&self) -> String {
        let length = grouped(self.address.len() as u64);
        match self.reach {
            Reach::Anywhere => t!("{length} characters: short enough for mail and chat.", length),
            Reach::CutByChats => t!(
                "{length} characters: some chat apps cut links after {most}, so send it by email or send the file.",
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
    fn a_link_hides_parts_and_shows_them_again() {
        let link = SharedLink::new("https://a.b/c/?lang=de", "g3.x");
        let hidden = link.with_part("tabs", false).with_part("details", false);
        assert_eq!(hidden.address, "https://a.b/c/?lang=de&hide=tabs,details#g3.x");
        assert_eq!(hidden.hidden(), ["tabs", "details"]);
        assert_eq!(hidden.with_part("details", false).hidden(), ["tabs", "details"], "once");
        assert_eq!(hidden.with_part("details", true).with_part("tabs", true), link);
        assert_eq!(SharedLink::new("https://a.b/?hide=tabs", "g3.x").with_part("tabs", true).address, "https://a.b/#g3.x");
    }

    #[test]
    fn advice_follows_the_length() {
        let reach = |length: usize| SharedLink::new("", &"x".repeat(length - 1)).reach;
        assert_eq!([2_000, 2_001, 8_000, 8_001].map(reach), [Reach::Anywhere, Reach::CutByChats, Reach::CutByChats, Reach::BetterAsFile]);
        assert_eq!(SharedLink::new("", &"x".repeat(2_999)).advice().split(':').next(), Some("3,000 characters"));
    }
}

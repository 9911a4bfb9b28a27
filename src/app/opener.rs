//! Opens files, links and what other sites send. The browser fetches this code when it is first needed: the first screen needs none of it.

use glasscage_message::{Message, message};

use super::browser;
use super::state::opened::Opened;
use super::state::origin::Origin;
use super::views::layout::lazy::split_off;

split_off!(open, fetch_opener => open as fn(&[u8], Origin) -> Result<Opened, Message>);

fn open(bytes: &[u8], origin: Origin) -> Result<Opened, Message> {
    Opened::from_bytes(bytes, origin)
}

/// The fragment of a link, and what it contains.
pub type OpenedLink = (String, Result<Opened, Message>);

/// Opens the link in the address of the page. `None` if there is none, or if the history entry contains what is shown.
pub async fn opened_address() -> Option<OpenedLink> {
    let fragment = Some(browser::fragment()).filter(|fragment| Opened::is_link(fragment) && browser::entry().is_none())?;
    let opened = opened(fragment.as_bytes(), Origin::Link).await;
    Some((fragment, opened))
}

/// Opens the content of a file or a link: see [`Opened::from_bytes`]. Errors with the reason for the visitor.
pub async fn opened(bytes: &[u8], origin: Origin) -> Result<Opened, Message> {
    let not_loaded = |_| message!("a part of this page could not be loaded. Check the connection, reload the page, and try again");
    let open = fetch().await.map_err(not_loaded)?;
    open(bytes, origin)
}

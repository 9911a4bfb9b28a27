//! Fetches explanations from other sites, but only if the visitor has agreed.

use crate::app::state::State;
use crate::app::state::message::Effect;
use crate::app::state::opened::Opened;
use crate::app::state::remote::{Remote, RemoteFailure};
use crate::app::state::screen::Screen;
use crate::library::address::AddressError;
use crate::worker::envelope::RequestId;
use glasscage_message::{Message, message};

impl State {
    /// Asks the visitor before an explanation is fetched from another site.
    pub(super) fn offer_remote(&mut self, asked: Result<Remote, AddressError>) {
        match asked {
            Ok(remote) => *self.screen = Screen::Remote(remote),
            Err(error) => {
                let what = message!("The address in this link cannot be opened: {error}");
                self.fail_with(what, message!("Ask for a new link, or for the saved JSON file"));
            }
        }
    }

    pub(super) fn fetch_remote(&mut self) {
        let id = self.next_id();
        if let Some(remote) = self.remote().filter(|remote| remote.request.is_none()) {
            let address = remote.address.clone();
            *self.screen = Screen::Remote(Remote { address: address.clone(), request: Some(id) });
            *self.problem = None;
            self.emit(Effect::FetchRemote(id, address));
        }
    }

    /// Drops the link to the other site, because the visitor has declined.
    pub(super) fn decline_remote(&mut self) {
        if self.remote().is_some_and(|remote| remote.request.is_some()) {
            self.emit(Effect::AbortRemote);
        }
        *self.screen = Screen::default();
        if self.explanation.shown.is_none() && !self.engine.is_busy() {
            self.close_explanation();
            self.welcome();
        }
        self.replace_entry();
    }

    pub(super) fn remote_fetched(&mut self, id: RequestId, fetched: Result<Result<Opened, Message>, RemoteFailure>) {
        let Some(remote) = self.remote().filter(|remote| remote.request == Some(id)).cloned() else { return };
        *self.screen = Screen::Remote(Remote { request: None, ..remote.clone() });
        if self.refuse_while_busy() {
            return;
        }
        let opened = fetched.map_err(|failure| words(remote.host(), &failure)).and_then(|opened| {
            opened.map_err(|error| {
                let what = message!("The file from {host} could not be opened: {error}", host = remote.host());
                (what, message!("Ask for the saved JSON file"))
            })
        });
        match opened {
            Ok(opened) => {
                self.put_on_screen(opened);
                self.replace_entry_at(format!("{}#url={}", self.page_address, remote.address));
            }
            Err((what, remedy)) => self.fail_with(what, remedy),
        }
    }
}

/// Describes the failure and what to do.
fn words(host: &str, failure: &RemoteFailure) -> (Message, Message) {
    let again = message!("Try again later, or ask for the saved JSON file");
    match failure {
        RemoteFailure::NotReached => (
            message!("The site {host} cannot be reached, redirects to another site, or does not let other sites read this file", host),
            message!(
                "Open the address in a separate tab, save the file, and open it here. The site’s owner can allow direct access with the \
                header Access-Control-Allow-Origin"
            ),
        ),
        RemoteFailure::TooSlow => (message!("The site {host} took too long to answer", host), again),
        RemoteFailure::TooLarge => (message!("The file from {host} is too large for an explanation", host), message!("Check the address")),
        RemoteFailure::Status(status) => (message!("The site {host} answered with an error ({status})", host, status), again),
        RemoteFailure::MediaType(media_type) => {
            (message!("The site {host} sent {media_type} instead of an explanation", host, media_type), message!("Check the address"))
        }
    }
}

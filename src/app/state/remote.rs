//! An explanation on another site that a link names: `#url=https://example.org/explanation.json`.

use percent_encoding::percent_decode_str;

use crate::library::address::{self, AddressError};
use crate::worker::envelope::RequestId;

const PARAMETER: &str = "url=";

/// An explanation that a link names. Nothing is requested before the visitor agrees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    pub address: String,
    /// The pending request, if the visitor has agreed.
    pub request: Option<RequestId>,
}

/// Why the explanation could not be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteFailure {
    /// There is no response that this page may read.
    NotReached,
    TooSlow,
    TooLarge,
    Status(u16),
    /// The server declares this media type, which is not accepted.
    MediaType(String),
}

impl Remote {
    /// The explanation that a fragment (with or without `#`) names. `None` for other fragments.
    pub fn of_fragment(fragment: &str) -> Option<Result<Self, AddressError>> {
        let asked = fragment.strip_prefix('#').unwrap_or(fragment).strip_prefix(PARAMETER)?;
        // Some programs percent-encode the address in a link. Invalid UTF-8 becomes U+FFFD, which makes the address invalid.
        let asked = if asked.contains("://") { asked.to_owned() } else { percent_decode_str(asked).decode_utf8_lossy().into_owned() };
        Some(address::document_address(&asked).map(|address| Self { address, request: None }))
    }

    /// The host of the site: "example.org".
    pub fn host(&self) -> &str {
        address::host(&self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(fragment: &str) -> Option<String> {
        Remote::of_fragment(fragment)?.ok().map(|remote| remote.address)
    }

    #[test]
    fn the_address_may_be_escaped() {
        let plain = "https://example.org/a%20b.json?x=1";
        assert_eq!(address(&format!("#url={plain}")).as_deref(), Some(plain));
        assert_eq!(address("#url=https%3A%2F%2Fexample.org%2Fa%2520b.json%3Fx%3D1").as_deref(), Some(plain));
        assert_eq!(Remote::of_fragment("#utm_source=x"), None);
    }

    #[test]
    fn only_addresses_whose_host_can_be_read_are_asked() {
        let refused = [
            "",
            "javascript:alert(1)",
            "http://example.org/a.json",
            "file:///etc/passwd",
            "https://user:password@example.org/a",
            "https://good.example\\@evil.example/a",
            "https://b%C3%BCcher.example/a",
            "https:///a",
            "https%3A%2F%2Fexample.org%2F%FF",
        ];
        for address in refused {
            assert!(matches!(Remote::of_fragment(&format!("#url={address}")), Some(Err(_))), "{address}");
        }
        assert_eq!(address("url=http://localhost:8080/a.json").as_deref(), Some("http://localhost:8080/a.json"));
    }

    #[test]
    fn the_host_is_what_is_asked() {
        let remote = Remote::of_fragment("#url=https://EXAMPLE.org:444/a@b/c.json").unwrap().unwrap();
        assert_eq!(remote.host(), "example.org:444");
    }
}

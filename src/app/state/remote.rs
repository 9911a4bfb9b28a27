//! An explanation on another site that a link names: `#url=https://example.org/explanation.json`.

use percent_encoding::percent_decode_str;

use crate::library::address::{self, AddressError};
use crate::worker::envelope::RequestId;

const PARAMETER: &str = "url=";

/// What a link asks for, and whether the visitor has agreed. Nothing is requested before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    pub address: String,
    /// The request that is on its way.
    pub request: Option<RequestId>,
}

/// Why it did not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteFailure {
    /// No answer that this page may read.
    NotReached,
    TooSlow,
    TooLarge,
    Status(u16),
    /// The server says that it is of this media type.
    MediaType(String),
}

impl Remote {
    /// What a fragment (with or without `#`) asks for; `None` where it asks for something else.
    pub fn of_fragment(fragment: &str) -> Option<Result<Self, AddressError>> {
        let asked = fragment.strip_prefix('#').unwrap_or(fragment).strip_prefix(PARAMETER)?;
        // Programs that make links escape what is within them. What is no UTF-8 then becomes what no address has.
        let asked = if asked.contains("://") { asked.to_owned() } else { percent_decode_str(asked).decode_utf8_lossy().into_owned() };
        Some(address::document_address(&asked).map(|address| Self { address, request: None }))
    }

    /// Who is asked: "example.org".
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

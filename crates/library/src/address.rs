//! Converts user input to the address of a model file.

use glasscage_message::{ToMessage, message};
use glasscage_protocol::problem::Problem;

/// Hosts of Hugging Face, which serve repository pages and files.
const HUGGING_FACE: [&str; 3] = ["huggingface.co", "www.huggingface.co", "hf.co"];
/// A mirror with the addresses of Hugging Face.
const MIRROR: &str = "hf-mirror.com";
/// Hosts of ModelScope. Their addresses begin with `models/`.
const MODEL_SCOPE: [&str; 4] = ["modelscope.cn", "www.modelscope.cn", "modelscope.ai", "www.modelscope.ai"];
/// Hosts of GitHub. They redirect to a host whose files pages can read, but no page can read the redirect.
const GITHUB: [&str; 2] = ["github.com", "www.github.com"];
/// Hosts of this machine. They need no https, because no data leaves the machine. `[::1]` is missing, because a Content-Security-Policy
/// cannot name it, so the browser would refuse the request.
const OWN_MACHINE: [&str; 2] = ["localhost", "127.0.0.1"];

/// Maximum number of parts of a split model, because one name determines the names of all parts. The largest models have about 200.
const MAX_PARTS: usize = 1000;
const ENDING: &str = ".gguf";

/// Why something is not the address of a model file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, ToMessage)]
pub enum AddressError {
    #[error("this is not an address; one begins with https://")]
    NoAddress,
    #[error("the address contains characters that could disguise its host")]
    Host,
    #[error("only https addresses can be opened")]
    NotHttps,
    #[error("an address with a password in it cannot be opened")]
    Password,
    #[error("this is the page of a whole repository; open its files and copy the address of one that ends with .gguf")]
    Repository,
    #[error("this address does not name a GGUF file: it does not end with .gguf")]
    NotGguf,
    #[error("github.com does not let other pages read the files of a release")]
    Release,
}

impl From<AddressError> for Problem {
    fn from(error: AddressError) -> Self {
        Self::new(error.to_message(), message!("Paste the address of a .gguf file, or of its page on huggingface.co"))
    }
}

/// Converts user input to the URL of a GGUF file. Turns page URLs of Hugging Face, mirrors, ModelScope and GitHub into file URLs.
/// Errors if the input is not the address of a GGUF file.
pub fn file_address(typed: &str) -> Result<String, AddressError> {
    let typed = typed.trim().split('#').next().unwrap_or_default();
    let is_short = typed.split_once('/').is_some_and(|(host, _)| is_hub(host) || GITHUB.contains(&host));
    let typed = if is_short { &format!("https://{typed}") } else { typed };
    let Parts { scheme, host, path } = parts(typed)?;
    if GITHUB.contains(&host.as_str()) {
        return github(path);
    }
    let whole = format!("{scheme}://{host}/{path}");
    match shown_file(path.strip_prefix("models/").filter(|_| MODEL_SCOPE.contains(&host.as_str())).unwrap_or(path)) {
        Ok(shown) if HUGGING_FACE.contains(&host.as_str()) => Ok(format!("https://huggingface.co/{shown}")),
        Ok(shown) if MODEL_SCOPE.contains(&host.as_str()) => Ok(format!("{scheme}://{host}/models/{shown}")),
        // Other hosts may require a key in the query.
        Ok(_) if path.contains("/resolve/") && !is_hub(&host) => Ok(whole),
        Ok(shown) => Ok(format!("{scheme}://{host}/{shown}")),
        Err(error) if is_hub(&host) => Err(error),
        Err(_) if is_gguf(&file_name(&whole)) => Ok(whole),
        Err(_) => Err(AddressError::NotGguf),
    }
}

/// Whether the host has pages of models, so that other addresses there are not files.
fn is_hub(host: &str) -> bool {
    host == MIRROR || HUGGING_FACE.contains(&host) || MODEL_SCOPE.contains(&host)
}

/// Checks the address of a document on another site. Errors if its characters could disguise the host.
pub fn document_address(address: &str) -> Result<String, AddressError> {
    let Parts { scheme, host, path } = parts(address.trim().split('#').next().unwrap_or_default())?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
    let is_readable = host.chars().all(is_plain) && path.chars().all(|c| !c.is_control() && c != char::REPLACEMENT_CHARACTER);
    if is_readable { Ok(format!("{scheme}://{host}/{path}")) } else { Err(AddressError::Host) }
}

struct Parts<'a> {
    scheme: String,
    host: String,
    /// Includes the query, but not the `/` before the path.
    path: &'a str,
}

/// Splits an address. Errors if the page may not request it.
fn parts(address: &str) -> Result<Parts<'_>, AddressError> {
    let (scheme, rest) = address.split_once("://").ok_or(AddressError::NoAddress)?;
    let (authority, path) = rest.split_once('/').ok_or(AddressError::NoAddress)?;
    if authority.is_empty() || address.contains(char::is_whitespace) {
        return Err(AddressError::NoAddress);
    }
    if authority.contains('@') {
        return Err(AddressError::Password);
    }
    let (scheme, host) = (scheme.to_ascii_lowercase(), authority.to_ascii_lowercase());
    match scheme.as_str() {
        "https" => {}
        "http" if OWN_MACHINE.contains(&without_port(&host)) || HUGGING_FACE.contains(&host.as_str()) => {}
        _ => return Err(AddressError::NotHttps),
    }
    Ok(Parts { scheme, host, path })
}

/// Path of the file that a page shows: `OWNER/REPO/blob/REVISION/FILE`, `OWNER/REPO/file/view/REVISION/FILE`, or
/// `OWNER/REPO?show_file_info=FILE`.
fn shown_file(path: &str) -> Result<String, AddressError> {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let shown = query.split('&').find_map(|part| part.strip_prefix("show_file_info="));
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let (owner, repository, revision, file) = match (&parts[..], shown) {
        (
            &[owner, repository, "blob" | "resolve" | "raw", revision, ref file @ ..]
            | &[owner, repository, "file", "view", revision, ref file @ ..],
            _,
        ) if !file.is_empty() => (owner, repository, revision, file.join("/")),
        (&[owner, repository, ..], Some(file)) => (owner, repository, "main", file.replace("%2F", "/")),
        ([_, _, ..], None) => return Err(AddressError::Repository),
        _ => return Err(AddressError::NoAddress),
    };
    if !is_gguf(&file) {
        return Err(AddressError::NotGguf);
    }
    Ok(format!("{owner}/{repository}/resolve/{revision}/{file}"))
}

/// URL of the file that a page of GitHub shows. Files as large as models are in Git LFS, which `media.githubusercontent.com` serves.
fn github(path: &str) -> Result<String, AddressError> {
    if path.contains("/releases/") {
        return Err(AddressError::Release);
    }
    let shown = shown_file(path)?;
    Ok(format!("https://media.githubusercontent.com/media/{}", shown.replacen("/resolve/", "/", 1)))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn is_gguf(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(ENDING)
}

/// The file name at the end of an address, without its query: "qwen3.gguf".
pub fn file_name(address: &str) -> String {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default().replace("%20", " ")
}

/// Host that serves the address: "huggingface.co". Includes the port, if there is one.
pub fn host(address: &str) -> &str {
    address.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or(address)
}

/// Whether a document address and the address of the answer have the same host and port. Browsers leave out a default port.
pub fn is_on_same_host(address: &str, answered: &str) -> bool {
    let default_port = if address.starts_with("http:") { ":80" } else { ":443" };
    host(address).trim_end_matches(default_port) == host(answered)
}

/// Addresses of all parts, in order, if `address` is one of several (`..-00001-of-00003.gguf`); else only `address`.
pub fn all_parts(address: &str) -> Vec<String> {
    let (path, query) = address.split_once('?').map_or((address, String::new()), |(path, query)| (path, format!("?{query}")));
    let parts = part_names(path).map(|parts| parts.into_iter().map(|part| part + &query).collect());
    parts.unwrap_or_else(|| vec![address.to_owned()])
}

/// Names of all parts, in order, if `name` is that of a part. They end like it: `.gguf` or `.GGUF`.
pub fn part_names(name: &str) -> Option<Vec<String>> {
    let (stem, _, n) = part_of(name)?;
    let ending = &name[name.len() - ENDING.len()..];
    Some((1..=n).map(|i| format!("{stem}-{i:05}-of-{n:05}{ending}")).collect())
}

/// Names of the missing parts of a split model, given the names of the parts that are present. `None` if they are not parts of one model.
pub fn missing_parts(names: &[String]) -> Option<Vec<String>> {
    let (first, others) = names.split_first()?;
    part_of(first)?;
    let all = all_parts(first);
    others.iter().all(|name| all.contains(name)).then(|| all.into_iter().filter(|part| !names.contains(part)).collect())
}

/// Splits the name of a part into its stem, its number (1-based), and the number of parts.
pub fn part_of(name: &str) -> Option<(&str, usize, usize)> {
    let number = |digits: &str| (digits.len() == 5).then(|| digits.parse::<usize>().ok()).flatten();
    let (rest, ending) = name.split_at_checked(name.len().checked_sub(ENDING.len())?)?;
    let (rest, n) = rest.rsplit_once("-of-").filter(|_| ending.eq_ignore_ascii_case(ENDING))?;
    let (stem, i) = rest.rsplit_once('-')?;
    let (i, n) = (number(i)?, number(n).filter(|&n| n <= MAX_PARTS)?);
    (1..=n).contains(&i).then_some((stem, i, n))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "https://huggingface.co/Qwen/Qwen3-0.6B-GGUF/resolve/main/Qwen3-0.6B-Q8_0.gguf";

    #[test]
    fn hugging_face_addresses_resolve_to_file() {
        for typed in [
            FILE,
            "https://huggingface.co/Qwen/Qwen3-0.6B-GGUF/blob/main/Qwen3-0.6B-Q8_0.gguf",
            "https://huggingface.co/Qwen/Qwen3-0.6B-GGUF/resolve/main/Qwen3-0.6B-Q8_0.gguf?download=true",
            "huggingface.co/Qwen/Qwen3-0.6B-GGUF/blob/main/Qwen3-0.6B-Q8_0.gguf#top",
            "  https://hf.co/Qwen/Qwen3-0.6B-GGUF?show_file_info=Qwen3-0.6B-Q8_0.gguf\n",
            "https://huggingface.co/Qwen/Qwen3-0.6B-GGUF/tree/main?show_file_info=Qwen3-0.6B-Q8_0.gguf",
        ] {
            assert_eq!(file_address(typed).as_deref(), Ok(FILE), "{typed}");
        }
    }

    #[test]
    fn pages_of_mirrors_resolve_to_file() {
        for (typed, file) in [
            ("https://hf-mirror.com/Qwen/Q-GGUF/blob/main/q.gguf", "https://hf-mirror.com/Qwen/Q-GGUF/resolve/main/q.gguf"),
            ("hf-mirror.com/Qwen/Q-GGUF/resolve/main/q.gguf?download=true", "https://hf-mirror.com/Qwen/Q-GGUF/resolve/main/q.gguf"),
            ("https://hf-mirror.com/Qwen/Q-GGUF?show_file_info=q.gguf", "https://hf-mirror.com/Qwen/Q-GGUF/resolve/main/q.gguf"),
            ("https://models.lab.org/Qwen/Q/resolve/main/q.gguf?key=1", "https://models.lab.org/Qwen/Q/resolve/main/q.gguf?key=1"),
            ("https://models.lab.org/Qwen/Q/blob/main/a/q.gguf", "https://models.lab.org/Qwen/Q/resolve/main/a/q.gguf"),
            ("https://models.lab.org/hub/Qwen/Q/resolve/main/q.gguf", "https://models.lab.org/hub/Qwen/Q/resolve/main/q.gguf"),
            ("http://localhost:8080/Qwen/Q/blob/main/q.gguf", "http://localhost:8080/Qwen/Q/resolve/main/q.gguf"),
            ("https://modelscope.cn/models/Qwen/Q/resolve/master/q.gguf", "https://modelscope.cn/models/Qwen/Q/resolve/master/q.gguf"),
            (
                "https://www.modelscope.cn/models/Qwen/Q/file/view/master/q.gguf?status=2",
                "https://www.modelscope.cn/models/Qwen/Q/resolve/master/q.gguf",
            ),
            ("modelscope.ai/models/Qwen/Q/file/view/v1/a/q.gguf", "https://modelscope.ai/models/Qwen/Q/resolve/v1/a/q.gguf"),
            ("https://github.com/o/r/blob/main/a/q.gguf", "https://media.githubusercontent.com/media/o/r/main/a/q.gguf"),
            ("github.com/o/r/raw/v1/q.gguf?download=", "https://media.githubusercontent.com/media/o/r/v1/q.gguf"),
            ("https://github.com/o/r/raw/refs/heads/main/q.gguf", "https://media.githubusercontent.com/media/o/r/refs/heads/main/q.gguf"),
            ("https://raw.githubusercontent.com/o/r/main/q.gguf", "https://raw.githubusercontent.com/o/r/main/q.gguf"),
        ] {
            assert_eq!(file_address(typed).as_deref(), Ok(file), "{typed}");
        }
    }

    #[test]
    fn invalid_address_is_rejected_with_reason() {
        for (typed, error) in [
            ("qwen3", AddressError::NoAddress),
            ("https://", AddressError::NoAddress),
            ("https://example.org/a b.gguf", AddressError::NoAddress),
            ("https://huggingface.co/Qwen", AddressError::NoAddress),
            ("https://huggingface.co/Qwen/Qwen3-0.6B-GGUF", AddressError::Repository),
            ("https://huggingface.co/Qwen/Qwen3-0.6B-GGUF/tree/main", AddressError::Repository),
            ("https://huggingface.co/Qwen/Qwen3-0.6B-GGUF/blob/main", AddressError::Repository),
            ("https://huggingface.co/Qwen/Qwen3-0.6B/blob/main/README.md", AddressError::NotGguf),
            ("hf.co/Qwen/Qwen3-0.6B-GGUF:Q8_0", AddressError::Repository),
            ("https://hf-mirror.com/Qwen/Qwen3-0.6B-GGUF", AddressError::Repository),
            ("https://hf-mirror.com/Qwen/Qwen3-0.6B-GGUF/blob/main/README.md", AddressError::NotGguf),
            ("https://modelscope.cn/models/Qwen/Qwen3-0.6B-GGUF/files", AddressError::Repository),
            ("https://github.com/o/r", AddressError::Repository),
            ("https://github.com/o/r/blob/main/README.md", AddressError::NotGguf),
            ("https://github.com/o/r/releases/download/v1/q.gguf", AddressError::Release),
            ("http://hf-mirror.com/Qwen/Q/resolve/main/q.gguf", AddressError::NotHttps),
            ("http://example.org/model.gguf", AddressError::NotHttps),
            ("http://localhost:port/model.gguf", AddressError::NotHttps),
            ("http://[::1]/model.gguf", AddressError::NotHttps),
            ("ftp://example.org/model.gguf", AddressError::NotHttps),
            ("javascript://example.org/model.gguf", AddressError::NotHttps),
            ("https://me:secret@example.org/model.gguf", AddressError::Password),
            ("https://example.org/", AddressError::NotGguf),
        ] {
            assert_eq!(file_address(typed), Err(error), "{typed}");
        }
    }

    #[test]
    fn other_addresses_stay_and_the_own_machine_needs_no_https() {
        for typed in ["https://example.org/m.gguf?key=1", "http://localhost:8080/m.gguf", "http://127.0.0.1/m.GGUF"] {
            assert_eq!(file_address(typed).as_deref(), Ok(typed));
        }
        assert_eq!((file_name("https://a.b/c/d.gguf?x=1"), host("https://a.b:81/c")), ("d.gguf".into(), "a.b:81"));
    }

    #[test]
    fn document_address_rejects_disguised_hosts() {
        for (address, opened) in [
            (" https://Example.org:8443/a_b/c.json?v=1#top ", "https://example.org:8443/a_b/c.json?v=1"),
            ("http://127.0.0.1:8080/c.json", "http://127.0.0.1:8080/c.json"),
            ("https://example.org/Zo\u{eb}.json", "https://example.org/Zo\u{eb}.json"),
        ] {
            assert_eq!(document_address(address).as_deref(), Ok(opened), "{address}");
        }
        for (address, error) in [
            ("https://ex\u{430}mple.org/c.json", AddressError::Host),
            ("https://example.org/c\u{7}.json", AddressError::Host),
            ("https://example.org/c\u{fffd}.json", AddressError::Host),
            ("http://example.org/c.json", AddressError::NotHttps),
            ("example.org/c.json", AddressError::NoAddress),
        ] {
            assert_eq!(document_address(address), Err(error), "{address}");
        }
    }

    #[test]
    fn redirect_stays_on_host_or_leaves_it() {
        let asked = "https://example.org:443/a.json";
        assert!(["https://example.org/a.json", "https://example.org/b/c@d?e=https://a.b/"].iter().all(|to| is_on_same_host(asked, to)));
        let others =
            ["https://www.example.org/a", "https://example.org:8443/a", "https://example.org@a.b/a", "https://example.org.a.b/a", ""];
        assert!(!others.iter().any(|to| is_on_same_host(asked, to)));
        assert!(is_on_same_host("http://127.0.0.1:80/a", "http://127.0.0.1/b"));
        assert!(!is_on_same_host("http://127.0.0.1:8080/a", "http://127.0.0.1:8081/a"));
    }

    #[test]
    fn missing_parts_are_named() {
        let names = |numbers: &[usize]| -> Vec<String> { numbers.iter().map(|i| format!("big-{i:05}-of-00003.gguf")).collect() };
        assert_eq!(missing_parts(&names(&[1, 2, 3])), Some(vec![]));
        assert_eq!(missing_parts(&names(&[2])), Some(names(&[1, 3])));
        for no_parts in [vec![], vec!["big.gguf".to_owned()], vec![names(&[1])[0].clone(), "other-00002-of-00003.gguf".to_owned()]] {
            assert_eq!(missing_parts(&no_parts), None);
        }
    }

    #[test]
    fn one_part_names_all() {
        let all = all_parts("https://a.b/big-00002-of-00003.gguf?x");
        assert_eq!(all, ["1", "2", "3"].map(|i| format!("https://a.b/big-0000{i}-of-00003.gguf?x")));
        assert_eq!(part_names("BIG-00001-of-00002.GGUF"), Some([1, 2].map(|i| format!("BIG-0000{i}-of-00002.GGUF")).into()));
        for whole in [
            "https://a.b/big.gguf",
            "https://a.b/big-00004-of-00003.gguf",
            "https://a.b/big-1-of-3.gguf",
            "https://a.b/big-00001-of-99999.gguf",
        ] {
            assert_eq!(all_parts(whole), [whole]);
        }
    }
}

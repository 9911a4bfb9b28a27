//! The recipes for hosts in `docs/deploying.md`.

use std::path::Path;

use super::recipes::{Host, hosts};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The only hosts that take no headers from a site.
const WITHOUT_HEADERS: [&str; 2] = ["GitHub Pages", "GitLab Pages"];

#[test]
fn recipes_keep_versions_apart_and_allow_frames() {
    for Host { name, headers, .. } in hosts() {
        let value = |header: &str| headers.iter().find(|(name, _)| name == header).map(|(_, value)| value.as_str());
        if !WITHOUT_HEADERS.contains(&name) {
            assert_eq!(value("cache-control"), Some("no-cache"), "{name}");
            let policy = value("content-security-policy").unwrap_or_else(|| panic!("{name} sends no policy"));
            assert!(!policy.contains("frame-ancestors"), "{name}: {policy}");
        }
        assert_eq!(value("x-frame-options"), None, "{name}");
    }
}

#[test]
fn recipes_set_types_that_browsers_accept() {
    for Host { name, types, .. } in hosts() {
        for (ending, kind) in types {
            let expected = match ending.as_str() {
                ".wasm" => "application/wasm",
                ".js" => "text/javascript",
                ".webmanifest" => "application/manifest+json",
                _ => panic!("{name}: {ending}"),
            };
            assert_eq!(kind, expected, "{name}: {ending}");
        }
    }
}

#[test]
fn models_and_examples_fit_every_host() {
    for Host { name, largest_file, .. } in hosts() {
        let too_large = sizes(&Path::new(ROOT).join("public")).into_iter().filter(|(_, bytes)| *bytes > largest_file);
        assert_eq!(too_large.collect::<Vec<_>>(), Vec::new(), "{name}");
    }
}

/// The files below `folder` with their sizes in bytes.
fn sizes(folder: &Path) -> Vec<(String, u64)> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let sizes = entries.flat_map(|entry| match entry.metadata().expect("an entry") {
        metadata if metadata.is_dir() => sizes(&entry.path()),
        metadata => vec![(entry.path().display().to_string(), metadata.len())],
    });
    sizes.collect()
}

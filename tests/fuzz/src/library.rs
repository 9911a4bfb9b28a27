//! Fuzzes server responses, the browser's storage, and messages between page and workers.

use arbitrary::{Arbitrary, Unstructured};
use glasscage::library::address::{all_parts, document_address, file_address, file_name, host, missing_parts, part_of};
use glasscage::library::http_response::HttpResponse;
use glasscage::library::journal::{Completion, Journal, is_complete, resumable_bytes};
use glasscage::library::registry;
use glasscage::worker::engine::protocol::{EngineEvent, EngineRequest};
use glasscage::worker::library::protocol::{LibraryEvent, LibraryRequest};
use serde_json::{Value, from_slice, to_vec};

#[derive(Arbitrary, Debug)]
struct Outside<'a> {
    status: u16,
    content_range: Option<String>,
    content_length: Option<u64>,
    etag: Option<String>,
    retry_after: Option<String>,
    now_millis: f64,
    start: u64,
    checkpoint: Option<&'a str>,
    on_disk: [u64; 2],
    address: &'a str,
    json: &'a str,
}

pub fn stored_and_served(bytes: &[u8]) {
    let Ok(outside) = Outside::arbitrary(&mut Unstructured::new(bytes)) else { return };
    let Outside { status, content_range, content_length, etag, retry_after, now_millis, .. } = outside;
    let last_modified = etag.clone();
    HttpResponse { status, content_range, content_length, etag, last_modified, retry_after, now_millis }.action(outside.start);
    assert!(resumable_bytes(outside.checkpoint, outside.on_disk[0]) <= outside.on_disk[0]);
    for address in [file_address(outside.address), document_address(outside.address)].into_iter().flatten() {
        assert!(!host(&address).is_empty() && !file_name(&address).contains('/'), "{address:?}");
        all_parts(&address);
    }
    part_of(outside.address);
    missing_parts(&[outside.address.to_owned(), outside.json.to_owned()]);
    registry::parse(outside.json);
    let completion: Option<Completion> = serde_json::from_str(outside.json).ok();
    is_complete(completion.as_ref(), &outside.on_disk);
    if let Ok(journal) = serde_json::from_str::<Journal>(outside.json) {
        assert!(journal.continues(&journal.spec) && journal.versions().len() == journal.spec.files.len());
    }
}

/// Messages as JSON, which has the same fields as posted messages.
pub fn messages(bytes: &[u8]) {
    same_again::<EngineRequest>(bytes);
    same_again::<EngineEvent>(bytes);
    same_again::<LibraryRequest>(bytes);
    same_again::<LibraryEvent>(bytes);
}

fn same_again<T: serde::Serialize + serde::de::DeserializeOwned>(bytes: &[u8]) {
    if let Ok(message) = from_slice::<T>(bytes) {
        let written = to_vec(&message).expect("what was read can be written");
        let read: T = from_slice(&written).expect("what was written can be read");
        let [first, second] = [&message, &read].map(|message| serde_json::to_value(message).unwrap_or(Value::Null));
        assert_eq!(first, second);
    }
}

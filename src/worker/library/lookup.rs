//! What a server says of a model before it is downloaded: its length, its version, and the first bytes of it.

use web_sys::AbortController;

use super::http::{self, Body};
use super::js::sleep;
use crate::library::address::file_name;
use crate::library::answer::{Answer, Meaning, Version, refused_for_good};
use crate::library::messages::{Part, Wanted};
use crate::library::patience::Patience;
use crate::problem::Problem;

/// Enough for architecture, sizes and licence, which come before the vocabulary.
const FIRST_BYTES: u64 = 64 << 10;
/// The longest wait for a server that is asked to wait, before the visitor is told.
const LONGEST_WAIT_SECONDS: f64 = 10.0;

/// What one part is, and its first bytes: they are not downloaded again.
pub struct Probe {
    pub address: String,
    pub version: Version,
    pub first_bytes: Vec<u8>,
    /// Whether the server serves ranges.
    pub resumable: bool,
}

/// Asks for the beginning of every part. Where the list knows another length than the server, that is a problem.
pub async fn probes(wanted: &Wanted) -> Result<Vec<Probe>, Problem> {
    let mut probes = Vec::new();
    for part in &wanted.parts {
        // Sizes are told by the first part alone.
        let length = if probes.is_empty() { FIRST_BYTES } else { 1 };
        let probe = patiently(&part.address, length).await.map_err(|problem| of_part(wanted, part, problem))?;
        check_length(part.bytes, probe.version.total)?;
        probes.push(probe);
    }
    Ok(probes)
}

/// What went wrong, with the name of the file where there are several.
fn of_part(wanted: &Wanted, part: &Part, problem: Problem) -> Problem {
    match wanted.parts.len() {
        1 => problem,
        n => {
            let what = problem.what.trim_end_matches('.');
            Problem::new(format!("{what}: {}, one of this model\u{2019}s {n} files", file_name(&part.address)), problem.remedy)
        }
    }
}

/// The length that was expected and the one that the server says are the same, where both are known.
pub fn check_length(expected: Option<u64>, said: Option<u64>) -> Result<(), Problem> {
    match (expected, said) {
        (Some(expected), Some(said)) if expected != said => Err(Problem::new(
            format!("the server has another file than the one expected here: {said} bytes instead of {expected}"),
            "It may be a newer version: open it by its address if you trust it",
        )),
        _ => Ok(()),
    }
}

async fn patiently(address: &str, length: u64) -> Result<Probe, Problem> {
    let mut patience = Patience::default();
    loop {
        let (why, asked) = match attempt(address, length).await {
            Ok(Ok(probe)) => return Ok(probe),
            Ok(Err(Meaning::Refused(problem))) => return Err(problem),
            Ok(Err(Meaning::Later { why, seconds })) => (why, seconds),
            Ok(Err(_)) => ("the server sent nothing".to_owned(), None),
            Err(why) => (why, None),
        };
        match patience.wait(asked, why.contains("refused"), js_sys::Math::random()) {
            Some(seconds) if seconds <= LONGEST_WAIT_SECONDS && patience.is_fresh() => sleep((1e3 * seconds) as u32).await,
            _ => return Err(refused_for_good(&why)),
        }
    }
}

/// A probe, what else the answer means, or why there was none.
async fn attempt(address: &str, length: u64) -> Result<Result<Probe, Meaning>, String> {
    let (answer, body) = http::get(address, 0, Some(length - 1), controller()?).await?;
    let (version, resumable) = match answer.meaning(0) {
        Meaning::Part(version) => (version, true),
        Meaning::Whole(version) => (version, false),
        other => return Ok(Err(other)),
    };
    let first_bytes = beginning(body, length as usize).await?;
    let total = match version.total {
        None if resumable => total_of_whole(address).await?,
        total => total,
    };
    Ok(Ok(Probe { address: address.to_owned(), version: Version { total, ..version }, first_bytes, resumable }))
}

/// At most `length` bytes; the rest is not read.
async fn beginning(mut body: Body, length: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    while bytes.len() < length {
        let Some(piece) = body.next().await? else { break };
        bytes.extend(piece);
    }
    bytes.truncate(length);
    Ok(bytes)
}

/// A server that hides how long the file is when asked for a part says it when asked for the whole, which is then not read.
async fn total_of_whole(address: &str) -> Result<Option<u64>, String> {
    let (Answer { content_length, content_range, .. }, _) = http::get(address, 0, None, controller()?).await?;
    Ok(content_length.filter(|_| content_range.is_none()))
}

pub fn controller() -> Result<AbortController, String> {
    AbortController::new().map_err(|_| "this browser cannot end a download".into())
}

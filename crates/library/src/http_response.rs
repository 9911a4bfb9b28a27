//! Decides how to handle the response to a request for the bytes of a file from some position on.

use std::time::UNIX_EPOCH;

use super::errors::{LibraryError, RetryCause};
use super::retry::AttemptError;

/// The parts of an HTTP response that matter here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HttpResponse {
    pub status: u16,
    pub content_range: Option<String>,
    pub content_length: Option<u64>,
    pub etag: Option<String>,
    /// Every page may read this header, even from a server that hides all others.
    pub last_modified: Option<String>,
    pub retry_after: Option<String>,
    /// Time of arrival by this device's clock, in milliseconds since 1970. A server may request a retry at a certain date, and pages of
    /// other sites cannot read its own clock.
    pub now_millis: f64,
}

/// Version of a file. Two responses with different versions are parts of different files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileVersion {
    pub total: Option<u64>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

impl FileVersion {
    /// Whether both are versions of the same file; `None` if nothing tells.
    pub fn is_same(&self, other: &Self) -> Option<bool> {
        fn compared<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> Option<bool> {
            Some(a.as_ref()? == b.as_ref()?)
        }
        // Ignore equal lengths, because other files may have the same length.
        let same_length = compared(&self.total, &other.total).filter(|is_same| !is_same);
        same_length.or_else(|| compared(&self.etag, &other.etag)).or_else(|| compared(&self.last_modified, &other.last_modified))
    }

    /// Whether the version distinguishes the file from a replacement.
    pub fn is_known(&self) -> bool {
        self.etag.is_some() || self.last_modified.is_some()
    }

    /// Fills in its missing fields from `other`.
    pub fn learn(&mut self, other: &Self) {
        self.total = self.total.or(other.total);
        self.etag = self.etag.take().or_else(|| other.etag.clone());
        self.last_modified = self.last_modified.take().or_else(|| other.last_modified.clone());
    }
}

/// The action that a response requires.
#[derive(Clone, Debug, PartialEq)]
pub enum ResponseAction {
    /// Append the body to the downloaded bytes: it begins at the requested position.
    TakeRange(FileVersion),
    /// Start over with the body. It is the whole file, because the server ignores ranges.
    TakeWhole(FileVersion),
    /// Try again, after `seconds` if the server requests a delay.
    Retry { cause: RetryCause, seconds: Option<f64> },
    /// Do not try again, because the response would be the same.
    Fail(LibraryError),
}

impl ResponseAction {
    /// Version of the file in the body, and whether the body is a range of the file.
    pub fn accepted(self) -> Result<(FileVersion, bool), AttemptError> {
        match self {
            Self::TakeRange(version) => Ok((version, true)),
            Self::TakeWhole(version) => Ok((version, false)),
            Self::Retry { cause, seconds } => Err(AttemptError::Retry { cause, seconds }),
            Self::Fail(error) => Err(AttemptError::Fail(error)),
        }
    }
}

/// Maximum delay that a server may request. A longer one is a failure.
const LONGEST_WAIT_SECONDS: f64 = 600.0;
/// Larger delays in a Retry-After header count as this one: a year.
const LARGEST_DELAY_SECONDS: u32 = 365 * 86_400;

impl HttpResponse {
    /// The action for this response to a request for the bytes from `start` on.
    pub fn action(&self, start: u64) -> ResponseAction {
        match self.status {
            206 => self.range_action(start),
            200 => ResponseAction::TakeWhole(self.version(self.content_length)),
            408 | 425 | 429 | 500..=599 => self.busy_action(),
            401 | 403 => ResponseAction::Retry { cause: RetryCause::Refused(self.status), seconds: None },
            404 | 410 => ResponseAction::Fail(LibraryError::NotFound(self.status)),
            416 => ResponseAction::Fail(LibraryError::Shortened),
            status => ResponseAction::Fail(LibraryError::UnexpectedStatus(status)),
        }
    }

    /// Length of the file from the response to a request for all its bytes. `None` if the server hides it.
    pub fn whole_length(&self) -> Result<Option<u64>, AttemptError> {
        self.action(0).accepted()?;
        Ok(self.content_length.filter(|_| self.content_range.is_none()))
    }

    fn range_action(&self, start: u64) -> ResponseAction {
        let range = self.content_range.as_deref().map(parse_content_range);
        // A server may hide the header from other sites. The total length is then unknown.
        let total = match range {
            Some(Some((first, total))) if first == start => total,
            None => None,
            _ => return ResponseAction::Retry { cause: RetryCause::WrongRange, seconds: None },
        };
        ResponseAction::TakeRange(self.version(total))
    }

    fn version(&self, total: Option<u64>) -> FileVersion {
        FileVersion { total, etag: self.etag.clone(), last_modified: self.last_modified.clone() }
    }

    fn busy_action(&self) -> ResponseAction {
        match self.retry_after.as_deref().and_then(|text| self.seconds_until(text)) {
            Some(seconds) if seconds > LONGEST_WAIT_SECONDS => ResponseAction::Fail(LibraryError::BusyFor { minutes: seconds / 60.0 }),
            seconds => ResponseAction::Retry { cause: RetryCause::Busy(self.status), seconds },
        }
    }

    /// Seconds until the time in a Retry-After header: a whole number of seconds, or a date. At most a year.
    fn seconds_until(&self, text: &str) -> Option<f64> {
        let until = |date: f64| (date - self.now_millis / 1e3).max(0.0);
        let seconds = whole_seconds(text.trim()).or_else(|| date_seconds(text).map(until));
        seconds.map(|seconds| seconds.min(LARGEST_DELAY_SECONDS.into()))
    }
}

/// Parses `delay-seconds` of RFC 9110, section 10.2.3: only digits. A number that does not fit counts as a year.
fn whole_seconds(text: &str) -> Option<f64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(LARGEST_DELAY_SECONDS).into())
}

/// Converts an HTTP date to seconds since 1970.
fn date_seconds(text: &str) -> Option<f64> {
    let date = httpdate::parse_http_date(text.trim()).ok()?;
    date.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs_f64())
}

/// First byte, and length of the file, from a header such as `bytes 0-99/1234`.
fn parse_content_range(text: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last) = (first.parse::<u64>().ok()?, last.parse::<u64>().ok()?);
    let total = if total == "*" { None } else { Some(total.parse().ok()?) };
    (first <= last && total.is_none_or(|total| last < total)).then_some((first, total))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(status: u16) -> HttpResponse {
        HttpResponse { status, ..HttpResponse::default() }
    }

    #[test]
    fn a_range_is_taken_where_it_begins_as_requested() {
        let part = HttpResponse { content_range: Some("bytes 100-199/1000".into()), etag: Some("\"a\"".into()), ..response(206) };
        let version = FileVersion { total: Some(1000), etag: Some("\"a\"".into()), last_modified: None };
        assert_eq!(part.action(100), ResponseAction::TakeRange(version));
        assert!(matches!(part.action(0), ResponseAction::Retry { .. }), "other bytes are never written");
        assert_eq!(response(206).action(7), ResponseAction::TakeRange(FileVersion::default()), "some servers hide the header");
        for (range, total) in [("bytes 7-7/8", Some(8)), ("bytes 7-9/*", None)] {
            let part = HttpResponse { content_range: Some(range.into()), ..response(206) };
            assert_eq!(part.action(7), ResponseAction::TakeRange(FileVersion { total, ..FileVersion::default() }), "{range}");
        }
        for odd in ["bytes 9-3/10", "bytes 0-10/10", "items 0-1/2", "bytes */10"] {
            let part = HttpResponse { content_range: Some(odd.into()), ..response(206) };
            assert!(matches!(part.action(0), ResponseAction::Retry { .. }), "{odd}");
        }
    }

    #[test]
    fn a_server_without_ranges_sends_the_whole() {
        let last_modified = Some("Thu, 01 Jan 2026 00:00:00 GMT".to_owned());
        let whole = HttpResponse { content_length: Some(5), last_modified: last_modified.clone(), ..response(200) };
        assert_eq!(whole.action(3), ResponseAction::TakeWhole(FileVersion { total: Some(5), etag: None, last_modified }));
    }

    #[test]
    fn length_of_error_page_is_not_length_of_file() {
        let with_length = |status| HttpResponse { content_length: Some(170), ..response(status) };
        assert_eq!(with_length(200).whole_length(), Ok(Some(170)));
        assert_eq!(with_length(206).whole_length(), Ok(Some(170)), "the server hides Content-Range");
        assert_eq!(with_length(503).whole_length(), Err(AttemptError::Retry { cause: RetryCause::Busy(503), seconds: None }));
        assert_eq!(with_length(404).whole_length(), Err(AttemptError::Fail(LibraryError::NotFound(404))));
        let part = HttpResponse { content_range: Some("bytes 0-169/*".into()), ..with_length(206) };
        assert_eq!(part.whole_length(), Ok(None));
    }

    #[test]
    fn busy_servers_are_asked_again_when_they_say_so() {
        let busy = HttpResponse { retry_after: Some("7".into()), ..response(429) };
        assert!(matches!(busy.action(0), ResponseAction::Retry { seconds: Some(7.0), .. }));
        let longest = HttpResponse { retry_after: Some("600".into()), ..response(429) };
        assert_eq!(longest.action(0), ResponseAction::Retry { cause: RetryCause::Busy(429), seconds: Some(LONGEST_WAIT_SECONDS) });
        let tomorrow = HttpResponse { retry_after: Some("86400".into()), ..response(429) };
        assert_eq!(tomorrow.action(0), ResponseAction::Fail(LibraryError::BusyFor { minutes: 1440.0 }));
        let yesterday = HttpResponse { retry_after: Some("-86400".into()), ..response(429) };
        assert!(matches!(yesterday.action(0), ResponseAction::Retry { seconds: None, .. }));
        for odd in ["when the moon is full", "", "inf", "NaN", "1e2", "1.5", "+7", "0x10"] {
            let busy = HttpResponse { retry_after: Some(odd.into()), ..response(429) };
            assert!(matches!(busy.action(0), ResponseAction::Retry { seconds: None, .. }), "{odd}");
        }
        let never = HttpResponse { retry_after: Some("9".repeat(400)), ..response(429) };
        assert_eq!(never.action(0), ResponseAction::Fail(LibraryError::BusyFor { minutes: 525_600.0 }));
    }

    #[test]
    fn busy_servers_may_name_a_date() {
        let minute_past =
            |now_millis| HttpResponse { retry_after: Some("Thu, 01 Jan 1970 00:01:00 GMT".into()), now_millis, ..response(503) };
        assert!(matches!(minute_past(45_000.0).action(0), ResponseAction::Retry { seconds: Some(15.0), .. }));
        assert!(matches!(minute_past(99_000.0).action(0), ResponseAction::Retry { seconds: Some(0.0), .. }), "it is past");
        let next_year = HttpResponse { retry_after: Some("Fri, 01 Jan 1971 00:00:00 GMT".into()), ..response(503) };
        assert!(matches!(next_year.action(0), ResponseAction::Fail(_)));
    }

    #[test]
    fn only_temporary_failures_are_retried() {
        for status in [408, 425, 429, 500, 503, 599] {
            let again = ResponseAction::Retry { cause: RetryCause::Busy(status), seconds: None };
            assert_eq!(response(status).action(0), again);
        }
        // The address has expired.
        for status in [401, 403] {
            let again = ResponseAction::Retry { cause: RetryCause::Refused(status), seconds: None };
            assert_eq!(response(status).action(0), again);
        }
        for (status, error) in [
            (404, LibraryError::NotFound(404)),
            (410, LibraryError::NotFound(410)),
            (416, LibraryError::Shortened),
            (204, LibraryError::UnexpectedStatus(204)),
            (302, LibraryError::UnexpectedStatus(302)),
            (600, LibraryError::UnexpectedStatus(600)),
        ] {
            assert_eq!(response(status).action(0), ResponseAction::Fail(error));
        }
    }

    #[test]
    fn files_are_the_same_where_something_tells() {
        let version = |total, etag: Option<&str>, date: Option<&str>| FileVersion {
            total,
            etag: etag.map(str::to_owned),
            last_modified: date.map(str::to_owned),
        };
        let (tag, date) = (Some("a"), Some("Thu, 01 Jan 2026 00:00:00 GMT"));
        for (one, other, is_same) in [
            (version(Some(5), tag, None), version(Some(5), tag, date), Some(true)),
            (version(None, tag, date), version(Some(6), Some("b"), date), Some(false)),
            (version(Some(5), tag, date), version(Some(6), tag, date), Some(false)),
            // The server hides its tags.
            (version(Some(5), tag, date), version(None, None, date), Some(true)),
            (version(None, None, date), version(None, None, Some("Fri, 02 Jan 2026 00:00:00 GMT")), Some(false)),
            // Equal lengths alone do not decide.
            (version(Some(5), tag, None), version(Some(5), None, date), None),
            (version(Some(5), None, None), version(Some(5), None, None), None),
            (version(Some(5), None, None), version(Some(6), None, None), Some(false)),
        ] {
            assert_eq!((one.is_same(&other), other.is_same(&one)), (is_same, is_same), "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_version_learns_what_it_lacks() {
        let mut version = FileVersion { etag: Some("a".into()), ..FileVersion::default() };
        assert!(version.is_known() && !FileVersion { total: Some(5), ..FileVersion::default() }.is_known());
        version.learn(&FileVersion { total: Some(5), etag: Some("b".into()), last_modified: Some("c".into()) });
        assert_eq!(version, FileVersion { total: Some(5), etag: Some("a".into()), last_modified: Some("c".into()) });
    }
}

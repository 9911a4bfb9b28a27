//! What the answer to "give me the bytes from here on" means.

use std::time::UNIX_EPOCH;

use crate::problem::Problem;

/// The parts of an HTTP answer that matter here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub status: u16,
    pub content_range: Option<String>,
    pub content_length: Option<u64>,
    pub etag: Option<String>,
    pub retry_after: Option<String>,
    /// When it came, in milliseconds since 1970 by this device's clock: a server may name the time at which to come back, and shows
    /// its own clock to no page of another site.
    pub now_millis: f64,
}

/// Which file it is: two answers with different versions are parts of different files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Version {
    pub total: Option<u64>,
    pub etag: Option<String>,
}

impl Version {
    /// Whether both can be the same file, as far as both say something.
    pub fn agrees(&self, other: &Self) -> bool {
        fn fits<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
            a.is_none() || b.is_none() || a == b
        }
        fits(&self.total, &other.total) && fits(&self.etag, &other.etag)
    }
}

/// What follows from an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Meaning {
    /// The bytes from where they were asked for.
    Part(Version),
    /// The whole file from its first byte: the server knows no ranges.
    Whole(Version),
    /// Not now; after so many seconds where the server says so.
    Later { why: String, seconds: Option<f64> },
    /// Asking again changes nothing.
    Refused(Problem),
}

/// The longest that a server may ask to wait; longer ones are a refusal.
const LONGEST_WAIT_SECONDS: f64 = 600.0;

impl Answer {
    /// What this answer means to someone who asked for the bytes from `start` on.
    pub fn meaning(&self, start: u64) -> Meaning {
        match self.status {
            206 => self.part(start),
            200 => Meaning::Whole(Version { total: self.content_length, etag: self.etag.clone() }),
            408 | 425 | 429 | 500..=599 => self.later(),
            // A signed address behind a redirect expires; asked again, the first server signs a new one.
            401 | 403 => Meaning::Later { why: format!("the server refused ({})", self.status), seconds: None },
            404 | 410 => Meaning::Refused(Problem::new(
                format!("there is no file at this address (the server answered {})", self.status),
                "Check the address, or look on the model\u{2019}s page for the name of the file",
            )),
            416 => Meaning::Refused(Problem::new(
                "the file on the server is shorter than what was downloaded: it was replaced",
                "Delete what is here, then download it again",
            )),
            status => Meaning::Refused(Problem::new(
                format!("the server answered {status}, which is not a file"),
                "Check the address, or try it again later",
            )),
        }
    }

    fn part(&self, start: u64) -> Meaning {
        let range = self.content_range.as_deref().map(parse_content_range);
        // A header that the server does not show to other pages tells nothing; the length of a rest tells the whole.
        let total = match range {
            Some(Some((first, total))) if first == start => total,
            None => None,
            _ => {
                return Meaning::Later { why: "the server sent other bytes than those asked for".into(), seconds: None };
            }
        };
        Meaning::Part(Version { total, etag: self.etag.clone() })
    }

    fn later(&self) -> Meaning {
        match self.retry_after.as_deref().and_then(|text| self.seconds_until(text)) {
            Some(seconds) if seconds > LONGEST_WAIT_SECONDS => Meaning::Refused(Problem::new(
                format!("the server is busy and asks to come back in {:.0} minutes", seconds / 60.0),
                "Try again then",
            )),
            seconds => Meaning::Later { why: format!("the server is busy ({})", self.status), seconds },
        }
    }

    /// Of a Retry-After: a number of seconds, or a date.
    fn seconds_until(&self, text: &str) -> Option<f64> {
        let until = |date: f64| (date - self.now_millis / 1e3).max(0.0);
        let seconds = text.trim().parse::<f64>().ok().or_else(|| date_seconds(text).map(until));
        seconds.filter(|seconds| *seconds >= 0.0)
    }
}

/// Seconds from 1970 to a date as HTTP writes it.
fn date_seconds(text: &str) -> Option<f64> {
    let date = httpdate::parse_http_date(text.trim()).ok()?;
    date.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs_f64())
}

/// First byte and length of the file of `bytes 0-99/1234`.
fn parse_content_range(text: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last) = (first.parse::<u64>().ok()?, last.parse::<u64>().ok()?);
    let total = if total == "*" { None } else { Some(total.parse().ok()?) };
    (first <= last && total.is_none_or(|total| last < total)).then_some((first, total))
}

/// What is said where the server went on refusing.
pub fn refused_for_good(why: &str) -> Problem {
    match why.contains("refused") {
        true => Problem::new(
            "the server does not give this file to everybody",
            "Some models ask to accept their licence first: open the model\u{2019}s page, download the file there, and open it here",
        ),
        false => {
            Problem::new(format!("the download does not go on: {why}"), "What is here is kept. Check the connection, then press Resume")
        }
    }
}

/// Why nothing came at all. The browser does not tell a page more.
pub const UNREACHABLE: &str = "the server cannot be reached, or does not let other pages read its files";

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16) -> Answer {
        Answer { status, ..Answer::default() }
    }

    #[test]
    fn a_part_is_taken_where_it_begins_as_asked() {
        let part = Answer { content_range: Some("bytes 100-199/1000".into()), etag: Some("\"a\"".into()), ..answer(206) };
        let version = Version { total: Some(1000), etag: Some("\"a\"".into()) };
        assert_eq!(part.meaning(100), Meaning::Part(version));
        assert!(matches!(part.meaning(0), Meaning::Later { .. }), "other bytes are never written");
        assert_eq!(answer(206).meaning(7), Meaning::Part(Version::default()), "some servers hide the header");
        for odd in ["bytes 9-3/10", "bytes 0-10/10", "items 0-1/2", "bytes */10"] {
            let part = Answer { content_range: Some(odd.into()), ..answer(206) };
            assert!(matches!(part.meaning(0), Meaning::Later { .. }), "{odd}");
        }
    }

    #[test]
    fn a_server_without_ranges_sends_the_whole() {
        let whole = Answer { content_length: Some(5), ..answer(200) };
        assert_eq!(whole.meaning(3), Meaning::Whole(Version { total: Some(5), etag: None }));
    }

    #[test]
    fn busy_servers_are_asked_again_when_they_say() {
        let busy = Answer { retry_after: Some("7".into()), ..answer(429) };
        assert!(matches!(busy.meaning(0), Meaning::Later { seconds: Some(7.0), .. }));
        let tomorrow = Answer { retry_after: Some("86400".into()), ..answer(429) };
        assert!(matches!(tomorrow.meaning(0), Meaning::Refused(_)));
        let whenever = Answer { retry_after: Some("when the moon is full".into()), ..answer(429) };
        assert!(matches!(whenever.meaning(0), Meaning::Later { seconds: None, .. }));
    }

    #[test]
    fn busy_servers_may_name_a_date() {
        let minute_past = |now_millis| Answer { retry_after: Some("Thu, 01 Jan 1970 00:01:00 GMT".into()), now_millis, ..answer(503) };
        assert!(matches!(minute_past(45_000.0).meaning(0), Meaning::Later { seconds: Some(15.0), .. }));
        assert!(matches!(minute_past(99_000.0).meaning(0), Meaning::Later { seconds: Some(0.0), .. }), "it is past");
        let next_year = Answer { retry_after: Some("Fri, 01 Jan 1971 00:00:00 GMT".into()), ..answer(503) };
        assert!(matches!(next_year.meaning(0), Meaning::Refused(_)));
    }

    #[test]
    fn missing_files_are_not_asked_for_again_and_expired_addresses_are() {
        assert!(matches!(answer(404).meaning(0), Meaning::Refused(_)));
        assert!(matches!(answer(403).meaning(0), Meaning::Later { .. }));
        assert!(refused_for_good("the server refused (403)").remedy.contains("licence"));
    }

    #[test]
    fn versions_agree_as_far_as_both_know() {
        let version = |total, etag: Option<&str>| Version { total, etag: etag.map(str::to_owned) };
        assert!(version(Some(5), None).agrees(&version(Some(5), Some("a"))));
        assert!(!version(Some(5), None).agrees(&version(Some(6), None)));
        assert!(!version(None, Some("a")).agrees(&version(Some(6), Some("b"))));
    }
}

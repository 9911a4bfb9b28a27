//! The date in an HTTP header, such as when a busy server wants to be asked again.

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Milliseconds since 1970 of "Wed, 21 Oct 2026 07:28:00 GMT", the one form that is still sent (RFC 9110, 5.6.7).
pub fn millis(text: &str) -> Option<f64> {
    let (_, date) = text.trim().split_once(", ")?;
    let [day, month, year, time, "GMT"] = date.split(' ').collect::<Vec<_>>()[..] else { return None };
    let month = MONTHS.iter().position(|name| *name == month)?;
    let [hours, minutes, seconds] = time.split(':').map(|number| number.parse().ok()).collect::<Option<Vec<u32>>>()?[..] else {
        return None;
    };
    let (day, year) = (day.parse::<i64>().ok()?, year.parse::<i64>().ok()?);
    let is_date = (1..=31).contains(&day) && (1970..=9999).contains(&year) && hours < 24 && minutes < 60 && seconds <= 60;
    is_date.then(|| {
        (days_since_1970(year, month as i64, day) as f64 * 24.0 + f64::from(hours)) * 3.6e6 + f64::from(minutes * 60 + seconds) * 1e3
    })
}

/// `month` from 0. A year that begins in March has its leap day at the end, and months whose lengths follow one line.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    const FIRST_OF_MARCH_0_TO_1970: i64 = 719_468;
    let year = if month < 2 { year - 1 } else { year };
    let months_since_march = (month + 10) % 12;
    let days_before_month = (153 * months_since_march + 2) / 5;
    365 * year + year / 4 - year / 100 + year / 400 + days_before_month + day - 1 - FIRST_OF_MARCH_0_TO_1970
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_counted_from_1970() {
        for (date, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0),
            ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799.0),
            ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800.0),
            ("Wed, 21 Oct 2026 07:28:00 GMT", 1_792_567_680.0),
        ] {
            assert_eq!(millis(date), Some(1e3 * seconds), "{date}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "soon",
            "120",
            "Wed, 21 Oct 2026 07:28:00",
            "Wed, 21 Okt 2026 07:28:00 GMT",
            "Wed, 21 Oct 2026 25:00:00 GMT",
            "Wed, 0 Oct 2026 07:28:00 GMT",
            "Wed, 21 Oct 2026 07:28 GMT",
        ] {
            assert_eq!(millis(text), None, "{text}");
        }
    }
}

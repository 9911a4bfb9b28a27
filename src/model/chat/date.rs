//! The date that a template may print: an argument, so that explanations can be reproduced.

/// A day of the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

const MONTHS: [(&str, u8); 12] = [
    ("January", 31),
    ("February", 28),
    ("March", 31),
    ("April", 30),
    ("May", 31),
    ("June", 30),
    ("July", 31),
    ("August", 31),
    ("September", 30),
    ("October", 31),
    ("November", 30),
    ("December", 31),
];
const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

impl Date {
    /// Month and day count from 1; years are 1 to 9999. None for a day that there never was.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let &(_, days) = MONTHS.get(usize::from(month.checked_sub(1)?))?;
        let leap_day = u8::from(month == 2 && is_leap(year));
        ((1..=9999).contains(&year) && (1..=days + leap_day).contains(&day)).then_some(Self { year, month, day })
    }

    /// Python's `strftime` in English, at midnight; none for a directive that templates do not use.
    pub fn strftime(self, format: &str) -> Option<String> {
        let mut text = String::new();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            match c {
                '%' => text.push_str(&self.directive(&mut chars)?),
                _ => text.push(c),
            }
        }
        Some(text)
    }

    /// What follows `%`; a `-` first leaves out leading zeros.
    fn directive(self, chars: &mut std::str::Chars<'_>) -> Option<String> {
        let weekday = WEEKDAYS[self.days_before() % 7];
        let month = MONTHS[usize::from(self.month) - 1].0;
        Some(match chars.next()? {
            '-' => return self.directive(chars).map(|padded| padded.trim_start_matches('0').to_owned()),
            '%' => "%".to_owned(),
            'Y' => self.year.to_string(),
            'y' => format!("{:02}", self.year % 100),
            'B' => month.to_owned(),
            'b' => month[..3].to_owned(),
            'm' => format!("{:02}", self.month),
            'd' => format!("{:02}", self.day),
            'A' => weekday.to_owned(),
            'a' => weekday[..3].to_owned(),
            'H' | 'M' | 'S' => "00".to_owned(),
            _ => return None,
        })
    }

    /// Days between Monday, 1 January of the year 1, and this one.
    fn days_before(self) -> usize {
        let years = usize::from(self.year) - 1;
        let months: usize = MONTHS[..usize::from(self.month) - 1].iter().map(|&(_, days)| usize::from(days)).sum();
        let leap_day = usize::from(self.month > 2 && is_leap(self.year));
        years * 365 + years / 4 - years / 100 + years / 400 + months + leap_day + usize::from(self.day) - 1
    }
}

fn is_leap(year: u16) -> bool {
    year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400)
}

//! The date that a template may print. It is an argument, so that explanations can be reproduced.

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

/// 1 January 1970, in days after 1 January of the year 1.
const UNIX_EPOCH: i64 = 719_162;
/// Maximum width of a directive.
const MAX_WIDTH: usize = 99;

/// The value of a directive, before its flags apply.
enum Directive {
    /// A number with at least `width` characters.
    Number {
        number: usize,
        width: usize,
        pad: char,
    },
    Text(String),
    /// "AM", or "am" with `#`.
    HalfOfDay,
}

/// A directive after its flags.
struct Written {
    text: String,
    pad: char,
}

impl Date {
    /// Creates a date. Month and day count from 1, years are 1 to 9999. `None` if the day does not exist.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let &(_, days) = MONTHS.get(usize::from(month.checked_sub(1)?))?;
        let leap_day = u8::from(month == 2 && is_leap(year));
        ((1..=9999).contains(&year) && (1..=days + leap_day).contains(&day)).then_some(Self { year, month, day })
    }

    /// Python's `strftime` in English, at midnight. `None` if Python does not know a directive.
    pub fn strftime(self, format: &str) -> Option<String> {
        let mut text = String::new();
        let mut rest = format;
        while let Some((before, after)) = rest.split_once('%') {
            text.push_str(before);
            let flags = after.trim_start_matches(['-', '_', '0', '^', '#']);
            let directive = flags.trim_start_matches(|c: char| c.is_ascii_digit());
            let width = &flags[..flags.len() - directive.len()];
            let directive = directive.strip_prefix(['E', 'O']).unwrap_or(directive);
            let letter = directive.chars().next()?;
            let written = self.directive(letter)?.written(&after[..after.len() - flags.len()]);
            let width = if width.is_empty() { 0 } else { width.parse().ok().filter(|width| *width <= MAX_WIDTH)? };
            text.push_str(&written.in_width(width));
            rest = &directive[letter.len_utf8()..];
        }
        text.push_str(rest);
        Some(text)
    }

    /// The text for `%letter`.
    fn directive(self, letter: char) -> Option<Directive> {
        let weekday = self.days_before() % 7;
        let day_of_year = self.days_before() - Self { month: 1, day: 1, ..self }.days_before();
        let month = MONTHS[usize::from(self.month) - 1].0;
        let (year, day) = (usize::from(self.year), usize::from(self.day));
        let (iso_year, iso_week) = self.iso_week(day_of_year + 3, weekday);
        let number = |number: usize, width: usize| Some(Directive::Number { number, width, pad: '0' });
        let text = |text: &str| Some(Directive::Text(text.to_owned()));
        let pattern = |pattern: &str| self.strftime(pattern).map(Directive::Text);
        match letter {
            'a' => text(&WEEKDAYS[weekday][..3]),
            'A' => text(WEEKDAYS[weekday]),
            'b' | 'h' => text(&month[..3]),
            'B' => text(month),
            'c' => pattern("%a %b %e %H:%M:%S %Y"),
            'C' => number(year / 100, 2),
            'd' => number(day, 2),
            'D' | 'x' => pattern("%m/%d/%y"),
            'e' => Some(Directive::Number { number: day, width: 2, pad: ' ' }),
            'f' => text("000000"),
            'F' => pattern("%Y-%m-%d"),
            'g' => number(iso_year % 100, 2),
            'G' => number(iso_year, 4),
            'H' | 'M' | 'S' => number(0, 2),
            'I' => number(12, 2),
            'j' => number(day_of_year + 1, 3),
            'k' => Some(Directive::Number { number: 0, width: 2, pad: ' ' }),
            'l' => Some(Directive::Number { number: 12, width: 2, pad: ' ' }),
            'm' => number(usize::from(self.month), 2),
            'n' => text("\n"),
            'p' => Some(Directive::HalfOfDay),
            'P' => text("am"),
            'r' => pattern("%I:%M:%S %p"),
            'R' => pattern("%H:%M"),
            's' => text(&((self.days_before() as i64 - UNIX_EPOCH) * 86_400).to_string()),
            't' => text("\t"),
            'T' | 'X' => pattern("%H:%M:%S"),
            'u' => number(weekday + 1, 1),
            'U' => number((day_of_year + 7 - (weekday + 1) % 7) / 7, 2),
            'V' => number(iso_week, 2),
            'w' => number((weekday + 1) % 7, 1),
            'W' => number((day_of_year + 7 - weekday) / 7, 2),
            'y' => number(year % 100, 2),
            'Y' => number(year, 4),
            // A date has no time zone.
            'z' | 'Z' => text(""),
            '%' => text("%"),
            _ => None,
        }
    }

    /// ISO year and week. A week belongs to the year of its Thursday, whose 0-based day of the year is `thursday - weekday`.
    fn iso_week(self, thursday: usize, weekday: usize) -> (usize, usize) {
        let days_of = |year: u16| 365 + usize::from(is_leap(year));
        let year = usize::from(self.year);
        match thursday.checked_sub(weekday) {
            None => (year - 1, (thursday + days_of(self.year - 1) - weekday) / 7 + 1),
            Some(day) if day >= days_of(self.year) => (year + 1, (day - days_of(self.year)) / 7 + 1),
            Some(day) => (year, day / 7 + 1),
        }
    }

    /// Days from Monday, 1 January of the year 1, to this day.
    fn days_before(self) -> usize {
        let years = usize::from(self.year) - 1;
        let months: usize = MONTHS[..usize::from(self.month) - 1].iter().map(|&(_, days)| usize::from(days)).sum();
        let leap_day = usize::from(self.month > 2 && is_leap(self.year));
        years * 365 + years / 4 - years / 100 + years / 400 + months + leap_day + usize::from(self.day) - 1
    }
}

impl Directive {
    /// Applies the flags: `-` for no padding, `_` and `0` for the padding character, `^` and `#` for another case.
    fn written(self, flags: &str) -> Written {
        let pad = |default| match flags.chars().rfind(|flag| matches!(flag, '-' | '_' | '0')) {
            Some('-') => None,
            Some('_') => Some(' '),
            Some(_) => Some('0'),
            None => Some(default),
        };
        let is_large = flags.contains(['^', '#']);
        match self {
            Self::Number { number, width, pad: default } => {
                let pad = pad(default);
                let written = Written { text: number.to_string(), pad: pad.unwrap_or(' ') };
                Written { text: written.in_width(if pad.is_some() { width } else { 0 }), ..written }
            }
            Self::HalfOfDay => Written { text: if flags.contains('#') { "am" } else { "AM" }.to_owned(), pad: pad(' ').unwrap_or(' ') },
            Self::Text(text) => Written { text: if is_large { text.to_uppercase() } else { text }, pad: pad(' ').unwrap_or(' ') },
        }
    }
}

impl Written {
    /// Pads the text to at least `width` characters.
    fn in_width(&self, width: usize) -> String {
        let missing = width.saturating_sub(self.text.len());
        self.pad.to_string().repeat(missing) + &self.text
    }
}

fn is_leap(year: u16) -> bool {
    year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400)
}

//! Writes SVG elements as text. All text is escaped, and this module cannot write scripts, links or styles.

use std::fmt::Write;

use super::palette::Color;

/// The fonts that `text_width` measures, then any other.
const FONTS: &str = "Verdana, 'DejaVu Sans', 'Bitstream Vera Sans', Geneva, sans-serif";

/// A picture under construction.
#[derive(Default)]
pub struct Canvas {
    elements: String,
}

/// A line of text.
pub struct Text<'a> {
    pub text: &'a str,
    /// Anchor point of the text: its start, middle or end. [`Anchor::RightToLeft`] means the right end, where the text starts.
    pub x: f64,
    /// Vertical middle of the text.
    pub y: f64,
    pub size: f64,
    pub color: Color,
    pub look: Look,
    pub anchor: Anchor,
    /// Width to which the text is fitted in any font.
    pub fitted: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Look {
    Plain,
    Bold,
    Italic,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
    /// The text is right-to-left and starts at its right end.
    RightToLeft,
}

/// Outline of a rectangle or circle. Only rectangles can be dashed.
pub struct Outline {
    pub color: Color,
    pub width: f64,
    pub is_dashed: bool,
}

/// Rectangle: x, y, width and height.
pub type Place = [f64; 4];

impl Canvas {
    pub fn rectangle(&mut self, [x, y, width, height]: Place, radius: f64, fill: Color, outline: Option<Outline>) {
        let stroke = outline.map_or(String::new(), |Outline { color, width, is_dashed }| {
            format!(r#" stroke="{color}" stroke-width="{width}"{}"#, if is_dashed { r#" stroke-dasharray="3 2""# } else { "" })
        });
        self.line(format_args!(
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="{radius}" fill="{fill}"{stroke}/>"#
        ));
    }

    /// Draws a path with a stroke of this width. `title` becomes its tooltip.
    pub fn path(&mut self, d: &str, color: Color, width: f64, is_dashed: bool, title: &str) {
        let dashes = if is_dashed { r#" stroke-dasharray="7 9""# } else { "" };
        let title = escaped(title);
        let stroke = format!(r#"stroke="{color}" stroke-width="{width:.2}" stroke-linecap="round"{dashes}"#);
        self.line(format_args!(r#"<path d="{d}" fill="none" {stroke}><title>{title}</title></path>"#));
    }

    pub fn circle(&mut self, x: f64, y: f64, radius: f64, fill: Color, outline: &Outline) {
        let Outline { color, width, .. } = outline;
        self.line(format_args!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius}" fill="{fill}" stroke="{color}" stroke-width="{width}"/>"#));
    }

    pub fn text(&mut self, Text { text, x, y, size, color, look, anchor, fitted }: &Text<'_>) {
        let look = match look {
            Look::Plain => "",
            Look::Bold => r#" font-weight="bold""#,
            Look::Italic => r#" font-style="italic""#,
        };
        // A single character cannot be stretched, and Inkscape 1.2 does not show right-to-left text with a fitted width.
        let fitted = fitted.filter(|_| text.chars().nth(1).is_some() && *anchor != Anchor::RightToLeft);
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
            Anchor::RightToLeft => r#" direction="rtl""#,
        };
        let fitted = fitted.map_or(String::new(), |width| format!(r#" textLength="{width:.1}" lengthAdjust="spacingAndGlyphs""#));
        // Height of the middle of small letters with ascenders above the baseline.
        let baseline = y + 0.36 * size;
        self.line(format_args!(
            r#"<text x="{x:.1}" y="{baseline:.1}" font-size="{size}" fill="{color}"{look}{anchor}{fitted}>{}</text>"#,
            escaped(text)
        ));
    }

    /// Draws another picture on top.
    pub fn append(&mut self, other: Self) {
        self.elements += &other.elements;
    }

    /// The complete SVG of this size, with a language tag, an accessible title, and invisible metadata.
    pub fn finish(self, width: f64, height: f64, language: &str, title: &str, metadata: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             xml:lang=\"{language}\" font-family=\"{FONTS}\">\n<title>{}</title>\n{metadata}\n{}</svg>\n",
            escaped(title),
            self.elements
        )
    }

    fn line(&mut self, element: std::fmt::Arguments<'_>) {
        writeln!(self.elements, "{element}").expect("a string takes everything");
    }
}

/// Escapes text for element content or attributes. Characters that XML does not allow become U+FFFD.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(escaped("<script>&\"\u{1}\u{ffff}"), "&lt;script&gt;&amp;&quot;\u{fffd}\u{fffd}");
    }
}

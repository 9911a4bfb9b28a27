//! Horizontal layout of a picture: arcs, labels, text, shares.

/// Margin around the picture, in CSS pixels.
pub const MARGIN: f64 = 20.0;
/// Font size of the text and height of its lines, in CSS pixels.
pub const TEXT_SIZE: f64 = 14.0;
pub const LINE_HEIGHT: f64 = 23.0;
/// Extra width of a highlight on each side of its text.
pub const HIGHLIGHT: f64 = 5.0;
/// Minimum and maximum width of a picture.
const WIDTHS: [f64; 2] = [320.0, 4000.0];
/// Below this width, shares are drawn under the text.
const NARROW: f64 = 640.0;
const LABEL_WIDTH: f64 = 42.0;
const SHARE_WIDTH: f64 = 96.0;

/// Horizontal positions in CSS pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub width: f64,
    /// Node axis: x of the line of nodes, from which arcs bulge to the left.
    pub spine: f64,
    /// Maximum bulge of the arcs.
    pub reach: f64,
    pub label: f64,
    pub text: f64,
    pub text_width: f64,
    /// Left and right ends of the two share columns.
    pub shares: Option<[[f64; 2]; 2]>,
    /// Whether shares are drawn under the text instead of next to it.
    pub is_narrow: bool,
    pub right: f64,
}

impl Frame {
    /// `longest_figure` is the width of the widest number.
    pub fn new(width: f64, has_arcs: bool, has_shares: bool, longest_figure: f64) -> Self {
        let [least, most] = WIDTHS;
        let width = if width.is_nan() { NARROW } else { width.round().clamp(least, most) };
        let is_narrow = width < NARROW;
        let gutter = match (has_arcs, is_narrow) {
            (false, _) => 0.0,
            (true, true) => 46.0,
            (true, false) => (0.15 * width).clamp(92.0, 132.0),
        };
        let label = MARGIN + gutter;
        let text = label + LABEL_WIDTH;
        let right = width - MARGIN;
        let share = SHARE_WIDTH.max(longest_figure + 50.0);
        let shares = match is_narrow {
            true => [text, text + 0.5 * (right - text)].map(|left| [left, (left + share).min(left + 0.5 * (right - text) - 8.0)]),
            false => [right - 2.0 * share, right - share].map(|left| [left + 16.0, left + share]),
        };
        let shares = Some(shares).filter(|_| has_shares);
        let text_right = shares.filter(|_| !is_narrow).map_or(right, |[[left, _], _]| left - 8.0);
        let (spine, reach) = (label - 11.0, (gutter - 18.0).max(1.0));
        Self { width, spine, reach, label, text, text_width: text_right - text - 2.0 * HIGHLIGHT, shares, is_narrow, right }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_text_at_every_width() {
        for width in [0.0, 320.0, 480.0, 639.0, 640.0, 800.0, 1200.0, 1e9, f64::NAN, f64::INFINITY] {
            for has_shares in [false, true] {
                let frame = Frame::new(width, true, has_shares, 60.0);
                assert!(frame.text_width >= 180.0, "{width} {frame:?}");
                assert!(
                    frame.shares.iter().flatten().all(|[left, right]| *right <= frame.right && right - left > 60.0),
                    "{width} {frame:?}"
                );
            }
        }
    }
}

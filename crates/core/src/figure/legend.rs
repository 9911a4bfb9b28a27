//! Draws the legend for colors, columns and arcs.

use super::element::{Anchor, Look};
use super::frame::MARGIN;
use super::picture::{NOTE_SIZE, Painter};
use super::text_width::width;
use crate::shares::Scale;

impl Painter<'_> {
    /// Draws a line and the legend below the rows: the colors of shares or the largest number, the columns, and how many arcs are hidden.
    pub fn legend(&mut self) {
        let (labels, palette) = (self.labels(), self.palette);
        self.y += 12.0;
        self.canvas.rectangle([MARGIN, self.y, self.frame.right - MARGIN, 1.0], 0.0, palette.line, None);
        self.y += 12.0;
        match self.shares.scale() {
            Scale::Shares => self.swatches(),
            Scale::Numbers { largest } => {
                let largest = labels.number_format.plain(largest);
                self.note(&labels.numbers.replace("{number}", &largest), palette.ink_soft);
            }
        }
        if self.frame.shares.is_some() {
            let columns = if self.document.unit.is_sentence() { labels.columns } else { labels.columns_of_sources };
            self.note(columns, palette.ink_soft);
        }
        if self.drawn.hidden > 0 {
            let share = labels.number_format.percent(self.drawn.kept_share);
            self.note(&labels.arcs.replace("{share}", &share).replace("{hidden}", &self.drawn.hidden.to_string()), palette.ink_soft);
        }
    }

    fn swatches(&mut self) {
        let (labels, palette, y) = (self.labels(), self.palette, self.y + 10.0);
        self.write(labels.share_of_influence, MARGIN, y, NOTE_SIZE, palette.ink_soft, Look::Plain, Anchor::Start);
        let mut x = MARGIN + width(labels.share_of_influence, NOTE_SIZE) + 12.0;
        for share in [0.01, 0.1, 0.3, 1.0_f64] {
            let figure = labels.number_format.percent(share);
            let room = width(&figure, NOTE_SIZE) + 18.0;
            self.canvas.rectangle([x, y - 10.0, room, 20.0], 4.0, palette.heat.over(palette.paper, share.sqrt()), None);
            self.write(&figure, x + room / 2.0, y, NOTE_SIZE, palette.ink, Look::Plain, Anchor::Middle);
            x += room + 6.0;
        }
        self.y += 28.0;
    }
}

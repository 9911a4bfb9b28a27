//! Draws a thinking section as one line, which is the node of all its sentences.

use std::ops::Range;

use super::element::{Anchor, Look};
use super::frame::{HIGHLIGHT, LINE_HEIGHT, TEXT_SIZE};
use super::lines::lines;
use super::picture::Painter;
use crate::graph::GroupInfluence;
use crate::shares::Scale;

impl Painter<'_> {
    /// Draws the thinking section as a line that states how much influence goes through it. Returns y of its node.
    pub fn thought(&mut self, thought: &Range<usize>) -> f64 {
        let (node, soft) = (self.y + 4.0 + LINE_HEIGHT / 2.0, self.palette.ink_soft);
        for line in lines(&self.thought_text(thought), TEXT_SIZE, self.frame.text_width) {
            self.write(&line, self.frame.text + HIGHLIGHT, self.y + 4.0 + LINE_HEIGHT / 2.0, TEXT_SIZE, soft, Look::Italic, Anchor::Start);
            self.y += LINE_HEIGHT;
        }
        self.y += 8.0;
        node
    }

    fn thought_text(&self, thought: &Range<usize>) -> String {
        let labels = self.labels();
        match self.shares.scale() {
            Scale::Shares => {
                let GroupInfluence { through_it, from_it, .. } = self.shares.group_influence(thought);
                labels.folded.replace("{share}", &labels.number_format.percent(through_it + from_it))
            }
            Scale::Numbers { .. } => labels.folded_numbers.to_owned(),
        }
    }
}

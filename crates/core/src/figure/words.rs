//! Draws documents whose sources are words: as running text without arcs.

use super::element::{Anchor, Look, Outline, Text};
use super::frame::{HIGHLIGHT, LINE_HEIGHT, MARGIN, TEXT_SIZE};
use super::lines::lines;
use super::picture::Painter;
use super::text_width::{is_right_to_left, width};

/// Height of a line of words, which is larger because each word has its own highlight.
const WORD_LINE: f64 = LINE_HEIGHT + 5.0;

impl Painter<'_> {
    pub fn words(&mut self) {
        let texts = self.document.source_texts();
        let words: Vec<(usize, &str)> = self.shown.iter().map(|&j| (j, texts[j])).collect();
        let n_before = self.shares.n_prompt() + self.document.last_answer().row;
        let (prompt, answer) = words.split_at(n_before.min(words.len()));
        self.passage(self.labels().prompt, prompt);
        self.passage(self.labels().answer, answer);
    }

    /// Draws words in lines. Each comes with its source.
    fn passage(&mut self, title: &str, words: &[(usize, &str)]) {
        let palette = self.palette;
        self.y += 24.0;
        self.write(title, MARGIN, self.y, 15.0, palette.ink, Look::Bold, Anchor::Start);
        self.y += WORD_LINE;
        let room = self.frame.right - MARGIN - 2.0 * HIGHLIGHT;
        let is_right_to_left = is_right_to_left(&words.iter().map(|(_, word)| *word).collect::<String>());
        let mut x = 0.0;
        for &(j, word) in words {
            let text = lines(word, TEXT_SIZE, room).into_iter().next().unwrap_or_default();
            let text_width = width(&text, TEXT_SIZE);
            if x > 0.0 && x + text_width > room {
                (x, self.y) = (0.0, self.y + WORD_LINE);
            }
            let left = MARGIN + HIGHLIGHT + if is_right_to_left { room - x - text_width } else { x };
            self.word(j, &text, [left, left + text_width], is_right_to_left);
            let after = &word[word.trim_end().len()..];
            x += text_width + if after.is_empty() { 0.0 } else { 2.0 * HIGHLIGHT };
            if after.contains('\n') {
                (x, self.y) = (0.0, self.y + WORD_LINE);
            }
        }
        self.y += WORD_LINE / 2.0;
    }

    fn word(&mut self, j: usize, text: &str, [left, right]: [f64; 2], is_right_to_left: bool) {
        let (palette, y) = (self.palette, self.y);
        let amount = self.shares.total(j);
        self.marked([left + 3.0, right - 3.0], y, amount.map_or(0.0, |amount| self.shares.strength(amount)), palette.paper);
        if self.shares.is_output(j) {
            let outline = Outline { color: palette.accent, width: 2.0, is_dashed: false };
            let place = [left - HIGHLIGHT + 1.0, y - 11.0, right - left + 2.0 * HIGHLIGHT - 2.0, 22.0];
            self.canvas.rectangle(place, 4.0, palette.accent_soft, Some(outline));
        }
        let (x, anchor) = if is_right_to_left { (right, Anchor::RightToLeft) } else { (left, Anchor::Start) };
        let look = if amount.is_none() { Look::Italic } else { Look::Plain };
        self.canvas.text(&Text { text, x, y, size: TEXT_SIZE, color: palette.ink, look, anchor, fitted: Some(right - left) });
    }
}

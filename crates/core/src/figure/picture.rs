//! Draws the picture: heading, sentences with highlights and shares, arcs next to them, legend, and provenance.

use std::ops::Range;

use super::element::{Anchor, Canvas, Look, Outline, Text};
use super::frame::{Frame, HIGHLIGHT, LINE_HEIGHT, MARGIN, TEXT_SIZE};
use super::lines::{clusters, lines};
use super::palette::{Color, DARK, LIGHT, Palette};
use super::text_width::{is_right_to_left, width};
use super::{Labels, metadata};
use crate::explanation::{Document, MethodId, SectionKind, Speaker};
use crate::graph::Pruned;
use crate::order::by_descending;
use crate::shares::Shares;

/// Maximum number of sentences in a picture.
const MAX_ROWS: usize = 120;
/// Maximum number of lines of a sentence or note.
const MAX_LINES: usize = 12;
const LABEL_SIZE: f64 = 12.0;
pub const NOTE_SIZE: f64 = 11.5;
const NOTE_LINE: f64 = 17.0;

/// Drawing options. The document's output decides which sentences are explained.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Width in CSS pixels. The height depends on the content.
    pub width: f64,
    pub is_dark: bool,
    /// Whether shares are shown next to the sentences.
    pub has_percentages: bool,
    /// The arcs are the edges that carry this share of the influence, in [0, 1].
    pub edge_share: f64,
    /// Date of the explanation, for the last line. Documents do not contain it.
    pub date: Option<String>,
    pub labels: Labels,
}

impl Default for Options {
    fn default() -> Self {
        Self { width: 800.0, is_dark: false, has_percentages: true, edge_share: 0.9, date: None, labels: Labels::ENGLISH }
    }
}

/// Draws the document as an SVG that contains the document itself: see [`super::document_from_svg`]. The same input gives the same text.
pub fn svg(document: &Document, options: &Options) -> String {
    let mut painter = Painter::new(document, options);
    let title = painter.heading();
    match document.unit.is_word() {
        true => painter.words(),
        false => painter.sentences(),
    }
    painter.legend();
    painter.manifest();
    let height = (painter.y + MARGIN).ceil();
    let frame = &painter.frame;
    let mut ground = Canvas::default();
    ground.rectangle([0.0, 0.0, frame.width, height], 0.0, painter.palette.paper, None);
    ground.append(painter.canvas);
    ground.finish(frame.width, height, document.manifest.language.tag(), &title, &metadata::element(document))
}

/// A picture under construction, from top to bottom.
pub struct Painter<'a> {
    pub document: &'a Document,
    pub options: &'a Options,
    pub shares: Shares,
    pub palette: &'static Palette,
    pub frame: Frame,
    pub canvas: Canvas,
    /// The sources that are drawn in text order, each in its own row or in the line of a folded thinking section.
    pub shown: Vec<usize>,
    /// The edges that are drawn as arcs.
    pub drawn: Pruned,
    /// y up to which the picture is drawn.
    pub y: f64,
}

impl<'a> Painter<'a> {
    fn new(document: &'a Document, options: &'a Options) -> Self {
        let shares = Shares::of(document);
        let is_in_rows = !document.unit.is_word();
        let has_shares = options.has_percentages && is_in_rows;
        let frame = Frame::new(options.width, is_in_rows, has_shares, figure_width(&shares, &options.labels));
        let palette = if options.is_dark { &DARK } else { &LIGHT };
        let shown = if is_in_rows {
            most_influential(document, &shares)
        } else {
            document.units_in_order().into_iter().map(|unit| unit.source).collect()
        };
        Self { document, options, shares, palette, frame, canvas: Canvas::default(), shown, drawn: Pruned::default(), y: MARGIN }
    }

    pub fn labels(&self) -> &'a Labels {
        &self.options.labels
    }

    /// Draws the title, which names the explained sentences, and returns it.
    fn heading(&mut self) -> String {
        let outputs: Vec<String> = self.shares.output().iter().map(|i| self.document.label(self.shares.n_prompt() + i)).collect();
        let title = self.labels().why.replace("{label}", &outputs.join(", "));
        for line in lines(&title, 17.0, self.frame.right - MARGIN) {
            self.y += 14.0;
            self.write(&line, MARGIN, self.y, 17.0, self.palette.ink, Look::Bold, Anchor::Start);
            self.y += 12.0;
        }
        title
    }

    fn sentences(&mut self) {
        let n_prompt = self.shares.n_prompt();
        let texts = self.document.source_texts();
        let mut nodes = Vec::new();
        let mut is_cut = self.shown.len() < texts.len();
        let turns = self.document.units_of_turns();
        // Earlier answers that are explained are drawn between the turns of the user.
        let before_answer = 0..n_prompt + self.document.last_answer().row;
        let mut passages = vec![(self.labels().prompt, before_answer, None)];
        passages.extend(self.document.sections_of_last_answer().into_iter().map(|(kind, rows)| {
            let sources = n_prompt + rows.start..n_prompt + rows.end;
            match kind {
                SectionKind::Thought => (self.labels().thought, sources, Some(rows).filter(|rows| is_folded(&self.shares, rows))),
                SectionKind::Answer => (self.labels().answer, sources, None),
            }
        }));
        for (title, sources, folded) in passages {
            self.passage_heading(title);
            let shown: Vec<usize> = self.shown.iter().copied().filter(|j| sources.contains(j)).collect();
            if let Some(thought) = folded {
                let node = self.thought(&thought);
                nodes.extend(shown.iter().map(|_| node));
                continue;
            }
            let mut last = None;
            for j in shown {
                let turn = turns.iter().position(|(_, units)| units.contains(&j));
                if let Some((speaker, _)) = turn.filter(|_| turn != last).and_then(|turn| turns.get(turn)) {
                    self.speaker(*speaker);
                }
                last = turn;
                let mut lines = lines(texts[j], TEXT_SIZE, self.frame.text_width);
                is_cut |= shorten(&mut lines, self.frame.text_width);
                nodes.push(self.sentence(j, &lines));
            }
        }
        self.arcs(&nodes);
        if is_cut {
            self.y += 8.0;
            let [shown, all] = [self.shown.len(), texts.len()].map(|n| n.to_string());
            let cut = if self.document.unit.is_sentence() { self.labels().cut } else { self.labels().cut_sources };
            self.note(&cut.replace("{shown}", &shown).replace("{all}", &all), self.palette.warn_ink);
        }
    }

    /// Draws who says the sentences below.
    fn speaker(&mut self, speaker: Speaker) {
        let (name, x) = (self.labels().speaker(speaker), self.frame.label + 2.0);
        self.y += 6.0;
        self.write(name, x, self.y + 8.0, LABEL_SIZE, self.palette.ink, Look::Bold, Anchor::Start);
        self.y += 16.0;
    }

    fn passage_heading(&mut self, title: &str) {
        let (ink, soft) = (self.palette.ink, self.palette.ink_soft);
        self.y += 10.0;
        self.canvas.rectangle([MARGIN, self.y, self.frame.right - MARGIN, 1.0], 0.0, self.palette.line, None);
        self.y += 10.0;
        let x = self.frame.label;
        self.write(title, x, self.y + if self.frame.is_narrow { 8.0 } else { 16.0 }, 15.0, ink, Look::Bold, Anchor::Start);
        let labels = self.labels();
        let names = [[labels.total, "CAGE"], [labels.direct, labels.row]];
        for ([left, right], [name, short]) in self.frame.shares.into_iter().flatten().zip(names) {
            match self.frame.is_narrow {
                true => self.write(&format!("{name} ({short})"), left, self.y + 28.0, 11.0, soft, Look::Plain, Anchor::Start),
                false => {
                    self.write(name, right, self.y + 7.0, 11.0, soft, Look::Plain, Anchor::End);
                    self.write(short, right, self.y + 21.0, 11.0, soft, Look::Plain, Anchor::End);
                }
            }
        }
        self.y += match (self.frame.is_narrow, self.frame.shares) {
            (true, None) => 22.0,
            (true, Some(_)) => 40.0,
            (false, _) => 32.0,
        };
    }

    /// Draws source `j`. Returns y of its node: the middle of the first line.
    fn sentence(&mut self, j: usize, lines: &[String]) -> f64 {
        let palette = self.palette;
        let (is_output, has_no_share) = (self.shares.is_output(j), self.shares.has_no_share(j));
        let [amount, direct] = self.shares.amounts(j);
        let strength = amount.map_or(0.0, |amount| self.shares.strength(amount));
        let under = if self.frame.is_narrow && self.frame.shares.is_some() && (!has_no_share || is_output) { 1 } else { 0 };
        let remark = self.remark(j);
        let remark_at = remark.map(|remark| self.remark_place(lines, remark));
        let extra = usize::from(remark_at.is_some_and(|(_, is_below)| is_below));
        let height = LINE_HEIGHT * (lines.len().max(1) + extra + under) as f64 + 8.0;
        let node = self.y + 4.0 + LINE_HEIGHT / 2.0;
        if is_output {
            let outline = Outline { color: palette.accent, width: 1.5, is_dashed: false };
            let left = self.frame.label - 3.0;
            self.canvas.rectangle([left, self.y, self.frame.right + 4.0 - left, height], 7.0, palette.accent_soft, Some(outline));
        }
        let label_color = if is_output { palette.accent } else { palette.ink_soft };
        self.write(&self.document.label(j), self.frame.label + 2.0, node, LABEL_SIZE, label_color, Look::Bold, Anchor::Start);
        let is_faint = amount.is_none_or(|amount| amount == 0.0) && !is_output;
        let look = if amount.is_none() { Look::Italic } else { Look::Plain };
        let ground = if is_output { palette.accent_soft } else { palette.paper };
        if lines.is_empty() {
            self.write(
                self.labels().blank_line,
                self.frame.text + HIGHLIGHT,
                node,
                LABEL_SIZE,
                palette.ink_soft,
                Look::Italic,
                Anchor::Start,
            );
        }
        let is_right_to_left = is_right_to_left(&lines.concat());
        for (k, line) in lines.iter().enumerate() {
            let y = node + LINE_HEIGHT * k as f64;
            let [left, right] = self.highlight(line, y, strength, ground, is_right_to_left);
            let (x, anchor) = if is_right_to_left { (right, Anchor::RightToLeft) } else { (left, Anchor::Start) };
            let color = if is_faint { palette.ink_soft } else { palette.ink };
            self.canvas.text(&Text { text: line, x, y, size: TEXT_SIZE, color, look, anchor, fitted: Some(right - left) });
        }
        if let (Some(remark), Some((x, is_below))) = (remark, remark_at) {
            let y = node + LINE_HEIGHT * (lines.len().max(1) - usize::from(!is_below)) as f64;
            self.write(remark, x, y, LABEL_SIZE, palette.warn_ink, Look::Italic, Anchor::Start);
        }
        let share_y = if under == 1 { self.y + height - 4.0 - LINE_HEIGHT / 2.0 } else { node };
        let columns = self.frame.shares;
        match (columns, has_no_share) {
            (Some([_, [_, right]]), true) if is_output => {
                let right = if self.frame.is_narrow { self.frame.right } else { right };
                self.write(self.labels().explained, right, share_y, LABEL_SIZE, palette.accent, Look::Plain, Anchor::End);
            }
            (Some([first, second]), false) => {
                self.share(first, share_y, amount, palette.edge_weak);
                self.share(second, share_y, direct, palette.line_strong);
            }
            _ => {}
        }
        self.y += height;
        node
    }

    /// Highlights a line of text. Returns the left and right ends of the text.
    pub fn highlight(&mut self, line: &str, y: f64, strength: f64, ground: Color, is_right_to_left: bool) -> [f64; 2] {
        let width = width(line, TEXT_SIZE);
        let left = match is_right_to_left {
            true => self.frame.text + 2.0 * HIGHLIGHT + self.frame.text_width - HIGHLIGHT - width,
            false => self.frame.text + HIGHLIGHT,
        };
        self.marked([left, left + width], y, strength, ground);
        [left, left + width]
    }

    /// Highlights text between these ends. Negative influence has a dashed outline, so that it can be recognized in grayscale.
    pub fn marked(&mut self, [left, right]: [f64; 2], y: f64, strength: f64, ground: Color) {
        if strength != 0.0 {
            let is_minus = strength < 0.0;
            let heat = if is_minus { self.palette.minus } else { self.palette.heat };
            let outline = Outline { color: self.palette.edge_minus, width: 1.0, is_dashed: true };
            let place = [left - HIGHLIGHT, y - 10.0, right - left + 2.0 * HIGHLIGHT, 20.0];
            self.canvas.rectangle(place, 4.0, heat.over(ground, strength.abs()), Some(outline).filter(|_| is_minus));
        }
    }

    /// The remark on a sentence that was not measured, or has weak or no evidence.
    fn remark(&self, j: usize) -> Option<&'static str> {
        match self.shares.total(j) {
            None => Some(self.labels().not_measured),
            Some(_) => self.labels().remark(self.shares.graph().evidence(j)?),
        }
    }

    /// Left end of a remark on a sentence, and whether the remark needs its own line.
    fn remark_place(&self, lines: &[String], remark: &str) -> (f64, bool) {
        let before = lines.last().map_or_else(|| width(self.labels().blank_line, LABEL_SIZE), |line| width(line, TEXT_SIZE));
        let is_below = is_right_to_left(&lines.concat()) || before + 14.0 + width(remark, LABEL_SIZE) > self.frame.text_width;
        (self.frame.text + HIGHLIGHT + if is_below { 0.0 } else { before + 14.0 }, is_below)
    }

    /// Draws an influence as a bar and a number, or a dash if it was not measured.
    fn share(&mut self, [left, right]: [f64; 2], y: f64, amount: Option<f64>, color: Color) {
        let figure = amount.map_or_else(|| "\u{2013}".to_owned(), |amount| self.figure(amount));
        let room = figure_width(&self.shares, self.labels()).max(width("100%", LABEL_SIZE));
        let bar = (right - left - 8.0 - room).max(12.0);
        let part = amount.map_or(0.0, |amount| self.shares.scale().part(amount));
        let color = if part < 0.0 { self.palette.minus } else { color };
        self.canvas.rectangle([left, y - 4.0, bar, 8.0], 2.0, self.palette.line, None);
        if part != 0.0 {
            self.canvas.rectangle([left, y - 4.0, (bar * part.abs()).max(1.0), 8.0], 2.0, color, None);
        }
        self.write(&figure, right, y, LABEL_SIZE, self.palette.ink, Look::Plain, Anchor::End);
    }

    /// An influence as text.
    pub fn figure(&self, influence: f64) -> String {
        self.labels().number_format.figure(self.shares.scale(), influence)
    }

    /// Writes the model, the method, the engine, the programs and the date.
    fn manifest(&mut self) {
        let (method, manifest) = (&self.document.method, &self.document.manifest);
        let model = [&*manifest.model.name, &*manifest.model.quantization].map(str::trim);
        let model = model.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(", ");
        let of_method = MethodId::named(&method.id).map_or(&*method.id, |known| known.text().name);
        let engine = [&*manifest.backend, &*manifest.precision].join(", ");
        let producer = manifest.producer.as_ref().map(|producer| format!("{} {}", producer.name, producer.version));
        let facts = [
            Some(model),
            Some(of_method.to_owned()),
            Some(engine),
            Some(format!("Glasscage {}", manifest.glasscage)),
            producer,
            self.options.date.clone(),
        ];
        let facts: Vec<String> = facts.into_iter().flatten().filter(|fact| !fact.is_empty()).collect();
        self.note(&facts.join(" \u{b7} "), self.palette.ink_soft);
    }

    /// Draws a paragraph in small type.
    pub fn note(&mut self, text: &str, color: Color) {
        let mut lines = lines(text, NOTE_SIZE, self.frame.right - MARGIN);
        shorten(&mut lines, self.frame.right - MARGIN);
        for line in lines {
            self.write(&line, MARGIN, self.y + NOTE_LINE / 2.0, NOTE_SIZE, color, Look::Plain, Anchor::Start);
            self.y += NOTE_LINE;
        }
        self.y += 5.0;
    }

    /// Draws a piece of the picture's own text at its natural width.
    #[expect(clippy::too_many_arguments, reason = "where, how large, in which color and look: all differ")]
    pub fn write(&mut self, text: &str, x: f64, y: f64, size: f64, color: Color, look: Look, anchor: Anchor) {
        self.canvas.text(&Text { text, x, y, size, color, look, anchor, fitted: None });
    }
}

/// Width of the longest influence in pixels.
fn figure_width(shares: &Shares, labels: &Labels) -> f64 {
    let amounts = (0..shares.n_sources()).flat_map(|j| shares.amounts(j)).flatten();
    let figures = amounts.map(|amount| labels.number_format.figure(shares.scale(), amount));
    figures.map(|figure| width(&figure, LABEL_SIZE)).fold(0.0, f64::max)
}

/// Whether a thinking section (0-based generated sentences) is drawn as one line: only if none of its sentences is explained.
fn is_folded(shares: &Shares, thought: &Range<usize>) -> bool {
    !shares.output().iter().any(|row| thought.contains(row))
}

/// The sources to draw, in text order: all, or the explained ones and those with the most influence on them. The sentences of a folded
/// thinking section do not count, because they take no row.
fn most_influential(document: &Document, shares: &Shares) -> Vec<usize> {
    let sections = document.sections_of_last_answer();
    let is_in_line = |j: &usize| {
        let row = j.checked_sub(shares.n_prompt());
        let holds = |(kind, rows): &(SectionKind, Range<usize>)| *kind == SectionKind::Thought && is_folded(shares, rows);
        row.is_some_and(|row| sections.iter().any(|section| section.1.contains(&row) && holds(section)))
    };
    let (in_line, sources): (Vec<usize>, Vec<usize>) = (0..shares.n_sources()).partition(is_in_line);
    let weight = |&j: &usize| if shares.is_output(j) { f64::INFINITY } else { shares.total(j).unwrap_or(0.0).abs() };
    let mut shown = by_descending(&sources, weight);
    shown.truncate(MAX_ROWS);
    shown.extend(in_line);
    let mut is_shown = vec![false; shares.n_sources()];
    shown.into_iter().for_each(|j| is_shown[j] = true);
    // Sorting by place would add another sort to the page.
    document.units_in_order().into_iter().map(|unit| unit.source).filter(|&j| is_shown[j]).collect()
}

/// Truncates a text that has too many lines. Removes whole characters with their combining marks. Returns whether it did. Time: linear.
fn shorten(lines: &mut Vec<String>, max_width: f64) -> bool {
    let is_cut = lines.len() > MAX_LINES;
    lines.truncate(MAX_LINES);
    if let Some(last) = lines.last_mut().filter(|_| is_cut) {
        let mut total = 0.0;
        let fits = |cluster: &&str| {
            total += width(cluster, TEXT_SIZE);
            total + TEXT_SIZE <= max_width
        };
        let kept: usize = clusters(last).into_iter().take_while(fits).map(str::len).sum();
        last.truncate(kept);
        last.push('\u{2026}');
    }
    is_cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortened_line_ends_with_whole_character() {
        let shortened = |last: &str, max_width: f64| {
            let mut lines = vec![String::new(); MAX_LINES - 1];
            lines.extend([last.to_owned(), "more".to_owned()]);
            assert!(shorten(&mut lines, max_width) && lines.len() == MAX_LINES);
            lines.pop().unwrap()
        };
        // A family of three emoji, joined. Two of them and the ellipsis would fit.
        let family = "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}";
        assert_eq!(shortened(family, 3.0 * TEXT_SIZE), "\u{2026}");
        assert_eq!(shortened(family, 4.0 * TEXT_SIZE), [family, "\u{2026}"].concat());
        assert_eq!(shortened("\u{6c49}\u{6c49}\u{6c49}", 3.0 * TEXT_SIZE), "\u{6c49}\u{6c49}\u{2026}");
        // Measuring the line again for each removed mark would never end.
        let marked = format!("\u{6c49}\u{6c49}{}", "\u{301}".repeat(200_000));
        assert_eq!(shortened(&marked, 2.0 * TEXT_SIZE), "\u{6c49}\u{2026}");
    }
}

//! Measures the positions of the text lines, because the nodes of the graph are these lines.

use leptos::ev;
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use super::resize::on_resize;
use super::sentence_row::RowText;
use crate::app::browser::{self, Medium};

/// Height of an A4 or US letter page in portrait without margins, less one line, in CSS pixels.
const PAPER_HEIGHT: f64 = 940.0;

/// Positions of the rows, in CSS pixels from the top of the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowPositions {
    /// The middle of each row's first line, by source.
    pub y: Vec<f64>,
    /// Width of the gutter that contains the arcs.
    pub gutter_width: f64,
}

/// Positions of the rows within `lines`. They are measured again when the text or the window changes.
pub fn row_positions(lines: NodeRef<Div>, rows: Memo<Vec<RowText>>) -> RwSignal<RowPositions> {
    let positions = RwSignal::new(RowPositions::default());
    let measure = move || {
        if let Some(measured) = lines.get_untracked().and_then(|lines| measured(&lines)) {
            // Compare without tracking, so that a resize that moves no row causes no redraw.
            if positions.with_untracked(|known| *known != measured) {
                positions.set(measured);
            }
        }
    };
    on_resize(lines, measure);
    // Lines wrap differently in print, and scripts cannot measure the print layout. So the screen gets the width of the paper until
    // printing ends.
    let before_print = window_event_listener(ev::beforeprint, move |_| {
        browser::lay_out_for(Medium::Paper);
        measure();
        if positions.with_untracked(|known| known.y.last().is_some_and(|&last| last > PAPER_HEIGHT)) {
            browser::lay_out_for(Medium::SeveralPages);
        }
    });
    let after_print = window_event_listener(ev::afterprint, move |_| {
        browser::lay_out_for(Medium::Screen);
        measure();
    });
    on_cleanup(move || {
        before_print.remove();
        after_print.remove();
    });
    Effect::new(move |_| {
        rows.track();
        request_animation_frame(measure);
    });
    positions
}

/// Measures the positions. Returns `None` while the lines are not on screen.
fn measured(lines: &HtmlElement) -> Option<RowPositions> {
    let top = lines.get_bounding_client_rect().top();
    let gutter_width = lines.query_selector(".arcs").ok()??.get_bounding_client_rect().width();
    let rows = lines.query_selector_all("[data-node]").ok()?;
    let middle = |row: Element| {
        let label = row.query_selector(".label").ok()??;
        let place = label.get_bounding_client_rect();
        // Rows of a collapsed thinking section have no height. Use the position of its heading.
        let folded = (place.height() == 0.0).then(|| label.closest(".passage").ok()??.query_selector(".heading").ok()?);
        let place = folded.flatten().map_or(place, |heading| heading.get_bounding_client_rect());
        let source: usize = row.get_attribute("data-node")?.parse().ok()?;
        Some((source, place.top() + place.height() / 2.0 - top))
    };
    // Rows are in text order, sources are not if earlier answers are explained.
    let mut y = vec![0.0; rows.length() as usize];
    for (source, middle) in (0..rows.length()).filter_map(|k| rows.item(k)?.dyn_into().ok().and_then(middle)) {
        if let Some(y) = y.get_mut(source) {
            *y = middle;
        }
    }
    (lines.offset_height() > 0).then_some(RowPositions { y, gutter_width })
}

//! Parts of the explanation that the first screen does not show: texts about the thinking section, contrasts, passages, and how sure the
//! model was. They share one chunk, because each chunk of its own makes the page larger.

use leptos::prelude::*;

use super::thought_view::{self, ThoughtPlace};
use super::{certainty_view, contrast_view, passages_view};
use crate::app::views::layout::lazy::split_off;

split_off!(details, fetch_details => view as fn(DetailsPart) -> AnyView);

#[derive(Clone, Copy)]
pub enum DetailsPart {
    Thought(ThoughtPlace),
    Contrasts,
    Certainty,
    Passages,
}

fn view(part: DetailsPart) -> AnyView {
    match part {
        DetailsPart::Thought(place) => thought_view::view(place),
        DetailsPart::Contrasts => contrast_view::view(),
        DetailsPart::Certainty => certainty_view::view(),
        DetailsPart::Passages => passages_view::view(),
    }
}

/// Draws `part` when the chunk is loaded.
pub fn shows(part: DetailsPart) -> impl Fn(fn(DetailsPart) -> AnyView) -> AnyView + Send + 'static {
    move |view| view(part)
}

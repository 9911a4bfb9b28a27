//! Texts about the thinking section. A separate chunk, because few explanations have one.

use leptos::prelude::*;

use crate::app::analysis::thought;
use crate::app::page::use_page;
use crate::app::views::layout::lazy::split_off;
use crate::shares::Shares;

split_off!(thought, fetch_thought => view as fn(ThoughtPlace) -> AnyView);

/// Place of the text.
#[derive(Clone, Copy)]
pub enum ThoughtPlace {
    /// In the heading of the thinking section.
    Heading,
    /// In the details of the explained sentences.
    Details,
}

fn view(place: ThoughtPlace) -> AnyView {
    let page = use_page();
    let say: fn(&Shares) -> Option<String> = match place {
        ThoughtPlace::Heading => thought::summary,
        ThoughtPlace::Details => thought::words,
    };
    let words = Memo::new(move |_| page.attribution(say).flatten().filter(|_| !page.is_busy()));
    match place {
        ThoughtPlace::Heading => view! { <span class="hint">{words}</span> }.into_any(),
        ThoughtPlace::Details => view! { <p data-testid="thought-shares">{words}</p> }.into_any(),
    }
}

//! Texts about the thinking section.

use leptos::prelude::*;

use crate::app::analysis::thought;
use crate::app::page::use_page;
use crate::shares::Shares;

/// Place of the text.
#[derive(Clone, Copy)]
pub enum ThoughtPlace {
    /// In the heading of the thinking section.
    Heading,
    /// In the details of the explained sentences.
    Details,
}

pub fn view(place: ThoughtPlace) -> AnyView {
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

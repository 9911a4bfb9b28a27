use leptos::prelude::*;

use super::open_lesson_view;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::views::layout::lazy::{LazyPart, LazyView};

/// The open lesson, if there is one.
#[component]
pub fn LessonPanel() -> impl IntoView {
    let page = use_page();
    let part = LazyPart::new(open_lesson_view::fetch);
    let show = |view: fn() -> AnyView| view();
    let is_open = Memo::new(move |_| page.with(|state| state.lesson().is_some()));
    view! {
        <Show when=move || is_open.get()>
            <section class="lesson card" aria-label=t!("Lesson") data-testid="lesson">
                <LazyView part view=show />
            </section>
        </Show>
    }
}

use crate::app::state::message::{Fetch, Message};
use leptos::prelude::*;

use crate::app::gallery::{self, GalleryEntry};
use crate::app::i18n::{t, text_of};
use crate::app::page::use_page;

/// Lessons and explained examples for the start page. They are fetched when they are first shown.
#[component]
pub fn Gallery() -> impl IntoView {
    view! {
        <Cards
            title=t!("Lessons")
            about=t!("Guess first, then see. Lessons take 5 to 10 minutes and need no model. Share them as a link or a file.")
            test_id="lesson"
            of=|gallery| &gallery.lessons
        />
        <Cards
            title=t!("Explained examples")
            about=t!("Made beforehand. Each can be recomputed here.")
            test_id="gallery"
            of=|gallery| &gallery.explanations
        />
    }
}

#[component]
fn Cards(
    title: &'static str,
    about: &'static str,
    test_id: &'static str,
    of: fn(&gallery::Gallery) -> &Vec<GalleryEntry>,
) -> impl IntoView {
    let page = use_page();
    page.send(Message::Needed(Fetch::Gallery));
    let cards = move || {
        let card = |(i, entry): (usize, GalleryEntry)| {
            let title = text_of(entry.title.clone());
            // For explanations, `about` is the question of the prompt, which may have no translation.
            let about = text_of(entry.about.clone());
            let languages = [title == entry.title, about == entry.about].map(|is_as_written| is_as_written.then_some("en"));
            let mistake = entry.right.as_ref().map(|right| {
                let words = t!("The model gets this one wrong: the answer is {right}.", right);
                view! { <span>{words}</span> }
            });
            view! {
                <li>
                    <button
                        type="button"
                        class="card"
                        data-testid=format!("{test_id}-{}", i + 1)
                        on:click=move |_| page.send(Message::OpenGalleryEntry(entry.clone()))
                    >
                        <strong lang=languages[0]>{title}</strong>
                        {mistake}
                        <span lang=languages[1]>{about}</span>
                    </button>
                </li>
            }
        };
        page.with(|state| of(&state.explanation.gallery).clone()).into_iter().enumerate().map(card).collect_view()
    };
    let is_empty = move || page.with(|state| of(&state.explanation.gallery).is_empty());
    view! {
        <section class="gallery" aria-label=title hidden=is_empty>
            <h2 tabindex="-1">{title}</h2>
            <p class="hint">{about}</p>
            <ul>{cards}</ul>
        </section>
    }
}

use leptos::ev;
use leptos::prelude::*;

use crate::app::analysis::lesson_sheet::{LessonSheet, SheetTask, SheetText};
use crate::app::i18n::t;
use crate::app::page::use_page;

/// Prints the lesson as a worksheet, with the answers on a separate page. The worksheet is in the page only during printing.
#[component]
pub fn PrintButton() -> impl IntoView {
    let page = use_page();
    let is_printed = RwSignal::new(false);
    let after = window_event_listener(ev::Custom::<ev::Event>::new("afterprint"), move |_| is_printed.set(false));
    on_cleanup(move || after.remove());
    let print = move |_| {
        is_printed.set(true);
        // Wait until the worksheet is drawn. If the browser cannot print, the worksheet stays invisible.
        request_animation_frame(|| drop(window().print()));
    };
    let sheet = move || {
        let sheet = is_printed.get().then(|| page.with(|state| state.lesson().map(|open| LessonSheet::new(&open.lesson))));
        sheet.flatten().map(|sheet| view! { <Sheet sheet /> })
    };
    view! {
        <button type="button" class="quiet" data-testid="lesson-print" on:click=print>{t!("Print a worksheet")}</button>
        {sheet}
    }
}

#[component]
fn Sheet(sheet: LessonSheet) -> impl IntoView {
    let LessonSheet { title, texts, tasks } = sheet;
    let text = |text: SheetText| {
        let sentences = text.sentences.into_iter().map(|(name, words)| view! { <li><b>{name}</b>" "{words}</li> }).collect_view();
        view! {
            <section>
                <h3>{text.name}</h3>
                <ul class="sentences">{sentences}</ul>
            </section>
        }
    };
    let texts = texts.into_iter().map(text).collect_view();
    let keys = tasks.iter().map(|task| view! { <li>{task.key.clone()}</li> }).collect_view();
    let task = |task: SheetTask| {
        let options = task.options.into_iter().map(|option| view! { <span>"\u{2610} "{option}</span> }).collect_view();
        view! {
            <li>
                <p>{task.text}</p>
                <p>{task.ask}" "<span class="hint">{task.about.map(|about| t!("({about})", about))}</span></p>
                <p class="options">{options}</p>
            </li>
        }
    };
    let tasks = tasks.into_iter().map(task).collect_view();
    view! {
        <article class="sheet" data-testid="lesson-sheet">
            <h2 dir="auto">{title.clone()}</h2>
            <p class="name">{t!("Name")}</p>
            <div class="texts">{texts}</div>
            <ol>{tasks}</ol>
            <section class="answer-key">
                <h2>{t!("{title}: answers", title)}</h2>
                <p>
                    {t!("Shares are of the influence on the sentence asked about, through all steps. Those under 1% are left out.")}
                </p>
                <ol>{keys}</ol>
            </section>
        </article>
    }
}

use leptos::prelude::*;

use crate::app::analysis::title;
use crate::app::i18n::{t, text, translatable};
use crate::app::page::use_page;
use crate::app::state::message::Message;
use crate::tables::{Contents, Format, table};

/// Contents that a table can have: contents, end of the file name, text of the choice.
const CONTENTS: [(Contents, &str, &str); 5] = [
    (Contents::Shares, "shares", translatable!("Sentences with their shares")),
    (Contents::Scores, "T", translatable!("T: scores")),
    (Contents::Derived, "S", translatable!("S: derived scores")),
    (Contents::Weights, "A", translatable!("A: edges")),
    (Contents::Influence, "Y", translatable!("Y: influence")),
];

struct Kind {
    format: Format,
    ending: &'static str,
    media_type: &'static str,
    /// Text of the button.
    label: &'static str,
}

const KINDS: [Kind; 3] = [
    Kind { format: Format::Csv, ending: "csv", media_type: "text/csv", label: translatable!("Save CSV") },
    Kind { format: Format::Markdown, ending: "md", media_type: "text/markdown", label: translatable!("Save Markdown") },
    Kind { format: Format::Latex, ending: "tex", media_type: "application/x-tex", label: translatable!("Save LaTeX") },
];

/// Exports the numbers as tables for papers and spreadsheets.
#[component]
pub fn TableSection() -> impl IntoView {
    let page = use_page();
    let chosen = RwSignal::new(0);
    let option =
        |(k, (_, _, label)): (usize, &(Contents, &str, &'static str))| view! { <option value=k.to_string()>{text(label)}</option> };
    let button = move |kind: &'static Kind| {
        let save = move |_| {
            let Some(document) = untrack(|| page.selected_document()) else { return };
            let (contents, name, _) = CONTENTS[chosen.get_untracked()];
            let name = format!("{}-{name}.{}", title::file_name(&document), kind.ending);
            let bytes = table(&document, contents, kind.format).into_bytes();
            page.send(Message::Save { name, media_type: kind.media_type, bytes });
        };
        view! { <button type="button" data-testid=format!("export-{}", kind.ending) on:click=save>{text(kind.label)}</button> }
    };
    let choose = move |event| chosen.set(event_target_value(&event).parse().ok().filter(|&k| k < CONTENTS.len()).unwrap_or(0));
    view! {
        <section>
            <h3>{t!("A table (CSV, Markdown, LaTeX)")}</h3>
            <div class="side-by-side">
                <label>
                    {t!("Contents")}
                    <select data-testid="table-contents" on:change=choose>{CONTENTS.iter().enumerate().map(option).collect_view()}</select>
                </label>
                {KINDS.iter().map(button).collect_view()}
            </div>
        </section>
    }
}

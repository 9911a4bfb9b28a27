use leptos::prelude::*;
use leptos::task::spawn_local;

use super::picture_labels::picture_labels;
use crate::app::analysis::title;
use crate::app::browser;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::state::message::Message;
use crate::app::views::layout::typed_number::typed_number;
use crate::figure::{self, Options};

const WIDTHS: [u32; 2] = [320, 2400];
const DEFAULT_WIDTH: u32 = 800;
/// PNG pixels per CSS pixel, for screens and print.
const PIXEL_RATIO: f64 = 2.0;

/// Exports the explanation as a picture that this page can open again.
#[component]
pub fn PictureSection() -> impl IntoView {
    let page = use_page();
    let width = RwSignal::new(DEFAULT_WIDTH);
    let is_dark = RwSignal::new(false);
    let has_percentages = RwSignal::new(true);
    let problem = RwSignal::new("");
    let edge_share = page.with(|state| *state.explanation.edge_share);
    let picture = Memo::new(move |_| {
        let options = Options {
            width: f64::from(width.get()),
            is_dark: is_dark.get(),
            has_percentages: has_percentages.get(),
            edge_share,
            labels: picture_labels(),
            ..Options::default()
        };
        page.selected_document().map_or_else(String::new, |document| figure::svg(&document, &options))
    });
    let on_width = move |event| width.set(typed_number(&event, width.get_untracked(), WIDTHS));
    let name = move |ending: &str| untrack(|| page.selected_document()).map(|document| format!("{}.{ending}", title::file_name(&document)));
    let save_svg = move |_| {
        if let Some(name) = name("svg") {
            page.send(Message::Save { name, media_type: "image/svg+xml", bytes: picture.get_untracked().into_bytes() });
        }
    };
    let save_png = move |_| {
        let Some((document, name)) = untrack(|| page.selected_document()).zip(name("png")) else { return };
        problem.set("");
        spawn_local(async move {
            let drawn = browser::png_of(&picture.get_untracked(), PIXEL_RATIO).await;
            match drawn.and_then(|png| figure::png_with_document(&png, &document).ok()) {
                Some(bytes) => page.send(Message::Save { name, media_type: "image/png", bytes }),
                None => problem.set(t!("This browser could not draw the picture; save it as SVG.")),
            }
        });
    };
    view! {
        <section>
            <h3>{t!("A picture (SVG, PNG)")}</h3>
            <p class="hint">
                {t!("For slides and articles. The picture contains the explanation: drop it on this page to open it again.")}
            </p>
            <div class="side-by-side">
                <label>
                    {t!("Width in pixels")}
                    <input
                        type="number"
                        min=WIDTHS[0]
                        max=WIDTHS[1]
                        step="10"
                        data-testid="picture-width"
                        prop:value=DEFAULT_WIDTH
                        on:change=on_width
                    />
                </label>
                <label>
                    <input type="checkbox" data-testid="picture-dark" on:change=move |event| is_dark.set(event_target_checked(&event)) />
                    {t!("Dark")}
                </label>
                <label>
                    <input
                        type="checkbox"
                        checked
                        data-testid="picture-percentages"
                        on:change=move |event| has_percentages.set(event_target_checked(&event))
                    />
                    {t!("Percentages")}
                </label>
                <button type="button" data-testid="export-svg" on:click=save_svg>{t!("Save SVG")}</button>
                <button type="button" data-testid="export-png" on:click=save_png>{t!("Save PNG")}</button>
            </div>
            <p role="status">{problem}</p>
            <img class="picture" alt=t!("The picture as it will be saved") src=move || browser::svg_address(&picture.get()) />
        </section>
    }
}

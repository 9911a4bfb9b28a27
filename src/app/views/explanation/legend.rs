use leptos::prelude::*;

use crate::app::analysis::number::{percent, plain};
use crate::app::i18n::{following, t};
use crate::app::page::use_page;
use crate::explanation::Unit;
use crate::shares::{Scale, Shares};

/// Legend of the colors and of the two columns.
#[component]
pub fn Legend() -> impl IntoView {
    let swatch = |share: f64| {
        view! { <span class="swatch" style=format!("--strength:{:.3}", share.sqrt())>{percent(share)}</span> }
    };
    let page = use_page();
    let scale = Memo::new(move |_| page.attribution(Shares::scale));
    let is_shares = move || scale.get().is_none_or(Scale::is_shares);
    let numbers = move || match scale.get() {
        Some(Scale::Numbers { largest }) => Some(t!(
            "These are numbers, not shares: rows were not divided by their sums. The darkest color is {number}, the largest value. \
             Purple with dashed arcs means negative influence.",
            number = plain(largest),
        )),
        _ => None,
    };
    view! {
        <div class="legend">
            <p class="scale" hidden=move || !is_shares()>
                <span>{t!("Share of influence")}</span>
                {swatch(0.01)}
                {swatch(0.1)}
                {swatch(0.3)}
                {swatch(1.0)}
            </p>
            <p hidden=is_shares>
                {numbers}
                <b>{following(t!("Total"))}</b>
                {following(
                    t!("(CAGE): the sum over all paths from the source to the explained one; the weights along a path are multiplied."),
                )}
                <b>{following(t!("Direct"))}</b>
                {following(t!("(row): only the edge between the two."))}
            </p>
            <p hidden=move || !is_shares()>
                <b>{t!("Total")}</b>
                {move || following(match page.unit() {
                    Unit::Sentence => t!(
                        "(CAGE): walk back from the explained sentence along the edges, choosing each with a probability equal to its \
                         weight. The percentage is how often you end at this sentence of the prompt, or pass through this sentence of \
                         the answer."
                    ),
                    Unit::Word => t!(
                        "(CAGE): walk back from the explained word along the edges, choosing each with a probability equal to its \
                         weight. The percentage is how often you end at this word of the prompt, or pass through this word of the \
                         answer."
                    ),
                    _ => t!(
                        "(CAGE): walk back from the explained part along the edges, choosing each with a probability equal to its \
                         weight. The percentage is how often you end at this part of the prompt, or pass through this part of the \
                         answer."
                    ),
                })}
                <b>{following(t!("Direct"))}</b>
                {following(t!("(row): only the first step of that walk."))}
            </p>
        </div>
    }
}

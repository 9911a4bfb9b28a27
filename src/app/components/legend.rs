use leptos::prelude::*;

/// What the colours and the two columns mean.
#[component]
pub fn Legend() -> impl IntoView {
    let swatch = |share: f64, label: &'static str| {
        view! { <span class="swatch" style=format!("--strength:{:.3}", share.sqrt())>{label}</span> }
    };
    view! {
        <div class="legend">
            <p class="scale">
                <span>"Share of influence"</span>
                {swatch(0.01, "1%")}
                {swatch(0.1, "10%")}
                {swatch(0.3, "30%")}
                {swatch(1.0, "100%")}
            </p>
            <p>
                <b>"Via steps"</b>
                " (CAGE): start at the explained sentence and step back along edges, each chosen by its weight. The percentage is how often you end at this prompt sentence, or pass through this sentence of the answer. "
                <b>"Direct"</b>
                " (row): only the first step of that walk."
            </p>
        </div>
    }
}

use leptos::prelude::*;

use crate::app::analysis::edge_style::EdgeStyle;

/// An edge in a drawing of the graph.
#[component]
pub fn EdgePath(
    /// The `d` attribute of the SVG path.
    path: String,
    /// Stroke width in CSS pixels.
    width: f64,
    look: EdgeStyle,
    is_lit: Signal<bool>,
    is_faint: Signal<bool>,
) -> impl IntoView {
    let EdgeStyle { title, strength, is_minus, is_estimated, .. } = look;
    view! {
        <path
            d=path
            stroke-width=format!("{width:.2}")
            style=format!("--strength:{strength:.3}")
            class:minus=is_minus
            class:estimated=is_estimated
            class:lit=is_lit
            class:faint=is_faint
        >
            <title>{title}</title>
        </path>
    }
}

use leptos::prelude::*;

use crate::app::i18n::{following, sentence_text};
use crate::problem::Problem;

/// A paragraph that states a problem and what to do next.
#[component]
pub fn ProblemText(problem: Problem) -> impl IntoView {
    view! {
        <p>
            <strong>{sentence_text(&problem.what)}</strong>
            {following(&sentence_text(&problem.remedy))}
        </p>
    }
}

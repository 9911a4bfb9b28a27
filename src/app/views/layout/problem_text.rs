use leptos::prelude::*;

use crate::app::i18n::problem_text;
use crate::problem::Problem;

/// What went wrong, and what to do next, in a paragraph.
#[component]
pub fn ProblemText(problem: Problem) -> impl IntoView {
    view! {
        <p>
            <strong>{problem_text(&problem.what)}</strong>
            " "
            {problem_text(&problem.remedy)}
        </p>
    }
}

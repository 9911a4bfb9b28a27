use leptos::prelude::*;

use crate::problem::Problem;

/// What went wrong, and what to do next, in a paragraph.
#[component]
pub fn ProblemText(problem: Problem) -> impl IntoView {
    view! {
        <p>
            <strong>{problem.what}</strong>
            " "
            {problem.remedy}
        </p>
    }
}

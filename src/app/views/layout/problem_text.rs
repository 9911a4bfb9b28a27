use leptos::prelude::*;

use crate::app::i18n::{following, problem_text};
use crate::problem::Problem;

/// A paragraph that states a problem and what to do next.
#[component]
pub fn ProblemText(problem: Problem) -> impl IntoView {
    view! {
        <p>
            <strong>{problem_text(&problem.what)}</strong>
            {following(&problem_text(&problem.remedy))}
        </p>
    }
}

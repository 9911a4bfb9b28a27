use leptos::prelude::*;

use crate::app::analysis::number::percent;
use crate::app::analysis::share_texts::{self, Amount};
use crate::app::i18n::{plural, t};
use crate::app::page::use_page;
use crate::app::state::lesson::OpenLesson;
use crate::app::views::explanation::share_bar::ShareBar;
use crate::lesson::MarkScore;

/// A sentence of the prompt.
struct Source {
    text: String,
    influence: f64,
    amount: Option<Amount>,
}

/// Compares the sentences that the reader marked with the measured influence.
#[component]
pub fn ComparisonTable() -> impl IntoView {
    let page = use_page();
    let marked = untrack(|| page.with(|state| state.lesson().map(|open| open.answer().marked.clone()))).unwrap_or_default();
    let sources = untrack(|| page.with(|state| state.lesson().map(sources))).unwrap_or_default();
    let influence: Vec<f64> = sources.iter().map(|source| source.influence).collect();
    let score = score_words(MarkScore::of(&influence, &marked), marked.len());
    let check_mark = || view! { <span aria-hidden="true">"\u{2713}"</span><span class="visually-hidden">{t!("marked")}</span> };
    let row = |(j, source): (usize, Source)| {
        let is_marked = marked.contains(&j);
        view! {
            <tr class:marked=is_marked>
                <th scope="row">
                    <b class="name">{format!("P{}", j + 1)}</b>
                    " "
                    <span dir="auto">{source.text}</span>
                </th>
                <td>{is_marked.then(check_mark)}</td>
                <td>
                    <div class="measured"><ShareBar amount=Signal::stored(source.amount) /></div>
                </td>
            </tr>
        }
    };
    let rows = sources.into_iter().enumerate().map(row).collect_view();
    view! {
        <p role="status" tabindex="-1" data-testid="mark-score"><strong>{score}</strong></p>
        <table class="marks">
            <thead>
                <tr>
                    <th scope="col">{t!("Sentence of the prompt")}</th>
                    <th scope="col">{t!("You")}</th>
                    <th scope="col">{t!("Measured")}</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
}

/// Uses the step's own explanation, because the one on screen may belong to another step during a run.
fn sources(open: &OpenLesson) -> Vec<Source> {
    let attribution = open.attribution();
    let is_supported = !attribution.is_unsupported();
    let source = |(j, text): (usize, &str)| Source {
        text: text.trim().to_owned(),
        influence: attribution.total(j).filter(|_| is_supported).unwrap_or(0.0).max(0.0),
        amount: share_texts::amounts(&attribution, j)[0].clone().filter(|_| is_supported),
    };
    attribution.document().prompt.sentence_texts().into_iter().enumerate().map(source).collect()
}

/// "Your 2 sentences carry 58% of the influence; no other choice carries more."
fn score_words(score: MarkScore, n_marked: usize) -> String {
    let MarkScore { marked, best } = score;
    if best <= 0.0 {
        return t!("No sentence of the prompt has any influence here.").into();
    }
    let (share, best) = (percent(marked), percent(best));
    let is_best = share == best;
    match (n_marked, is_best) {
        (1, true) => t!("Your sentence carries {share} of the influence; no other carries more.", share),
        (1, false) => t!("Your sentence carries {share} of the influence; the strongest carries {best}.", share, best),
        (_, true) => plural!(
            n = n_marked,
            "Your {n} sentence carries {share} of the influence; no other choice carries more.",
            "Your {n} sentences carry {share} of the influence; no other choice carries more.",
            share,
        ),
        (_, false) => plural!(
            n = n_marked,
            "Your {n} sentence carries {share} of the influence; the strongest {n} carries {best}.",
            "Your {n} sentences carry {share} of the influence; the strongest {n} carry {best}.",
            share,
            best,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_judged_by_what_they_carry() {
        let words = |marked, best, n| score_words(MarkScore { marked, best }, n);
        assert_eq!(words(0.58, 0.83, 2), "Your 2 sentences carry 58% of the influence; the strongest 2 carry 83%.");
        assert_eq!(words(0.83, 0.83, 1), "Your sentence carries 83% of the influence; no other carries more.");
        assert_eq!(words(0.495, 0.504, 1), "Your sentence carries 50% of the influence; no other carries more.");
        assert_eq!(words(0.494, 0.496, 1), "Your sentence carries 49% of the influence; the strongest carries 50%.");
        assert_eq!(words(0.0, 0.0, 1), "No sentence of the prompt has any influence here.");
    }
}

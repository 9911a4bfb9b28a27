use crate::app::state::message::Message;
use leptos::prelude::*;

use super::share_bar::ShareBar;
use crate::app::analysis::ablation::{Ablation, AblationAnswer, are_new};
use crate::app::analysis::attribution_view::AttributionView;
use crate::app::analysis::scale::Amount;
use crate::app::page::use_page;
use crate::app::views::models::model_hint::ModelHint;
use crate::explanation::Answer;

const MOST_STRONGEST: usize = 3;

/// Would the model have answered otherwise without these sentences? It is asked again.
#[component]
pub fn AblationView() -> impl IntoView {
    let page = use_page();
    let is_active = move || page.is_busy();
    let ablation = Memo::new(move |_| page.with(|state| Ablation::new(state.explanation.document()?, &state.explanation.excluded)));
    let hint = move || match (page.with(|state| state.explanation.excluded.is_empty()), ablation.with(Option::is_none)) {
        (true, _) => "Mark what to leave out.",
        (false, true) => "Nothing of the prompt would be left: keep some of it.",
        _ => "",
    };
    let button = move || {
        ablation.with(|ablation| {
            ablation.as_ref().map_or("Answer without them".into(), |ablation| format!("Answer without {}", ablation.removed))
        })
    };
    view! {
        <p>
            "An explanation says what the answer rests on. Leave some of it out and let the model answer again, with the same settings."
        </p>
        <Marks />
        <p class="go">
            <button
                type="button"
                class="primary"
                data-testid="answer-without"
                disabled=move || is_active() || ablation.with(Option::is_none)
                on:click=move |_| page.send(Message::AnswerWithoutExcluded)
            >
                {button}
            </button>
            <span class="note" data-testid="without-hint">{hint}</span>
            <ModelHint />
        </p>
        <Answers />
    }
}

/// The prompt's sentences, each with a box.
#[component]
fn Marks() -> impl IntoView {
    let page = use_page();
    let rows = Memo::new(move |_| {
        page.attribution(|attribution| {
            let texts = attribution.document().prompt.sentence_texts().into_iter().enumerate();
            texts.map(|(j, text)| (j, attribution.document().label(j), text.trim().to_owned())).collect::<Vec<_>>()
        })
        .unwrap_or_default()
    });
    let mark_strongest = move |k: usize| {
        page.send(Message::Exclude(untrack(|| page.attribution(|attribution| strongest(attribution, k))).unwrap_or_default()));
    };
    let strongest_buttons = (1..=MOST_STRONGEST).map(|k| {
        view! {
            <button type="button" class="chip" data-testid=format!("mark-strongest-{k}") on:click=move |_| mark_strongest(k)>
                {if k == 1 { "the strongest".into() } else { format!("the {k} strongest") }}
            </button>
        }
    });
    view! {
        <div class="examples" role="group" aria-label="Mark">
            <span class="hint" aria-hidden="true">"Mark"</span>
            {strongest_buttons.collect_view()}
            <button
                type="button"
                class="chip"
                disabled=move || page.with(|state| state.explanation.excluded.is_empty())
                on:click=move |_| page.send(Message::Exclude(Vec::new()))
            >
                "none"
            </button>
        </div>
        <div class="marks">
            <For each=move || rows.get() key=Clone::clone children=move |(j, label, text)| view! { <Mark j label text /> } />
        </div>
    }
}

#[component]
fn Mark(j: usize, label: String, text: String) -> impl IntoView {
    let page = use_page();
    let amount = Memo::new(move |_| -> Option<Amount> { page.attribution(|attribution| attribution.amounts(j)[0].clone()).flatten() });
    let is_marked = move || page.with(|state| state.explanation.excluded.contains(&j));
    let on_change = move |event| {
        let is_on = event_target_checked(&event);
        let mut excluded = untrack(|| page.with(|state| state.explanation.excluded.clone()));
        excluded.retain(|&other| other != j);
        excluded.extend(is_on.then_some(j));
        excluded.sort_unstable();
        page.send(Message::Exclude(excluded));
    };
    view! {
        <label class="mark" class:marked=is_marked>
            <input type="checkbox" data-testid=format!("mark-{label}") prop:checked=is_marked on:change=on_change />
            <span class="label">{label}</span>
            <span class="text">{text}</span>
            <span class="share"><ShareBar amount /></span>
        </label>
    }
}

/// The prompt sentences with most influence, in their order in the text.
fn strongest(attribution: &AttributionView, k: usize) -> Vec<usize> {
    let mut sources: Vec<usize> =
        attribution.strongest_sources().into_iter().filter(|&j| attribution.via_steps(j) > Some(0.0)).take(k).collect();
    sources.sort_unstable();
    sources
}

/// The original answer, and beside it those without some sentences, the last one first.
#[component]
fn Answers() -> impl IntoView {
    let page = use_page();
    let original = Memo::new(move |_| {
        page.attribution(|attribution| {
            let document = attribution.document();
            let is_given = matches!(document.manifest.answer, Answer::Given {});
            (document.generation.sentence_texts().into_iter().map(str::to_owned).collect::<Vec<_>>(), is_given)
        })
        .unwrap_or_default()
    });
    let ablations = move || {
        let (original, _) = original.get();
        let ablations = page.with(|state| state.explanation.ablations.clone());
        ablations.into_iter().rev().map(|ablation| view! { <AblationCard ablation original=original.clone() /> }).collect_view()
    };
    let text = move || original.with(|(sentences, _)| sentences.concat());
    let is_given = move || original.with(|(_, is_given)| *is_given);
    view! {
        <div class="answers" hidden=move || page.with(|state| state.explanation.ablations.is_empty())>
            <section class="card original">
                <h3>"With the whole prompt"</h3>
                <p class="answer">{text}</p>
                <p
                    class="hint"
                    hidden=move || !is_given()
                >
                    "This answer was given, not written by the model; the others are the model\u{2019}s own."
                </p>
            </section>
            <div class="ablations" data-testid="ablations" aria-live="polite">{ablations}</div>
        </div>
    }
}

#[component]
fn AblationCard(ablation: Ablation, original: Vec<String>) -> impl IntoView {
    let page = use_page();
    let original: Vec<&str> = original.iter().map(String::as_str).collect();
    let verdict = ablation.verdict(&original);
    let is_active = move || page.is_busy();
    let answer = match &ablation.answer {
        AblationAnswer::Growing(text) => view! { <p class="answer">{text.clone()}<span class="caret"></span></p> }.into_any(),
        AblationAnswer::Stopped(text) => view! { <p class="answer">{text.clone()}</p> }.into_any(),
        AblationAnswer::Whole(sentences) => {
            let marked = sentences.iter().zip(are_new(&original, sentences)).map(|(sentence, is_new)| match is_new {
                true => view! { <mark>{sentence.trim_end().to_owned()}</mark> {space_after(sentence)} }.into_any(),
                false => view! { <span>{sentence.clone()}</span> }.into_any(),
            });
            view! { <p class="answer">{marked.collect_view()}</p> }.into_any()
        }
    };
    let prompt = ablation.prompt.clone();
    view! {
        <section class="card">
            <h3>"Without " {ablation.removed.clone()}</h3>
            {answer}
            <p hidden=verdict.is_empty()>
                <b>{verdict}</b>
                {matches!(ablation.answer, AblationAnswer::Whole(_))
                    .then_some(view! { <span class="hint">" What the original does not have is marked."</span> })}
            </p>
            <p>
                <button
                    type="button"
                    class="chip"
                    disabled=is_active
                    title="Your own text is set aside, not lost"
                    on:click=move |_| page.send(Message::EditPrompt(prompt.clone()))
                >
                    "Put this prompt into the editor"
                </button>
            </p>
        </section>
    }
}

fn space_after(sentence: &str) -> String {
    sentence[sentence.trim_end().len()..].to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::analysis::attribution_graph::{AttributionGraph, tests::document};

    #[test]
    fn the_strongest_are_marked_in_the_order_of_the_text() {
        let attribution = AttributionView::new(Arc::new(AttributionGraph::new(document())), &[0, 1]);
        assert_eq!((strongest(&attribution, 1), strongest(&attribution, 3)), (vec![0], vec![0, 1]));
    }
}

use leptos::prelude::*;

use super::model_hint::ModelHint;
use super::share_bar::ShareBar;
use crate::app::reading::Reading;
use crate::app::run::Run;
use crate::app::scale::Amount;
use crate::app::state::use_page;
use crate::app::trial::{Reply, Trial, are_new};
use crate::explanation::Answer;

const MOST_STRONGEST: usize = 3;

/// Would the model have answered otherwise without these sentences? It is asked again.
#[component]
pub fn WithoutView() -> impl IntoView {
    let page = use_page();
    let is_active = move || page.run.with(Run::is_active);
    let trial =
        Memo::new(move |_| page.shown.with(|shown| page.marked.with(|marked| Trial::new(shown.as_ref()?.graph.document(), marked))));
    let hint = move || match (page.marked.with(Vec::is_empty), trial.with(Option::is_none)) {
        (true, _) => "Mark what to leave out.",
        (false, true) => "Nothing of the prompt would be left: keep some of it.",
        _ => "",
    };
    let button = move || {
        trial.with(|trial| trial.as_ref().map_or("Answer without them".into(), |trial| format!("Answer without {}", trial.removed)))
    };
    view! {
        <p>
            "An explanation says what the answer rests on. Leave some of it out and let the model answer again, with the same settings."
        </p>
        <Marks />
        <p class="go">
            <button type="button" class="primary" data-testid="answer-without" disabled=move || is_active() || trial.with(Option::is_none) on:click=move |_| page.answer_without()>
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
        page.read(|reading| {
            let texts = reading.document().prompt.sentence_texts().into_iter().enumerate();
            texts.map(|(j, text)| (j, reading.document().label(j), text.trim().to_owned())).collect::<Vec<_>>()
        })
        .unwrap_or_default()
    });
    let mark_strongest = move |k: usize| page.marked.set(page.read(|reading| strongest(reading, k)).unwrap_or_default());
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
            <button type="button" class="chip" disabled=move || page.marked.with(Vec::is_empty) on:click=move |_| page.marked.set(Vec::new())>"none"</button>
        </div>
        <div class="marks">
            <For each=move || rows.get() key=Clone::clone children=move |(j, label, text)| view! { <Mark j label text /> } />
        </div>
    }
}

#[component]
fn Mark(j: usize, label: String, text: String) -> impl IntoView {
    let page = use_page();
    let amount = Memo::new(move |_| -> Option<Amount> { page.read(|reading| reading.amounts(j)[0].clone()).flatten() });
    let is_marked = move || page.marked.with(|marked| marked.contains(&j));
    let on_change = move |event| {
        let is_on = event_target_checked(&event);
        page.marked.update(|marked| {
            marked.retain(|&other| other != j);
            marked.extend(is_on.then_some(j));
            marked.sort_unstable();
        });
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
fn strongest(reading: &Reading, k: usize) -> Vec<usize> {
    let mut sources: Vec<usize> = reading.strongest_sources().into_iter().filter(|&j| reading.via_steps(j) > Some(0.0)).take(k).collect();
    sources.sort_unstable();
    sources
}

/// The original answer, and beside it those without some sentences, the last one first.
#[component]
fn Answers() -> impl IntoView {
    let page = use_page();
    let original = Memo::new(move |_| {
        page.read(|reading| {
            let document = reading.document();
            let is_given = matches!(document.manifest.answer, Answer::Given {});
            (document.generation.sentence_texts().into_iter().map(str::to_owned).collect::<Vec<_>>(), is_given)
        })
        .unwrap_or_default()
    });
    let trials = move || {
        let (original, _) = original.get();
        let trials = page.trials.get();
        trials.into_iter().rev().map(|trial| view! { <TrialView trial original=original.clone() /> }).collect_view()
    };
    let text = move || original.with(|(sentences, _)| sentences.concat());
    let is_given = move || original.with(|(_, is_given)| *is_given);
    view! {
        <div class="answers" hidden=move || page.trials.with(Vec::is_empty)>
            <section class="card original">
                <h3>"With the whole prompt"</h3>
                <p class="answer">{text}</p>
                <p class="hint" hidden=move || !is_given()>"This answer was given, not written by the model; the others are the model\u{2019}s own."</p>
            </section>
            <div class="trials" data-testid="trials" aria-live="polite">{trials}</div>
        </div>
    }
}

#[component]
fn TrialView(trial: Trial, original: Vec<String>) -> impl IntoView {
    let page = use_page();
    let original: Vec<&str> = original.iter().map(String::as_str).collect();
    let verdict = trial.verdict(&original);
    let is_active = move || page.run.with(Run::is_active);
    let answer = match &trial.answer {
        Reply::Growing(text) => view! { <p class="answer">{text.clone()}<span class="caret"></span></p> }.into_any(),
        Reply::Stopped(text) => view! { <p class="answer">{text.clone()}</p> }.into_any(),
        Reply::Whole(sentences) => {
            let marked = sentences.iter().zip(are_new(&original, sentences)).map(|(sentence, is_new)| match is_new {
                true => view! { <mark>{sentence.trim_end().to_owned()}</mark> {space_after(sentence)} }.into_any(),
                false => view! { <span>{sentence.clone()}</span> }.into_any(),
            });
            view! { <p class="answer">{marked.collect_view()}</p> }.into_any()
        }
    };
    let prompt = trial.prompt.clone();
    view! {
        <section class="card">
            <h3>"Without " {trial.removed.clone()}</h3>
            {answer}
            <p hidden=verdict.is_empty()>
                <b>{verdict}</b>
                {matches!(trial.answer, Reply::Whole(_)).then_some(view! { <span class="hint">" What the original does not have is marked."</span> })}
            </p>
            <p>
                <button
                    type="button"
                    class="chip"
                    disabled=is_active
                    title="Your own text is set aside, not lost"
                    on:click=move |_| {
                        page.replace_texts(&prompt, "");
                        page.editor_is_open.set(true);
                    }
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
    use crate::app::reading::{Graph, tests::document};

    #[test]
    fn the_strongest_are_marked_in_the_order_of_the_text() {
        let reading = Reading::new(Arc::new(Graph::new(document())), &[0, 1]);
        assert_eq!((strongest(&reading, 1), strongest(&reading, 3)), (vec![0], vec![0, 1]));
    }
}

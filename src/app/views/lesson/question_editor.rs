use leptos::prelude::*;

use super::change::Change;
use crate::app::browser;
use crate::app::i18n::t;
use crate::app::views::layout::typed_number::typed_number;
use crate::lesson::Question;

const MAX_CHOICES: usize = 10;

/// Editor of the question of a step.
#[component]
pub fn QuestionEditor(question: Option<Question>, change: Change, n_prompt: usize) -> impl IntoView {
    let kind = match &question {
        None => "none",
        Some(Question::Mark { .. }) => "mark",
        Some(Question::Choose { .. }) => "choose",
    };
    let kinds = [("none", t!("None")), ("mark", t!("Mark sentences")), ("choose", t!("Choose an answer"))];
    let kinds = kinds.map(|(value, name)| view! { <option value=value selected=value == kind>{name}</option> }).collect_view();
    let choose_kind = move |event| {
        let question = match event_target_value(&event).as_str() {
            "mark" => Some(Question::Mark { ask: t!("Which sentence does it depend on most?").into(), count: 1 }),
            "choose" => Some(Question::Choose {
                ask: String::new(),
                choices: vec![t!("Yes").into(), t!("No").into()],
                right: 0,
                because: String::new(),
            }),
            _ => None,
        };
        change.step(|step| step.question = question);
        // The step's fields, including this list, are redrawn. Restore the focus.
        request_animation_frame(|| browser::focus("[data-testid='lesson-question']"));
    };
    let fields = question.map(|question| match question {
        Question::Mark { ask, count } => view! { <MarkFields ask count change n_prompt /> }.into_any(),
        Question::Choose { ask, choices, because, .. } => view! { <ChooseFields ask choices because change /> }.into_any(),
    });
    view! {
        <fieldset class="question">
            <legend>
                <label>
                    {t!("Task for the reader")}
                    " "
                    <select data-testid="lesson-question" on:change=choose_kind>{kinds}</select>
                </label>
            </legend>
            {fields}
        </fieldset>
    }
}

#[component]
fn MarkFields(ask: String, count: usize, change: Change, n_prompt: usize) -> impl IntoView {
    let set_count = move |event| {
        let number = typed_number(&event, 1, [1, n_prompt as u32]) as usize;
        change.question(|question| {
            if let Question::Mark { count, .. } = question {
                *count = number;
            }
        });
    };
    view! {
        <AskField ask change />
        <label>
            {t!("Number of sentences to mark")}
            " "
            <input type="number" min="1" max=n_prompt data-testid="lesson-count" prop:value=count on:change=set_count />
        </label>
    }
}

#[component]
fn ChooseFields(ask: String, choices: Vec<String>, because: String, change: Change) -> impl IntoView {
    let is_refused = RwSignal::new(false);
    let set_choices = move |event| {
        let text = event_target_value(&event);
        let lines: Vec<String> = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
        is_refused.set(!(2..=MAX_CHOICES).contains(&lines.len()));
        change.question(|question| {
            if let Question::Choose { choices, right, .. } = question
                && !is_refused.get_untracked()
            {
                *right = (*right).min(lines.len() - 1);
                *choices = lines;
            }
        });
    };
    let set_right = move |event| {
        let number = event_target_value(&event).parse().unwrap_or(0);
        change.question(|question| {
            if let Question::Choose { right, .. } = question {
                *right = number;
            }
        });
    };
    let set_because = move |event| {
        change.question(|question| {
            if let Question::Choose { because, .. } = question {
                *because = event_target_value(&event);
            }
        });
    };
    // The options follow the answers typed above.
    let options = move || {
        let question = change.page.with(|state| state.lesson().and_then(|open| open.step().question.clone()));
        let Some(Question::Choose { choices, right, .. }) = question else { return Vec::new() };
        let option = |(number, text)| view! { <option value=number selected=number == right>{text}</option> };
        choices.into_iter().enumerate().map(option).collect()
    };
    view! {
        <AskField ask change />
        <label class="field">
            <span class="label">{t!("Answers, one per line")}</span>
            <textarea rows="3" data-testid="lesson-choices" prop:value=choices.join("\n") on:change=set_choices></textarea>
        </label>
        <p class="problem" role="alert" hidden=move || !is_refused.get()>{t!("Enter two to ten answers, one per line.")}</p>
        <label>
            {t!("The right one")}
            " "
            <select data-testid="lesson-right" on:change=set_right>{options}</select>
        </label>
        <label class="field">
            <span class="label">{t!("Why it is right")}</span>
            <textarea rows="2" data-testid="lesson-because" prop:value=because on:change=set_because></textarea>
        </label>
    }
}

#[component]
fn AskField(ask: String, change: Change) -> impl IntoView {
    let set = move |event| {
        change.question(|question| {
            let (Question::Mark { ask, .. } | Question::Choose { ask, .. }) = question;
            *ask = event_target_value(&event);
        });
    };
    view! {
        <label class="field">
            <span class="label">{t!("Question")}</span>
            <input type="text" data-testid="lesson-ask" prop:value=ask on:change=set />
        </label>
    }
}

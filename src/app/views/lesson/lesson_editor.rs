use leptos::ev;
use leptos::prelude::*;

use crate::app::analysis::lesson_explanations::of_lesson;
use crate::app::analysis::share_texts;
use crate::app::browser;
use crate::app::i18n::{t, text, translatable};
use crate::app::page::use_page;
use crate::app::state::lesson::OpenLesson;
use crate::app::state::message::LessonMessage;
use crate::app::state::place::Place;
use crate::app::views::layout::help_link::{self, HelpLink};
use crate::app::views::layout::problem_box::ProblemBox;
use crate::lesson::{Shown, Step};

use super::change::Change;
use super::explanations_editor::ExplanationsEditor;
use super::history_bar::HistoryBar;
use super::question_editor::QuestionEditor;

const SHOWN: [(Shown, &str); 4] = [
    (Shown::Text, translatable!("The text")),
    (Shown::Path, translatable!("The path")),
    (Shown::Table, translatable!("The table")),
    (Shown::Nothing, translatable!("Nothing yet")),
];

/// The heading of a step. Screen reader users continue from there to its fields.
const PLACE: &str = "[data-testid='lesson-place']";

/// Editor of a lesson: the fields of one step, above the explanation of the step.
#[component]
pub fn LessonEditor() -> impl IntoView {
    let page = use_page();
    let change = Change { page };
    // Focus the title, because authors start with it.
    request_animation_frame(|| browser::focus("[data-testid='lesson-title']"));
    // A field saves its text when it loses the focus, so leave the field before a reload.
    let on_reload = window_event_listener(ev::beforeunload, |_| browser::leave_field());
    on_cleanup(move || on_reload.remove());
    let send = move |message| page.send(message);
    // Ignore typed text here, so that fields are not redrawn and keep the focus.
    let place = Memo::new(move |_| {
        page.with(|state| {
            let open = state.lesson()?;
            let kind = open.step().question.as_ref().map(std::mem::discriminant);
            let explanations = (open.step().explanation, open.lesson.explanations.len());
            Some((open.at, open.lesson.steps.len(), kind, explanations, open.n_restored))
        })
    });
    let fields = move || {
        browser::keep_focus(PLACE);
        let open = untrack(|| page.with(|state| state.lesson().cloned()))?;
        let OpenLesson { lesson, at, .. } = &open;
        let (at, n_steps, title) = (*at, lesson.steps.len(), lesson.title.clone());
        let Step { text: words, shown, question, explanation, .. } = open.step().clone();
        let explanations = of_lesson(lesson).into_iter().map(|(label, _)| label).collect::<Vec<_>>();
        let n_prompt = open.document().prompt.sentences.len();
        let option = |(k, (kind, name)): (usize, (Shown, &'static str))| {
            view! { <option value=k selected=kind == shown>{text(name)}</option> }
        };
        let kinds = SHOWN.into_iter().enumerate().map(option).collect_view();
        let choose_shown = move |event| {
            let chosen = event_target_value(&event).parse::<usize>().ok().and_then(|k| SHOWN.get(k));
            change.step(|step| step.shown = chosen.map_or(Shown::Text, |(kind, _)| *kind));
        };
        let add = move |_| {
            change.lesson(|lesson, at| {
                let Step { explanation, output, .. } = lesson.steps[at].clone();
                lesson.steps.insert(at + 1, Step { explanation, output, ..Step::default() });
            });
            send(LessonMessage::GoTo(at + 1));
        };
        let move_to = move |to: usize| {
            change.lesson(|lesson, at| lesson.steps.swap(at, to));
            send(LessonMessage::GoTo(to));
        };
        let back = move |_| send(LessonMessage::GoTo(at.saturating_sub(1)));
        let next = move |_| send(LessonMessage::GoTo(at + 1));
        Some(view! {
            <label class="field">
                <span class="label">{t!("Title of the lesson")}</span>
                <input
                    type="text"
                    data-testid="lesson-title"
                    prop:value=title
                    on:change=move |event| change.lesson(|lesson, _| lesson.title = event_target_value(&event))
                />
            </label>
            <h2 tabindex="-1" data-testid="lesson-place" data-then="[data-testid='lesson-place']">
                {t!("Step {n} of {total}", n = at + 1, total = n_steps)}
            </h2>
            <label class="field">
                <span class="label">{t!("Text for the reader")}</span>
                <textarea
                    rows="4"
                    data-testid="lesson-text"
                    placeholder=t!("An empty line begins a new paragraph.")
                    prop:value=words
                    on:change=move |event| change.step(|step| step.text = event_target_value(&event))
                ></textarea>
            </label>
            <StepExplanation explanations explanation change />
            <div class="choice">
                <label>
                    {t!("View in this step")}
                    " "
                    <select data-testid="lesson-shown" on:change=choose_shown>{kinds}</select>
                </label>
                <button type="button" data-testid="lesson-output" on:click=move |_| send(LessonMessage::TakeOutput)>
                    {move || {
                        let label = page.attribution(share_texts::output_label).unwrap_or_default();
                        t!("Explain {label} in this step", label)
                    }}
                </button>
                <span class="hint">{t!("To use another sentence, click it below first.")}</span>
            </div>
            <QuestionEditor question change n_prompt />
            <div class="choice" data-then="[data-testid='lesson-place']">
                <button type="button" data-testid="lesson-back" disabled=at == 0 on:click=back>
                    {t!("Previous")}
                </button>
                <button type="button" data-testid="lesson-next" disabled=at + 1 == n_steps on:click=next>
                    {t!("Next")}
                </button>
                <button type="button" data-testid="lesson-add" on:click=add>{t!("Add a step")}</button>
                <button
                    type="button"
                    disabled=at == 0
                    data-testid="lesson-earlier"
                    on:click=move |_| move_to(at.saturating_sub(1))
                >
                    {t!("Move this step earlier")}
                </button>
                <button type="button" disabled=at + 1 == n_steps data-testid="lesson-later" on:click=move |_| move_to(at + 1)>
                    {t!("Move this step later")}
                </button>
                <button
                    type="button"
                    disabled=n_steps == 1
                    data-testid="lesson-delete"
                    on:click=move |_| change.lesson(|lesson, at| drop(lesson.steps.remove(at)))
                >
                    {t!("Delete this step")}
                </button>
            </div>
        })
    };
    view! {
        // Create new elements each time, because lists keep an earlier choice when they are updated.
        <For each=move || place.get() key=|place| *place children=move |_| fields() />
        <ExplanationsEditor change />
        <ProblemBox place=Place::Lesson />
        <HistoryBar />
        <div class="choice">
            <button type="button" class="primary" data-testid="lesson-try" on:click=move |_| send(LessonMessage::Edit(false))>
                {t!("Preview")}
            </button>
            <span class="hint">
                {t!("“Copy link” and “Save JSON” at the top include the whole lesson. “Preview” also lets you print a worksheet.")}
            </span>
        </div>
        <HelpLink section=help_link::LESSON />
    }
}

/// Choice of the explanation of the step, if the lesson has several.
#[component]
fn StepExplanation(explanations: Vec<String>, explanation: usize, change: Change) -> impl IntoView {
    let choose = move |event| {
        let chosen = event_target_value(&event).parse().unwrap_or(0);
        change.lesson(|lesson, at| lesson.show_in_step(at, chosen));
        request_animation_frame(|| browser::focus("[data-testid='lesson-explanation']"));
    };
    let is_one = explanations.len() == 1;
    let option = |(k, label): (usize, String)| {
        let label = t!("{n}. {label}", n = k + 1, label);
        view! { <option value=k selected=k == explanation>{label}</option> }
    };
    let options = explanations.into_iter().enumerate().map(option).collect_view();
    view! {
        <label class="long" hidden=is_one>
            {t!("Explanation of this step")}
            " "
            <select dir="auto" data-testid="lesson-explanation" on:change=choose>{options}</select>
        </label>
    }
}

use std::time::Duration;

use leptos::ev;
use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;

use super::share_bar::ShareBar;
use crate::app::reading::{Evidence, Reading, Role};
use crate::app::run::Run;
use crate::app::state::{Page, use_page};
use crate::explanation::Document;

/// How long the pointer rests on a sentence before it is previewed: crossing the text changes nothing.
const REST: Duration = Duration::from_millis(140);

/// One line of the text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RowText {
    /// The source: prompt sentences first, then generated ones.
    pub node: usize,
    pub label: String,
    pub text: String,
    /// The row of the table, where it is a generated sentence.
    pub generated: Option<usize>,
}

impl RowText {
    pub fn all(document: &Document) -> Vec<Self> {
        let n_prompt = document.prompt.sentences.len();
        let texts = document.prompt.sentence_texts().into_iter().chain(document.generation.sentence_texts());
        let row = |(node, text): (usize, &str)| Self {
            node,
            label: document.label(node),
            text: text.trim().to_owned(),
            generated: node.checked_sub(n_prompt),
        };
        texts.enumerate().map(row).collect()
    }
}

/// A sentence with its influence. A generated one can be explained: by click, Enter or Space.
#[component]
pub fn SentenceRow(row: RowText, tab_stop: RwSignal<usize>) -> impl IntoView {
    let RowText { node, label, text, generated } = row;
    let test_id = format!("sentence-{label}");
    let page = use_page();
    let role = Memo::new(move |_| page.read(|reading| reading.role(node)));
    let via_steps = Memo::new(move |_| page.read(|reading| reading.via_steps(node)).flatten());
    let amount = |k: usize| Memo::new(move |_| page.read(|reading| reading.amounts(node)[k].clone()).flatten());
    let (total, direct) = (amount(0), amount(1));
    let attribute = move |influence: fn(&Reading, usize) -> Option<f64>| {
        page.read(|reading| influence(reading, node).map(|influence| reading.scale().attribute(influence))).flatten()
    };
    let strength = Memo::new(move |_| page.read(|reading| reading.via_steps(node).map_or(0.0, |share| reading.strength(share))));
    let is_selected = Memo::new(move |_| generated.is_some_and(|i| page.output.with(|output| output.contains(&i))));
    let is_output = move || role.get() == Some(Role::Output);
    // A sentence after the output, or the output itself, has no share to speak of.
    let is_hollow = Memo::new(move |_| role.get() == Some(Role::Later) || is_output() && via_steps.get() == Some(0.0));

    let select = move |extend: bool| {
        if let Some(i) = generated {
            page.select(i, extend);
        }
    };
    let hover = Hover::new(page, node);
    let on_click = move |event: ev::MouseEvent| {
        hover.forget();
        select(event.ctrl_key() || event.meta_key() || event.shift_key());
    };
    let on_key = move |event: ev::KeyboardEvent| {
        if event.key() == "Enter" || event.key() == " " {
            event.prevent_default();
            select(event.ctrl_key() || event.meta_key() || event.shift_key());
        }
    };
    view! {
        <div
            role="row"
            class="sentence"
            class:generated=generated.is_some()
            class:output=is_output
            class:bystander=move || matches!(role.get(), Some(Role::Bystander | Role::Later))
            class:unmeasured=move || role.get() == Some(Role::Unmeasured)
            class:lit=move || page.focus.get() == Some(node)
            class:minus=move || strength.get().is_some_and(|strength| strength < 0.0)
            style=move || format!("--strength:{:.3}", strength.get().unwrap_or(0.0).abs())
            data-node=node
            data-testid=test_id
            data-share=move || attribute(Reading::via_steps)
            data-direct=move || attribute(Reading::direct)
            data-selected=move || is_selected.get().to_string()
            aria-selected=move || generated.map(|_| is_selected.get().to_string())
            tabindex=move || if tab_stop.get() == node { "0" } else { "-1" }
            on:click=on_click
            on:keydown=on_key
            on:pointerenter=move |event| hover.enter(&event, generated)
            on:pointerleave=move |_| hover.leave()
            on:focus=move |_| {
                tab_stop.set(node);
                page.focus.set(Some(node));
            }
            on:blur=move |_| page.focus.set(None)
        >
            <span role="rowheader" class="label">{label}</span>
            <span role="gridcell" class="text">
                {if text.is_empty() { view! { <em class="hint">"(blank line)"</em> }.into_any() } else { view! { <span class="words">{text}</span> }.into_any() }}
                <EvidenceTag node />
            </span>
            <span role="gridcell" class="share">
                <Show when=move || !is_hollow.get() fallback=move || is_output().then_some(view! { <span class="explained">"explained"</span> })>
                    <ShareBar amount=total />
                </Show>
            </span>
            <span role="gridcell" class="share direct">
                <Show when=move || !is_hollow.get()>
                    <ShareBar amount=direct />
                </Show>
            </span>
        </div>
    }
}

/// What is to be said about a sentence that was not measured, or has little evidence behind it.
#[component]
fn EvidenceTag(node: usize) -> impl IntoView {
    let page = use_page();
    let words = Memo::new(move |_| {
        let said = page.read(|reading| match (reading.via_steps(node), reading.graph().evidence(node)) {
            (None, _) => "not measured",
            (_, Some(Evidence::None)) => "no measurable source",
            (_, Some(Evidence::Weak(_))) => "weak evidence",
            _ => "",
        });
        said.filter(|_| !page.run.with(Run::is_active)).unwrap_or_default()
    });
    view! {
        <Show when=move || !words.get().is_empty()>
            " "
            <span class="tag">{words}</span>
        </Show>
    }
}

/// A pointer over a row: lights its edges and, after a rest, previews a generated sentence as the output.
#[derive(Clone, Copy)]
struct Hover {
    page: Page,
    node: usize,
    rest: StoredValue<Option<TimeoutHandle>>,
}

impl Hover {
    fn new(page: Page, node: usize) -> Self {
        let hover = Self { page, node, rest: StoredValue::new(None) };
        on_cleanup(move || hover.forget());
        hover
    }

    fn enter(self, event: &ev::PointerEvent, generated: Option<usize>) {
        // A finger does not hover: its tap selects.
        if event.pointer_type() != "mouse" {
            return;
        }
        self.page.focus.set(Some(self.node));
        if let Some(i) = generated {
            self.rest.set_value(set_timeout_with_handle(move || self.page.preview.set(Some(i)), REST).ok());
        }
    }

    fn leave(self) {
        self.forget();
        self.page.preview.set(None);
        self.page.focus.set(None);
    }

    /// The row was clicked or is gone: no preview will follow.
    fn forget(self) {
        if let Some(rest) = self.rest.try_update_value(Option::take).flatten() {
            rest.clear();
        }
    }
}

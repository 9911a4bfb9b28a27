use std::time::Duration;

use crate::app::state::message::{ExplanationMessage, Message};
use leptos::ev;
use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;

use super::pointer;
use super::share_bar::ShareBar;
use crate::app::analysis::expanded_source::{WordView, n_words, strongest_words};
use crate::app::analysis::share_texts;
use crate::app::analysis::speaker::speaker_name;
use crate::app::browser;
use crate::app::i18n::{plural, t};
use crate::app::page::{Page, use_page};
use crate::explanation::{Document, PlacedUnit, Speaker};
use crate::shares::{Evidence, Role, Shares};

/// Time that the pointer rests on a sentence before the preview, so that moving across the text changes nothing.
const REST: Duration = Duration::from_millis(140);

/// Maximum number of words named after an expanded source.
const MAX_WORDS: usize = 3;

/// One line of the text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RowText {
    /// Source index: prompt sentences first, then generated ones. Rows are in text order.
    pub node: usize,
    pub label: String,
    pub text: String,
    /// 0-based row of a generated sentence. `None` for other sentences.
    pub generated: Option<usize>,
    /// The speaker of the turn that begins here, if the prompt is a conversation.
    pub speaker: Option<Speaker>,
}

impl RowText {
    pub fn all(document: &Document) -> Vec<Self> {
        let texts = document.source_texts();
        let turns = document.units_of_turns();
        let row = |PlacedUnit { source: node, row, .. }: PlacedUnit| {
            let text = texts.get(node).copied().unwrap_or_default();
            Self {
                node,
                label: document.label(node),
                text: if document.unit.is_in_version_2() { text.trim() } else { without_blank_lines(text) }.to_owned(),
                generated: row,
                speaker: turns.iter().find(|(_, units)| units.start == node).map(|(speaker, _)| *speaker),
            }
        };
        document.units_in_order().into_iter().map(row).collect()
    }
}

/// The text without white space at its end and without blank lines before it. The indentation of its first line stays.
fn without_blank_lines(text: &str) -> &str {
    let text = text.trim_end();
    let indentation = &text[..text.len() - text.trim_start().len()];
    &text[indentation.rfind('\n').map_or(0, |line_end| line_end + 1)..]
}

/// A sentence with its influence, below the name of its speaker if a turn begins with it. A click, Enter or Space explains a generated
/// sentence.
#[component]
pub fn SentenceRow(row: RowText, tab_stop: RwSignal<usize>, adds: RwSignal<bool>) -> impl IntoView {
    let RowText { node, label, text, generated, speaker } = row;
    let test_id = format!("sentence-{label}");
    let page = use_page();
    let role = Memo::new(move |_| page.attribution(|attribution| attribution.role(node)));
    let influence = Memo::new(move |_| page.attribution(|attribution| attribution.total(node)).flatten());
    let amount =
        |k: usize| Memo::new(move |_| page.attribution(|attribution| share_texts::amounts(attribution, node)[k].clone()).flatten());
    let (total, direct) = (amount(0), amount(1));
    let is_estimated = Memo::new(move |_| page.attribution(|attribution| attribution.graph().is_estimated(node)) == Some(true));
    let attribute = move |influence: fn(&Shares, usize) -> Option<f64>| {
        page.attribution(|attribution| influence(attribution, node).map(|influence| share_texts::attribute(attribution.scale(), influence)))
            .flatten()
    };
    let strength =
        Memo::new(move |_| page.attribution(|attribution| attribution.total(node).map_or(0.0, |share| attribution.strength(share))));
    let is_selected = Memo::new(move |_| generated.is_some_and(|i| page.with(|state| state.explanation.output.contains(&i))));
    let is_output = move || role.get() == Some(Role::Output);
    let has_no_share = Memo::new(move |_| page.attribution(|attribution| attribution.has_no_share(node)) == Some(true));

    let words = Memo::new(move |_| {
        let is_collapsed = page.with(|state| state.explanation.collapsed.contains(&node));
        page.attribution(|attribution| {
            page.with(|state| {
                let expanded = state.explanation.expanded.iter().filter(|expanded| expanded.source == node);
                expanded.filter_map(|expanded| expanded.words_in(attribution)).next()
            })
        })
        .flatten()
        .filter(|_| !is_collapsed)
    });

    let can_open = move || !page.is_viewer() && untrack(|| page.attribution(|attribution| attribution.can_expand(node))) == Some(true);
    let select = move |extend: bool| {
        if let Some(i) = generated {
            page.send(ExplanationMessage::Select { row: i, extend: extend || adds.get_untracked() });
        }
    };
    // Documents of words show running text, so labels and shares are in the tooltip.
    let shown_label = label.clone();
    let title = move || {
        let amounts = page
            .attribution(|attribution| attribution.document().unit.is_word().then(|| share_texts::amounts(attribution, node)))
            .flatten()?;
        let [total, direct] = amounts.map(|amount| amount.map_or_else(|| t!("not measured").to_owned(), |amount| amount.figure));
        Some(t!("{label}: {total} in total, {direct} directly", label = shown_label, total, direct))
    };
    let hover = Hover::new(page, node);
    let on_click = move |event: ev::MouseEvent| {
        hover.forget();
        select(event.ctrl_key() || event.meta_key() || event.shift_key());
    };
    let on_key = move |event: ev::KeyboardEvent| match event.key().as_str() {
        // The button in the row handles its own keys.
        _ if browser::is_within(&event, "button") => {}
        "Enter" | " " => {
            event.prevent_default();
            select(event.ctrl_key() || event.meta_key() || event.shift_key());
        }
        _ if !browser::is_alone(&event) => {}
        // Like in a tree view: Right expands, Left collapses.
        "ArrowRight" if can_open() && words.with_untracked(Option::is_none) => page.send(Message::ToggleWords(node)),
        "ArrowLeft" if words.with_untracked(Option::is_some) => page.send(Message::ToggleWords(node)),
        _ => {}
    };
    // All rows have the same type of view, because another type would repeat their code.
    let speaker = speaker.map(|speaker| {
        view! {
            <div role="row" class="speaker">
                <span role="rowheader">{speaker_name(speaker)}</span>
            </div>
        }
    });
    view! {
        {speaker}
        <div
            role="row"
            class="sentence"
            class:generated=generated.is_some()
            class:output=is_output
            class:bystander=move || matches!(role.get(), Some(Role::NoInfluence | Role::Later))
            class:estimated=move || is_estimated.get()
            class:unmeasured=move || role.get() == Some(Role::Unmeasured)
            class:lit=move || page.with(|state| *state.explanation.focus) == Some(node)
            class:minus=move || strength.get().is_some_and(|strength| strength < 0.0)
            style=move || format!("--strength:{:.3};--name:sentence-{node}", strength.get().unwrap_or(0.0).abs())
            title=title
            data-node=node
            data-testid=test_id
            data-share=move || attribute(Shares::total)
            data-direct=move || attribute(Shares::direct)
            data-selected=move || is_selected.get().to_string()
            aria-selected=move || generated.map(|_| is_selected.get().to_string())
            tabindex=move || if tab_stop.get() == node { "0" } else { "-1" }
            on:click=on_click
            on:keydown=on_key
            on:pointerenter=move |event| hover.moved(&event, generated)
            on:pointermove=move |event| hover.moved(&event, generated)
            on:pointerleave=move |_| hover.leave()
            on:focus=move |_| {
                tab_stop.set(node);
                page.send(ExplanationMessage::Focus(Some(node)));
            }
            on:blur=move |_| page.send(ExplanationMessage::Focus(None))
        >
            <span role="rowheader">
                <span class="label">
                    <OpenButton node label text=text.clone() is_open=Signal::derive(move || words.with(Option::is_some)) />
                </span>
                <span class="text" dir="auto">
                    <RowWords text words influence />
                    <EvidenceTag node />
                </span>
            </span>
            <span role="gridcell" class="share">
                <Show
                    when=move || !has_no_share.get()
                    fallback=move || is_output().then_some(view! { <span class="explained">{t!("explained")}</span> })
                >
                    <ShareBar amount=total />
                </Show>
            </span>
            <span role="gridcell" class="share direct">
                <Show when=move || !has_no_share.get()>
                    <ShareBar amount=direct />
                </Show>
            </span>
        </div>
    }
}

/// The label. It is a button if the source can be split into words.
#[component]
fn OpenButton(node: usize, label: String, text: String, is_open: Signal<bool>) -> impl IntoView {
    let page = use_page();
    let n_words = n_words(&text);
    let can_open = Memo::new(move |_| !page.is_viewer() && page.attribution(|attribution| attribution.can_expand(node)) == Some(true));
    let title = plural!(
        n = n_words,
        "Open {label} to its {n} word: each is blanked out alone",
        "Open {label} to its {n} words: each is blanked out alone",
        label,
    );
    let test_id = format!("open-{label}");
    let on_click = move |event: ev::MouseEvent| {
        event.stop_propagation();
        page.send(Message::ToggleWords(node));
    };
    let shown = label.clone();
    view! {
        <Show when=move || can_open.get() fallback=move || shown.clone()>
            <button
                type="button"
                class="open"
                tabindex="-1"
                title=title.clone()
                aria-expanded=move || is_open.get().to_string()
                data-testid=test_id.clone()
                disabled=move || page.is_busy() && !is_open.get()
                on:click=on_click
            >
                {label.clone()}
            </button>
        </Show>
    }
}

/// The text in one piece, or word by word.
#[component]
fn RowWords(text: String, words: Memo<Option<Vec<WordView>>>, influence: Memo<Option<f64>>) -> impl IntoView {
    let whole = move |text: String| match text.is_empty() {
        true => view! { <em class="hint">{t!("(blank line)")}</em> }.into_any(),
        false => view! { <span class="words">{text}</span> }.into_any(),
    };
    let word = |WordView { text, figure, strength, .. }: WordView| {
        let style = format!("--strength:{:.3}", strength.abs());
        let space = text[text.trim_end().len()..].to_owned();
        let title = format!("{}: {figure}", text.trim());
        view! { <span class="word" class:minus=strength < 0.0 style=style title=title>{text.trim_end().to_owned()}</span> {space} }
    };
    move || match words.get() {
        None => whole(text.clone()),
        Some(mut words) => {
            // The white space after the last word may be blank lines.
            if let Some(last) = words.last_mut() {
                last.text.truncate(last.text.trim_end().len());
            }
            let is_source = influence.get().is_some_and(|share| share != 0.0);
            let strongest = strongest_words(&words, MAX_WORDS, is_source);
            view! {
                {words.into_iter().map(word).collect_view()}
                <small class="hint by-words" data-testid="by-words">{strongest}</small>
            }
            .into_any()
        }
    }
}

/// Tag for a sentence that is not measured, or that has weak or no evidence.
#[component]
fn EvidenceTag(node: usize) -> impl IntoView {
    let page = use_page();
    let words = Memo::new(move |_| {
        let said = page.attribution(|attribution| match (attribution.total(node), attribution.graph().evidence(node)) {
            (None, _) => t!("not measured"),
            (_, Some(Evidence::None)) => t!("no measurable source"),
            (_, Some(Evidence::Unsupported(_))) => t!("nothing in the prompt supports this"),
            (_, Some(Evidence::Weak(_))) => t!("weak evidence"),
            _ => "",
        });
        said.filter(|_| !page.is_busy()).unwrap_or_default()
    });
    view! {
        <Show when=move || !words.get().is_empty()>
            " "
            <span class="tag">{words}</span>
        </Show>
    }
}

/// Handles the pointer over a row: highlights the row's edges and, after `REST`, previews a generated sentence as the output.
#[derive(Clone, Copy)]
struct Hover {
    page: Page,
    node: usize,
    is_over: StoredValue<bool>,
    rest: StoredValue<Option<TimeoutHandle>>,
}

impl Hover {
    fn new(page: Page, node: usize) -> Self {
        let hover = Self { page, node, is_over: StoredValue::new(false), rest: StoredValue::new(None) };
        on_cleanup(move || hover.forget());
        hover
    }

    fn moved(self, event: &ev::PointerEvent, generated: Option<usize>) {
        // Only a mouse hovers. A tap selects.
        if event.pointer_type() != "mouse" || self.is_over.get_value() || !pointer::has_moved(event) {
            return;
        }
        self.is_over.set_value(true);
        self.page.send(ExplanationMessage::Focus(Some(self.node)));
        if let Some(i) = generated {
            self.rest.set_value(set_timeout_with_handle(move || self.page.send(ExplanationMessage::Preview(Some(i))), REST).ok());
        }
    }

    fn leave(self) {
        self.is_over.set_value(false);
        self.forget();
        self.page.send(ExplanationMessage::Preview(None));
        self.page.send(ExplanationMessage::Focus(None));
    }

    /// Cancels a preview that has not started yet.
    fn forget(self) {
        if let Some(rest) = self.rest.try_update_value(Option::take).flatten() {
            rest.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::without_blank_lines;

    #[test]
    fn indentation_of_first_line_stays() {
        let texts = ["\n \n    return x\n\n", "  a\n  b", "\n", "a"];
        assert_eq!(texts.map(without_blank_lines), ["    return x", "  a\n  b", "", "a"]);
    }
}

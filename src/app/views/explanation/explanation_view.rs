use crate::app::state::State;
use crate::app::state::lesson::OpenLesson;
use crate::app::state::library::LibraryMessage;
use crate::app::state::message::Message;
use crate::app::state::origin::Origin;
use crate::app::state::place::Place;
use crate::app::state::storage_keys;
use leptos::ev;
use leptos::html::Section;
use leptos::prelude::*;

use super::derivation_bar;
use super::details::Details;
use super::pointer;
use super::recompute_button::RecomputeButton;
use super::tab::Tab;
use super::tab_panels;
use super::text_view::TextView;
use super::welcome_intro::{WelcomeIntro, WelcomeNext};
use crate::app::analysis::branches;
use crate::app::browser;
use crate::app::i18n::{following, plural, t};
use crate::app::page::use_page;
use crate::app::views::layout::lazy::{LazyPart, LazyView};
use crate::app::views::layout::problem_box::ProblemBox;
use crate::explanation::title;
use crate::explanation::{Answer, AnswerStop, AnswerWarning, Document};

/// Maximum number of sentences that move when the tab changes, because browsers take a picture of each one.
const MAX_MOVING: usize = 80;

/// The document on screen. While the model writes a new answer, the view is removed and the document stays in the state.
#[component]
pub fn ExplanationView() -> impl IntoView {
    let page = use_page();
    pointer::follow();
    let is_visible = Memo::new(move |_| {
        let is_there = page.with(|state| state.explanation.shown.is_some() && state.engine.run.answer().is_none());
        // In a lesson, hide the explanation until the reader has guessed, and while the explanation of another step is on screen.
        is_there
            && page.with(|state| {
                let is_seen =
                    |open: &OpenLesson| open.required_marks().is_none() && Tab::of(open.step().shown).is_some() && !open.step_waits;
                state.lesson().is_none_or(is_seen)
            })
    });
    let tab = RwSignal::new(Tab::Text);
    let of_lesson = Memo::new(move |_| page.with(|state| state.lesson().map(|open| (open.at, open.step().shown))));
    Effect::new(move |_| {
        if let Some(shown) = of_lesson.get().and_then(|(_, shown)| Tab::of(shown)) {
            tab.set(shown);
        }
    });
    let all_numbers = RwSignal::new(!page.is_viewer() && browser::remembered(storage_keys::ALL_NUMBERS).is_some());
    view! {
        <Show when=move || is_visible.get()>
            <ShownExplanation tab all_numbers />
        </Show>
    }
}

#[component]
fn ShownExplanation(
    tab: RwSignal<Tab>,
    /// Whether to show more than total shares: direct shares, how shares follow from scores, and how many edges are drawn.
    all_numbers: RwSignal<bool>,
) -> impl IntoView {
    let page = use_page();
    // Recomputing keeps the tab. A new answer starts with the text.
    if untrack(|| page.with(State::makes_new_explanation)) {
        tab.set(Tab::Text);
    }
    provide_context(tab);
    let panels = LazyPart::new(tab_panels::fetch);
    let derivation = LazyPart::new(derivation_bar::fetch);
    let on_key = move |event: ev::KeyboardEvent| {
        let next = tab.get_untracked().after_key(&event.key(), Tab::all(page.is_viewer()));
        if let Some(next) = next.filter(|_| browser::is_alone(&event)) {
            event.prevent_default();
            tab.set(next);
            browser::focus(&format!("[data-testid='{}']", next.test_id()));
        }
    };
    let section = NodeRef::<Section>::new();
    section.on_load(move |section| {
        if untrack(|| page.is_busy()) {
            browser::reveal(&section);
        }
    });
    let title = Memo::new(move |_| page.attribution(|attribution| title(attribution.document())));
    let is_welcome = Memo::new(move |_| page.with(|state| state.explanation.is_welcome()));
    Effect::new(move |_| {
        if is_welcome.get() {
            tab.set(Tab::Text);
        }
    });
    let other_panel = move || {
        let tab = Some(tab.get()).filter(|tab| *tab != Tab::Text)?;
        let panel = move |panel: fn(Tab) -> AnyView| panel(tab);
        Some(view! {
            <div role="tabpanel" aria-label=tab.label() class=tab.class()>
                <LazyView part=panels view=panel />
            </div>
        })
    };
    let is_simple = move || is_welcome.get() || !all_numbers.get();
    let is_numbers = move || page.attribution(|attribution| !attribution.scale().is_shares()) == Some(true);
    view! {
        <section
            node_ref=section
            class="explanation"
            class:numbers=is_numbers
            class:simple=is_simple
            aria-label=t!("Explanation")
        >
            <Show when=move || is_welcome.get()>
                <WelcomeIntro />
            </Show>
            <div class="result-head">
                <h2 hidden=move || is_welcome.get()>{t!("Explanation")}</h2>
                <p class="of" dir="auto" data-testid="title" hidden=move || is_welcome.get()>{move || title.get()}</p>
                <Show when=move || !is_welcome.get()>
                    <SharedBadge />
                </Show>
                <div class="tabs" role="tablist" aria-label=t!("Views") on:keydown=on_key on:pointerenter=move |_| panels.load()>
                    {Tab::all(page.is_viewer()).iter().map(|&own| view! { <TabButton tab own panels /> }).collect_view()}
                </div>
                <Show when=move || !is_welcome.get()>
                    <AllNumbersButton all_numbers />
                </Show>
            </div>
            <AnswerWarningBanner />
            <BranchesNote />
            <CutBanner />
            <ReproductionBanner />
            <PartialBanner />
            <Show when=move || !is_simple()>
                <div class="derivation-place">
                    <LazyView part=derivation view=|view| view() />
                </div>
            </Show>
            <div class="columns" class:wide=move || tab.get().is_wide()>
                <div class="card main" data-then="[role='tab'][aria-selected='true']">
                    <ProblemBox place=Place::Explanation />
                    <div role="tabpanel" aria-label=t!("Text") hidden=move || tab.get() != Tab::Text>
                        <TextView />
                    </div>
                    {other_panel}
                </div>
                <Details />
            </div>
            <Show when=move || is_welcome.get()>
                <WelcomeNext />
            </Show>
        </section>
    }
}

#[component]
fn TabButton(tab: RwSignal<Tab>, own: Tab, panels: LazyPart<fn(Tab) -> AnyView>) -> impl IntoView {
    let page = use_page();
    let is_own = move || tab.get() == own;
    let open = move |own: Tab| {
        let is_small =
            untrack(|| page.with(|state| state.explanation.document().is_some_and(|document| document.table.n_sources() <= MAX_MOVING)));
        match is_small && panels.is_loaded() && tab.get_untracked().moves_to(own) {
            true => browser::with_motion(move || tab.set(own)),
            false => tab.set(own),
        }
    };
    view! {
        <button
            type="button"
            role="tab"
            data-testid=own.test_id()
            aria-selected=move || is_own().to_string()
            tabindex=move || if is_own() { "0" } else { "-1" }
            on:click=move |_| open(own)
        >
            {own.label()}
        </button>
    }
}

#[component]
fn AllNumbersButton(all_numbers: RwSignal<bool>) -> impl IntoView {
    let page = use_page();
    let toggle = move |_| {
        all_numbers.update(|all| *all = !*all);
        // The viewer stores nothing.
        if !page.is_viewer() {
            browser::remember_for_visits(storage_keys::ALL_NUMBERS, all_numbers.get_untracked().then_some("yes"));
        }
    };
    view! {
        <button
            type="button"
            class="chip screen-only"
            data-testid="all-numbers"
            title=t!("Also shows direct shares, how scores become shares, and how many edges are drawn")
            aria-pressed=move || all_numbers.get().to_string()
            on:click=toggle
        >
            {t!("All numbers")}
        </button>
    }
}

/// Shows that this page did not compute the explanation.
#[component]
fn SharedBadge() -> impl IntoView {
    let page = use_page();
    let origin = Memo::new(move |_| page.with(|state| state.explanation.shown.as_ref().map(|shown| shown.origin)));
    let words = move || match origin.get() {
        Some(Origin::Lesson) => t!("From a lesson, not recomputed here"),
        Some(Origin::Gallery) => t!("Made beforehand, not recomputed here"),
        _ => t!("Shared result, not recomputed here"),
    };
    view! {
        <Show when=move || origin.get().is_some_and(|origin| origin != Origin::Here)>
            <span class="badge" data-testid="badge">{words}</span>
            {(!page.is_viewer()).then(|| view! {
                <RecomputeButton />
            })}
        </Show>
    }
}

/// Warns that the answer is not reliable and states the reason.
#[component]
fn AnswerWarningBanner() -> impl IntoView {
    let page = use_page();
    let warning = Memo::new(move |_| page.attribution(|attribution| answer_warning(&attribution.document().manifest.answer)).flatten());
    move || {
        let warning = warning.get()?;
        let choose = move |_| page.send(LibraryMessage::Open);
        Some(view! {
            <p class="banner" role="status" data-testid="answer-warning">
                {warning.words}
                {(warning.suggests_larger_model && !page.is_viewer()).then(|| view! {
                    " "
                    <button type="button" data-testid="choose-larger" on:click=choose>{t!("Choose a larger model")}</button>
                })}
            </p>
        })
    }
}

/// Says that the model did not choose every token of the answer.
#[component]
fn BranchesNote() -> impl IntoView {
    let page = use_page();
    let words = Memo::new(move |_| page.attribution(|attribution| branches::note(&attribution.document().manifest.answer)).flatten());
    move || words.get().map(|words| view! { <p class="banner" data-testid="branches">{words}</p> })
}

/// An answer that was cut off after `tokens` tokens.
#[derive(Clone, Debug, PartialEq)]
struct Cut {
    tokens: usize,
    /// The answer reached the limit in the settings, not the limit of the model.
    can_go_on: bool,
}

impl Cut {
    fn of(document: &Document) -> Option<Self> {
        let Answer::Generated { stop: AnswerStop::Length, max_tokens, thinking, .. } = document.manifest.answer else { return None };
        let tokens = document.generation.tokens.iter().skip(document.last_answer().row).sum();
        // `tokens` excludes the markers of a thinking section, so it can be below the limit.
        Some(Self { tokens, can_go_on: tokens >= max_tokens || thinking.is_some() })
    }

    fn words(&self) -> String {
        let n = self.tokens;
        match self.can_go_on {
            true => plural!(
                n,
                "The answer was cut off at {n} token, the limit in the settings.",
                "The answer was cut off at {n} tokens, the limit in the settings.",
            ),
            false => plural!(
                n,
                "The answer was cut off at {n} token, because prompt and answer reached the maximum length.",
                "The answer was cut off at {n} tokens, because prompt and answer reached the maximum length.",
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
struct WarningWords {
    words: &'static str,
    suggests_larger_model: bool,
}

fn answer_warning(answer: &Answer) -> Option<WarningWords> {
    let Answer::Generated { stop, warning, .. } = answer else { return None };
    let (words, suggests_larger_model) = match (stop, warning) {
        (AnswerStop::Repetition, _) => (t!("The model started to repeat itself and was stopped. Its answer is not usable."), true),
        (_, Some(AnswerWarning::OutOfScope)) => (
            t!("This small model can only solve small problems. Choose a larger model for this \
                                                     prompt."),
            true,
        ),
        (_, Some(AnswerWarning::Doubtful)) => {
            (t!("This answer is doubtful: it shows signs of a mistake. Check it before you use it."), false)
        }
        _ => return None,
    };
    Some(WarningWords { words, suggests_larger_model })
}

/// Shows that the answer was cut off, and offers to continue it.
#[component]
fn CutBanner() -> impl IntoView {
    let page = use_page();
    let cut = Memo::new(move |_| page.attribution(|attribution| Cut::of(attribution.document())).flatten().filter(|_| !page.is_busy()));
    move || {
        let cut = cut.get()?;
        Some(view! {
            <p class="banner" role="status" data-testid="cut">
                {cut.words()}
                {(cut.can_go_on && !page.is_viewer()).then(|| view! {
                    " "
                    <button type="button" data-testid="lengthen" on:click=move |_| page.send(Message::RaiseTokenLimit)>
                        {t!("Let the model continue")}
                    </button>
                })}
            </p>
        })
    }
}

/// Shows whether a shared explanation was reproduced here.
#[component]
fn ReproductionBanner() -> impl IntoView {
    let page = use_page();
    move || {
        let reproduction = page.with(|state| state.explanation.reproduction.clone())?;
        let class = if reproduction.is_same() { "banner good" } else { "banner" };
        Some(view! { <p class=class role="status" data-testid="reproduction">{reproduction.words()}</p> })
    }
}

/// Shows that the run was stopped, and how that affects the numbers.
#[component]
fn PartialBanner() -> impl IntoView {
    let page = use_page();
    let stopped =
        Memo::new(move |_| page.attribution(|attribution| Stopped::of(attribution.document())).flatten().filter(|_| !page.is_busy()));
    move || {
        stopped.get().map(|Stopped { passes: [done, planned], consequence }| {
            view! {
                <p class="banner" data-testid="stopped">
                    <strong>{t!("Stopped after {done} of {planned} forward passes.", done, planned)}</strong>
                    {following(consequence)}
                </p>
            }
        })
    }
}

#[derive(Clone, PartialEq)]
struct Stopped {
    passes: [usize; 2],
    consequence: &'static str,
}

impl Stopped {
    /// `None` if the document is fully measured.
    fn of(document: &Document) -> Option<Self> {
        let passes = document.method.passes;
        // Passages are measured last.
        let are_pairs_measured = passes[0] + document.groups.len() >= passes[1];
        let consequence = match (document.is_complete(), passes[0] < passes[1]) {
            (true, false) => return None,
            (true, true) if are_pairs_measured => t!("Every source is measured, but not every passage as a whole."),
            (true, true) => t!("Every source is measured alone. Pairs that are not measured yet count as having no effect."),
            (false, _) => t!("Sources that are not measured yet are marked. The shares cover only measured sources."),
        };
        Some(Self { passes, consequence })
    }
}

//! How sure the model was: each token of the answer with its probability and alternatives.

use leptos::ev;
use leptos::prelude::*;

use super::continuations_view::Continuations;
use super::contrast_view::is_own;
use super::numeric_details::NumericDetails;
use crate::app::analysis::certainty::{Certainty, Choice, SentenceCertainty, TokenCertainty, visible};
use crate::app::analysis::number::percent;
use crate::app::browser;
use crate::app::i18n::{following, t};
use crate::app::page::use_page;
use crate::app::state::message::Message;
use crate::app::views::layout::row_of_buttons::place_after_key;
use crate::app::views::models::model_hint::ModelHint;
use crate::explanation::Answer;

/// Which token is chosen: its alternatives are shown.
#[derive(Clone, Copy)]
struct Chosen {
    certainty: Memo<Certainty>,
    number: RwSignal<Option<usize>>,
    /// The token under the pointer, shown in place of the chosen one.
    pointed: RwSignal<Option<usize>>,
    /// Rank of the pressed alternative. While there is one, the pointer shows no other token.
    pressed: RwSignal<Option<usize>>,
    /// The only token that Tab reaches. Arrow keys move it.
    tab_stop: RwSignal<usize>,
}

impl Chosen {
    fn choose(self, number: usize) {
        self.tab_stop.set(number);
        if self.number.get_untracked() != Some(number) {
            self.pressed.set(None);
        }
        self.pointed.set(None);
        self.number.set(Some(number));
    }

    fn forget(self) {
        self.pressed.set(None);
        self.pointed.set(None);
        self.number.set(None);
    }

    fn point_at(self, number: usize) {
        if self.pressed.get_untracked().is_none() {
            self.pointed.set(Some(number));
        }
    }

    /// Shows the chosen token again. Without one, the last token under the pointer stays, so that the pointer can go to its alternatives.
    fn leave(self) {
        if self.number.get_untracked().is_some() && self.pressed.get_untracked().is_none() {
            self.pointed.set(None);
        }
    }

    /// The token whose alternatives are shown. Tracked.
    fn shown(self) -> Option<usize> {
        self.pointed.get().or(self.number.get())
    }

    fn focus(self, number: usize) {
        self.choose(number);
        browser::focus(&format!("[data-token='{number}']"));
    }

    fn token(self) -> Option<TokenCertainty> {
        let number = self.shown()?;
        self.certainty.with(|certainty| certainty.token(number).cloned())
    }

    fn on_key(self, event: &ev::KeyboardEvent) {
        if !browser::is_alone(event) {
            return;
        }
        if event.key() == "Escape" && untrack(|| self.shown()).is_some() {
            event.prevent_default();
            return self.forget();
        }
        let n = self.certainty.with_untracked(|certainty| certainty.tokens().count());
        if let Some(next) = place_after_key(&event.key(), self.tab_stop.get_untracked(), n.max(1)) {
            event.prevent_default();
            self.focus(next);
        }
    }
}

/// The tokens of the explained answer, and the places where it could have gone otherwise.
pub fn view() -> AnyView {
    let page = use_page();
    let certainty = Memo::new(move |_| page.attribution(|attribution| Certainty::of(attribution.document())).unwrap_or_default());
    let [number, pointed, pressed] = [(); 3].map(|()| RwSignal::new(None));
    let chosen = Chosen { certainty, number, pointed, pressed, tab_stop: RwSignal::new(0) };
    // Another answer has other tokens.
    Effect::new(move |_| {
        certainty.track();
        chosen.forget();
        chosen.tab_stop.set(0);
    });
    let token = Memo::new(move |_| chosen.token());
    let sentences = move || certainty.with(|certainty| certainty.sentences.clone());
    let is_by_words = move || page.unit().is_word();
    view! {
        <section class="certainty" aria-label=t!("How sure?") data-testid="certainty">
            <p class="hint">
                {t!(
                    "Each token of the answer with the probability that the model gave it. Choose one to see what else the model might \
                     have written."
                )}
            </p>
            <div
                class="tokens"
                class:by-words=is_by_words
                role="group"
                aria-label=t!("Tokens of the answer; arrow keys go from one to the next")
                on:keydown=move |event| chosen.on_key(&event)
                on:pointerleave=move |_| chosen.leave()
            >
                {move || sentences().into_iter().map(|sentence| view! { <Sentence sentence chosen /> }).collect_view()}
            </div>
            <div class="choices" role="status" data-testid="choices">
                {move || token.get().map(|token| view! { <Choices token pressed /> })}
            </div>
            <Continuations />
            <Forks chosen />
        </section>
    }
    .into_any()
}

#[component]
fn Sentence(sentence: SentenceCertainty, chosen: Chosen) -> impl IntoView {
    let SentenceCertainty { label, figures, tokens } = sentence;
    let test_id = format!("certainty-{label}");
    view! {
        <div class="token-sentence">
            <p class="figures" data-testid=test_id>
                <span class="label">{label}</span>
                {figures.map(|figures| following(&figures))}
            </p>
            <p class="token-row" dir="auto">
                {tokens.into_iter().map(|token| view! { <TokenButton token chosen /> }).collect_view()}
            </p>
        </div>
    }
}

/// A token. Pointing at it, tapping it or moving the focus to it shows its alternatives.
#[component]
fn TokenButton(token: TokenCertainty, chosen: Chosen) -> impl IntoView {
    let TokenCertainty { number, text, probability, .. } = token;
    let fork = move || chosen.certainty.with(|certainty| certainty.marked.iter().position(|&marked| marked == number));
    let mark = move || fork().map(|place| view! { <b class="mark">" \u{25c6}" {place + 1}</b> });
    let on_enter = move |event: ev::PointerEvent| {
        if event.pointer_type() == "mouse" {
            chosen.point_at(number);
        }
    };
    view! {
        <button
            type="button"
            class="token"
            class:fork=move || fork().is_some()
            style=format!("--strength:{:.3}", 1.0 - probability)
            data-token=number
            data-testid=format!("token-{number}")
            data-probability=format!("{probability:.4}")
            aria-pressed=move || (chosen.shown() == Some(number)).to_string()
            tabindex=move || if chosen.tab_stop.get() == number { "0" } else { "-1" }
            on:click=move |_| chosen.choose(number)
            on:focus=move |_| chosen.choose(number)
            on:pointerenter=on_enter
        >
            <span class="piece">{visible(&text)}</span>
            <small>{percent(probability)} {mark}</small>
        </button>
    }
}

/// The token and its alternatives, the most likely first. Pressing an alternative offers to continue the answer from it.
#[component]
fn Choices(token: TokenCertainty, pressed: RwSignal<Option<usize>>) -> impl IntoView {
    let page = use_page();
    let is_generated = move || page.attribution(|shown| matches!(shown.document().manifest.answer, Answer::Generated { .. }));
    let can_continue = Memo::new(move |_| is_own(page) && is_generated() == Some(true));
    let (number, is_of_last_answer) = (token.number, token.is_of_last_answer);
    let choice = move |Choice { text, probability, rank }: Choice| {
        let style = format!("--share:{probability:.3}");
        let is_pressed = move || rank.is_some() && pressed.get() == rank;
        let press = move |_| pressed.update(|pressed| *pressed = rank.filter(|_| *pressed != rank));
        let text = visible(&text);
        let piece = move || match (rank, is_of_last_answer && can_continue.get()) {
            (Some(rank), true) => view! {
                <button
                    type="button"
                    class="piece"
                    dir="auto"
                    data-testid=format!("alternative-{rank}")
                    aria-expanded=move || is_pressed().to_string()
                    on:click=press
                >
                    {text.clone()}
                </button>
            }
            .into_any(),
            _ => view! { <span class="piece" dir="auto">{text.clone()}</span> }.into_any(),
        };
        view! {
            <li class:chosen=rank.is_none()>
                {piece}
                <span class="bar" style=style aria-hidden="true"></span>
                <span class="figure">{percent(probability)}</span>
                {rank.is_none().then(|| view! { <span class="tag">{t!("in the answer")}</span> })}
                {move || rank.filter(|_| is_pressed()).map(|rank| view! { <ContinueButton token=number rank /> })}
            </li>
        }
    };
    view! { <ol>{token.choices.into_iter().map(choice).collect_view()}</ol> }
}

/// Lets the model continue from an alternative, unless it is busy.
#[component]
fn ContinueButton(token: usize, rank: usize) -> impl IntoView {
    let page = use_page();
    view! {
        <p class="go">
            <button
                type="button"
                class="primary"
                data-testid="continue"
                aria-disabled=move || page.is_busy().to_string()
                on:click=move |_| page.send(Message::ContinueFrom { token, rank })
            >
                {t!("Continue from here")}
            </button>
            <ModelHint />
        </p>
    }
}

/// Where the answer could have gone otherwise: the tokens with the closest rivals.
#[component]
fn Forks(chosen: Chosen) -> impl IntoView {
    let words = move |number: usize| chosen.certainty.with_untracked(|certainty| certainty.fork_words(number));
    let item = move |number: usize| {
        view! {
            <li>
                <button type="button" class="quiet" data-testid=format!("fork-{number}") on:click=move |_| chosen.focus(number)>
                    {words(number)}
                </button>
            </li>
        }
    };
    let marked = move || chosen.certainty.with(|certainty| certainty.marked.clone());
    let further = move || chosen.certainty.with(|certainty| certainty.further.clone());
    view! {
        <h3>{t!("Where it could have gone otherwise")}</h3>
        {move || match marked() {
            marked if marked.is_empty() => {
                let nowhere = t!("Nowhere: no other token had at least half the probability of the one in the answer.");
                view! { <p class="hint" data-testid="no-forks">{nowhere}</p> }.into_any()
            }
            marked => view! { <ol class="forks" data-testid="forks">{marked.into_iter().map(item).collect_view()}</ol> }.into_any(),
        }}
        {move || Some(further()).filter(|further| !further.is_empty()).map(|further| {
            let all = further.into_iter().map(words).collect::<Vec<_>>().join(t!("; "));
            view! { <NumericDetails>{t!("Other close rivals: {all}.", all)}</NumericDetails> }
        })}
    }
}

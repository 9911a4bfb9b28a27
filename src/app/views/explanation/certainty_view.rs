//! How sure the model was: each token of the answer with its probability and alternatives.

use leptos::ev;
use leptos::prelude::*;

use super::numeric_details::NumericDetails;
use crate::app::analysis::certainty::{Certainty, Choice, SentenceCertainty, TokenCertainty, visible};
use crate::app::analysis::number::percent;
use crate::app::browser;
use crate::app::i18n::{following, t};
use crate::app::page::use_page;
use crate::app::views::layout::row_of_buttons::place_after_key;

/// Which token is chosen: its alternatives are shown.
#[derive(Clone, Copy)]
struct Chosen {
    certainty: Memo<Certainty>,
    number: RwSignal<Option<usize>>,
    /// The only token that Tab reaches. Arrow keys move it.
    tab_stop: RwSignal<usize>,
}

impl Chosen {
    fn choose(self, number: usize) {
        self.tab_stop.set(number);
        self.number.set(Some(number));
    }

    fn focus(self, number: usize) {
        self.choose(number);
        browser::focus(&format!("[data-token='{number}']"));
    }

    fn token(self) -> Option<TokenCertainty> {
        let number = self.number.get()?;
        self.certainty.with(|certainty| certainty.token(number).cloned())
    }

    fn on_key(self, event: &ev::KeyboardEvent) {
        if !browser::is_alone(event) {
            return;
        }
        if event.key() == "Escape" && self.number.get_untracked().is_some() {
            event.prevent_default();
            self.number.set(None);
            return;
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
    let chosen = Chosen { certainty, number: RwSignal::new(None), tab_stop: RwSignal::new(0) };
    // Another answer has other tokens.
    Effect::new(move |_| {
        certainty.track();
        chosen.number.set(None);
        chosen.tab_stop.set(0);
    });
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
            >
                {move || sentences().into_iter().map(|sentence| view! { <Sentence sentence chosen /> }).collect_view()}
            </div>
            <div class="choices" role="status" data-testid="choices">
                {move || chosen.token().map(|token| view! { <Choices token /> })}
            </div>
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
            chosen.number.set(Some(number));
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
            aria-pressed=move || (chosen.number.get() == Some(number)).to_string()
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

/// The token and its alternatives, the most likely first.
#[component]
fn Choices(token: TokenCertainty) -> impl IntoView {
    let choice = |Choice { text, probability, is_chosen }: Choice| {
        let style = format!("--share:{probability:.3}");
        view! {
            <li class:chosen=is_chosen>
                <span class="piece" dir="auto">{visible(&text)}</span>
                <span class="bar" style=style aria-hidden="true"></span>
                <span class="figure">{percent(probability)}</span>
                {is_chosen.then(|| view! { <span class="tag">{t!("in the answer")}</span> })}
            </li>
        }
    };
    view! { <ol>{token.choices.into_iter().map(choice).collect_view()}</ol> }
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
            let all = further.into_iter().map(words).collect::<Vec<_>>().join("; ");
            view! { <NumericDetails>{t!("Other close rivals: {all}.", all)}</NumericDetails> }
        })}
    }
}

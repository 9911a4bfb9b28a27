use crate::app::state::message::ExplanationMessage;
use leptos::prelude::*;

use crate::app::analysis::derivation::{self, AGGREGATIONS, COMPRESSIONS, DerivationOption, NORMALIZATIONS, WEIGHTINGS};
use crate::app::i18n::{t, text};
use crate::app::page::use_page;
use crate::app::views::layout::help_link::{self, HelpLink};
use crate::app::views::layout::lazy::split_off;
use crate::explanation::{Derivation, Document, Method, MethodText};

split_off!(derivation, fetch_derivation => derivation_bar as fn() -> AnyView);

fn derivation_bar() -> AnyView {
    view! { <DerivationBar /> }.into_any()
}

/// Shows how shares are derived from scores, and lets the user change it.
#[component]
fn DerivationBar() -> impl IntoView {
    let page = use_page();
    let method = Memo::new(move |_| page.with(|state| state.explanation.document().map(|document| document.method.clone())));
    let ask = move |look: fn(&Method) -> bool| method.with(|method| method.as_ref().is_none_or(look));
    let summary = move || method.with(|method| method.as_ref().map(derivation::words));
    let chosen = Memo::new(move |_| method.with(|method| method.as_ref().map(Method::derivation)).unwrap_or_default());
    let default = Memo::new(move |_| page.with(|state| state.explanation.document().map(Document::default_derivation)));
    let name = move || method.with(|method| method.as_ref().map(|method| MethodText::of(&method.id).name));
    let has_flow = Memo::new(move |_| page.with(|state| state.explanation.document().is_some_and(|document| document.flow.is_some())));
    view! {
        <details class="fold derivation">
            <summary>
                {t!("From scores to shares")}
                <span class="hint" data-testid="derivation">{summary}</span>
                <span class="tag" hidden=move || ask(derivation::is_the_papers)>{t!("differs from the paper")}</span>
            </summary>
            <div class="ways card">
                <DerivationOptions title=t!("Combine token scores by") options=&AGGREGATIONS chosen />
                <DerivationOptions title=t!("Scale of the scores") options=&COMPRESSIONS chosen />
                <Show when=move || has_flow.get()>
                    <DerivationOptions title=t!("Edge weights from") options=&WEIGHTINGS chosen />
                </Show>
                <DerivationOptions title=t!("Edge values") options=&NORMALIZATIONS chosen />
                <p class="hint">
                    {t!("The measured scores do not change. Links and files contain them and these settings.")}
                    " "
                    <button
                        type="button"
                        class="chip"
                        data-testid="the-methods-way"
                        hidden=move || default.get().is_none_or(|default| default == Derivation::PAPER || default == chosen.get())
                        on:click=move |_| if let Some(default) = default.get_untracked() {
                            page.send(ExplanationMessage::Derive(default));
                        }
                    >
                        {move || name().map(|name| t!("Reset to the default of {method}", method = name))}
                    </button>
                    " "
                    <button
                        type="button"
                        class="chip"
                        data-testid="the-papers-way"
                        hidden=move || ask(derivation::is_the_papers)
                        on:click=move |_| page.send(ExplanationMessage::Derive(Derivation::default()))
                    >
                        {t!("Reset to the paper\u{2019}s way")}
                    </button>
                </p>
                <HelpLink section=help_link::DERIVATION />
            </div>
        </details>
    }
}

/// A group of buttons, one of them pressed, and the description of the pressed one.
#[component]
fn DerivationOptions(title: &'static str, options: &'static [DerivationOption], chosen: Memo<Derivation>) -> impl IntoView {
    let page = use_page();
    let button = |option: &'static DerivationOption| {
        let is_pressed = move || option.is_chosen(chosen.get()).to_string();
        let test_id = format!("way-{}", option.name.replace(' ', "-"));
        let choose = move |_| page.send(ExplanationMessage::Derive((option.set)(chosen.get_untracked())));
        view! { <button type="button" data-testid=test_id aria-pressed=is_pressed on:click=choose>{text(option.name)}</button> }
    };
    let about = move || options.iter().find(|option| option.is_chosen(chosen.get())).map(|option| text(option.about));
    view! {
        <div role="group" aria-label=title>
            <p>{title}</p>
            <div class="segments">{options.iter().map(button).collect_view()}</div>
            <p class="hint">{about}</p>
        </div>
    }
}

//! Contents of the models dialog. A separate chunk of the page's code.

use leptos::prelude::*;

use super::preview_view::PreviewView;
use super::stored_models_list::StoredModelsList;
use crate::app::analysis::number;
use crate::app::i18n::{following, t, text_of};
use crate::app::page::use_page;
use crate::app::state::library::LibraryMessage;
use crate::app::state::message::Message;
use crate::app::views::editor::standard_offer::about;
use crate::app::views::layout::file_button::FileButton;
use crate::app::views::layout::help_link::{self, HelpLink};
use crate::app::views::layout::lazy::split_off;
use crate::app::views::layout::problem_text::ProblemText;
use crate::library::download_spec::DownloadSpec;
use crate::library::registry::RegistryEntry;
use crate::library::standard;

split_off!(models, fetch_contents => contents as fn() -> AnyView);

fn contents() -> AnyView {
    let page = use_page();
    let has_preview = Memo::new(move |_| page.with(|state| state.library.preview.is_some()));
    let chosen = move || match has_preview.get() {
        true => view! { <PreviewView /> }.into_any(),
        false => view! { <Choices /> }.into_any(),
    };
    view! {
        <Asked />
        {chosen}
        <HelpLink section=help_link::MODELS />
    }
    .into_any()
}

/// The pending request to a server, and the last problem.
#[component]
fn Asked() -> impl IntoView {
    let page = use_page();
    let problem = move || {
        page.with(|state| state.library.problem.clone()).map(|problem| {
            view! {
                <div class="problem" data-testid="models-problem">
                    <ProblemText problem />
                </div>
            }
        })
    };
    let asked = move || page.with(|state| state.library.asked.clone()).map(|name| t!("Asking the server about {name}\u{2026}", name));
    view! {
        <div role="alert">{problem}</div>
        <p class="hint" role="status">{asked}</p>
    }
}

#[component]
fn Choices() -> impl IntoView {
    let page = use_page();
    let known =
        move || page.with(|state| state.library.known.clone()).into_iter().map(|known| view! { <KnownModel known /> }).collect_view();
    view! {
        <ul class="rows">
            <Standard />
            <li>
                <div>
                    <strong>{t!("Built-in model")}</strong>
                    <p class="hint">{t!("Starts instantly and works offline. It only solves small problems like the examples.")}</p>
                </div>
                <button
                    type="button"
                    data-testid="use-built-in"
                    on:click=move |_| page.send(LibraryMessage::UseBuiltIn)
                >
                    {t!("Use")}
                </button>
            </li>
        </ul>
        <StoredModelsList />
        <section aria-labelledby="known-models">
            <h3 id="known-models">{t!("Small models to choose from")}</h3>
            <ul class="rows" data-testid="known-models">{known}</ul>
        </section>
        <section aria-labelledby="other-models">
            <h3 id="other-models">{t!("Another model")}</h3>
            <Address />
            <p class="hint">
                {t!(
                    "Llama, Qwen 2 to 3.5, Gemma 3, Granite, LFM2, OLMo 2 and SmolLM3 models in GGUF, up to about a billion parameters. \
                     Only the request for the file is sent."
                )}
            </p>
            <FileButton
                label=t!("Open a local file\u{2026}")
                accept=".gguf"
                test_id="models-file"
                on_files=move |files| {
                    page.send(LibraryMessage::Close);
                    page.send_files(files, Message::FilesOpened);
                }
            />
        </section>
    }
}

/// Glasscage Standard, which this site serves.
#[component]
fn Standard() -> impl IntoView {
    let page = use_page();
    let spec = untrack(|| page.with(|state| state.library.standard.spec.clone()));
    let (millions, size) = (standard::PARAMETERS / 1_000_000, number::bytes(spec.bytes().unwrap_or(0)));
    view! {
        <li>
            <div>
                <strong dir="auto">{standard::NAME}</strong>
                " "
                <span class="hint">
                    {t!(
                        "{architecture}, {millions}M parameters, {size}, {license}",
                        architecture = "llama",
                        millions,
                        size,
                        license = "Apache-2.0"
                    )}
                </span>
                <p class="hint">{about()}</p>
            </div>
            <button
                type="button"
                aria-label=t!("Details of {name}", name = standard::NAME)
                data-testid="standard-details"
                on:click=move |_| page.send(LibraryMessage::Preview(spec.clone()))
            >
                {t!("Details")}
            </button>
        </li>
    }
}

#[component]
fn KnownModel(known: RegistryEntry) -> impl IntoView {
    let page = use_page();
    let facts = facts(&known);
    let spec = known.spec();
    let label = t!("Details of {name}", name = known.name);
    view! {
        <li>
            <div>
                <strong dir="auto">{known.name}</strong>
                " "
                <span class="hint">{facts}</span>
                <p class="hint">{text_of(known.about)} {known.untried.then(|| following(t!("Not tested yet.")))}</p>
            </div>
            <button
                type="button"
                aria-label=label
                data-testid="known-model"
                on:click=move |_| page.send(LibraryMessage::Preview(spec.clone()))
            >
                {t!("Details")}
            </button>
        </li>
    }
}

/// "qwen3, 596M parameters, 639.4 MB, Apache-2.0".
fn facts(known: &RegistryEntry) -> String {
    let RegistryEntry { architecture, license, .. } = known;
    let millions = number::grouped(known.parameters_millions);
    match known.bytes.map(number::bytes) {
        Some(size) => t!("{architecture}, {millions}M parameters, {size}, {license}", architecture, millions, size, license),
        None => t!("{architecture}, {millions}M parameters, size not known yet, {license}", architecture, millions, license),
    }
}

#[component]
fn Address() -> impl IntoView {
    let page = use_page();
    let typed = RwSignal::new(String::new());
    let on_submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        page.send(LibraryMessage::PreviewTyped(DownloadSpec::typed(&typed.get_untracked())));
    };
    view! {
        <form class="address" on:submit=on_submit>
            <input
                type="text"
                inputmode="url"
                enterkeyhint="go"
                autocapitalize="none"
                spellcheck="false"
                autocomplete="off"
                data-testid="address"
                aria-label=t!("Address of a GGUF file")
                placeholder="https://huggingface.co/OWNER/REPO/blob/main/FILE.gguf"
                prop:value=typed
                on:input=move |event| typed.set(event_target_value(&event))
            />
            <button type="submit" data-testid="look-up">{t!("Details")}</button>
        </form>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::registry;

    #[test]
    fn unknown_model_facts_are_stated() {
        let mut models = registry::parse(include_str!("../../../../public/models/registry.json"));
        assert_eq!(facts(&models[0]), "llama, 135M parameters, 98.4 MB, Apache-2.0");
        models[0].bytes = None;
        assert_eq!(facts(&models[0]), "llama, 135M parameters, size not known yet, Apache-2.0");
    }
}

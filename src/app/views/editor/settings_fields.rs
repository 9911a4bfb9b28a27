//! The fields of the settings. A separate chunk, which the browser loads when the editor first opens.

use std::ops::RangeInclusive;

use crate::app::state::State;
use crate::app::state::engine::MaskedLmState;
use crate::app::state::message::Message;
use crate::request::{LoadedModel, ThinkingSupport};
use leptos::prelude::*;
use web_sys::HtmlInputElement;

use super::device_view;
use crate::app::analysis::speed::{Passes, runs_of_thought};
use crate::app::analysis::{method_words, number};
use crate::app::i18n::{in_sequence, plural, t, text, translatable};
use crate::app::page::use_page;
use crate::app::state::settings::{Matters, RefusedNumber, Settings};
use crate::app::views::layout::details_toggle::details_toggle;
use crate::app::views::layout::file_button::FileButton;
use crate::app::views::layout::help_link::{self, HelpLink};
use crate::app::views::layout::lazy::{LazyPart, LazyView, split_off};
use crate::explanation::{METHODS, MethodId, MethodText, Unit};

/// What a source can be, with its name.
const UNITS: [(Unit, &str); 6] = [
    (Unit::Sentence, translatable!("sentences")),
    (Unit::Word, translatable!("words (short texts)")),
    (Unit::Line, translatable!("lines")),
    (Unit::Paragraph, translatable!("paragraphs")),
    (Unit::Section, translatable!("sections (headings)")),
    (Unit::Bracket, translatable!("your own [[parts]]")),
];

split_off!(settings, fetch_settings => view as fn() -> AnyView);

fn view() -> AnyView {
    let page = use_page();
    let text_memory = move || page.with(|state| state.engine.loaded().map(|loaded| text_words(state.editor.settings.max_context, loaded)));
    let thinking = Memo::new(move |_| page.with(|state| state.engine.thinking()));
    let thought_cost = move || page.with(thought_words);
    view! {
        <div class="settings">
            <label class="number wide">
                <span>{t!("Method")}</span>
                <select
                    data-testid="method"
                    on:change=move |event| page.change_settings(|all| all.method = chosen_method(&event_target_value(&event)))
                >
                    {METHODS
                        .iter()
                        .map(|method| view! { <option value=method.id title=text(method.about)>{text(method.label)}</option> })
                        .collect_view()}
                </select>
            </label>
            <label class="number">
                <span>{t!("Explain by")}</span>
                <select
                    data-testid="unit"
                    on:change=move |event| page.change_settings(|all| all.unit = chosen_unit(&event_target_value(&event)))
                >
                    {UNITS.into_iter().map(|(unit, name)| view! { <option value=unit.noun()>{text(name)}</option> }).collect_view()}
                </select>
            </label>
            <NumberField
                label=t!("Maximum answer length (tokens)")
                id="max-tokens"
                start=Settings::MAX_TOKENS.to_string()
                range=1.0..=4096.0
                take=|all, n| all.max_tokens = n.map_or(Settings::MAX_TOKENS, |n| n as usize)
            />
            <NumberField
                label=t!("Context length (tokens)")
                id="max-context"
                start=""
                range=16.0..=1_000_000.0
                take=|all, n| all.max_context = n.map(|n| n as usize)
            />
            <NumberField
                label=t!("Temperature (0: most likely)")
                id="temperature"
                start="0"
                range=0.0..=2.0
                decimal=true
                take=|all, n| all.temperature = n.unwrap_or(0.0)
            />
            <NumberField
                label=t!("Top-k")
                id="top-k"
                start=""
                range=1.0..=1000.0
                matters=Matters::IfSampled
                take=|all, n| all.top_k = n.map(|n| n as usize)
            />
            <NumberField
                label=t!("Top-p")
                id="top-p"
                start=""
                range=0.01..=1.0
                decimal=true
                matters=Matters::IfSampled
                take=|all, n| all.top_p = n
            />
            <NumberField
                label=t!("Seed")
                id="seed"
                start="0"
                range=0.0..=4_294_967_295.0
                matters=Matters::IfSampled
                take=|all, n| all.seed = n.map_or(0, |n| n as u64)
            />
            // Hidden without a model that thinks, so that it keeps its number while a model loads again.
            <div hidden=move || thinking.get() == ThinkingSupport::Never>
                <NumberField
                    label=t!("Maximum thinking length (tokens)")
                    id="max-thought"
                    start=Settings::MAX_THOUGHT.to_string()
                    range=1.0..=32_768.0
                    matters=Matters::IfModelThinks
                    take=|all, n| all.max_thought = n.map_or(Settings::MAX_THOUGHT, |n| n as usize)
                />
            </div>
            <Show when=move || thinking.get() == ThinkingSupport::Chosen>
                <label class="check">
                    <input
                        type="checkbox"
                        data-testid="thinks"
                        prop:checked=move || page.with(|state| state.editor.settings.thinks)
                        on:change=move |event| page.change_settings(|all| all.thinks = event_target_checked(&event))
                    />
                    {t!("Let the model think first")}
                </label>
            </Show>
            <label class="check">
                <input
                    type="checkbox"
                    prop:checked=move || page.with(|state| state.editor.settings.use_template)
                    on:change=move |event| page.change_settings(|all| all.use_template = event_target_checked(&event))
                />
                {t!("Use the model\u{2019}s chat template")}
            </label>
        </div>
        <Show when=move || page.with(|state| needs_masked_lm(state.editor.settings.method))>
            <MaskedLmChoice />
        </Show>
        <p class="hint" data-testid="text-memory">{text_memory}</p>
        <p class="hint" data-testid="thought-cost">{thought_cost}</p>
        <p class="hint">{move || page.with(|state| about_method(&state.editor.settings))}</p>
        <HelpLink section=help_link::METHODS />
        <DeviceFold />
    }
    .into_any()
}

/// Facts about this device, collapsed. The page fetches them when the visitor opens them.
#[component]
fn DeviceFold() -> impl IntoView {
    let part = LazyPart::new(device_view::fetch);
    let is_open = RwSignal::new(false);
    let (folder, on_toggle) = details_toggle(move |open| is_open.set(open));
    view! {
        <details node_ref=folder class="fold" on:toggle=on_toggle>
            <summary data-testid="device">{t!("This device")}</summary>
            <Show when=move || is_open.get()>
                <LazyView part view=|view| view() />
            </Show>
        </details>
    }
}

fn needs_masked_lm(method: &str) -> bool {
    MethodId::named(method).is_some_and(|method| method.text().needs_masked_lm())
}

/// Describes the chosen method and its cost.
fn about_method(settings: &Settings) -> Option<String> {
    let method = MethodId::named(settings.method)?.text();
    Some(in_sequence([method_words::about(method, settings.unit), method_words::cost(method, settings.unit)]))
}

/// Asks for the files of a masked language model and shows whether one is loaded.
#[component]
fn MaskedLmChoice() -> impl IntoView {
    let page = use_page();
    let words = move || match page.with(|state| *state.engine.masked_lm) {
        MaskedLmState::NotChosen => {
            t!("config.json, tokenizer.json, and model.safetensors of a RoBERTa model, all three together. They are read on this \
                device.")
        }
        MaskedLmState::Loading => t!("Reading the masked language model\u{2026}"),
        MaskedLmState::Ready => t!("The masked language model is ready."),
    };
    view! {
        <p>
            <FileButton
                label=t!("Choose a masked language model\u{2026}")
                accept=".json,.safetensors"
                test_id="masked-lm"
                on_files=move |files| page.send_files(files, Message::MaskedLmChosen)
            />
            " "
            <span class="hint" data-testid="masked-lm-state" aria-live="polite">{words}</span>
        </p>
    }
}

/// Memory for the longest text that the settings allow, in addition to the model.
fn text_words(max_context: Option<usize>, loaded: &LoadedModel) -> String {
    let tokens = max_context.unwrap_or(loaded.context_length).min(loaded.context_length) as u64;
    let (bytes, most) = (number::bytes(tokens * loaded.bytes_per_token), number::grouped(loaded.context_length as u64));
    let tokens = number::grouped(tokens);
    t!(
        "A text of {tokens} tokens needs {bytes} of memory, in addition to the model; shorter texts need less. The model reads up to \
         {most} tokens.",
        tokens,
        bytes,
        most,
    )
}

/// Cost of the longest thinking section. `None` if no model is loaded, or if the model will not think.
fn thought_words(state: &State) -> Option<String> {
    let (settings, loaded) = (&state.editor.settings, state.engine.loaded()?);
    let thought = settings.thinks(loaded.thinking).then_some(settings.max_thought)?;
    let passes = Passes::of(MethodText::of(settings.method));
    let runs = plural!(n = runs_of_thought(thought), "{n} more forward pass", "{n} more forward passes");
    let time = state
        .engine
        .speed
        .map(|speed| number::wait(speed.seconds(loaded.model.parameters, (state.editor.prompt.as_str(), settings.unit), thought, passes)));
    Some(match time {
        Some(time) => {
            t!(
                "Explaining the longest possible thinking takes {runs}. Thinking, answer, and explanation together: {time}, based on \
                 the last run here.",
                runs,
                time
            )
        }
        None => t!("Explaining the longest possible thinking takes {runs}.", runs),
    })
}

fn chosen_method(id: &str) -> &'static str {
    MethodId::named(id).map_or(METHODS[0].id, |method| method.text().id)
}

fn chosen_unit(name: &str) -> Unit {
    Unit::named(name).unwrap_or_default()
}

/// A field for a number, which may be empty. It ignores other input and shows the allowed range.
#[component]
fn NumberField(
    label: &'static str,
    id: &'static str,
    #[prop(into)] start: String,
    range: RangeInclusive<f64>,
    /// Whether it may have decimals.
    #[prop(optional)]
    decimal: bool,
    #[prop(optional)] matters: Matters,
    take: fn(&mut Settings, Option<f64>),
) -> impl IntoView {
    let page = use_page();
    let allowed = allowed_words(&range, decimal);
    let is_wrong = Memo::new(move |_| page.with(|state| state.editor.settings.refused.iter().any(|refused| refused.label == label)));
    let words = {
        let allowed = allowed.clone();
        move || is_wrong.get().then(|| allowed.clone())
    };
    let on_input = move |event: leptos::ev::Event| {
        let field = event_target::<HtmlInputElement>(&event);
        // If the text is not a number, the browser returns NaN, which is in no range. Using its parser adds nothing to the download.
        let number = Some(field.value_as_number()).filter(|n| range.contains(n) && (decimal || n.fract() == 0.0));
        // For text that is not a number, the browser returns an empty value and marks the field as invalid.
        let is_invalid = field.matches(":invalid").unwrap_or(false);
        let is_refused = number.is_none() && (is_invalid || !field.value().is_empty());
        let refused = RefusedNumber { label, matters, allowed: allowed.clone() };
        page.change_settings(|all| {
            all.refused.retain(|other| other.label != label);
            match is_refused {
                true => all.refused.push(refused),
                false => take(all, number),
            }
        });
    };
    view! {
        <label class="number">
            <span>{label}</span>
            <input
                type="number"
                data-testid=id
                step="any"
                value=start
                disabled=move || matters == Matters::IfSampled && page.with(|state| state.editor.settings.temperature <= 0.0)
                aria-invalid=move || is_wrong.get().to_string()
                on:input=on_input
            />
            <span class="wrong" role="status" data-testid=format!("{id}-wrong")>{words}</span>
        </label>
    }
}

/// "a whole number from 1 to 4,096".
fn allowed_words(range: &RangeInclusive<f64>, decimal: bool) -> String {
    let (least, most) = (*range.start(), *range.end());
    let with_point = |n: f64| number::with_point(&n.to_string());
    match decimal {
        true => t!("a number from {least} to {most}", least = with_point(least), most = with_point(most)),
        false => t!("a whole number from {least} to {most}", least = number::grouped(least as u64), most = number::grouped(most as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_the_longest_text_is_stated() {
        let loaded = LoadedModel {
            model: crate::explanation::Model::default(),
            context_length: 40_960,
            bytes_per_token: 229_376,
            has_template: true,
            thinking: ThinkingSupport::Never,
            backend: "webgpu".into(),
            kernel_shapes: None,
            notices: Vec::new(),
            glasscage: String::new(),
        };
        assert!(text_words(Some(4_096), &loaded).starts_with("A text of 4,096 tokens needs 939.5 MB of memory"));
        assert!(text_words(Some(1 << 20), &loaded).starts_with("A text of 40,960 tokens"));
    }

    #[test]
    fn settings_offer_every_unit() {
        assert_eq!(UNITS.map(|(unit, _)| unit), Unit::ALL);
    }

    #[test]
    fn field_explains_valid_input() {
        assert_eq!(allowed_words(&(1.0..=4096.0), false), "a whole number from 1 to 4,096");
        assert_eq!(allowed_words(&(0.01..=1.0), true), "a number from 0.01 to 1");
    }
}

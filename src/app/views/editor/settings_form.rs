use leptos::prelude::*;

use super::settings_fields;
use crate::app::analysis::number;
use crate::app::i18n::{plural, sentence_text, t, text};
use crate::app::page::use_page;
use crate::app::state::settings::Settings;
use crate::app::views::layout::lazy::{LazyPart, LazyView};
use crate::explanation::{MethodId, Unit};
use crate::request::ThinkingSupport;

/// Settings of the answer, collapsed. The page fetches the fields when the editor first opens.
#[component]
pub fn SettingsForm() -> impl IntoView {
    let page = use_page();
    let part = LazyPart::new(settings_fields::fetch);
    let is_wanted = Memo::new(move |wanted: Option<&bool>| wanted == Some(&true) || page.with(|state| *state.editor.is_open));
    view! {
        <details class="fold">
            <summary>
                {t!("Settings")}
                <span class="hint">{move || page.with(|state| summary(&state.editor.settings, state.engine.thinking()))}</span>
            </summary>
            <Show when=move || is_wanted.get()>
                <LazyView part view=|view| view() />
            </Show>
        </details>
    }
}

/// "same answer every time, up to 256 tokens".
fn summary(settings: &Settings, thinking: ThinkingSupport) -> String {
    if let Some(problem) = settings.problem(thinking) {
        return sentence_text(&problem.what);
    }
    let sampling = match settings.temperature > 0.0 {
        true => {
            let temperature = number::with_point(&settings.temperature.to_string());
            t!("temperature {temperature}, seed {seed}", temperature, seed = settings.seed)
        }
        false => t!("same answer every time").into(),
    };
    let length = plural!(n = settings.max_tokens, "up to {n} token", "up to {n} tokens");
    let template = (!settings.use_template).then(|| t!("no chat template").to_owned());
    let method =
        MethodId::named(settings.method).filter(|&method| method != MethodId::ALL[0]).map(|method| text(method.text().label).to_owned());
    let unit = by_unit(settings.unit).map(str::to_owned);
    let parts: Vec<String> = [Some(sampling), Some(length), template, method, unit].into_iter().flatten().collect();
    parts.join(t!(", "))
}

/// "by words". `None` for sentences, which are the default.
fn by_unit(unit: Unit) -> Option<&'static str> {
    Some(match unit {
        Unit::Sentence => return None,
        Unit::Word => t!("by words"),
        Unit::Line => t!("by lines"),
        Unit::Paragraph => t!("by paragraphs"),
        Unit::Section => t!("by sections"),
        Unit::Bracket => t!("by your own parts"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folded_settings_are_summed_up() {
        let of = |settings: &Settings| summary(settings, ThinkingSupport::Never);
        assert_eq!(of(&Settings::default()), "same answer every time, up to 256 tokens");
        let warm = Settings { temperature: 0.7, seed: 3, use_template: false, unit: Unit::Word, ..Settings::default() };
        assert_eq!(of(&warm), "temperature 0.7, seed 3, up to 256 tokens, no chat template, by words");
    }
}

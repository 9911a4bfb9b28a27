use leptos::prelude::*;

use crate::app::analysis::branches;
use crate::app::analysis::derivation;
use crate::app::analysis::number;
use crate::app::i18n::{plural, t, text, translatable};
use crate::app::page::use_page;
use crate::explanation::{Answer, AnswerStop, AnswerWarning, Document, Language, MethodId, Producer, Sampling, SentenceRule};

/// Lists how the result was made, so that others can reproduce it.
#[component]
pub fn ManifestView() -> impl IntoView {
    let page = use_page();
    let facts = Memo::new(move |_| page.attribution(|attribution| facts(attribution.document())).unwrap_or_default());
    let brief = Memo::new(move |_| page.attribution(|attribution| brief(attribution.document())).unwrap_or_default());
    // New visitors and readers of a lesson do not need these facts, so they start collapsed.
    let is_open = move || !page.with(|state| state.explanation.is_welcome() || state.lesson().is_some());
    let rows = move || {
        let row = |(name, value): (&'static str, String)| view! { <div><dt>{text(name)}</dt><dd>{value}</dd></div> };
        facts.get().into_iter().map(row).collect_view()
    };
    view! {
        <details class="fold manifest" data-testid="manifest" open=is_open>
            <summary>{t!("How this was made")} " " <span class="hint">{brief}</span></summary>
            <dl class="facts">{rows}</dl>
        </details>
    }
}

/// Summary that is always visible: model, method, and engine with its precision.
fn brief(document: &Document) -> String {
    let (method, manifest) = (&document.method, &document.manifest);
    let method = MethodId::named(&method.id).map_or(&*method.id, |known| text(known.text().label));
    let engine = [&*manifest.backend, &*manifest.precision].join(" ");
    let parts = [&*manifest.model.name, method, engine.trim()].map(str::to_owned);
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(t!(", "))
}

/// Names and values of the facts that the document contains.
fn facts(document: &Document) -> Vec<(&'static str, String)> {
    let (method, manifest) = (&document.method, &document.manifest);
    let model = &manifest.model;
    let size = (model.parameters > 0).then(|| {
        let number = number::with_point(&format!("{:.1}", model.parameters as f64 / 1e6));
        t!("{number}M parameters, {size}", number, size = number::bytes(model.bytes))
    });
    let mut facts = vec![
        (translatable!("Model"), model.name.clone()),
        (translatable!("Architecture"), model.architecture.clone()),
        (translatable!("Size"), size.unwrap_or_default()),
        (translatable!("Quantization"), model.quantization.clone()),
        (translatable!("SHA-256"), model.sha256.chars().take(12).collect()),
        (translatable!("Answer"), answer_words(&manifest.answer)),
        (translatable!("Chosen alternatives"), branches::chosen(&manifest.answer)),
        (translatable!("Chat template"), manifest.template.clone()),
        (
            translatable!("Method"),
            t!(
                "{method}, {done} of {planned} forward passes",
                done = method.passes[0],
                planned = method.passes[1],
                method = MethodId::named(&method.id).map_or(&*method.id, |known| text(known.text().label)),
            ),
        ),
        (translatable!("Sources"), number::counted_sources(document.table.n_prompt(), document.table.n_generated(), document.unit)),
        (translatable!("Sentences"), sentence_rule_words(manifest.sentence_rule, manifest.language)),
        (translatable!("Graph"), derivation::words(method)),
        (translatable!("Replacement"), method.replacement.clone()),
        (translatable!("Engine"), [&*manifest.backend, &*manifest.precision].join(t!(", "))),
        (translatable!("Scores stored as"), manifest.table_precision.clone()),
        ("Glasscage", manifest.glasscage.clone()),
        (
            translatable!("Made with"),
            manifest.producer.as_ref().map(|Producer { name, version }| format!("{name} {version}")).unwrap_or_default(),
        ),
    ];
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

fn sentence_rule_words(rule: SentenceRule, language: Language) -> String {
    let name = text(language.name());
    match (rule, language) {
        (SentenceRule::Punkt, _) => t!("split by Punkt (English)").into(),
        (SentenceRule::AnyScript, Language::English) => t!("split by Punkt (English), other scripts and lists too").into(),
        (SentenceRule::AnyScript, Language::Chinese | Language::Japanese) => {
            t!("{name}: split at sentence-ending marks of any script, and by Punkt (English)", name)
        }
        (SentenceRule::AnyScript, _) => t!("{name}: split by Punkt, other scripts and lists too", name),
    }
}

fn answer_words(answer: &Answer) -> String {
    match answer {
        Answer::Given {} => t!("provided, not written by the model").into(),
        Answer::Generated { sampling, max_tokens, thinking, stop, warning, .. } => {
            let stop = match stop {
                AnswerStop::End => t!("ended by the model"),
                AnswerStop::Length => t!("stopped at the limit"),
                AnswerStop::Canceled => t!("stopped by the user"),
                AnswerStop::Repetition => t!("stopped because the model repeated itself"),
            };
            let words = plural!(
                n = *max_tokens,
                "{sampling}; {stop}; up to {n} token",
                "{sampling}; {stop}; up to {n} tokens",
                sampling = sampling_words(sampling),
                stop,
            );
            let words = match thinking {
                Some(most) => {
                    plural!(n = *most, "{words}; after thinking for up to {n} token", "{words}; after thinking for up to {n} tokens", words)
                }
                None => words,
            };
            match warning {
                Some(AnswerWarning::Doubtful) => t!("{words}; doubtful, says the model\u{2019}s own check", words),
                Some(AnswerWarning::OutOfScope) => t!("{words}; out of scope, says the model\u{2019}s own check", words),
                None => words,
            }
        }
    }
}

fn sampling_words(&Sampling { temperature, top_k, top_p, seed }: &Sampling) -> String {
    if temperature <= 0.0 {
        return t!("same answer every time").into();
    }
    let parts = [
        Some(t!("temperature {number}", number = number::with_point(&temperature.to_string()))),
        top_k.map(|k| t!("top-k {n}", n = k)),
        top_p.map(|p| t!("top-p {number}", number = number::with_point(&p.to_string()))),
        Some(t!("seed {n}", n = seed)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(t!(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::document;

    #[test]
    fn manifest_lists_known_facts_and_omits_others() {
        let facts = facts(&document());
        assert!(facts.contains(&("Method", "Leave one out (Pert.), 5 of 5 forward passes".into())));
        assert!(facts.iter().all(|(name, _)| *name != "SHA-256"));
    }

    #[test]
    fn sampling_is_stated_in_full() {
        let sampling = Sampling { temperature: 0.7, top_k: Some(40), top_p: None, seed: 3 };
        let (stop, branches) = (AnswerStop::Length, Vec::new());
        let answer = Answer::Generated { sampling, max_tokens: 64, thinking: None, stop, warning: None, branches };
        assert_eq!(answer_words(&answer), "temperature 0.7, top-k 40, seed 3; stopped at the limit; up to 64 tokens");
        assert_eq!(sampling_words(&Sampling::GREEDY), "same answer every time");
    }
}

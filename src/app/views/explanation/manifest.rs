use leptos::prelude::*;

use crate::app::analysis::derivation;
use crate::app::analysis::number;
use crate::app::page::use_page;
use crate::explanation::{Answer, AnswerStop, AnswerWarning, Document, MethodText, Producer, Sampling, SentenceRule};

/// What made this result, so that somebody else can reproduce it.
#[component]
pub fn ManifestView() -> impl IntoView {
    let page = use_page();
    let facts = Memo::new(move |_| page.attribution(|attribution| facts(attribution.document())).unwrap_or_default());
    let rows = move || {
        let row = |(name, value): (&'static str, String)| view! { <div><dt>{name}</dt><dd>{value}</dd></div> };
        facts.get().into_iter().map(row).collect_view()
    };
    view! {
        <details class="fold manifest" data-testid="manifest" open>
            <summary>"How this was made"</summary>
            <dl>{rows}</dl>
        </details>
    }
}

/// Names and values; what the document does not say is left out.
fn facts(document: &Document) -> Vec<(&'static str, String)> {
    let (method, manifest) = (&document.method, &document.manifest);
    let model = &manifest.model;
    let size = (model.parameters > 0).then(|| format!("{:.1} M parameters, {}", model.parameters as f64 / 1e6, number::bytes(model.bytes)));
    let mut facts = vec![
        ("Model", model.name.clone()),
        ("Architecture", model.architecture.clone()),
        ("Size", size.unwrap_or_default()),
        ("Quantization", model.quantization.clone()),
        ("SHA-256", model.sha256.chars().take(12).collect()),
        ("Answer", answer_words(&manifest.answer)),
        ("Template", manifest.template.clone()),
        (
            "Method",
            format!(
                "{}, {} of {} model runs",
                MethodText::find(&method.id).map_or(&*method.id, |text| text.label),
                method.passes[0],
                method.passes[1]
            ),
        ),
        ("Sources", number::counted(document.table.n_sources(), document.unit.noun())),
        ("Sentences", sentence_rule_words(manifest.sentence_rule).to_owned()),
        ("Graph", derivation::words(method)),
        ("Replacement", method.replacement.clone()),
        ("Engine", format!("{}, {}", manifest.backend, manifest.precision)),
        ("Score precision", manifest.table_precision.clone()),
        ("Glasscage", manifest.glasscage.clone()),
        ("Made with", manifest.producer.as_ref().map(|Producer { name, version }| format!("{name} {version}")).unwrap_or_default()),
    ];
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

fn sentence_rule_words(rule: SentenceRule) -> &'static str {
    match rule {
        SentenceRule::Punkt => "cut by Punkt (English)",
        SentenceRule::AnyScript => "cut by Punkt (English), other scripts and lists too",
    }
}

fn answer_words(answer: &Answer) -> String {
    match answer {
        Answer::Given {} => "written by the user".into(),
        Answer::Generated { sampling, max_tokens, stop, warning } => {
            let warning = match warning {
                Some(AnswerWarning::Doubtful) => "; doubtful, says the model\u{2019}s own check",
                Some(AnswerWarning::OutOfScope) => "; out of scope, says the model\u{2019}s own check",
                None => "",
            };
            let stop = match stop {
                AnswerStop::End => "ended by the model",
                AnswerStop::Length => "cut at the limit",
                AnswerStop::Cancelled => "stopped by the user",
                AnswerStop::Repetition => "stopped because the model repeated itself",
            };
            format!("{}; {stop}; up to {max_tokens} tokens{warning}", sampling_words(sampling))
        }
    }
}

fn sampling_words(&Sampling { temperature, top_k, top_p, seed }: &Sampling) -> String {
    if temperature <= 0.0 {
        return "most likely words".into();
    }
    let top_k = top_k.map(|k| format!(", top-k {k}")).unwrap_or_default();
    let top_p = top_p.map(|p| format!(", top-p {p}")).unwrap_or_default();
    format!("temperature {temperature}{top_k}{top_p}, seed {seed}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::attribution_graph::tests::document;

    #[test]
    fn the_manifest_names_what_is_known_and_leaves_out_the_rest() {
        let facts = facts(&document());
        assert!(facts.contains(&("Method", "Blanking out (Pert.), 5 of 5 model runs".into())));
        assert!(facts.iter().all(|(name, _)| *name != "SHA-256"));
    }

    #[test]
    fn sampling_is_stated_in_full() {
        let sampling = Sampling { temperature: 0.7, top_k: Some(40), top_p: None, seed: 3 };
        let answer = Answer::Generated { sampling, max_tokens: 64, stop: AnswerStop::Length, warning: None };
        assert_eq!(answer_words(&answer), "temperature 0.7, top-k 40, seed 3; cut at the limit; up to 64 tokens");
        assert_eq!(sampling_words(&Sampling::GREEDY), "most likely words");
    }
}

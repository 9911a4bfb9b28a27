//! Markup from untrusted sources is shown as text: it creates no element and runs no code.

use std::sync::Arc;

use glasscage::explanation::{Contrast, Document, Passage, Producer, to_fragment};
use serde_json::{Value, json};

use super::browser::Browser;
use super::download_steps::model_is_ready;
use super::split::demo_with;
use super::steps::{ask, example_prompt, file, open_link, open_tab, server};

/// An injection attempt for text and for attributes. It has no slash, so it can also be a file name.
const MARKUP: &str = "<img src=x onerror=\"window.injected=1\"><iframe srcdoc='<script>1'>'\"`${1}";

/// A document of the gallery with markup in every text field.
fn hostile_document() -> Document {
    let mut document = Document::from_json(include_str!("../fixtures/gallery/01-equal-groups.json")).expect("a document");
    for passage in [&mut document.prompt, &mut document.generation] {
        let texts = passage.sentence_texts().into_iter().map(|text| format!("{} {MARKUP} ", text.trim()));
        let (mut text, mut spans) = (String::new(), Vec::new());
        for sentence in texts {
            spans.push(text.len()..text.len() + sentence.len());
            text += &sentence;
        }
        *passage = Arc::new(Passage::new(&text, &spans, passage.tokens.clone()));
    }
    let manifest = &mut document.manifest;
    let of_model = [&mut manifest.model.name, &mut manifest.model.architecture, &mut manifest.model.quantization];
    let of_run = [&mut manifest.template, &mut manifest.backend, &mut manifest.precision, &mut manifest.table_precision];
    of_model.into_iter().chain(of_run).chain([&mut document.method.replacement]).for_each(|field| *field = MARKUP.into());
    manifest.producer = Some(Producer { name: MARKUP.into(), version: MARKUP.into() });
    document.method.id = MARKUP.into();
    document.method.unit = Some(MARKUP.into());
    let effects = vec![1.0; document.table.n_prompt()];
    document.contrasts = vec![Contrast { span: [0, 3], alternative: MARKUP.into(), log_probabilities: [-1.0; 2], effects }];
    document
}

/// Checks that the markup is on the page as text, created no element, and did not run.
async fn nothing_was_injected(browser: &Browser, place: &str) {
    let script = "return [window.injected ?? null, document.querySelectorAll('img[src=x], iframe').length,
        document.body.textContent.includes('<img src=x')]";
    let found = browser.driver.execute(script, Vec::new()).await.expect("a script runs").json().clone();
    assert_eq!(found, json!([Value::Null, 0, true]), "{place}");
}

#[tokio::test(flavor = "multi_thread")]
async fn markup_in_documents_and_models_is_text() {
    let (server, _turn) = server().await;
    let document = hostile_document();
    let browser = Browser::open(&server.url).await;
    for page in ["", "embed.html"] {
        open_link(&browser, &format!("{}{page}#{}", server.url, to_fragment(&document))).await;
        for tab in ["text", "path", "table", "text"] {
            open_tab(&browser, tab).await;
            nothing_was_injected(&browser, &format!("{page} {tab}")).await;
        }
        browser.click("sentence-G1").await;
        nothing_was_injected(&browser, page).await;
    }
    browser.screenshot("markup").await;

    // The name of a file, and the metadata of a model.
    browser.goto(&server.url).await;
    let model = demo_with(&[("general.name", MARKUP), ("general.license", MARKUP), ("general.basename", MARKUP)]);
    browser.choose_file("model-file", &file(&format!("{MARKUP}.gguf"), &model)).await;
    model_is_ready(&browser).await;
    nothing_was_injected(&browser, "the model's name").await;
    ask(&browser, &format!("{} {MARKUP}", example_prompt())).await;
    browser.explained().await;
    nothing_was_injected(&browser, "an explanation of that model").await;
    browser.click("models-button").await;
    browser.find("known-model").await;
    nothing_was_injected(&browser, "the list of models").await;
    browser.click("models-close").await;

    // The error message of a chat template.
    let template = format!("{{{{ raise_exception({MARKUP:?}) }}}}");
    let refusing = demo_with(&[("tokenizer.chat_template", &template)]);
    browser.choose_file("model-file", &file("refusing.gguf", &refusing)).await;
    ask(&browser, &example_prompt()).await;
    let problem = browser.problem().await;
    assert!(problem.contains("chat template"), "{problem}");
    nothing_was_injected(&browser, "a template's words").await;
    browser.close().await;
}

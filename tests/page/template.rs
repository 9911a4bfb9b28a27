//! A model whose chat template fails: the page offers to continue without the template.

use super::browser::Browser;
use super::download_steps::model_is_ready;
use super::split::demo_with;
use super::steps::{example_prompt, explain_given, file, server};

/// A template that cannot be used for any prompt, and one that refuses the prompt.
const FAILING: [&str; 2] = ["{{ messages | odd }}", "{{ raise_exception('Conversation roles must alternate') }}"];

#[tokio::test(flavor = "multi_thread")]
async fn failing_template_can_be_left_out() {
    let (server, _turn) = server().await;
    let browser = Browser::start(None).await;
    for (i, template) in FAILING.iter().enumerate() {
        browser.goto(&server.url).await;
        let model = demo_with(&[("tokenizer.chat_template", template)]);
        browser.choose_file("model-file", &file(&format!("failing-{i}.gguf"), &model)).await;
        model_is_ready(&browser).await;
        explain_given(&browser, &example_prompt(), "The answer is 3.").await;
        let problem = browser.problem().await;
        assert!(problem.contains("chat template"), "{problem}");
        browser.click("without-template").await;
        browser.explained().await;
        assert!(browser.try_find("problem").await.is_none(), "the problem is gone with {template}");
    }
    browser.close().await;
}

use leptos::prelude::*;

use super::download_view::notice_words;
use crate::app::analysis::number;
use crate::app::i18n::{following, plural, sentence_text, t};
use crate::app::page::use_page;
use crate::app::state::library::LibraryMessage;
use crate::library::address::host;
use crate::library::fit::{ModelFit, can_be_stored, model_fit};
use crate::library::preview::{DeviceFacts, ModelPreview};
use crate::library::progress::DownloadNotice;
use crate::library::registry::RegistryEntry;
use crate::library::standard;

/// Details and cost of a model before it is downloaded.
#[component]
pub fn PreviewView() -> impl IntoView {
    let page = use_page();
    move || page.with(|state| state.library.preview.clone()).map(|preview| view! { <PreviewCard preview /> })
}

#[component]
fn PreviewCard(preview: ModelPreview) -> impl IntoView {
    let page = use_page();
    let address = preview.spec.files.first().map(|file| file.address.clone());
    let known = untrack(|| page.with(|state| state.library.known.iter().find(|known| Some(&known.address) == address.as_ref()).cloned()));
    let parameters = parameters(&preview, known.as_ref());
    let time = untrack(|| {
        page.with(|state| {
            let has_prompt = !state.editor.prompt.trim().is_empty();
            has_prompt.then(|| time_words(state.expected_seconds(parameters).map(|[_, whole]| whole)))
        })
    });
    let rows = rows(&preview, known.map(|known| known.license), time).into_iter().map(|(term, text)| {
        view! {
            <div>
                <dt>{term}</dt>
                <dd>{text}</dd>
            </div>
        }
    });
    let rows = rows.collect_view();
    let total = preview.spec.bytes();
    let (fits, reason) = model_fit(total.unwrap_or(0), &preview.facts, &preview.device);
    let class = if fits == ModelFit::Fits { "banner good" } else { "banner" };
    let warnings = warnings(&preview).into_iter().map(|warning| view! { <p class="banner">{warning}</p> }).collect_view();
    let is_downloading = move || page.with(|state| state.library.is_downloading());
    let label = match (preview.bytes_here, total) {
        (0, Some(total)) => t!("Download {size}", size = number::bytes(total)),
        (here, Some(total)) if here >= total => t!("Use {name}", name = preview.spec.name.clone()),
        (here, Some(total)) => t!("Download the remaining {size}", size = number::bytes(total.saturating_sub(here))),
        (_, None) => t!("Download").into(),
    };
    let spec = preview.spec.clone();
    view! {
        <section class="preview" data-testid="preview" aria-labelledby="preview-name">
            <h3 id="preview-name" tabindex="-1">{preview.spec.name.clone()}</h3>
            <dl class="facts">{rows}</dl>
            <p class=class data-testid="verdict-fit">{verdict_words(fits)} {following(&sentence_text(&reason))}</p>
            {warnings}
            <div class="choice">
                <button
                    type="button"
                    class="primary"
                    data-testid="download-button"
                    disabled=move || fits == ModelFit::Impossible || is_downloading()
                    on:click=move |_| page.send(LibraryMessage::Download(spec.clone()))
                >
                    {label}
                </button>
                <button
                    type="button"
                    data-testid="preview-back"
                    on:click=move |_| page.send(LibraryMessage::ClosePreview)
                >
                    {t!("Back")}
                </button>
            </div>
            <p class="hint" hidden=move || !is_downloading()>
                {t!("Another model is being downloaded; wait for it or pause it first.")}
            </p>
        </section>
    }
}

fn verdict_words(verdict: ModelFit) -> &'static str {
    match verdict {
        ModelFit::Fits => t!("This model should run on this device."),
        ModelFit::Slow => t!("This model should run on this device, but slowly."),
        ModelFit::Marginal => t!("This model will be slow on this device, or may not run."),
        ModelFit::Impossible => t!("This model cannot run on this device."),
    }
}

/// Terms and their values. Leaves out the expected time if there is none.
fn rows(
    ModelPreview { spec, facts, device, .. }: &ModelPreview,
    license: Option<String>,
    time: Option<String>,
) -> Vec<(&'static str, String)> {
    let not_stated = || t!("not stated in the file; see the model\u{2019}s page").into();
    let license = license.or_else(|| facts.license.clone()).unwrap_or_else(not_stated);
    let size = spec.bytes().map_or_else(|| t!("unknown").into(), number::bytes);
    let size = match spec.files.len() {
        0 | 1 => size,
        n => plural!(n, "{size} in {n} file", "{size} in {n} files", size),
    };
    let (architecture, context) = (&facts.architecture, number::grouped(facts.context_length));
    let model = match facts.parameters.map(|n| format!("{:.0}", n as f64 / 1e6)) {
        Some(millions) => t!("{architecture}, {millions}M parameters, up to {context} tokens of text", architecture, millions, context),
        None => t!("{architecture}, up to {context} tokens of text", architecture, context),
    };
    let from = spec.files.first().map_or("", |part| host(&part.address)).to_owned();
    let mut rows = vec![
        (t!("Size"), size),
        (t!("License"), license),
        (t!("Model"), model),
        (t!("Download from"), from),
        (t!("This device"), device_words(device)),
    ];
    rows.extend(time.map(|time| (t!("Expected time"), time)));
    rows
}

/// Number of parameters: from the list or the file, else an estimate of one per byte.
fn parameters(preview: &ModelPreview, known: Option<&RegistryEntry>) -> u64 {
    let listed = known.map(|known| known.parameters_millions * 1_000_000);
    let standard = (preview.spec.name == standard::NAME).then_some(standard::PARAMETERS);
    listed.or(standard).or(preview.facts.parameters).or(preview.spec.bytes()).unwrap_or(0)
}

/// Expected time of an explanation, based on the last one on this device.
fn time_words(seconds: Option<f64>) -> String {
    match seconds {
        None => t!("available after your first explanation here, with any model").into(),
        Some(seconds) if seconds > 7_200.0 => {
            t!("hours for an explanation of the current prompt, based on the last explanation here").into()
        }
        Some(seconds) => {
            let time = number::wait(seconds);
            t!("{time} or less for an explanation of the current prompt, based on the last explanation here", time)
        }
    }
}

/// "a GPU with buffers up to 2.00 GB; about 8 GB of memory or more; 12.0 GB of storage free".
fn device_words(DeviceFacts { gpu, memory, storage }: &DeviceFacts) -> String {
    let gpu = match gpu {
        None => t!("no GPU that the browser can use").to_owned(),
        Some(gpu) if gpu.is_software => t!("software WebGPU (no GPU)").into(),
        Some(gpu) => t!("a GPU with buffers up to {size}", size = number::bytes(gpu.max_buffer)),
    };
    // Browsers report whole powers of two, which vendors call GB.
    let memory = memory.map(|memory| t!("about {n} GB of memory or more", n = (memory as f64 / f64::from(1 << 30)).round()));
    let free = storage.free.map(|free| t!("{size} of storage free", size = number::bytes(free)));
    let parts: Vec<String> = [Some(gpu), memory, free].into_iter().flatten().collect();
    parts.join(t!("; "))
}

/// Returns warnings if the browser cannot store the model, or if the download cannot be resumed.
fn warnings(preview: &ModelPreview) -> Vec<String> {
    let left = preview.spec.bytes().unwrap_or(0).saturating_sub(preview.bytes_here);
    let in_memory = match preview.device.storage.is_available {
        true => t!("The model will be kept in memory until you choose another one or close this tab: \
                   the browser has no room to store this model."),
        false => t!("The model will be kept in memory until you choose another one or close this tab: this browser does not let the \
                     page store files (you may be in a private window)."),
    };
    let not_kept = (!can_be_stored(left, &preview.device)).then(|| in_memory.to_owned());
    let not_resumable = (!preview.resumable).then(|| notice_words(&DownloadNotice::NoRanges));
    not_kept.into_iter().chain(not_resumable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::download_spec::DownloadSpec;
    use crate::library::preview::{GpuFacts, ModelFacts};
    use crate::library::stored_models::StorageStatus;

    fn preview() -> ModelPreview {
        let mut spec = DownloadSpec::at("Qwen", vec!["https://huggingface.co/a/b/resolve/main/c.gguf".into()]);
        spec.files[0].bytes = Some(600_000_000);
        let facts = ModelFacts { architecture: "qwen3".into(), context_length: 40_960, bytes_per_token: 229_376, ..ModelFacts::default() };
        let gpu = Some(GpuFacts { is_software: false, max_buffer: 2_000_000_000 });
        let storage = StorageStatus { is_available: true, is_persistent: true, free: Some(1_000_000_000) };
        ModelPreview { spec, resumable: true, facts, device: DeviceFacts { gpu, memory: Some(8 << 30), storage }, bytes_here: 0 }
    }

    #[test]
    fn size_license_and_device_are_told_before_the_download() {
        let rows = rows(&preview(), Some("Apache-2.0".into()), Some(time_words(Some(240.0))));
        assert_eq!(rows[0], ("Size", "600.0 MB".into()));
        assert_eq!(rows[1], ("License", "Apache-2.0".into()));
        assert_eq!(rows[3], ("Download from", "huggingface.co".into()));
        assert_eq!(rows[4].1, "a GPU with buffers up to 2.00 GB; about 8 GB of memory or more; 1.00 GB of storage free");
        assert!(rows[5].1.starts_with("about 4 min or less"), "{}", rows[5].1);
        assert_eq!(super::rows(&preview(), None, None).len(), 5, "no prompt, no time");
        assert!(time_words(None).contains("first explanation") && time_words(Some(9e4)).contains("hours"));
    }

    #[test]
    fn unusual_model_is_announced_before_download() {
        assert_eq!(warnings(&preview()), Vec::<String>::new());
        let mut poor = preview();
        (poor.resumable, poor.device.storage.free) = (false, Some(5));
        assert_eq!(warnings(&poor).len(), 2);
        assert!(warnings(&poor)[0].contains("no room"));
        poor.device.storage = StorageStatus::default();
        assert!(warnings(&poor)[0].contains("private window"));
    }
}

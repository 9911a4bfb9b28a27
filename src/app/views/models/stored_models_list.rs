use leptos::prelude::*;

use crate::app::analysis::number;
use crate::app::i18n::{in_sequence, plural, t};
use crate::app::page::use_page;
use crate::app::state::library::LibraryMessage;
use crate::library::stored_models::{StorageStatus, StoredModel, StoredModels};

/// The models stored on this device, with buttons to use, resume and delete them.
#[component]
pub fn StoredModelsList() -> impl IntoView {
    let page = use_page();
    let models = move || page.with(|state| state.library.stored.as_ref().map(|stored| stored.models.clone()).unwrap_or_default());
    let rows = move || models().into_iter().map(|model| view! { <StoredModelRow model /> }).collect_view();
    let is_empty = move || models().is_empty();
    let delete_all = move |_| {
        let ids = untrack(models).into_iter().map(|model| model.id).collect();
        page.send(LibraryMessage::Delete(ids));
    };
    let looking = || t!("Looking for stored models\u{2026}").to_owned();
    let words = move || {
        page.with(|state| match &*state.library.stored {
            Some(stored) => storage_words(stored),
            None if *state.library.has_worker => looking(),
            None => String::new(),
        })
    };
    view! {
        <section aria-labelledby="stored-models" data-testid="stored-models">
            <h3 id="stored-models" tabindex="-1">{t!("Stored on this device")}</h3>
            <ul class="rows">{rows}</ul>
            <div class="line">
                <p class="hint" data-testid="storage">{words}</p>
                <button type="button" class="quiet" data-testid="delete-all" hidden=is_empty on:click=delete_all>{t!("Delete all")}</button>
            </div>
        </section>
    }
}

#[component]
fn StoredModelRow(model: StoredModel) -> impl IntoView {
    let page = use_page();
    let words = model_words(&model, untrack(|| page.with(|state| state.now_millis)));
    let name = model.spec.name.clone();
    let (use_label, delete_label) = (t!("Use {name}", name), t!("Delete {name}", name));
    let id = model.id.clone();
    let is_downloading = move || page.with(|state| state.library.is_downloading());
    let can_resume = model.is_resumable();
    let (used, spec) = (LibraryMessage::UseStored { id: model.id.clone(), name: name.clone() }, model.spec.clone());
    let act = match model.is_complete() {
        true => view! {
            <button type="button" aria-label=use_label data-testid="use-stored" on:click=move |_| page.send(used.clone())>
                {t!("Use")}
            </button>
        }
        .into_any(),
        false if can_resume => view! {
            <button
                type="button"
                data-testid="resume-stored"
                disabled=is_downloading
                on:click=move |_| page.send(LibraryMessage::Download(spec.clone()))
            >
                {t!("Resume")}
            </button>
        }
        .into_any(),
        false => ().into_any(),
    };
    view! {
        <li data-testid="stored-model">
            <div>
                <strong>{name}</strong>
                " "
                <span class="hint">{words}</span>
            </div>
            <div class="choice">
                {act}
                <button
                    type="button"
                    class="quiet"
                    aria-label=delete_label
                    data-testid="delete-stored"
                    on:click=move |_| page.send(LibraryMessage::Delete(vec![id.clone()]))
                >
                    {t!("Delete")}
                </button>
            </div>
        </li>
    }
}

/// "639.4 MB, last used 3 days ago, SHA-256 9465e63a…", "312.0 MB of 639.4 MB downloaded".
fn model_words(model: &StoredModel, now_millis: f64) -> String {
    let bytes = number::bytes(model.bytes);
    let used = || model.used_millis.map_or_else(|| t!("not used yet").into(), |used| last_used(now_millis - used));
    match (&model.sha256, model.spec.bytes()) {
        (Some(sha256), _) => {
            let start = sha256.get(..8).unwrap_or_default();
            t!("{bytes}, {used}, SHA-256 {start}\u{2026}", bytes, used = used(), start)
        }
        (None, Some(total)) if model.spec.is_local_copy() => {
            t!("{bytes} of {total} are copied; open the file again to keep the rest", bytes, total = number::bytes(total))
        }
        (None, Some(total)) => t!("{bytes} of {total} downloaded", bytes, total = number::bytes(total)),
        (None, None) => t!("{bytes} downloaded", bytes),
    }
}

fn last_used(millis: f64) -> String {
    let days = (millis / 86_400_000.0).floor();
    match days {
        days if days < 1.0 => t!("used today").into(),
        days if days < 2.0 => t!("last used yesterday").into(),
        days => plural!(n = days as usize, "last used {n} day ago", "last used {n} days ago"),
    }
}

/// Describes the used and free storage, and whether the browser may delete models.
fn storage_words(StoredModels { models, storage: StorageStatus { is_available, is_persistent, free } }: &StoredModels) -> String {
    if !is_available {
        return t!("Models are kept in memory until you choose another one or close this tab: this browser does not let the page store \
                   files (you may be in a private window).")
        .into();
    }
    let free = free.map(number::bytes);
    if models.is_empty() {
        return match free {
            Some(free) => t!("No model is stored yet; about {free} more can be stored.", free),
            None => t!("No model is stored yet.").into(),
        };
    }
    let bytes = number::bytes(models.iter().map(|model| model.bytes).sum());
    let used = match free {
        Some(free) => t!("{bytes} are used; about {free} more can be stored.", bytes, free),
        None => t!("{bytes} are used.", bytes),
    };
    let lasting = match is_persistent {
        true => t!("The browser keeps them until you delete them."),
        false => t!("The browser may delete them when the device runs out of space."),
    };
    in_sequence([&used, lasting])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::download_spec::{DownloadSpec, FileSpec};

    fn stored_model(is_complete: bool) -> StoredModel {
        let part = FileSpec { address: "https://a.b/c.gguf".into(), bytes: Some(600_000_000), ..FileSpec::default() };
        let spec = DownloadSpec { name: "Qwen".into(), files: vec![part] };
        StoredModel {
            id: "ab".into(),
            spec,
            bytes: 300_000_000,
            sha256: is_complete.then(|| "9465e63a22add5354d9bb4b99e901176".into()),
            used_millis: Some(0.0),
        }
    }

    #[test]
    fn stored_models_show_size_and_last_use() {
        assert_eq!(model_words(&stored_model(false), 0.0), "300.0 MB of 600.0 MB downloaded");
        assert_eq!(model_words(&stored_model(true), 4e7), "300.0 MB, used today, SHA-256 9465e63a\u{2026}");
        assert_eq!(model_words(&stored_model(true), 3e8), "300.0 MB, last used 3 days ago, SHA-256 9465e63a\u{2026}");
        let mut copy = stored_model(false);
        copy.spec.files = vec![FileSpec::local("c.gguf", 600_000_000, 0.0)];
        assert_eq!(model_words(&copy, 0.0), "300.0 MB of 600.0 MB are copied; open the file again to keep the rest");
    }

    #[test]
    fn the_storage_says_whether_it_lasts() {
        let storage = StorageStatus { is_available: true, is_persistent: false, free: Some(2_000_000_000) };
        let stored = StoredModels { models: vec![stored_model(true)], storage };
        let words = "300.0 MB are used; about 2.00 GB more can be stored. The browser may delete them when the device runs out of space.";
        assert_eq!(storage_words(&stored), words);
        assert!(storage_words(&StoredModels::default()).contains("private window"));
    }
}

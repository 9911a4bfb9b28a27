//! Links to sections of the documentation, which a release has in the folder `docs` next to the page.

use leptos::prelude::*;

use crate::app::i18n::t;
use crate::app::page::use_page;

pub const CONTRAST: &str = "reading-the-numbers.html#why-this-and-not-that";
pub const DERIVATION: &str = "reading-the-numbers.html#from-scores-to-shares";
pub const EXPORT: &str = "embedding.html";
pub const LESSON: &str = "lessons.html#making-one";
pub const METHODS: &str = "reading-the-numbers.html#methods";
pub const MODELS: &str = "models.html#other-models";
pub const PASSAGES: &str = "reading-the-numbers.html#passages-and-citations";
pub const TABLE: &str = "metrics.html#terms";
pub const TABS: &str = "reading-the-numbers.html#the-other-tabs";
pub const TEST: &str = "metrics.html#metrics";

/// Whether the documentation is served next to the page: in a release, but not in what `cargo xtask serve` builds.
pub const HAS_DOCUMENTATION: bool = option_env!("GLASSCAGE_HAS_DOCUMENTATION").is_some();

/// Opens `section` in another tab. The viewer has no link, because its site may lack the documentation.
#[component]
pub fn HelpLink(section: &'static str) -> impl IntoView {
    let link = || {
        view! {
            <p class="hint">
                <a href=format!("docs/{section}") hreflang="en" target="_blank" rel="noopener">
                    {t!("Documentation")}
                </a>
            </p>
        }
    };
    (HAS_DOCUMENTATION && !use_page().is_viewer()).then(link)
}

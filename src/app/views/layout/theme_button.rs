use leptos::prelude::*;

use super::icon::{Icon, IconView};
use crate::app::browser;
use crate::app::i18n::t;

/// The visitor's own choice over the system's preference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Theme {
    System,
    Light,
    Dark,
}

impl Theme {
    /// Each step changes what is seen, but for the one back to the system's own.
    fn next(self, system_is_dark: bool) -> Self {
        match (self, system_is_dark) {
            (Self::System, true) | (Self::Dark, false) => Self::Light,
            (Self::System, false) | (Self::Light, true) => Self::Dark,
            (Self::Light, false) | (Self::Dark, true) => Self::System,
        }
    }

    /// The value of `data-theme`, which the style sheet knows.
    fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::System => t!("Colors: system"),
            Self::Light => t!("Colors: light"),
            Self::Dark => t!("Colors: dark"),
        }
    }
}

/// Goes through system, light and dark colors.
#[component]
pub fn ThemeButton() -> impl IntoView {
    let theme = RwSignal::new(Theme::System);
    Effect::new(move |_| {
        if let Some(root) = document().document_element() {
            // Setting an attribute fails only for names that are no names.
            drop(root.set_attribute("data-theme", theme.get().name()));
        }
    });
    let label = move || theme.get().label();
    view! {
        <button
            type="button"
            class="quiet square"
            title=label
            aria-label=label
            on:click=move |_| theme.update(|theme| *theme = theme.next(browser::prefers_dark()))
        >
            <IconView icon=Icon::Theme />
        </button>
    }
}

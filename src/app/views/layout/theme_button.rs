use leptos::prelude::*;

use super::icon::{Icon, IconView};
use crate::app::browser;
use crate::app::i18n::t;

/// Color theme. Light and dark override the system's preference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Theme {
    System,
    Light,
    Dark,
}

impl Theme {
    /// The next theme. Each step changes the colors, except the step back to `System`.
    fn next(self, system_is_dark: bool) -> Self {
        match (self, system_is_dark) {
            (Self::System, true) | (Self::Dark, false) => Self::Light,
            (Self::System, false) | (Self::Light, true) => Self::Dark,
            (Self::Light, false) | (Self::Dark, true) => Self::System,
        }
    }

    /// Value of `data-theme` in the style sheet.
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

/// Cycles through system, light and dark colors.
#[component]
pub fn ThemeButton() -> impl IntoView {
    let theme = RwSignal::new(Theme::System);
    Effect::new(move |_| {
        if let Some(root) = document().document_element() {
            // `set_attribute` fails only if the name is invalid.
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

use leptos::prelude::*;

use super::icon::{Icon, IconView};
use crate::app::i18n::t;

/// The visitor's own choice over the system's preference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Theme {
    System,
    Light,
    Dark,
}

impl Theme {
    fn next(self) -> Self {
        match self {
            Self::System => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::System,
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
            on:click=move |_| theme.update(|theme| *theme = theme.next())
        >
            <IconView icon=Icon::Theme />
        </button>
    }
}

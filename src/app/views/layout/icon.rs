use leptos::prelude::*;

/// The icons of the page, as strokes on a 24 x 24 grid.
#[derive(Clone, Copy)]
pub enum Icon {
    Open,
    Save,
    Link,
    Export,
    Stop,
    Close,
    Models,
    Theme,
    Present,
}

impl Icon {
    fn strokes(self) -> &'static str {
        match self {
            Self::Open => "M3 19V6a1 1 0 0 1 1-1h5l2 2h8a1 1 0 0 1 1 1v2M3 19l3-9h16l-3 9z",
            Self::Save => "M12 4v11m-4-4 4 4 4-4M4 20h16",
            Self::Link => "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1m2 4a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
            Self::Export => "M12 15V4m-4 4 4-4 4 4M5 12v7h14v-7",
            Self::Stop => "M7 7h10v10H7z",
            Self::Close => "M6 6l12 12M18 6L6 18",
            Self::Models => "M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9",
            Self::Present => "M3 5h18v11H3zM12 16v4m-4 0h8",
            Self::Theme => "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
        }
    }
}

/// A decorative icon. Its meaning is in the text or the label of the button.
#[component]
pub fn IconView(icon: Icon) -> impl IntoView {
    view! {
        <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
            <path d=icon.strokes() />
        </svg>
    }
}

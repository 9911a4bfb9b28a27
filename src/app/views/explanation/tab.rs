use crate::app::i18n::t;
use crate::app::views::layout::row_of_buttons::place_after_key;
use crate::lesson::Shown;

/// A view of the explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    Text,
    Path,
    Table,
    DeletionTest,
    Methods,
    WhatIf,
}

impl Tab {
    /// The tab that a lesson step shows. `None` if it shows nothing.
    pub fn of(shown: Shown) -> Option<Self> {
        match shown {
            Shown::Text => Some(Self::Text),
            Shown::Path => Some(Self::Path),
            Shown::Table => Some(Self::Table),
            Shown::Nothing => None,
        }
    }

    /// All tabs in screen order. Tabs that need a model come last.
    const ALL: [Self; 6] = [Self::Text, Self::Path, Self::Table, Self::DeletionTest, Self::Methods, Self::WhatIf];
    const WITHOUT_MODEL: usize = 3;

    /// Tabs of the page or of the viewer, in screen order.
    pub fn all(is_viewer: bool) -> &'static [Self] {
        if is_viewer { &Self::ALL[..Self::WITHOUT_MODEL] } else { &Self::ALL }
    }

    /// Text of the tab's button.
    pub fn label(self) -> &'static str {
        match self {
            Self::Text => t!("Text"),
            Self::Path => t!("Path"),
            Self::Table => t!("Table"),
            Self::DeletionTest => t!("Test"),
            Self::Methods => t!("Methods"),
            Self::WhatIf => t!("What if"),
        }
    }

    /// Test id of the tab's button.
    pub fn test_id(self) -> &'static str {
        match self {
            Self::Text => "tab-text",
            Self::Path => "tab-path",
            Self::Table => "tab-table",
            Self::DeletionTest => "tab-check",
            Self::Methods => "tab-methods",
            Self::WhatIf => "tab-without",
        }
    }

    /// CSS class of the tab's panel.
    pub fn class(self) -> &'static str {
        match self {
            Self::Text | Self::Path | Self::Table => "",
            Self::DeletionTest => "check-view",
            Self::Methods | Self::WhatIf => "comparison",
        }
    }

    /// Whether the panel takes the full width, so that the details move below it.
    pub fn is_wide(self) -> bool {
        matches!(self, Self::Table | Self::Methods | Self::WhatIf)
    }

    /// Whether sentences move when the tab changes: from lines to layers and back.
    pub fn moves_to(self, other: Self) -> bool {
        self != other && [self, other].iter().all(|tab| matches!(tab, Self::Text | Self::Path))
    }

    /// The tab that a key moves to, like in the tabs pattern of WAI-ARIA: arrows wrap around, Home and End go to the ends.
    pub fn after_key(self, key: &str, tabs: &[Self]) -> Option<Self> {
        let at = tabs.iter().position(|tab| *tab == self)?;
        place_after_key(key, at, tabs.len()).map(|next| tabs[next])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrow_keys_go_around_the_tabs() {
        let after = |tab: Tab, key| tab.after_key(key, Tab::all(false));
        assert_eq!(after(Tab::Text, "ArrowLeft"), Some(Tab::WhatIf));
        assert_eq!(after(Tab::WhatIf, "ArrowRight"), Some(Tab::Text));
        assert_eq!(after(Tab::Table, "Home"), Some(Tab::Text));
        assert_eq!(after(Tab::Table, "End"), Some(Tab::WhatIf));
        assert_eq!(after(Tab::Table, "x"), None);
        assert_eq!(Tab::Text.after_key("ArrowLeft", Tab::all(true)), Some(Tab::Table));
    }
}

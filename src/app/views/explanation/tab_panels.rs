//! Panels of all tabs except Text. A separate chunk, which the browser loads when it is first needed.

use leptos::prelude::*;

use super::deletion_test_view::DeletionTestView;
use super::methods_view::MethodsView;
use super::path_view::PathView;
use super::tab::Tab;
use super::table_view::TableView;
use super::what_if_view::WhatIfView;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::views::layout::help_link::{self, HelpLink};
use crate::app::views::layout::lazy::split_off;
use crate::shares::Shares;

split_off!(panels, fetch_panels => panel as fn(Tab) -> AnyView);

fn panel(tab: Tab) -> AnyView {
    let (panel, section) = match tab {
        Tab::Text => return ().into_any(),
        Tab::Path => (view! { <PathView /> }.into_any(), help_link::TABS),
        Tab::Table => (view! { <TableView /> }.into_any(), help_link::TABLE),
        Tab::DeletionTest => (view! { <DeletionTestView /> }.into_any(), help_link::TEST),
        Tab::Methods => (view! { <MethodsView /> }.into_any(), help_link::METHODS),
        Tab::WhatIf => (view! { <WhatIfView /> }.into_any(), help_link::TABS),
    };
    let page = use_page();
    let is_unsupported = move || page.attribution(Shares::is_unsupported) == Some(true);
    view! {
        <Show when=is_unsupported>
            <p class="verdict warn above" data-testid="unsupported">
                {t!("Nothing in the prompt supports this, so the shares below mean nothing.")}
            </p>
        </Show>
        {panel}
        <HelpLink section />
    }
    .into_any()
}

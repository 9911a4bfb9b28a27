//! Panels of all tabs except Text. A separate chunk, which the browser loads when it is first needed.

use leptos::prelude::*;

use super::deletion_test_view::DeletionTestView;
use super::methods_view::MethodsView;
use super::path_view::PathView;
use super::tab::Tab;
use super::table_view::TableView;
use super::what_if_view::WhatIfView;
use crate::app::views::layout::lazy::split_off;

split_off!(panels, fetch_panels => panel as fn(Tab) -> AnyView);

fn panel(tab: Tab) -> AnyView {
    match tab {
        Tab::Text => ().into_any(),
        Tab::Path => view! { <PathView /> }.into_any(),
        Tab::Table => view! { <TableView /> }.into_any(),
        Tab::DeletionTest => view! { <DeletionTestView /> }.into_any(),
        Tab::Methods => view! { <MethodsView /> }.into_any(),
        Tab::WhatIf => view! { <WhatIfView /> }.into_any(),
    }
}

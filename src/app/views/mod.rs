//! Components, in folders by what they show. They read [`super::state::State`] and send [`super::state::Message`]s.

mod editor;
mod explanation;
mod layout;
mod models;

use leptos::prelude::*;

use editor::EditorForm;
use explanation::ExplanationView;
use layout::{DropZone, Header, ProblemBox, StatusBar, UpdateBar, Welcome};
use models::ModelsDialog;

/// The page from top to bottom.
#[component]
pub fn App() -> impl IntoView {
    view! {
        <Header />
        <main>
            <UpdateBar />
            <ProblemBox />
            <EditorForm />
            <StatusBar />
            <ExplanationView />
            <Welcome />
        </main>
        <ModelsDialog />
        <DropZone />
    }
}

//! Components, in folders by topic. They read [`super::state::State`] and send [`super::state::Message`]s.

mod editor;
pub mod explanation;
mod export;
pub mod layout;
mod lesson;
mod models;

use leptos::prelude::*;

use editor::EditorForm;
use explanation::ExplanationView;
use layout::{DropZone, Footer, Header, ProblemBox, RemoteQuestion, StatusBar, UpdateBar, Welcome};
use lesson::LessonPanel;
use models::ModelsDialog;

use super::page::use_page;
use super::state::State;
use super::state::place::Place;

/// The page from top to bottom.
#[component]
pub fn App() -> impl IntoView {
    let page = use_page();
    Effect::new(move |_| document().set_title(&page.with(State::title)));
    view! {
        <Header />
        <main data-then="[data-testid='stop-button'], [aria-selected='true']">
            <UpdateBar />
            <ProblemBox place=Place::Page />
            <RemoteQuestion />
            <EditorForm />
            <StatusBar />
            <LessonPanel />
            <ExplanationView />
            <Welcome />
        </main>
        <Footer />
        <ModelsDialog />
        <DropZone />
    }
}

//! Code splitting: the browser fetches the code of some views when they are first shown. Without the feature `split`, the program is one
//! file and contains all views.

use std::pin::Pin;

use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_split_helpers::SplitLoaderError;

use super::problem_text::ProblemText;
use crate::app::i18n::t;
use crate::app::state::part_problem;

/// Fetches a chunk and returns its entry function.
pub type Fetched<F> = Pin<Box<dyn Future<Output = Result<F, SplitLoaderError>>>>;

/// Defines `fetch`, which fetches a chunk of the page's code and returns its only entry function:
/// `split_off!(part, name_for_the_tool => function as type)`.
macro_rules! split_off {
    ($part:ident, $name:ident => $function:ident as $type:ty) => {
        #[doc = concat!("Fetches [`", stringify!($function), "`].")]
        pub fn fetch() -> $crate::app::views::layout::lazy::Fetched<$type> {
            #[cfg(feature = "split")]
            {
                #[wasm_split_helpers::wasm_split($part, fallible)]
                fn $name() -> Result<$type, wasm_split_helpers::SplitLoaderError> {
                    Ok($function)
                }
                Box::pin($name())
            }
            #[cfg(not(feature = "split"))]
            Box::pin(std::future::ready(Ok($function as $type)))
        }
    };
}

pub(in crate::app) use split_off;

#[derive(Clone, Copy, PartialEq, Eq)]
enum LoadState<F> {
    NotAsked,
    Loading,
    Loaded(F),
    Failed,
}

/// A chunk of the page's code that is fetched once, when it is first needed. `F` is its entry function.
pub struct LazyPart<F: Copy + Send + Sync + 'static> {
    fetch: fn() -> Fetched<F>,
    state: RwSignal<LoadState<F>>,
}

// Derived implementations would require more of `F` than is needed.
impl<F: Copy + Send + Sync + 'static> Clone for LazyPart<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: Copy + Send + Sync + 'static> Copy for LazyPart<F> {}

impl<F: Copy + Send + Sync + 'static> LazyPart<F> {
    pub fn new(fetch: fn() -> Fetched<F>) -> Self {
        Self { fetch, state: RwSignal::new(LoadState::NotAsked) }
    }

    /// Fetches the chunk, unless it is loaded or pending.
    pub fn load(self) {
        if matches!(self.state.get_untracked(), LoadState::Loading | LoadState::Loaded(_)) {
            return;
        }
        self.state.set(LoadState::Loading);
        let fetched = (self.fetch)();
        spawn_local(async move {
            let loaded = fetched.await.map_or(LoadState::Failed, LoadState::Loaded);
            // If the signal is gone, no view waits for the chunk.
            let _gone = self.state.try_set(loaded);
        });
    }

    /// Whether the chunk is loaded. Not tracked.
    pub fn is_loaded(self) -> bool {
        matches!(self.state.get_untracked(), LoadState::Loaded(_))
    }
}

/// Shows a view from `part`. Fetches the chunk first if it is not loaded.
#[component]
pub fn LazyView<F: Copy + Send + Sync + 'static>(part: LazyPart<F>, view: impl Fn(F) -> AnyView + Send + 'static) -> impl IntoView {
    part.load();
    move || match part.state.get() {
        LoadState::NotAsked | LoadState::Loading => view! { <p class="hint" role="status">{t!("Loading\u{2026}")}</p> }.into_any(),
        LoadState::Loaded(function) => view(function),
        LoadState::Failed => view! { <NotLoaded retry=move || part.load() /> }.into_any(),
    }
}

#[component]
fn NotLoaded(retry: impl Fn() + 'static) -> impl IntoView {
    view! {
        <div class="problem" role="alert" data-testid="not-loaded">
            <ProblemText problem=part_problem() />
            <button type="button" data-testid="load-again" on:click=move |_| retry()>{t!("Try again")}</button>
        </div>
    }
}

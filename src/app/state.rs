//! What the page knows. Everything it shows is one of these signals or follows from them.

use std::sync::Arc;

use leptos::prelude::*;
use web_sys::File;

use super::browser;
use super::examples::Example;
use super::reading::{Graph, Reading};
use super::run::Run;
use super::settings::Settings;
use super::sharing::SharedLink;
use crate::problem::Problem;
use crate::worker::client::{Client, Question, Ready, Work};

/// The signals of the page; components get it from the context.
#[derive(Clone, Copy)]
pub struct Page {
    pub prompt: RwSignal<String>,
    /// The answer to explain instead of generating one.
    pub given: RwSignal<String>,
    /// A prompt that an example took the place of.
    pub set_aside: RwSignal<Option<String>>,
    pub settings: RwSignal<Settings>,
    pub examples: RwSignal<Vec<Example>>,
    pub editor_is_open: RwSignal<bool>,

    pub model: RwSignal<ModelState>,
    /// The name of the local file that was chosen; `None` is the built-in model.
    pub model_file_name: RwSignal<Option<String>>,
    pub run: RwSignal<Run>,
    /// What the last run took.
    pub work: RwSignal<Option<Work>>,
    pub problem: RwSignal<Option<Problem>>,

    pub shown: RwSignal<Option<Shown>>,
    /// The chosen output: rows of the table.
    pub output: RwSignal<Vec<usize>>,
    /// The generated sentence under the pointer: shown as if it were the output.
    pub preview: RwSignal<Option<usize>>,
    /// The sentence, of prompt or generation, whose edges stand out.
    pub focus: RwSignal<Option<usize>>,
    /// The share of influence that the drawn edges carry.
    pub edge_share: RwSignal<f64>,
    pub link: RwSignal<Option<SharedLink>>,
    /// What is on screen: the shown document, read from the output or its preview.
    pub reading: Memo<Option<Arc<Reading>>>,

    pub(super) engine: StoredValue<Engine, LocalStorage>,
}

/// The worker and what it needs after a restart.
#[derive(Default)]
pub(super) struct Engine {
    pub client: Option<Client>,
    pub file: Option<File>,
    /// Presses on Explain so far.
    pub runs: usize,
    /// Asked while the model was not there yet.
    pub question: Option<Question>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum ModelState {
    #[default]
    NotLoaded,
    Loading {
        bytes: u64,
        total: u64,
        /// About what the model will take of the memory, in bytes.
        memory: u64,
    },
    Ready(Ready),
}

/// The document on screen and where it came from.
#[derive(Clone, PartialEq)]
pub struct Shown {
    pub graph: Arc<Graph>,
    pub origin: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Computed on this page.
    Here,
    Link,
    File,
}

const PROMPT_KEY: &str = "glasscage.prompt";
const GIVEN_KEY: &str = "glasscage.given-answer";

impl Page {
    pub fn new() -> Self {
        let shown = RwSignal::new(None::<Shown>);
        let output = RwSignal::new(Vec::new());
        let preview = RwSignal::new(None::<usize>);
        let reading = Memo::new(move |_| {
            let shown = shown.get()?;
            let previewed = preview.get().filter(|&i| i < shown.graph.n_generated());
            let output = previewed.map_or_else(|| output.get(), |i| vec![i]);
            Some(Arc::new(Reading::new(shown.graph, &output)))
        });
        Self {
            prompt: remembered(PROMPT_KEY),
            given: remembered(GIVEN_KEY),
            set_aside: RwSignal::new(None),
            settings: RwSignal::default(),
            examples: RwSignal::default(),
            editor_is_open: RwSignal::new(true),
            model: RwSignal::default(),
            model_file_name: RwSignal::new(None),
            run: RwSignal::default(),
            work: RwSignal::new(None),
            problem: RwSignal::new(None),
            shown,
            output,
            preview,
            focus: RwSignal::new(None),
            edge_share: RwSignal::new(0.9),
            link: RwSignal::new(None),
            reading,
            engine: StoredValue::new_local(Engine::default()),
        }
    }

    /// Puts a ready-made prompt into the editor; a text of the visitor's own is set aside, never lost.
    pub fn replace_prompt(&self, prompt: &str) {
        let typed = self.prompt.get_untracked();
        let is_own =
            !typed.trim().is_empty() && self.examples.with_untracked(|examples| examples.iter().all(|known| known.prompt != typed));
        if is_own && typed != prompt {
            self.set_aside.set(Some(typed));
        }
        self.prompt.set(prompt.to_owned());
    }

    /// Something of the reading on screen; `None` before there is one.
    pub fn read<T>(&self, look: impl FnOnce(&Reading) -> T) -> Option<T> {
        self.reading.with(|reading| reading.as_deref().map(look))
    }
}

/// The page that this component is part of.
pub fn use_page() -> Page {
    expect_context()
}

/// Text that survives a reload of this tab.
fn remembered(key: &'static str) -> RwSignal<String> {
    let text = RwSignal::new(browser::remembered(key));
    Effect::new(move |_| text.with(|text| browser::remember(key, text)));
    text
}

//! What the page knows. Everything it shows is one of these signals or follows from them.

use std::sync::Arc;

use leptos::prelude::*;
use web_sys::File;

use super::beside::Job;
use super::browser;
use super::check::Check;
use super::choice::Choice;
use super::examples::Example;
use super::library::Library;
use super::masked::MaskedLm;
use super::reading::{Graph, Reading};
use super::reproduction::Reproduction;
use super::run::Run;
use super::settings::Settings;
use super::sharing::SharedLink;
use super::trial::Trial;
use super::words::Opened;
use crate::problem::Problem;
use crate::worker::client::{Client, Ready, Request, Work};

/// The signals of the page; components get it from the context.
#[derive(Clone, Copy)]
pub struct Page {
    pub prompt: RwSignal<String>,
    /// The answer to explain instead of generating one.
    pub given: RwSignal<String>,
    /// A prompt and given answer that others took the place of.
    pub set_aside: RwSignal<Option<(String, String)>>,
    pub settings: RwSignal<Settings>,
    pub examples: RwSignal<Vec<Example>>,
    pub editor_is_open: RwSignal<bool>,

    pub model: RwSignal<ModelState>,
    /// The model that answers.
    pub choice: RwSignal<Choice>,
    pub library: Library,
    /// A new version of the page waits to be taken.
    pub update_waits: RwSignal<bool>,
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
    /// What the deletion test of the explanation on screen said.
    pub check: RwSignal<Option<Check>>,
    /// The answer on screen explained by other methods.
    pub others: RwSignal<Vec<Shown>>,
    /// The prompt sentences to answer without, ascending.
    pub marked: RwSignal<Vec<usize>>,
    /// The prompt on screen answered without some of its sentences; the last one may still grow.
    pub trials: RwSignal<Vec<Trial>>,
    /// Sources opened to their words.
    pub opened: RwSignal<Vec<Opened>>,
    /// The opened sources whose words are folded away again.
    pub folded: RwSignal<Vec<usize>>,
    /// For methods that need one.
    pub masked_lm: RwSignal<MaskedLm>,
    /// What came of making the explanation again that was on screen before.
    pub reproduction: RwSignal<Option<Reproduction>>,
    /// What is on screen: the shown document, read from the output or its preview.
    pub reading: Memo<Option<Arc<Reading>>>,

    pub(super) engine: StoredValue<Engine, LocalStorage>,
}

/// The worker and what it needs after a restart.
#[derive(Default)]
pub(super) struct Engine {
    pub client: Option<Client>,
    /// The local files of the model, where it is one.
    pub files: Vec<File>,
    /// Those of the masked language model, where the visitor chose one.
    pub masked_lm: Vec<File>,
    /// Presses on Explain so far.
    pub runs: usize,
    /// When the run began, in milliseconds since 1970.
    pub began_millis: f64,
    /// Asked while the model was not there yet.
    pub asked: Option<Request>,
    /// What the events of the run are for.
    pub job: Job,
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
    Gallery,
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
            choice: RwSignal::new(Choice::remembered()),
            library: Library::new(),
            update_waits: RwSignal::new(false),
            run: RwSignal::default(),
            work: RwSignal::new(None),
            problem: RwSignal::new(None),
            shown,
            output,
            preview,
            focus: RwSignal::new(None),
            edge_share: RwSignal::new(0.9),
            link: RwSignal::new(None),
            check: RwSignal::new(None),
            others: RwSignal::default(),
            marked: RwSignal::default(),
            trials: RwSignal::default(),
            opened: RwSignal::default(),
            folded: RwSignal::default(),
            masked_lm: RwSignal::new(MaskedLm::None),
            reproduction: RwSignal::new(None),
            reading,
            engine: StoredValue::new_local(Engine::default()),
        }
    }

    /// Puts a ready-made prompt, and the answer to explain where there is one, into the editor; texts of the visitor's own are set
    /// aside, never lost.
    pub fn replace_texts(&self, prompt: &str, given: &str) {
        let typed = (self.prompt.get_untracked(), self.given.get_untracked());
        let is_own_prompt = !typed.0.trim().is_empty() && typed.0 != prompt && !self.is_example(&typed.0);
        let is_own_answer = !typed.1.trim().is_empty() && typed.1 != given;
        if is_own_prompt || is_own_answer {
            self.set_aside.set(Some(typed));
        }
        self.prompt.set(prompt.to_owned());
        self.given.set(given.to_owned());
    }

    /// Whether the prompt is one of the page's own. Tracked.
    pub fn is_example(&self, prompt: &str) -> bool {
        self.examples.with(|examples| examples.iter().any(|known| known.prompt == prompt))
    }

    /// The prompt sentences that the answer needs, where the prompt is an example that knows them. Tracked.
    pub fn relevant(&self) -> Option<Vec<usize>> {
        self.read(|reading| {
            let prompt = &reading.document().prompt.text;
            self.examples.with(|examples| examples.iter().find(|known| known.prompt == *prompt).map(|known| known.relevant.clone()))
        })
        .flatten()
    }

    /// What a source on screen is called: "sentence" or "word". Tracked.
    pub fn noun(&self) -> &'static str {
        self.read(|reading| reading.document().unit).unwrap_or_default().noun()
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

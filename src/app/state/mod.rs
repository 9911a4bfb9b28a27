//! State of the page. Views read it, and [`super::update`] changes it. A changed field notifies the views that read it ([`reactive`]).

pub mod download;
pub mod editor;
pub mod engine;
pub mod explanation;
pub mod history_entry;
pub mod lesson;
pub mod lesson_history;
pub mod lesson_texts;
pub mod library;
pub mod local_file;
pub mod message;
pub mod model_choice;
pub mod opened;
pub mod origin;
pub mod outbox;
pub mod place;
pub mod purpose;
mod reactive;
pub mod recent_explanations;
pub mod remote;
pub mod run_status;
pub mod screen;
pub mod selection;
pub mod settings;
pub mod shown_document;
pub mod standard;
pub mod storage_keys;
pub mod unfinished_answer;

use crate::app::analysis::speed::Passes;
use crate::app::analysis::title;
use crate::app::gallery::GalleryEntry;
use crate::app::i18n::text;
use crate::explanation::MethodText;
use crate::problem::Problem;
use crate::request::LoadOptions;
use crate::worker::envelope::RequestId;
use editor::Editor;
use engine::Engine;
use explanation::Explanation;
use glasscage_message::message;
use lesson::OpenLesson;
use lesson_texts::LessonTexts;
use library::Library;
use message::Effect;
use model_choice::ModelChoice;
use outbox::Outbox;
use place::Place;
use purpose::Purpose;
use reactive::Reactive;
use remote::Remote;
use screen::Screen;
use standard::Standard;

/// The whole state of the page.
#[derive(Default)]
pub struct State {
    pub editor: Editor,
    pub engine: Engine,
    pub explanation: Explanation,
    pub screen: Reactive<Screen>,
    /// The tag of the page's language.
    pub(in crate::app) language: String,
    /// Translations of the gallery's lessons into the page's language.
    pub(in crate::app) lesson_texts: LessonTexts,
    pub library: Library,
    /// The last request whose result will be shown. Cleared when the result arrives or something else is opened.
    pub(in crate::app) awaited: Option<Awaited>,
    pub problem: Reactive<Option<Problem>>,
    /// Where the problem is shown. Set before `problem`.
    pub problem_place: Place,
    /// Whether this is the viewer, which shows an explanation and cannot start runs.
    pub is_viewer: bool,
    /// Number of explanations that the viewer has opened.
    pub n_opened: Reactive<u32>,
    /// Whether a new version of the page waits to be activated.
    pub update_is_waiting: Reactive<bool>,
    /// Whether page, engine and built-in model are available offline.
    pub is_kept_for_offline: Reactive<bool>,
    /// Time of the message that is being handled, in milliseconds since 1970.
    pub now_millis: f64,
    /// The address of the page without its fragment.
    pub(in crate::app) page_address: String,
    /// The pending explanation that will replace the current history entry.
    pub(in crate::app) entry_awaits: Option<EntryAwaits>,
    pub(in crate::app) outbox: Outbox,
}

/// A requested file or gallery entry that will be shown.
pub(in crate::app) struct Awaited {
    pub(in crate::app) id: RequestId,
    /// The requested gallery entry. `None` for a file.
    pub(in crate::app) entry: Option<GalleryEntry>,
}

/// A pending explanation whose history entry exists already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) enum EntryAwaits {
    /// The gallery entry that the address names.
    Address,
    /// The result of the run.
    Run,
}

/// The environment in which the page opens: address, language, device, stored data.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// The address of the page.
    pub address: String,
    /// The tag of the page's language.
    pub language: String,
    /// The address of the built-in model's file.
    pub built_in_model: String,
    /// The address of the first part of Glasscage Standard.
    pub standard_model: String,
    /// The id of Glasscage Standard, if an earlier visit stored it.
    pub stored_standard: Option<String>,
    /// Whether the address of the page asks for Glasscage Standard.
    pub asks_for_standard: bool,
    /// The backend that the address selects, and the kernel shapes measured on an earlier visit.
    pub load_options: LoadOptions,
    /// Whether the device has more than one core and is not a phone.
    pub has_spare_core: bool,
    /// The prompt that the visitor typed earlier in this tab.
    pub prompt: String,
    /// The given answer that the visitor typed earlier in this tab.
    pub given_answer: String,
    /// The texts that the page replaced earlier in this tab, serialized by [`Editor::replaced_texts`].
    pub replaced_texts: Option<String>,
    /// The model of the last visit, serialized by [`ModelChoice`].
    pub model: Option<String>,
    /// The unfinished download of the last visit, serialized by [`library`].
    pub download: Option<String>,
    /// The measured speed of the last run in this browser, serialized by [`crate::app::analysis::speed::Speed`].
    pub speed: Option<String>,
}

impl State {
    pub fn new(environment: Environment) -> Self {
        let standard = Standard::new(&environment.standard_model, environment.stored_standard, environment.asks_for_standard);
        let of_address = standard.choice().filter(|_| standard.is_in_address).and_then(|choice| choice.to_json());
        Self {
            editor: Editor::new(environment.prompt, environment.given_answer, environment.replaced_texts.as_deref()),
            engine: Engine::new(
                environment.load_options,
                environment.has_spare_core,
                environment.built_in_model,
                of_address.or(environment.model).as_deref(),
                environment.speed.as_deref(),
            ),
            lesson_texts: LessonTexts::of(&environment.language),
            language: environment.language,
            library: Library::new(environment.download.as_deref(), standard),
            page_address: without_fragment(&environment.address).to_owned(),
            ..Self::default()
        }
    }

    /// The initial state of the viewer.
    pub fn viewer() -> Self {
        Self { is_viewer: true, ..Self::default() }
    }

    /// Whether the chosen model works without a network.
    pub fn works_offline(&self) -> bool {
        *self.is_kept_for_offline && matches!(*self.engine.choice, ModelChoice::BuiltIn | ModelChoice::Stored { .. })
    }

    /// Whether the explanation on screen can be saved and shared: no run is in progress, or the run refines a complete explanation.
    pub fn can_share(&self) -> bool {
        self.explanation.document().is_some_and(|document| !self.engine.is_busy() || document.is_complete())
    }

    /// Whether a run is in progress that makes a new explanation.
    pub fn makes_new_explanation(&self) -> bool {
        self.engine.job.as_ref().is_some_and(|job| matches!(job.purpose, Purpose::Explain(_)))
    }

    /// Expected seconds for an answer to the prompt and its explanation by a model of `parameters` parameters: until each source is
    /// measured alone, and in all. `None` before the first run in this browser.
    pub fn expected_seconds(&self, parameters: u64) -> Option<[f64; 2]> {
        let (speed, editor) = ((*self.engine.speed)?, &self.editor);
        let passes = [Passes::Alone, Passes::of(MethodText::of(editor.settings.method))];
        Some(passes.map(|passes| speed.seconds(parameters, (editor.prompt.as_str(), editor.settings.unit), 0, passes)))
    }

    /// The lesson on screen.
    pub fn lesson(&self) -> Option<&OpenLesson> {
        if let Screen::Lesson(open) = &*self.screen { Some(open) } else { None }
    }

    /// The lesson on screen, to change it.
    pub(in crate::app) fn lesson_mut(&mut self) -> Option<&mut OpenLesson> {
        // Borrow mutably only if there is a lesson, because that updates the views.
        self.lesson()?;
        if let Screen::Lesson(open) = &mut *self.screen { Some(open) } else { None }
    }

    /// The explanation on another site that the visitor is asked about.
    pub fn remote(&self) -> Option<&Remote> {
        if let Screen::Remote(remote) = &*self.screen { Some(remote) } else { None }
    }

    /// The title of the browser's tab.
    pub fn title(&self) -> String {
        if let Some(open) = self.lesson() {
            return format!("{} - Glasscage", open.lesson.title);
        }
        let own = self.explanation.document().filter(|_| !self.explanation.is_home());
        own.map_or_else(|| text(title::HOME).to_owned(), |document| format!("{} - Glasscage", crate::explanation::title(document)))
    }

    /// Adds an effect, which is carried out after the message is handled.
    pub(in crate::app) fn emit(&mut self, effect: Effect) {
        self.outbox.emit(effect);
    }

    /// The id of a new request.
    pub(in crate::app) fn next_id(&mut self) -> RequestId {
        self.outbox.next_id()
    }

    /// Shows a problem of the page as a whole.
    pub(in crate::app) fn fail_with(&mut self, what: glasscage_message::Message, remedy: glasscage_message::Message) {
        self.fail_at(Place::Page, Problem::new(what, remedy));
    }

    /// Shows a problem at `place`. Uses the editor if `place` is the explanation and none is on screen.
    pub(in crate::app) fn fail_at(&mut self, place: Place, problem: Problem) {
        let is_on_screen = place != Place::Explanation || self.explanation.shown.is_some();
        self.problem_place = if is_on_screen { place } else { Place::Editor };
        if self.problem_place == Place::Editor {
            *self.editor.is_open = true;
        }
        *self.problem = Some(problem);
    }
}

/// The problem that a file of the page could not be fetched.
pub fn part_problem() -> Problem {
    Problem::new(
        message!("This part of the page could not be loaded."),
        message!("Check the connection and try again. If it still fails, the site has changed since you opened it: reload the page."),
    )
}

fn without_fragment(address: &str) -> &str {
    address.split('#').next().unwrap_or_default()
}

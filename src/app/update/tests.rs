//! Tests of the page, as sequences of messages.

use super::*;
use crate::app::analysis::example::document;
use crate::app::state::Environment;
use crate::app::state::engine::MaskedLmState;
use crate::app::state::library::LibraryMessage;
use crate::app::state::local_file::{FileId, LocalFile};
use crate::app::state::message::{EditorMessage, ExplanationMessage, Fetch};
use crate::app::state::model_choice::ModelChoice;
use crate::app::state::opened::Opened;
use crate::app::state::origin::Origin;
use crate::app::state::run_status::RunStatus;
use crate::app::state::storage_keys;
use crate::explanation::{Aggregation, Derivation, Document, Language, SentenceRule, Weighting};
use crate::graph::Normalization;
use crate::problem::Problem;
use crate::request::{ExplainProgress, LoadOptions, LoadProgress, LoadedModel, Question};
use crate::table::Table;
use crate::version::GLASSCAGE;
use crate::worker::engine::protocol::{EngineEvent, EngineRequest, ModelSource};
use crate::worker::envelope::{Envelope, RequestId};
use crate::worker::role::Lost;
use glasscage_message::message;

const STOPPED: &str = "The engine stopped while \u{201c}Built-in model\u{201d} was in use. Start the explanation again to \
     reload the model, or choose another model.";

/// A page without a browser.
pub(super) struct Page {
    state: State,
}

impl Page {
    pub(super) fn new() -> Self {
        Self { state: State::new(Environment { address: "https://a.b/c/#old".into(), ..Environment::default() }) }
    }

    /// A page in this language.
    pub(super) fn in_language(tag: &str) -> Self {
        let address = "https://a.b/c/".into();
        Self { state: State::new(Environment { address, language: tag.into(), ..Environment::default() }) }
    }

    /// A page with a loaded model and a prompt.
    pub(super) fn ready() -> Self {
        let mut page = Self::new();
        page.send(EditorMessage::PromptTyped("A. B.".into()));
        let load = page.loads();
        page.engine(load, EngineEvent::Ready(loaded()));
        page
    }

    /// A page with an explanation on screen that was computed here.
    pub(super) fn explained() -> Self {
        let mut page = Self::ready();
        let run = asked(&page.send(Message::Explain));
        page.engine(run, EngineEvent::Explained { document: Box::new(document()), problem: None });
        page
    }

    /// Loads the built-in model, and returns the id of the request.
    pub(super) fn loads(&mut self) -> RequestId {
        asked(&self.send(LibraryMessage::UseBuiltIn))
    }

    pub(super) fn send(&mut self, message: impl Into<Message>) -> Vec<Effect> {
        update(&mut self.state, message.into())
    }

    pub(super) fn engine(&mut self, id: RequestId, body: EngineEvent) -> Vec<Effect> {
        update_by_engine(&mut self.state, Envelope { id, body })
    }

    pub(super) fn token(&mut self, id: RequestId, piece: &str) {
        self.engine(id, EngineEvent::Progress(ExplainProgress::Token(piece.into())));
    }

    pub(super) fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        untrack(|| look(&self.state))
    }

    /// Moves the browser to this history entry.
    pub(super) fn visit(&mut self, entry: Option<&str>, fragment: &str) -> Vec<Effect> {
        self.send_and_open(Message::Visited { entry: entry.map(str::to_owned), fragment: fragment.into() })
    }

    /// Sends a message, and delivers the content of the link that it asks for, if any.
    pub(super) fn send_and_open(&mut self, message: impl Into<Message>) -> Vec<Effect> {
        let mut effects = self.send(message);
        if let [Effect::OpenLink(id, link)] = &mut effects[..] {
            let opened = Opened::from_bytes(link.as_bytes(), Origin::Link);
            effects = self.send(Message::LinkOpened { id: *id, link: std::mem::take(link), opened });
        }
        effects
    }

    /// Opens and reads a file with this text.
    pub(super) fn opens(&mut self, text: String) -> Vec<Effect> {
        let id = read(&self.send(Message::FilesOpened(vec![file("x.json")])));
        self.reads(id, text)
    }

    /// Delivers the file of this request.
    pub(super) fn reads(&mut self, id: RequestId, text: String) -> Vec<Effect> {
        self.send(Message::FileRead { id, name: "x.json".into(), opened: Opened::from_bytes(text.as_bytes(), Origin::File) })
    }

    /// Delivers the requested gallery entry.
    pub(super) fn arrives(&mut self, asked: &[Effect], text: String) -> Vec<Effect> {
        let [Effect::Fetch(fetch @ Fetch::GalleryEntry(..))] = asked else { panic!("an entry of the gallery: {asked:?}") };
        self.send(Message::Fetched(fetch.clone(), Some(text)))
    }

    /// The method of the explanation on screen.
    pub(super) fn shown(&self) -> Option<String> {
        self.look(|state| state.explanation.shown.as_ref().map(|shown| shown.method_id().to_owned()))
    }

    /// The question in the only request among these effects.
    pub(super) fn question(effects: &[Effect]) -> Question {
        let [Envelope { body: EngineRequest::Explain(question), .. }] = requests(effects)[..] else { panic!("one question: {effects:?}") };
        question.clone()
    }

    pub(super) fn run(&self) -> RunStatus {
        self.look(|state| state.engine.run.clone())
    }

    pub(super) fn problem(&self) -> String {
        self.look(|state| state.problem.as_ref().map(ToString::to_string).unwrap_or_default())
    }
}

pub(super) fn loaded() -> LoadedModel {
    LoadedModel {
        model: document().manifest.model,
        context_length: 100,
        bytes_per_token: 1,
        has_template: true,
        thinking: crate::request::ThinkingSupport::Never,
        backend: "candle-cpu".into(),
        kernel_shapes: None,
        notices: Vec::new(),
        glasscage: GLASSCAGE.into(),
    }
}

/// The requests to the engine among these effects.
pub(super) fn requests(effects: &[Effect]) -> Vec<&Envelope<EngineRequest>> {
    effects.iter().filter_map(|effect| if let Effect::SendToEngine(request, _) = effect { Some(request) } else { None }).collect()
}

/// The id of the only request to the engine.
pub(super) fn asked(effects: &[Effect]) -> RequestId {
    let [request] = requests(effects)[..] else { panic!("one request: {effects:?}") };
    request.id
}

/// The id of the only request to read a file.
pub(super) fn read(effects: &[Effect]) -> RequestId {
    let [Effect::ReadFile(id, _)] = effects else { panic!("a file is read: {effects:?}") };
    *id
}

pub(super) fn file(name: &str) -> LocalFile {
    LocalFile { id: FileId(7), name: name.into(), bytes: 10, modified_millis: 0.0 }
}

pub(super) fn unmeasured() -> Document {
    let mut document = document();
    document.table = Table::unmeasured(2, 4);
    document.method.passes = [0, 5];
    document
}

pub(super) fn answered(document: Document) -> EngineEvent {
    EngineEvent::Progress(ExplainProgress::Answered(Box::new(document)))
}

#[test]
fn explain_loads_the_model_first_and_then_asks() {
    let mut page = Page::new();
    page.send(EditorMessage::PromptTyped("A. B.".into()));
    let load = asked(&page.send(Message::Explain));
    assert_eq!(page.run(), RunStatus::Preparing);
    page.engine(load, EngineEvent::Loading(LoadProgress { read_bytes: 1, total_bytes: 2, memory_bytes: 3 }));
    let effects = page.engine(load, EngineEvent::Ready(loaded()));
    assert!(matches!(&requests(&effects)[0].body, EngineRequest::Explain(question) if question.prompt == "A. B."));
    assert_eq!(page.run(), RunStatus::answering());
}

#[test]
fn an_empty_prompt_asks_nothing() {
    let mut page = Page::new();
    assert!(page.send(Message::Explain).is_empty());
    assert!(page.problem().starts_with("There is no prompt yet."));
}

#[test]
fn two_quick_presses_ask_once() {
    let mut page = Page::ready();
    assert_eq!(requests(&page.send(Message::Explain)).len(), 1);
    assert!(page.send(Message::Explain).is_empty());
}

#[test]
fn stop_before_the_first_token_keeps_nothing() {
    let mut page = Page::ready();
    let run = asked(&page.send(Message::Explain));
    let effects = page.send(Message::Stop);
    assert_eq!(requests(&effects)[..], [&Envelope { id: run, body: EngineRequest::Cancel }]);
    page.engine(run, EngineEvent::Stopped);
    assert_eq!(page.run(), RunStatus::Done("Stopped".into()));
    assert!(page.look(|state| state.engine.unfinished.is_none()));
}

#[test]
fn model_that_crashed_tab_is_not_reloaded() {
    let mark = |text: &str| Effect::RememberInTab { key: storage_keys::LOADING, text: text.into() };
    let mut page = Page::new();
    let effects = page.send(Message::FilesOpened(vec![file("large.gguf")]));
    assert!(effects.contains(&mark("large.gguf")));
    assert!(page.engine(asked(&effects), EngineEvent::Ready(loaded())).contains(&mark("")));
    let effects = page.send(Message::TabEndedWhileLoading("large.gguf".into()));
    assert!(effects.contains(&mark("")) && requests(&effects).is_empty());
    assert!(page.problem().contains("large.gguf") && page.problem().contains("memory"), "{}", page.problem());
    assert!(page.look(|state| state.engine.can_fall_back()));
}

#[test]
fn stop_while_the_model_loads_ends_the_engine() {
    let mut page = Page::new();
    page.send(EditorMessage::PromptTyped("A.".into()));
    let load = asked(&page.send(Message::Explain));
    assert!(page.send(Message::Stop).contains(&Effect::EndEngine));
    page.engine(load, EngineEvent::Ready(loaded()));
    assert!(page.look(|state| state.engine.loaded().is_none()), "the answer to a load that was dropped");
    assert!(!page.run().is_active());
}

#[test]
fn unresponsive_engine_is_terminated_late_answer_ignored() {
    let mut page = Page::ready();
    let run = asked(&page.send(Message::Explain));
    page.token(run, "So 4");
    let effects = page.send(Message::Stop);
    assert!(effects.contains(&Effect::After { millis: 4_000, message: Box::new(Message::StopTimedOut(run)) }));
    assert!(page.send(Message::StopTimedOut(run)).contains(&Effect::EndEngine));
    assert_eq!(page.look(|state| state.engine.unfinished.as_ref().map(|unfinished| unfinished.text.clone())), Some("So 4".into()));

    let load = asked(&page.send(Message::Explain));
    let again = asked(&page.engine(load, EngineEvent::Ready(loaded())));
    assert!(page.send(Message::StopTimedOut(run)).is_empty(), "the time of another run");
    page.engine(run, EngineEvent::Explained { document: Box::new(document()), problem: None });
    assert!(page.look(|state| state.explanation.shown.is_none()) && page.run().is_active());
    page.engine(again, EngineEvent::Explained { document: Box::new(document()), problem: None });
    assert!(page.look(|state| state.explanation.shown.is_some()) && !page.run().is_active());
}

#[test]
fn columns_fill_the_document_and_what_was_chosen_meanwhile_stays() {
    let mut page = Page::ready();
    let run = asked(&page.send(Message::Explain));
    page.engine(run, answered(unmeasured()));
    let column = ExplainProgress::Column { source: 0, scores: vec![1.0, -0.5, 0.0, 0.0], done: 1, planned: 5 };
    page.engine(run, EngineEvent::Progress(column));
    let shown = |page: &Page| page.look(|state| state.explanation.document().unwrap().table.row(0).to_vec());
    assert_eq!(shown(&page), [Some(1.0), None]);
    page.send(ExplanationMessage::Select { row: 1, extend: false });
    let derivation = Derivation { aggregation: Aggregation::Sum, normalization: Normalization::None, ..Derivation::default() };
    page.send(ExplanationMessage::Derive(derivation));
    page.engine(run, EngineEvent::Explained { document: Box::new(document()), problem: None });
    let method = page.look(|state| state.explanation.document().unwrap().method.clone());
    assert_eq!(method.derivation(), derivation);
    assert_eq!(page.look(|state| state.explanation.output.clone()), [1]);
}

#[test]
fn estimates_last_until_measurement_or_run_end() {
    let mut page = Page::ready();
    let run = asked(&page.send(Message::Explain));
    page.engine(run, answered(unmeasured()));
    assert!(page.run().phase().contains("measured so far"));
    let flow = Table::from_fn(2, 4, |_, _| Some(1.0));
    page.engine(run, EngineEvent::Progress(ExplainProgress::BaseScored { flow: Some(flow) }));
    assert!(page.run().phase().contains("estimate"));
    let estimated = |page: &Page| page.look(|state| [0, 1].map(|j| state.explanation.shown.as_ref().unwrap().graph.is_estimated(j)));
    assert_eq!(estimated(&page), [true, true]);
    let column = ExplainProgress::Column { source: 0, scores: vec![1.0, -0.5, 0.0, 0.0], done: 1, planned: 5 };
    page.engine(run, EngineEvent::Progress(column));
    assert_eq!(estimated(&page), [false, true]);
    page.send(ExplanationMessage::Derive(Derivation { aggregation: Aggregation::Sum, ..Derivation::default() }));
    assert_eq!(estimated(&page), [false, true]);
    page.send(Message::EngineLost(Lost::Stopped));
    assert_eq!(estimated(&page), [false, false]);
}

#[test]
fn a_column_of_another_shape_changes_nothing() {
    let mut page = Page::ready();
    let run = asked(&page.send(Message::Explain));
    page.engine(run, answered(unmeasured()));
    for (source, scores) in [(0, vec![1.0]), (99, vec![1.0; 4])] {
        page.engine(run, EngineEvent::Progress(ExplainProgress::Column { source, scores, done: 1, planned: 5 }));
    }
    assert!(page.look(|state| state.explanation.document().unwrap().table == unmeasured().table));
}

#[test]
fn a_worker_that_dies_while_measuring_leaves_what_was_measured() {
    let mut page = Page::ready();
    let run = asked(&page.send(Message::Explain));
    page.engine(run, answered(unmeasured()));
    page.send(Message::EngineLost(Lost::Stopped));
    assert!(page.look(|state| state.explanation.shown.is_some() && state.engine.loaded().is_none()));
    assert_eq!((page.run(), page.problem()), (RunStatus::Idle, STOPPED.to_owned()));
}

#[test]
fn problem_while_measuring_keeps_partial_document() {
    let mut page = Page::ready();
    let run = asked(&page.send(Message::Explain));
    page.engine(run, answered(unmeasured()));
    let problem = Some(Problem::new(message!("The device was lost"), message!("Press Explain")));
    page.engine(run, EngineEvent::Explained { document: Box::new(unmeasured()), problem });
    assert!(page.look(|state| state.explanation.shown.is_some()));
    assert!(page.problem().starts_with("The device was lost") && !page.run().is_active());
}

#[test]
fn failed_load_keeps_masked_model_and_files() {
    let mut page = Page::new();
    page.send(EditorMessage::PromptTyped("A.".into()));
    let masked = asked(&page.send(Message::MaskedLmChosen(vec![file("config.json")])));
    page.engine(masked, EngineEvent::MaskedLmLoaded);
    let effects = page.send(Message::FilesOpened(vec![file("broken.gguf")]));
    let [load, masked] = requests(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!(load.body, EngineRequest::Load { source: ModelSource::Files, options: LoadOptions::default(), has_spare_core: false });
    page.engine(load.id, EngineEvent::Failed(Problem::new(message!("broken"), message!("another"))));
    page.engine(masked.id, EngineEvent::MaskedLmLoaded);
    assert_eq!(
        page.look(|state| (*state.engine.masked_lm, state.engine.choice.clone())),
        (MaskedLmState::Ready, ModelChoice::Files("broken.gguf".into()))
    );
    assert!(page.look(|state| state.engine.loaded().is_none()));
    let effects = page.send(Message::Explain);
    assert!(effects.iter().any(|effect| matches!(effect, Effect::SendToEngine(request, files)
        if request.body == EngineRequest::LoadMaskedLm && *files == [FileId(7)])));
}

#[test]
fn late_masked_model_failure_leaves_run_active() {
    let mut page = Page::new();
    page.send(EditorMessage::PromptTyped("A.".into()));
    let masked = asked(&page.send(Message::MaskedLmChosen(vec![file("config.json")])));
    page.send(Message::Explain);
    // A new load sends the masked model again, under another id.
    page.engine(masked, EngineEvent::Failed(Problem::new(message!("late"), message!("late"))));
    assert!(page.run().is_active());
}

#[test]
fn an_update_waits_while_a_run_goes_on() {
    let mut page = Page::ready();
    page.send(Message::Explain);
    assert!(page.send(Message::UpdateWaits(true)).is_empty());
    assert!(page.look(|state| *state.update_is_waiting) && page.run().is_active());
}

#[test]
fn a_model_that_the_browser_keeps_works_without_a_network() {
    let mut page = Page::ready();
    assert!(!page.look(State::works_offline));
    page.send(Message::KeptForOffline);
    assert!(page.look(State::works_offline));
    *page.state.engine.choice = ModelChoice::Files("own".into());
    assert!(!page.look(State::works_offline), "a file is opened again by the visitor");
}

#[test]
fn nothing_is_opened_or_chosen_while_a_run_goes_on() {
    let mut page = Page::ready();
    let early = read(&page.send(Message::FilesOpened(vec![file("explanation.json")])));
    page.send(Message::Explain);
    assert!(page.send(Message::FilesOpened(vec![file("explanation.json")])).is_empty());
    assert!(page.reads(early, document().to_json()).is_empty());
    assert!(page.problem().starts_with("An explanation is being made"));
    assert!(page.send(Message::FilesOpened(vec![file("mine.gguf")])).is_empty());
    assert!(page.problem().starts_with("The engine is busy"));
}

#[test]
fn follow_ups_need_the_model_that_made_the_explanation() {
    let mut page = Page::ready();
    let mut shared = document();
    shared.manifest.model.sha256 = "another".into();
    page.opens(shared.to_json());
    for message in [Message::MeasureDeletion, Message::CompareMethod("clp".into()), Message::ToggleWords(0)] {
        assert_eq!(page.send(message), [Effect::Fetch(Fetch::Registry)]);
        assert!(requests(&page.send(Message::Fetched(Fetch::Registry, None))).is_empty());
        assert!(page.problem().starts_with("This explanation was made by another model"));
        assert!(!page.run().is_active());
    }
}

#[test]
fn compared_method_can_be_swapped_onto_screen() {
    let mut page = Page::explained();
    let run = asked(&page.send(Message::CompareMethod("clp".into())));
    let mut other = document();
    other.method.id = "clp".into();
    page.engine(run, EngineEvent::Explained { document: Box::new(other), problem: None });
    assert_eq!(page.look(|state| state.explanation.comparisons.len()), 1);
    page.send(Message::ShowMethod("clp".into()));
    let method = |page: &Page| page.look(|state| state.explanation.shown.as_ref().unwrap().method_id().to_owned());
    assert_eq!(method(&page), "clp");
    page.send(Message::ShowMethod("pert".into()));
    assert_eq!(method(&page), "pert");
    // Explained again by a method that is in the comparison.
    let mut again = document();
    again.method.id = "clp".into();
    page.opens(again.to_json());
    assert!(page.look(|state| state.explanation.comparisons.is_empty()), "each method has one column");
}

#[test]
fn words_are_measured_once_and_then_collapsed_and_shown() {
    let mut page = Page::explained();
    let run = asked(&page.send(Message::ToggleWords(1)));
    page.engine(run, EngineEvent::Words(Vec::new()));
    assert_eq!(page.look(|state| state.explanation.expanded[0].source), 1);
    assert!(page.send(Message::ToggleWords(1)).is_empty());
    assert_eq!(page.look(|state| state.explanation.collapsed.clone()), [1]);
    page.send(Message::ToggleWords(1));
    assert!(page.look(|state| state.explanation.collapsed.is_empty()));
}

#[test]
fn a_shared_explanation_made_again_is_compared() {
    let mut page = Page::ready();
    page.opens(document().to_json());
    assert!(page.look(|state| state.explanation.shown.as_ref().unwrap().origin == Origin::File && !*state.editor.is_open));
    let run = asked(&page.send(Message::Recompute));
    page.engine(run, EngineEvent::Explained { document: Box::new(document()), problem: None });
    assert!(page.look(|state| state.explanation.reproduction.as_ref().is_some_and(|reproduction| reproduction.is_same())));
}

#[test]
fn a_shared_explanation_made_again_is_weighted_as_before() {
    let unweighted = document();
    let mut weighted = Document { flow: Some(unweighted.table.clone()), ..unweighted.clone() };
    weighted.method.weighting = Weighting::Flow;
    for shared in [unweighted, weighted.clone()] {
        let mut page = Page::ready();
        page.opens(shared.to_json());
        let run = asked(&page.send(Message::Recompute));
        let growing = Document { flow: None, table: Table::unmeasured(2, 4), ..weighted.clone() };
        page.engine(run, EngineEvent::Progress(ExplainProgress::Answered(Box::new(growing))));
        let saved = page.look(|state| state.explanation.selected_document().unwrap());
        assert_eq!(saved.check(), Ok(()), "a reload shows it");
        page.engine(run, EngineEvent::Explained { document: Box::new(weighted.clone()), problem: None });
        assert_eq!(page.look(|state| state.explanation.document().unwrap().method.weighting), shared.method.weighting);
    }
}

#[test]
fn recomputing_keeps_sentence_rule_and_language() {
    let mut german = document();
    german.manifest.sentence_rule = SentenceRule::AnyScript;
    german.manifest.language = Language::German;
    for document in [german, document()] {
        let mut page = Page::ready();
        page.opens(document.to_json());
        let question = Page::question(&page.send(Message::Recompute));
        assert_eq!((question.sentence_rule, question.language), (document.manifest.sentence_rule, Some(document.manifest.language)));
    }
}

#[test]
fn parts_of_a_split_model_that_are_missing_are_named() {
    let mut page = Page::new();
    assert!(page.send(Message::FilesOpened(vec![file("m-00001-of-00003.gguf"), file("m-00003-of-00003.gguf")])).is_empty());
    assert!(page.problem().contains("m-00002-of-00003.gguf"), "{}", page.problem());
}

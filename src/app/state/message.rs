//! What happens to the page, and what the page does about it.

use super::library::LibraryMessage;
use super::local_file::{FileId, LocalFile};
use super::remote::RemoteFailure;
use super::settings::Settings;
use crate::app::gallery::GalleryEntry;
use crate::explanation::Derivation;
use crate::lesson::Lesson;
use crate::worker::engine::protocol::{EngineEvent, EngineRequest};
use crate::worker::envelope::{Envelope, RequestId};
use crate::worker::library::protocol::LibraryRequest;
use crate::worker::role::Lost;

/// A text of the page's own site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetch {
    Examples,
    Gallery,
    /// An explanation or a lesson of the gallery, and the request that it answers.
    GalleryEntry(RequestId, GalleryEntry),
    /// What the lessons of the gallery say in the language of this tag.
    LessonTexts(&'static str),
    Registry,
}

/// What the visitor did, or what came of an effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    PromptTyped(String),
    GivenAnswerTyped(String),
    SettingsChanged(Settings),
    /// The prompt has stayed as it was after so many changes: count its tokens.
    CountTokens(u32),
    EditorToggled(bool),
    /// Put this prompt into the editor; a text of the visitor's own is set aside.
    EditPrompt(String),
    RestoreSetAside,

    /// Answer the prompt (or take the given answer) and explain it.
    Explain,
    /// Make the explanation on screen again, as its document says it was made.
    Recompute,
    /// Let the model write the answer that was stopped to its end.
    GoOn,
    /// Explain the answer that was stopped as far as it goes.
    ExplainSoFar,
    /// Let the answer on screen, which was cut off, become longer.
    Lengthen,
    Stop,
    /// The engine did not stop the run of this request in time.
    StopTimedOut(RequestId),
    /// Put the explanation on screen to the deletion test.
    MeasureDeletion,
    /// Explain the answer on screen by this method too.
    CompareMethod(String),
    /// Put the explanation by this method on screen; the one on screen takes its place.
    ShowMethod(String),
    /// Leave these sentences out of the prompt, ascending.
    LeaveOut(Vec<usize>),
    /// Put other words in the place of a prompt sentence.
    Reword {
        source: usize,
        words: String,
    },
    /// Take all changes of the prompt back.
    UndoEdits,
    /// Answer the changed prompt.
    AnswerVariant,
    /// Explain the answer to this changed prompt, too.
    ExplainVariant(usize),
    /// Put the explanation of this changed prompt on screen.
    OpenVariant(usize),
    /// Expand a source into its words, or collapse it.
    ToggleWords(usize),

    /// Explain generated sentence `row`, or with `extend` add it to what is explained or take it away.
    Select {
        row: usize,
        extend: bool,
    },
    /// Show this generated sentence as if it were chosen.
    Preview(Option<usize>),
    /// Highlight the edges of this sentence, of prompt or generation.
    Focus(Option<usize>),
    SetEdgeShare(f64),
    /// Make the graph of the same scores in this way.
    Derive(Derivation),
    Escape,

    /// Chosen or dropped: an explanation (JSON), or a model (GGUF, all parts of it where it is split).
    FilesOpened(Vec<LocalFile>),
    FileRead {
        id: RequestId,
        name: String,
        bytes: Option<Vec<u8>>,
    },
    /// The browser is at this entry of its history now: what the entry carries ([`super::history_entry`]), and the fragment of its
    /// address, with the `#`.
    Visited {
        entry: Option<String>,
        fragment: String,
    },
    /// The visitor agrees that the site be asked which a link names, or does not.
    FetchRemote,
    DeclineRemote,
    /// The bytes that the site sent.
    RemoteFetched(RequestId, Result<Vec<u8>, RemoteFailure>),
    /// Back to the page without an explanation.
    GoHome,
    OpenGalleryEntry(GalleryEntry),
    /// Begin a lesson about the explanation on screen.
    MakeLesson,
    Lesson(LessonMessage),
    /// A view needs this text; it is fetched once.
    Needed(Fetch),
    /// `None` where it could not be fetched.
    Fetched(Fetch, Option<String>),
    SaveDocument,
    Save {
        name: String,
        media_type: &'static str,
        bytes: Vec<u8>,
    },
    /// The browser did not let a file be saved.
    SaveRefused,
    CopyLink,
    /// Whether the browser took this link onto the clipboard.
    LinkCopied {
        address: String,
        is_copied: bool,
    },
    /// Show this part of the page to whoever opens the link, or hide it.
    ShowInLink {
        part: &'static str,
        is_shown: bool,
    },
    CloseLink,
    DismissProblem,
    UpdateWaits(bool),
    /// Page, engine and built-in model are kept in this browser.
    KeptForOffline,
    ActivateUpdate,

    /// The page that embeds the viewer asks for something.
    Host(HostRequest),

    MaskedLmChosen(Vec<LocalFile>),
    Engine(Envelope<EngineEvent>),
    /// The browser ended this tab while the model of this name was being loaded, and the tab is open again.
    TabEndedWhileLoading(String),
    /// The browser ended this tab, and the tab is open again: what the entry of the history carried that was made last.
    TabEnded(String),
    /// The tab is not in sight any more: the browser may end it without another word.
    Hidden,
    /// The engine's worker is gone, and the model in it.
    EngineLost(Lost),
    Library(LibraryMessage),
}

/// What the page that embeds the viewer may ask for.
#[derive(Clone, Debug, PartialEq)]
pub enum HostRequest {
    /// Show the explanation in this text: its JSON or its link.
    Open(String),
    /// Explain these generated sentences, from 0.
    Choose(Vec<usize>),
}

/// What the reader of a lesson does, or its writer.
#[derive(Clone, Debug, PartialEq)]
pub enum LessonMessage {
    /// To this step, from 0.
    GoTo(usize),
    /// Mark this prompt sentence, or take the mark away.
    Mark(usize),
    /// Show what was measured.
    Reveal,
    /// Choose this answer.
    Choose(usize),
    /// Write the lesson, or read it.
    Edit(bool),
    /// Put this lesson in its place.
    Change(Box<Lesson>),
    /// Add the explanations in these files, or of this link.
    AddFiles(Vec<LocalFile>),
    AddLink(String),
    /// Take the last change back, or make it again.
    Undo,
    Redo,
    /// Let the step explain what is chosen on screen.
    TakeOutput,
    /// Leave the lesson; its explanation stays on screen.
    End,
}

/// What is done outside the state.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Sends a request to the engine's worker, started where there is none, with these files.
    SendToEngine(Envelope<EngineRequest>, Vec<FileId>),
    /// Ends the engine's worker, whatever it is doing.
    EndEngine,
    SendToLibrary(Envelope<LibraryRequest>),
    /// Asks the browser to keep what is stored.
    RequestPersistence,
    /// Makes addresses at which this tab can read these files. Answered by `ObjectUrlsCreated`.
    CreateObjectUrls(Vec<FileId>),
    RevokeObjectUrl(String),
    /// Sends `message` to the page after so many milliseconds.
    After {
        millis: u32,
        message: Box<Message>,
    },
    /// Answered by `Fetched`.
    Fetch(Fetch),
    /// Asks another site for an explanation. Answered by `RemoteFetched`.
    FetchRemote(RequestId, String),
    /// Answered by `FileRead`.
    ReadFile(RequestId, LocalFile),
    /// Answered by `SaveRefused` where the browser refuses.
    SaveFile {
        name: String,
        media_type: &'static str,
        bytes: Vec<u8>,
    },
    /// Answered by `LinkCopied`.
    CopyToClipboard(String),
    /// Makes an entry of the browser's history, with what it carries.
    PushEntry {
        address: String,
        text: Option<String>,
    },
    /// Changes the entry that the browser is at.
    ReplaceEntry {
        address: String,
        text: Option<String>,
    },
    /// Brings what is on screen in sight, where it is not.
    ScrollToExplanation,
    /// Keeps a text for a reload of this tab.
    RememberInTab {
        key: &'static str,
        text: String,
    },
    /// Keeps a text for later visits, or removes it.
    RememberForVisits {
        key: &'static str,
        text: Option<String>,
    },
    /// Lets a service worker keep this version of the page for use without a network.
    RegisterServiceWorker,
    /// Reloads the page with the version that waits.
    ActivateUpdate,
}

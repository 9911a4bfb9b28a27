//! Messages are events that the page handles. Effects are actions that it requests outside its state.

use super::library::LibraryMessage;
use super::local_file::{FileId, LocalFile};
use super::opened::Opened;
use super::remote::RemoteFailure;
use super::settings::Settings;
use crate::app::gallery::GalleryEntry;
use crate::explanation::Derivation;
use crate::lesson::Lesson;
use crate::worker::engine::protocol::EngineRequest;
use crate::worker::envelope::{Envelope, RequestId};
use crate::worker::library::protocol::LibraryRequest;
use crate::worker::role::Lost;

/// A text on the page's own site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetch {
    Examples,
    Gallery,
    /// An explanation or a lesson of the gallery, with the id of the request.
    GalleryEntry(RequestId, GalleryEntry),
    /// Translations of the gallery's lessons into the language with this tag.
    LessonTexts(&'static str),
    Registry,
}

/// An action of the visitor, or the result of an effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    Editor(EditorMessage),
    Explanation(ExplanationMessage),
    /// The visitor selected these generated sentences, and the pause before they are stored is over.
    SelectionRests(Vec<usize>),
    Lesson(LessonMessage),
    Library(LibraryMessage),

    /// Answer the prompt (or take the given answer) and explain it.
    Explain,
    /// Recompute the explanation on screen with the settings in its document.
    Recompute,
    /// Put the conversation so far into the editor: the prompt and the answer on screen, and the start of another turn.
    NextTurn,
    /// Let the model continue the stopped answer to its end.
    ContinueAnswer,
    /// Explain the stopped answer as far as it is written.
    ExplainSoFar,
    /// Answer again with a higher token limit, because the answer on screen was cut off.
    RaiseTokenLimit,
    Stop,
    /// The engine did not stop the run of this request in time.
    StopTimedOut(RequestId),
    /// Run the deletion test on the explanation on screen.
    MeasureDeletion,
    /// Compare a part of the answer on screen (code points, half-open) with this text in its place.
    MeasureContrast {
        mark: [usize; 2],
        alternative: String,
    },
    /// Measure the speed of this device and the errors of its GPU.
    MeasureDevice,
    /// Explain the answer on screen by this method too.
    CompareMethod(String),
    /// Swap the explanation on screen with the one by this method.
    ShowMethod(String),
    /// Answer the changed prompt.
    AnswerVariant,
    /// Answer the prompt on screen without these sentences, ascending.
    AnswerWithout(Vec<usize>),
    /// Continue the answer on screen from an alternative of a token (0-based). Rank 1 is the most likely alternative.
    ContinueFrom {
        token: usize,
        rank: usize,
    },
    /// Explain the answer of this variant, too (0-based).
    ExplainVariant(usize),
    /// Show the explanation of this variant (0-based).
    OpenVariant(usize),
    /// Put the prompt of this variant (0-based) into the editor. The visitor's own text is saved for later.
    EditVariant(usize),
    /// Expand a source into its words, or collapse it.
    ToggleWords(usize),

    /// The visitor chose or dropped files: an explanation (JSON), a model (GGUF, with all parts if it is split), or texts for the prompt.
    FilesOpened(Vec<LocalFile>),
    /// The names and bytes of text files for the prompt, in order. `None` if a file could not be read.
    TextsRead(Vec<(String, Option<Vec<u8>>)>),
    /// The content of a file, or why it could not be opened.
    FileRead {
        id: RequestId,
        name: String,
        opened: Result<Opened, glasscage_message::Message>,
    },
    /// The content of a link, or why it could not be opened.
    LinkOpened {
        id: RequestId,
        link: String,
        opened: Result<Opened, glasscage_message::Message>,
    },
    /// The browser has moved to another history entry, with this state ([`super::history_entry`]) and this address fragment with its `#`.
    Visited {
        entry: Option<String>,
        fragment: String,
    },
    /// The visitor agrees to fetch the explanation from the site that the link names.
    FetchRemote,
    /// The visitor declines to fetch it.
    DeclineRemote,
    /// The content of the file that the site sent, or why it could not be opened; or why there is no file.
    RemoteFetched(RequestId, Result<Result<Opened, glasscage_message::Message>, RemoteFailure>),
    /// Go to the start page.
    GoHome,
    OpenGalleryEntry(GalleryEntry),
    /// Start a lesson about the explanation on screen.
    MakeLesson,
    /// A view needs this text. It is fetched once.
    Needed(Fetch),
    /// The fetched text. `None` if it could not be fetched.
    Fetched(Fetch, Option<String>),
    SaveDocument,
    Save {
        name: String,
        media_type: &'static str,
        bytes: Vec<u8>,
    },
    /// The browser refused to save a file.
    SaveRefused,
    CopyLink,
    /// The fragment of the link that `CopyLink` asked for.
    LinkEncoded(String),
    /// Whether the browser copied this link to the clipboard.
    LinkCopied {
        address: String,
        is_copied: bool,
    },
    /// Show or hide this part of the page for people who open the link.
    ShowInLink {
        part: &'static str,
        is_shown: bool,
    },
    CloseLink,
    DismissProblem,
    UpdateWaits(bool),
    /// Page, engine and built-in model are available offline.
    KeptForOffline,
    ActivateUpdate,

    /// The embedding page sent a request to the viewer.
    Host(HostRequest),

    MaskedLmChosen(Vec<LocalFile>),
    /// The tab is open again after the browser ended it while the model with this name was loading.
    TabEndedWhileLoading(String),
    /// The tab is open again after the browser ended it. Contains the state of the last history entry.
    TabEnded(String),
    /// The texts of the visitor's language could not be fetched.
    LanguageMissing,
    /// The tab was hidden, or the visitor is about to leave. The browser may end it without further notice.
    MayEnd,
    /// The engine's worker is lost, and the model in it.
    EngineLost(Lost),
}

impl From<EditorMessage> for Message {
    fn from(message: EditorMessage) -> Self {
        Self::Editor(message)
    }
}

impl From<ExplanationMessage> for Message {
    fn from(message: ExplanationMessage) -> Self {
        Self::Explanation(message)
    }
}

impl From<LessonMessage> for Message {
    fn from(message: LessonMessage) -> Self {
        Self::Lesson(message)
    }
}

impl From<LibraryMessage> for Message {
    fn from(message: LibraryMessage) -> Self {
        Self::Library(message)
    }
}

/// Actions of the visitor in the form.
#[derive(Clone, Debug, PartialEq)]
pub enum EditorMessage {
    PromptTyped(String),
    /// Read a prompt that looks like a conversation as plain text, or as a conversation again.
    ReadAsText(bool),
    /// Also explain the earlier answers of a conversation, or take them as given.
    ExplainEarlier(bool),
    GivenAnswerTyped(String),
    SettingsChanged(Settings),
    /// Count the tokens of the prompt, unless it has changed again. Contains the number of changes so far.
    CountTokens(u32),
    Toggled(bool),
    /// Put this prompt into the editor. The visitor's own text is saved for later.
    EditPrompt(String),
    RestoreSetAside,
}

/// Actions of the reader on the explanation on screen that need no model.
#[derive(Clone, Debug, PartialEq)]
pub enum ExplanationMessage {
    /// Select generated sentence `row`. With `extend`, add it to the output or remove it.
    Select {
        row: usize,
        extend: bool,
    },
    /// Show this generated sentence as if it were selected. `None` ends the preview.
    Preview(Option<usize>),
    /// Highlight the edges of this prompt or generated sentence.
    Focus(Option<usize>),
    SetEdgeShare(f64),
    /// Rebuild the graph from the same scores with this derivation.
    Derive(Derivation),
    /// Close the link if it is open. Otherwise select the last sentence.
    Escape,
    /// Leave these sentences out of the prompt, ascending.
    LeaveOut(Vec<usize>),
    /// Replace the words of a prompt sentence.
    Reword {
        source: usize,
        words: String,
    },
    /// Undo all changes of the prompt.
    UndoEdits,
}

/// Requests of the embedding page to the viewer.
#[derive(Clone, Debug, PartialEq)]
pub enum HostRequest {
    /// Show the explanation in this text: its JSON or its link.
    Open(String),
    /// Select these generated sentences (0-based).
    Choose(Vec<usize>),
}

/// Actions of the reader or the author of a lesson.
#[derive(Clone, Debug, PartialEq)]
pub enum LessonMessage {
    /// Go to this step (0-based).
    GoTo(usize),
    /// Mark this prompt sentence, or remove the mark.
    Mark(usize),
    /// Show the measured shares.
    Reveal,
    /// Choose this answer (0-based).
    Choose(usize),
    /// Edit the lesson if true, else read it.
    Edit(bool),
    /// Replace the lesson with this version.
    Change(Box<Lesson>),
    /// Add the explanations in these files.
    AddFiles(Vec<LocalFile>),
    /// Add the explanations of this link.
    AddLink(String),
    /// Undo the last change.
    Undo,
    /// Redo the change that was undone last.
    Redo,
    /// Use the selection on screen as the output of the step.
    TakeOutput,
    /// Leave the lesson. Its explanation stays on screen.
    End,
}

/// An action outside the state.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Sends a request with these files to the engine's worker. Starts the worker if there is none.
    SendToEngine(Envelope<EngineRequest>, Vec<FileId>),
    /// Terminates the engine's worker, even if it is busy.
    EndEngine,
    SendToLibrary(Envelope<LibraryRequest>),
    /// Asks the browser to keep the stored data when space runs low.
    RequestPersistence,
    /// Creates object URLs at which this tab can read these files. Answered by `ObjectUrlsCreated`.
    CreateObjectUrls(Vec<FileId>),
    RevokeObjectUrl(String),
    /// Sends `message` to the page after `millis` ms.
    After {
        millis: u32,
        message: Box<Message>,
    },
    /// Answered by `Fetched`.
    Fetch(Fetch),
    /// Asks another site for an explanation. Answered by `RemoteFetched`.
    FetchRemote(RequestId, String),
    /// Aborts the last `FetchRemote`.
    AbortRemote,
    /// Answered by `FileRead`.
    ReadFile(RequestId, LocalFile),
    /// Opens a link, or its fragment alone. Answered by `LinkOpened`.
    OpenLink(RequestId, String),
    /// Answered by `TextsRead`.
    ReadTexts(Vec<LocalFile>),
    /// Answered by `SaveRefused` if the browser refuses.
    SaveFile {
        name: String,
        media_type: &'static str,
        bytes: Vec<u8>,
    },
    /// Answered by `LinkCopied`.
    CopyToClipboard(String),
    /// Adds a history entry with this state.
    PushEntry {
        address: String,
        text: Option<String>,
    },
    /// Replaces the address and the state of the current history entry.
    ReplaceEntry {
        address: String,
        text: Option<String>,
    },
    /// Replaces the state of the current history entry, and keeps its address.
    UpdateEntry(String),
    /// Scrolls to the explanation or lesson, unless it is visible.
    ScrollToExplanation,
    /// Stores a text for a reload of this tab.
    RememberInTab {
        key: &'static str,
        text: String,
    },
    /// Stores a text for later visits, or removes it if `text` is `None`.
    RememberForVisits {
        key: &'static str,
        text: Option<String>,
    },
    /// Registers the service worker, which makes this version of the page available offline.
    RegisterServiceWorker,
    /// Reloads the page with the waiting version.
    ActivateUpdate,
}

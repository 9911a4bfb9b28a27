//! # Glasscage: why did the model give this answer?
//!
//! A language model answers a prompt. Glasscage then replaces one sentence at a time by end tokens, and measures how much less likely the
//! model finds its answer. From these drops it builds a graph over prompt and generated sentences (the CAGE paper, arXiv 2512.15663). From
//! the graph it computes the share of each prompt sentence in any sentence that a visitor clicks.
//!
//! ## One click on Explain
//!
//! ```text
//!   page (wasm, no engine)                                          worker (wasm, engine)
//!   app/views ── Message ──► app/update ── Effect ──► app/effects
//!                                                        │ worker/client ══ Envelope ══► worker/engine/service ─► session
//!                                                                                          │ model/chat   the prompt in the chat template
//!                                                                                          │ lm/generate  the answer, token by token
//!                                                                                          │ text         sentences and their tokens
//!                                                                                          │ attribution  plan ─► lm.score ─► effects
//!   app/update ◄── app/worker_updates ◄── app/effects ◄═ Progress.., Answered ═══════════════┘
//!    │
//!    └─ graph: T ─► A ─► Y ─► shares, arcs, prune     again at every click, never back in the worker
//! ```
//!
//! Both sides share the [`explanation::Document`]. A run, a file and a link each make one, and the page renders only documents. A document
//! contains the table **T** as measured, and how to build the graph from it. Derived values are computed where they are shown.
//!
//! The page is a state machine: `app/state` is data, `app/update` decides what a message changes and which effects to run, `app/effects`
//! runs them, and views draw the state and send messages. A field of the state notifies the views that read it when it changes
//! (`state::reactive`). Each worker has its own protocol. Every event has the number of the request that it answers.
//!
//! ## One pass on the GPU
//!
//! ```text
//!   batch      passes ─► rows: token, position, visible keys     (pure)
//!   forward    rows ─► the kernels of every layer, in the order of the transformer
//!   lm_head    hidden states ─► logits, a tile of the vocabulary at a time ─► a few numbers per position
//!   kernels/   NAME.wgsl, and NAME.rs: its parameters (`Params` in WGSL too), its dispatch, tests against a textbook reference
//!   recording  dispatches ─► lists
//!   submissions, pacing   lists ─► submissions of about 50 ms, at most two in flight; Stop is checked between them
//!   scoring    chunks of whole suffixes ─► positions through the LM head ─► readouts
//!   shapes     when a model is loaded: the fastest of several shapes of each hot kernel, measured
//!   self_test  then: each kernel on kilobytes of the model's own weights, compared with its definition
//!   watch      while the model computes: the self-test again now and then, and a check of the weights of one layer (weight_check); if
//!              one fails, the model is next loaded on the CPU
//! ```
//!
//! For a perturbed text, only the part after its first edit is computed. Its rows attend to the base text's keys before the edit and to
//! their own keys. Matrix products, attention and its sums, `rms_norm`, `log_sum_exp` and `kl_divergence` have two variants: one with
//! shared memory and barriers for GPUs, and one without for adapters that run on the CPU, where barriers are slow (`gpu::variant`).
//!
//! On the CPU, up to three more workers load a model of up to 200 MB and share its passes (`cpu::parallel`, `cpu::schedule`). They start
//! with the answer if its explanation is expected to take seconds, and otherwise after seconds of passes. Natively, threads share the
//! passes, with one copy of the weights (`cpu::threads`).
//!
//! ## From an address to a stored model
//!
//! ```text
//!   app/effects ── LibraryRequest ──► worker/library/service     in a second worker: a download continues while the engine computes
//!                   │ probe           64 kB: length, version, architecture           ─► Preview
//!                   │ download        stored bytes ─► request the rest ─► SHA-256    ─► Progress.., Completed
//!                   │   sink          into the browser's storage (OPFS), or memory if the storage is denied or full
//!                   │                 (a local file is copied in the same way, from an object URL of the page)
//!                   └ stored_models   listing, deleting, opening
//!   app/effects ── Load ──► worker/engine/service ─► stored_models ─► session     on every later visit, even offline
//! ```
//!
//! `library` decides how to handle a response, how long to wait, from where a download may resume, and what fits. It does not call the
//! browser. A folder of the storage is a complete model if `complete.json`, which is written last, says so and the lengths match
//! (`library::journal`). `www/sw.js` caches page, engine and built-in model together, as one version.
//!
//! `library::standard` describes the model that the page's own site serves in parts and that the form offers. The visitor starts its
//! download, and `www/sw.js` does not cache it.
//!
//! ## The crates
//!
//! | crate | what it knows | its own dependencies |
//! | --- | --- | --- |
//! | `core` | tables T, A and Y, graph, metrics, document and link, pictures; everything that needs no model | |
//! | `protocol` | [`request`], [`problem`], [`version`]: what page, workers and command line tell each other | |
//! | `text` | language, Punkt sentences, words, lines, paragraphs, sections; bytes <-> tokens <-> sentences | |
//! | `template` | Jinja templates as transformers renders them, within limits | minijinja |
//! | `model` | model files: GGUF, configuration, tokenizer, chat template | tokenizers |
//! | `engine` | chooses the engine for a model; compares both on a part of it | |
//! | `engine/lm` | the trait of all engines (`LanguageModel`), generation, sampling | |
//! | `engine/gpu` | the engine on WebGPU: our WGSL kernels, each with a textbook reference | wgpu |
//! | `engine/cpu` | the engine on candle tensors: fallback and oracle; a masked language model | candle |
//! | `attribution` | methods (`METHODS`): texts to score, and their effect on each token | |
//! | `session` | one model, and requests to it | |
//! | [`library`] | decisions on downloads: addresses, responses, journal, sizes | |
//! | `cli` | the command line | clap, resvg |
//! | `glasscage` | page and workers, in `src` | leptos, web-sys |
//!
//! `docs/architecture.md` shows which crate uses which. A crate cannot use what its `Cargo.toml` does not name, and no two crates use each
//! other: cargo checks both. For tests, this crate re-exports the others under these names.
//!
//! `session` exists so that worker and command line do not both implement the whole sequence. The features follow the same boundary: `page`
//! is the program that a visitor with a link downloads, `engine` is the rest, and `cli` is the native command line. In addition to these
//! crates there is `kernel-interpreter`, with which tests run kernels.
//!
//! ## The modules of page and workers
//!
//! | module | what it knows |
//! | --- | --- |
//! | [`worker`] | workers; all run the same program |
//! | `worker/role` | worker roles and handshake messages |
//! | `worker/start` | starts a worker in its role |
//! | `worker/envelope` | messages with the numbers of their requests |
//! | `worker/client` | the page's end of the communication |
//! | `worker/scope` | the worker's end |
//! | `worker/js` | promises and errors of the browser |
//! | `worker/device` | what the browser says about this device |
//! | `worker/http` | requests for a file or a range of it |
//! | `worker/storage` | stored models |
//! | `worker/engine` | the engine's worker |
//! | `worker/engine/protocol` | its requests and events |
//! | `worker/engine/sources` | files in the browser |
//! | `worker/engine/scorer` | scores passes on other cores |
//! | `worker/engine/scorer/protocol` | messages between engine and scorers |
//! | `worker/engine/scorer/client` | the engine's end |
//! | `worker/engine/scorer/service` | the scorer's end: holds the model again |
//! | `worker/engine/service` | holds the model |
//! | `worker/library` | the library's worker |
//! | `worker/library/protocol` | its requests and events |
//! | `worker/library/service` | downloads and storage |
//! | `app` | draws the page, sends messages, runs effects |
//! | `app/analysis` | statements about an explanation |
//! | `app/examples` | prompts to try |
//! | `app/i18n` | the page's texts and their language |
//! | `app/gallery` | ready-made explanations |
//! | `app/welcome` | the explanation that the page opens with |
//! | `app/state` | what the page shows |
//! | `app/update` | decides what a message changes, and which effects to run |
//! | `app/viewer/protocol` | messages between viewer and embedding page |
//! | `app/viewer/update` | decides what a message changes in the viewer |
//! | `bin/app` | starts the page |
//! | `bin/viewer` | starts the viewer, and offers documents and links to scripts |
//! | `bin/engine` | starts a worker |
//! | `bin/glasscage` | starts the command line |
//!
//! The files of a crate have no dependency cycles, so what uses a module is never used by it. Only `worker/engine` and
//! `worker/start` may use the crates of the engine, because the feature `page` does without. `app/analysis`, `app/state`, `app/update` and
//! the protocols call no browser, so their tests run natively. `tests/tidy` checks the first and the last of these, cargo the other.
//!
//! ## Invariants, and deliberate omissions
//!
//! * The page contains no engine, and the viewer has no code that could call one. Opening a link fetches neither worker nor model, and
//!   installs nothing. Parts of the page that its first screen does not show are in separate chunks, fetched when they are needed
//!   (`app::views::layout::lazy`).
//! * There are only three traits, `lm::LanguageModel`, `model::source::ByteSource` and `cpu::Helpers`, in addition to those of callbacks
//!   (`lm::Callback`) and of messages (`glasscage_message`). Everything else is data: an architecture is a row of settings (`model::arch`),
//!   a tensor type is a row of sizes (`model::quant`) and a WGSL fragment (`gpu::format`), and an adapter's way of computing is a row, too
//!   (`gpu::variant`). A method consists of two pure functions, which `attribution::pairs` applies to two sources at a time.
//! * Only `engine/gpu` uses wgpu. Logits stay on the GPU.
//! * The whole file of a language model is never in our memory: it streams through pieces of 2 MiB (`model::stream`). Only the file of a
//!   masked language model is read as a whole.
//! * Activations are f32. No score depends on quantized activations.
//! * A row without a positive score stays zero. No weight is made up, and nothing unmeasured is shown.
//! * The visitor's text never becomes a control token, and control tokens are never perturbed.
//! * There is no `unsafe`, except in `cpu::fused`: our own WebAssembly module, compiled once, which receives addresses in the engine's
//!   memory and calls back with them. There is no global state, except that module and the catalog of the page's words (`app::i18n`), which
//!   is set once, before the first view. Requests go only to the page's own site, to the address of a model that the visitor chose, and to
//!   the address after `#url=` if the visitor agreed.

#[cfg(feature = "engine")]
pub use glasscage_attribution as attribution;
pub use glasscage_core::{
    conversation, explanation, figure, graph, html, lesson, metrics, number, open, order, rng, shares, table, tables,
};
#[cfg(feature = "engine")]
pub use glasscage_engine::{self as engine, cpu, gpu, lm};
pub use glasscage_library as library;
#[cfg(feature = "engine")]
pub use glasscage_model as model;
pub use glasscage_protocol::{device, problem, request, version};
#[cfg(feature = "engine")]
pub use glasscage_session as session;
#[cfg(feature = "engine")]
pub use glasscage_text as text;

#[cfg(feature = "page")]
pub mod app;
pub mod worker;

//! # Glasscage: why did the model give this answer?
//!
//! A language model answers a prompt. One sentence at a time is replaced by end tokens, and the model is asked
//! again how likely it finds what it had said. From these drops comes a graph over prompt and generated sentences
//! (the CAGE paper, arXiv 2512.15663), and from the graph the share of each prompt sentence in any sentence that a
//! visitor clicks.
//!
//! ## One click on Explain
//!
//! ```text
//!   page (wasm, no engine)                                          worker (wasm, engine)
//!   app/views ── Message ──► app/update ── Effect ──► app/effects
//!                                                        │ worker/client ══ Envelope ══► worker/engine/service ─► session
//!                                                                                          │ model/chat   the prompt in its chat frame
//!                                                                                          │ lm/generate  the answer, token by token
//!                                                                                          │ text         sentences and their tokens
//!                                                                                          │ attribution  plan ─► lm.score ─► effects
//!   app/update ◄── Message ── app/effects ◄═ Progress.., Answered ═══════════════════════════┘
//!    │
//!    └─ graph: T ─► A ─► Y ─► shares, arcs, prune     again at every click, never back in the worker
//! ```
//!
//! The [`explanation::Document`] is what both sides share: a run, a file and a link all make one, and the page renders documents and
//! nothing else. It holds the table **T** as measured, and how the graph is made of it; whatever is derived is computed where it is
//! shown.
//!
//! The page is a state machine: `app/state` is plain data, `app/update` decides what a message changes and what is to be done outside,
//! `app/effects` does it, views draw and send messages. Each worker has a protocol of its own, and every event the number of the request
//! that it answers.
//!
//! ## One pass on the GPU
//!
//! ```text
//!   batch      passes ─► rows: token, position, which keys it sees     (pure)
//!   forward    rows ─► the kernels of every layer, in the order of the transformer
//!   lm_head    hidden states ─► logits, a tile of the vocabulary at a time ─► a few numbers per position
//!   kernels/   NAME.wgsl, and NAME.rs: its parameters (`Params` in WGSL too), its dispatch, tests against a textbook reference
//!   recording  dispatches ─► a list of them
//!   submissions, pacing   lists ─► submissions of about 50 ms, at most two on their way; Stop is heard between them
//!   scoring    chunks of whole suffixes ─► positions through the LM head ─► readouts
//!   tile_shape when a model is loaded: the fastest of several shapes of a matrix product, measured
//!   self_test  then: each kernel on kilobytes, with the model's own weights, against its definition
//! ```
//!
//! Of a perturbed text only what comes after its first edit is computed; its rows attend to the base text's keys up to there and to
//! their own. Matrix products, attention and its sums, `rms_norm`, `log_sum_exp` and `kl_divergence` have two variants: one with
//! shared memory and barriers for GPUs, one without for adapters that run on the CPU, where barriers are slow (`gpu::variant`).
//!
//! On the CPU, once passes of a small model have taken seconds, a second worker loads it, too (`cpu::parallel`): one scores passes from the
//! first on, the other from the last back, until they meet.
//!
//! ## From an address to a model that stays
//!
//! ```text
//!   app/effects ── LibraryRequest ──► worker/library/service     in a second worker: a download goes on while the engine computes
//!                   │ probe           64 kB: length, version, architecture           ─► Preview
//!                   │ download        what is here ─► request the rest ─► SHA-256    ─► Progress.., Completed
//!                   │   sink          into the browser's storage (OPFS), or memory where that is denied or full
//!                   │                 (a copy of a local file goes the same way, from an object URL of the page)
//!                   └ stored_models   listing, deleting, opening
//!   app/effects ── Load ──► worker/engine/service ─► stored_models ─► session     on every later visit, offline too
//! ```
//!
//! What to do with a response, how long to wait, what a download may resume from and what fits is decided in `library`, without a
//! browser. A folder of the storage is a complete model when `complete.json`, written last, says so and the lengths hold
//! (`library::journal`). `www/sw.js` keeps page, engine and built-in model, one version as a whole.
//!
//! `library::standard` describes the model that the page's own site serves in parts and the form offers. The visitor starts its download,
//! and `www/sw.js` does not keep it.
//!
//! ## The modules
//!
//! | module | what it knows | may use | may touch |
//! | --- | --- | --- | --- |
//! | `core/table` | the shape of T, A and Y: row `i` has a cell for everything before generated sentence `i` | | |
//! | `core/order` | sorting by a number | | |
//! | `core/graph` | T -> A -> Y, attributions, pruning, paths, drawings: pure functions | core/order, core/table | |
//! | `core/metrics` | how good an attribution is: coverage, deletion curves, agreement | core/order | |
//! | `core/mailed` | links as mail and chat programs leave them | | |
//! | `core/packed` | bytes as the text of a link | core/mailed | |
//! | `core/explanation` | the document, its JSON, its link | core/graph, core/packed, core/table | |
//! | `core/shares` | the influence of each sentence of a document on those explained | core/explanation, core/graph | |
//! | `core/figure` | a document as a picture that carries it | core/explanation, core/graph, core/order, core/packed, core/shares | |
//! | `core/tables` | T, A, Y and shares as CSV, Markdown and LaTeX | core/explanation, core/graph, core/shares | |
//! | `core/html` | a page with a viewer and a document in it | core/explanation | |
//! | `core/lesson` | steps through explanations, with questions; their JSON, their link | core/explanation, core/order, core/packed | |
//! | `core/open` | any of our files, by its content | core/explanation, core/figure, core/html, core/lesson, core/mailed | |
//! | [`problem`] | the one error that a visitor reads: what happened, what to do | | |
//! | [`request`] | questions, progress and findings, apart from how they travel | core | |
//! | [`version`] | of this build | | |
//! | `text` | language, Punkt sentences, words; bytes <-> tokens <-> sentences | core | |
//! | `template` | Jinja templates as transformers renders them, within limits | | minijinja |
//! | `model` | GGUF, configuration, tokenizer, chat template: nothing computes | template | tokenizers |
//! | `lm` | the trait every engine has (`LanguageModel`), generation, sampling | model | |
//! | `gpu` | the engine on WebGPU: our WGSL kernels, each with a textbook reference | lm, model, version | candle, wgpu |
//! | `gpu/wait` | how to wait for the GPU in each browser | | web, wgpu |
//! | `gpu/adapter_name` | which GPU it is, as the browser tells it | | web, wgpu |
//! | `cpu` | the engine on candle tensors: fallback and oracle; a masked language model | lm, model | candle |
//! | `cpu/fused` | its products in browsers: a WebAssembly module of our own | cpu, model | web, candle |
//! | `engine` | which of the two runs a model: a self-test of both on a part of it | cpu, gpu, lm, model, request | |
//! | `attribution` | methods (`METHODS`): which texts to score, and what that says of each token | core, lm, model, request | |
//! | `session` | one model and what is asked of it | attribution, core, cpu, engine, lm, model, problem, request, text, version | |
//! | [`library`] | models to choose and keep: addresses, answers, journal, what fits: no browser | problem | |
//! | [`worker`] | one program for all workers | | |
//! | `worker/role` | what page and worker have agreed on | | |
//! | `worker/start` | what a worker becomes | worker/engine, worker/library/service, worker/role, worker/scope | web |
//! | `worker/envelope` | what travels, with the number of the request that it belongs to | | |
//! | `worker/client` | the page's end of a conversation | worker/envelope, worker/role | web |
//! | `worker/scope` | the worker's end | worker/envelope, worker/role | web |
//! | `worker/engine` | the engine's worker | | |
//! | `worker/engine/protocol` | its requests and events | core, problem, request | |
//! | `worker/engine/sources` | files in the browser | model | web |
//! | `worker/engine/scorer` | scores passes on another core | | |
//! | `worker/engine/scorer/protocol` | what the engine and that worker say to each other | cpu, lm | |
//! | `worker/engine/scorer/client` | the engine's end | cpu, lm, worker/role, worker/scope | web |
//! | | | worker/engine/scorer/protocol | |
//! | `worker/engine/scorer/service` | the other: holds the model once more | cpu, model, worker/scope | web |
//! | | | worker/engine/scorer/protocol, worker/engine/sources | |
//! | `worker/engine/service` | holds the model | cpu, engine, lm, model, problem, request, session | web |
//! | | | worker/engine, worker/envelope, worker/library/service, worker/scope | |
//! | `worker/library` | the library's worker | | |
//! | `worker/library/protocol` | its requests and events | library, problem, worker/envelope | |
//! | `worker/library/service` | downloads and storage | gpu, library, model, problem, worker/envelope, worker/scope | web |
//! | | | worker/library/protocol | |
//! | `app` | draws the page, sends messages, runs effects | core, library, problem, request, worker/client | leptos, web |
//! | | | worker/engine/protocol, worker/library/protocol, worker/role | |
//! | `app/analysis` | what is said of an explanation | core, request | |
//! | | | app/i18n | |
//! | `app/examples` | prompts to try | | |
//! | `app/i18n` | the page's words, and which language they are in | | |
//! | `app/gallery` | explanations to look at | | |
//! | `app/welcome` | the one that the page opens with | core | |
//! | `app/state` | what the page shows | core, library, problem, request | leptos |
//! | | | app/analysis, app/examples, app/gallery, app/i18n | |
//! | | | worker/engine/protocol, worker/envelope, worker/library/protocol, worker/role | |
//! | `app/update` | what a message changes, and what to do outside | core, library, problem, request, version | leptos |
//! | | | app/analysis, app/examples, app/gallery, app/i18n, app/state, app/welcome | |
//! | | | worker/engine/protocol, worker/envelope, worker/library/protocol, worker/role | |
//! | `app/viewer/protocol` | what the viewer and the page around it say to each other | core/explanation, app/analysis, app/state | |
//! | `app/viewer/update` | what a message changes in the viewer | app/i18n, app/state | leptos |
//! | `bin/app` | starts the page | app | |
//! | `bin/viewer` | starts the viewer, and offers documents and links to scripts | core, app | web |
//! | `bin/engine` | starts a worker | worker/start | |
//! | `bin/glasscage` | the command line | attribution, core, cpu, engine, gpu, library, lm, model, request, session, text | terminal |
//!
//! A row also holds for the modules inside, except those with a row of their own. Whoever may use a module may use those inside it, and
//! every module may use those inside itself. `core` is `glasscage-core`, a crate that other programs can use. `web` stands for web-sys
//! and its like, `terminal` for clap. `tests/tidy` reads this table and checks the code against it. Beside these crates there is
//! `kernel-interpreter`, with which tests run kernels.
//!
//! `session` is there so that the worker and the command line do not each know the whole sequence.
//! Features cut along the same line: `page` is what a visitor with a link downloads, `engine` the rest, `cli` the native command line.
//!
//! ## Invariants, and what is deliberately absent
//!
//! * The page contains no engine, and the viewer nothing that could ask one; opening a link
//!   fetches neither worker nor model, and installs nothing. What its first screen does not
//!   show is code of its own, fetched when it is asked for (`app::views::layout::lazy`).
//! * Three traits only: `lm::LanguageModel`, `model::source::ByteSource` and `cpu::SecondScorer`, beside the one of all callbacks
//!   (`lm::Callback`). Everything else is data: an architecture
//!   is a row of settings (`model::arch`), a tensor type a row of sizes (`model::quant`) and a WGSL fragment (`gpu::format`), an
//!   adapter's way of computing a row (`gpu::variant`), a method two pure functions, which `attribution::pairs`
//!   applies to two sources at a time.
//! * wgpu appears in `gpu` only. Logits stay on the GPU.
//! * A language model's file is never in our memory as a whole: it streams through pieces of 2 MiB (`model::stream`). Only the file of a
//!   masked language model is read whole.
//! * Activations are f32. No quantized activations anywhere near a score.
//! * A row without positive score stays zero. Nothing is filled with made-up weight, nothing unmeasured is shown.
//! * The visitor's text never becomes a control token, and control tokens are never perturbed.
//! * No `unsafe`, except in `cpu::fused`: a WebAssembly module of our own, compiled once, that gets addresses in the engine's memory and
//!   calls back with them. No global state, except that module and the catalog of the page's words (`app::i18n`), which is set once,
//!   before the first view. Requests go to the own site, the address of a model that the visitor chose, and the address after `#url=`, once
//!   the visitor agreed.

pub use glasscage_core::{explanation, figure, graph, html, lesson, metrics, open, order, shares, table, tables};
#[cfg(feature = "engine")]
pub use glasscage_text as text;

#[cfg(feature = "page")]
pub mod app;
#[cfg(feature = "engine")]
pub mod attribution;
#[cfg(feature = "engine")]
pub mod cpu;
#[cfg(feature = "engine")]
pub mod engine;
#[cfg(feature = "engine")]
pub mod gpu;
pub mod library;
#[cfg(feature = "engine")]
pub mod lm;
#[cfg(feature = "engine")]
pub mod model;
pub mod problem;
pub mod request;
#[cfg(feature = "engine")]
pub mod session;
pub mod version;
pub mod worker;

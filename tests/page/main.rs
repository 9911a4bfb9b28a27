//! Tests of the built page in a real browser with real models. Most tests use a smaller built-in model than the page ships (`site.rs`).
//!
//! `GLASSCAGE_DIST` names the folder of a built page. Without it, the tests first build the page with `cargo xtask serve --release`.

// These tests drive a browser from outside. The page's tests in wasm are in `src`.
#![cfg(not(target_arch = "wasm32"))]

mod accessibility;
mod answer_check;
mod browser;
mod built_in;
mod certainty;
mod clicks;
mod contrast;
mod conversation;
mod device;
mod dist;
mod download;
mod download_steps;
mod embed;
mod engine_faults;
mod evicted;
mod explain;
mod fault_steps;
mod faults;
mod focus;
mod follow_up;
mod gallery;
mod history;
mod hostile_host;
mod hosts;
mod hub;
mod interrupted;
mod keyboard;
mod language;
mod lazy;
mod lesson;
mod library_faults;
mod local;
mod markup;
mod masked;
#[path = "../models/masked.rs"]
mod masked_lm;
mod offline;
mod pairs;
mod passages;
mod path;
mod phone;
mod print;
#[path = "../models/real.rs"]
mod real;
mod real_model;
#[path = "../hosts/mod.rs"]
mod recipes;
mod reproducible;
mod scorers;
mod screenshots;
mod server;
mod sharing;
mod site;
mod soak;
#[path = "../models/split.rs"]
mod split;
mod standard;
mod start;
mod states;
mod steps;
mod template;
mod thinking;
mod units;
mod welcome;

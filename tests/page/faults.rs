//! Table of faults: for each phase of a visit and each fault, the tests that cause it.
//!
//! Each test asserts that the page keeps what was typed and measured, says in a sentence what happened, and continues with the same model
//! after one click. `docs/faults.md` shows this table to readers.

/// Columns of the table: the faults.
const FAULTS: [&str; 5] = ["worker killed", "GPU lost", "storage full", "network cut", "tab frozen"];

/// A row of the table: the activity of the page, and the tests of each fault during it.
type Row = (&'static str, [&'static [Cell]; FAULTS.len()]);

enum Cell {
    /// Module and name of a test.
    Test(&'static str),
    /// Reason why this fault has no effect.
    Never(&'static str),
}
use Cell::{Never, Test};

const KILLED_ENGINE: Cell = Test("engine_faults::killed_engine_keeps_work_and_restarts_on_click");
const KILLED_LIBRARY: Cell = Test("library_faults::killed_library_keeps_bytes_and_resumes_on_click");
const LOST_GPU: Cell = Test("engine_faults::lost_gpu_keeps_work_and_restarts_on_click");
const WITHOUT_STORAGE: Cell = Test("engine_faults::full_storage_does_not_prevent_explaining");
const WITHOUT_NETWORK: Cell = Test("engine_faults::engine_needs_network_only_once");
const FROZEN_ENGINE: Cell = Test("engine_faults::frozen_left_or_background_tab_continues");
const FROZEN_LIBRARY: Cell = Test("library_faults::frozen_tab_continues_download_and_copy");

const TABLE: [Row; 6] = [
    ("loading a model", [&[KILLED_ENGINE], &[LOST_GPU], &[WITHOUT_STORAGE], &[WITHOUT_NETWORK], &[FROZEN_ENGINE]]),
    ("answering", [&[KILLED_ENGINE], &[LOST_GPU], &[WITHOUT_STORAGE], &[WITHOUT_NETWORK], &[FROZEN_ENGINE]]),
    (
        "measuring",
        [
            &[KILLED_ENGINE],
            &[Test("explain::lost_gpu_while_measuring_keeps_shares")],
            &[WITHOUT_STORAGE],
            &[WITHOUT_NETWORK],
            &[FROZEN_ENGINE],
        ],
    ),
    (
        "an explanation on screen",
        [
            &[KILLED_ENGINE],
            &[LOST_GPU],
            &[WITHOUT_STORAGE, Test("evicted::evicted_model_is_reported_and_explanations_stay")],
            &[WITHOUT_NETWORK],
            &[FROZEN_ENGINE],
        ],
    ),
    (
        "downloading",
        [
            &[KILLED_LIBRARY, Test("download::a_browser_killed_at_any_moment_leaves_no_wrong_model")],
            &[Never("nothing is computed")],
            &[Test("interrupted::full_storage_keeps_model_in_memory"), Test("interrupted::unavailable_storage_keeps_model_in_memory")],
            &[
                Test("interrupted::offline_download_waits_for_network"),
                Test("download::a_download_survives_breaks_refusals_and_expired_addresses"),
            ],
            &[FROZEN_LIBRARY],
        ],
    ),
    (
        "copying a local file",
        [
            &[KILLED_LIBRARY, Test("local::interrupted_copy_resumes_when_file_is_reopened")],
            &[Never("nothing is computed")],
            &[Test("local::copy_without_space_keeps_file_in_use")],
            &[Test("library_faults::a_copy_needs_no_network")],
            &[FROZEN_LIBRARY],
        ],
    ),
];

fn cells() -> impl Iterator<Item = &'static Cell> {
    TABLE.iter().flat_map(|(_, faults)| faults.iter().copied().flatten())
}

/// The table as in `docs/faults.md`: one line for each phase and fault.
fn markdown() -> String {
    let cell = |cell: &Cell| match cell {
        Test(test) => format!("`{test}`"),
        Never(why) => (*why).to_owned(),
    };
    let lines = TABLE.iter().flat_map(|(phase, faults)| {
        FAULTS.iter().zip(faults).map(move |(fault, cells)| {
            let cells = cells.iter().map(cell).collect::<Vec<_>>().join(", ");
            format!("| {phase} | {fault} | {cells} |\n")
        })
    });
    lines.collect()
}

#[test]
fn every_test_of_the_table_is_there_and_not_ignored() {
    for cell in cells() {
        let Test(test) = cell else { continue };
        let (module, name) = test.split_once("::").expect("a module and a name");
        let file = format!("{}/tests/page/{module}.rs", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        let (before, _) = source.split_once(&format!("async fn {name}(")).unwrap_or_else(|| panic!("{test} is not there"));
        assert!(!before.trim_end().ends_with("\"]"), "{test} is ignored");
    }
}

#[test]
fn the_documentation_shows_this_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/faults.md");
    let documentation = std::fs::read_to_string(path).expect("docs/faults.md");
    assert!(documentation.contains(&markdown()), "docs/faults.md has another table than this:\n{}", markdown());
}

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

const KILLED_ENGINE: Cell = Test("engine_faults::a_killed_engine_keeps_what_is_here_names_its_model_and_goes_on_by_one_press");
const KILLED_LIBRARY: Cell = Test("library_faults::a_killed_library_keeps_what_came_and_goes_on_by_one_press");
const LOST_GPU: Cell = Test("engine_faults::a_lost_gpu_keeps_what_is_here_and_goes_on_by_one_press");
const WITHOUT_STORAGE: Cell = Test("engine_faults::a_full_storage_keeps_nobody_from_explaining");
const WITHOUT_NETWORK: Cell = Test("engine_faults::without_a_network_the_engine_is_missed_once_and_then_no_more");
const FROZEN_ENGINE: Cell = Test("engine_faults::a_tab_that_is_frozen_left_and_behind_others_goes_on_where_it_was");
const FROZEN_LIBRARY: Cell = Test("library_faults::a_frozen_tab_goes_on_with_its_download_and_its_copy");

const TABLE: [Row; 6] = [
    ("loading a model", [&[KILLED_ENGINE], &[LOST_GPU], &[WITHOUT_STORAGE], &[WITHOUT_NETWORK], &[FROZEN_ENGINE]]),
    ("answering", [&[KILLED_ENGINE], &[LOST_GPU], &[WITHOUT_STORAGE], &[WITHOUT_NETWORK], &[FROZEN_ENGINE]]),
    (
        "measuring",
        [
            &[KILLED_ENGINE],
            &[Test("explain::a_lost_gpu_keeps_what_was_measured_and_explain_starts_it_anew")],
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
            &[WITHOUT_STORAGE, Test("evicted::what_is_deleted_behind_the_page_is_missed_by_name_and_no_explanation_is_lost")],
            &[WITHOUT_NETWORK],
            &[FROZEN_ENGINE],
        ],
    ),
    (
        "downloading",
        [
            &[KILLED_LIBRARY, Test("download::a_browser_killed_at_any_moment_leaves_no_wrong_model")],
            &[Never("nothing is computed")],
            &[
                Test("interrupted::where_nothing_more_can_be_stored_a_model_is_kept_in_memory"),
                Test("interrupted::where_nothing_can_be_stored_at_all_a_model_is_kept_in_memory"),
            ],
            &[
                Test("interrupted::without_a_network_a_download_waits_and_goes_on_as_soon_as_there_is_one"),
                Test("download::a_download_survives_breaks_refusals_and_expired_addresses"),
            ],
            &[FROZEN_LIBRARY],
        ],
    ),
    (
        "copying a local file",
        [
            &[KILLED_LIBRARY, Test("local::a_copy_that_was_broken_off_goes_on_when_the_file_is_opened_again")],
            &[Never("nothing is computed")],
            &[Test("local::a_copy_that_cannot_be_stored_is_not_begun_and_the_file_stays_in_use")],
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

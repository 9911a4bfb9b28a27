//! The browsers in which the page is tested, and their unsupported features.

use std::fmt;

use clap::ValueEnum;

/// Test names and the browser features that they need.
type Lacks = &'static [(&'static str, &'static str)];

const FORCED_COLORS: &str = "a driver that can force colors";
const SMALL_STORAGE: &str = "a driver that can make the storage small";
const NETWORK: &str = "a driver that can take the network away";
const KILLED: &str = "a driver that starts a killed browser again";
const INSTALLATION: &str = "a driver that knows whether a page can be installed";
const COUNTED_PAGES: &str = "PDFs whose pages can be counted without unpacking them";
const WEB_GPU: &str = "WebGPU";
const STORAGE: &str = "a driver whose windows store files";
const FROZEN: &str = "a driver that can freeze a tab";
const CRASHED: &str = "a driver that can crash a tab and go on";
const GPU_PROCESS: &str = "a process of its own for the GPU, which a test can end";
const PRINTED: &str = "a driver that prints pages";
const ENDED: &str = "connections that end as soon as the page ends them: the browser reads on";
const CORES: &str = "a driver that says how many cores there are";
const PHONE: &str = "a driver that plays a phone";
const MEASURED: &str = "a driver that measures a page's memory";

const FIREFOX_LACKS: Lacks = &[
    ("accessibility::influence_is_seen_without_colors_and_at_twice_the_size", FORCED_COLORS),
    ("download::a_browser_killed_at_any_moment_leaves_no_wrong_model", KILLED),
    ("engine_faults::a_full_storage_keeps_nobody_from_explaining", SMALL_STORAGE),
    ("engine_faults::a_lost_gpu_keeps_what_is_here_and_goes_on_by_one_press", GPU_PROCESS),
    ("engine_faults::a_tab_that_is_frozen_left_and_behind_others_goes_on_where_it_was", FROZEN),
    ("evicted::what_was_typed_and_the_last_explanation_survive_a_crash_of_the_tab", CRASHED),
    ("explain::a_lost_gpu_keeps_what_was_measured_and_explain_starts_it_anew", GPU_PROCESS),
    ("interrupted::a_file_that_was_replaced_when_the_storage_was_full_is_never_joined_with_the_old_one", SMALL_STORAGE),
    ("interrupted::where_nothing_more_can_be_stored_a_model_is_kept_in_memory", SMALL_STORAGE),
    ("lesson::a_lesson_is_printed_as_questions_and_a_page_of_answers", COUNTED_PAGES),
    ("library_faults::a_frozen_tab_goes_on_with_its_download_and_its_copy", FROZEN),
    ("local::a_copy_that_cannot_be_stored_is_not_begun_and_the_file_stays_in_use", SMALL_STORAGE),
    ("offline::the_page_can_be_installed", INSTALLATION),
    ("phone::", PHONE),
    ("soak::", MEASURED),
    ("two_workers::", CORES),
];
const WEB_KIT_LACKS: Lacks = &[
    ("accessibility::influence_is_seen_without_colors_and_at_twice_the_size", FORCED_COLORS),
    ("download::a_browser_killed_at_any_moment_leaves_no_wrong_model", KILLED),
    ("download::a_download_survives_breaks_refusals_and_expired_addresses", STORAGE),
    ("download::a_model_in_several_files_is_one_model", STORAGE),
    ("download::a_model_is_looked_at_downloaded_once_and_there_on_the_next_visit", STORAGE),
    ("download::a_paused_download_goes_on_after_a_reload_where_it_stopped", STORAGE),
    ("download::two_tabs_do_not_download_the_same_model", STORAGE),
    ("embed::the_saved_page_works_from_disk", NETWORK),
    ("engine_faults::a_full_storage_keeps_nobody_from_explaining", SMALL_STORAGE),
    ("engine_faults::a_lost_gpu_keeps_what_is_here_and_goes_on_by_one_press", WEB_GPU),
    ("engine_faults::a_tab_that_is_frozen_left_and_behind_others_goes_on_where_it_was", FROZEN),
    ("engine_faults::without_a_network_the_engine_is_missed_once_and_then_no_more", NETWORK),
    ("evicted::two_tabs_keep_their_own_models_and_explanations", STORAGE),
    ("evicted::what_is_deleted_behind_the_page_is_missed_by_name_and_no_explanation_is_lost", STORAGE),
    ("evicted::what_was_typed_and_the_last_explanation_survive_a_crash_of_the_tab", CRASHED),
    ("explain::a_lost_gpu_keeps_what_was_measured_and_explain_starts_it_anew", WEB_GPU),
    ("explain::gpu_and_cpu_draw_the_same_picture", WEB_GPU),
    ("explain::stop_keeps_the_answer_so_far", WEB_GPU),
    ("explain::stop_while_measuring_keeps_the_columns_that_are_done", PRINTED),
    ("follow_up::an_answer_without_some_sentences_can_be_stopped", WEB_GPU),
    ("interrupted::a_file_that_was_replaced_when_the_storage_was_full_is_never_joined_with_the_old_one", SMALL_STORAGE),
    ("interrupted::what_is_here_is_checked_again_before_a_download_goes_on", STORAGE),
    ("interrupted::what_is_in_memory_is_not_lost_when_something_else_is_tried_in_between", ENDED),
    ("interrupted::where_nothing_can_be_stored_at_all_a_model_is_kept_in_memory", ENDED),
    ("interrupted::where_nothing_more_can_be_stored_a_model_is_kept_in_memory", SMALL_STORAGE),
    ("interrupted::without_a_network_a_download_waits_and_goes_on_as_soon_as_there_is_one", NETWORK),
    ("lesson::a_lesson_is_printed_as_questions_and_a_page_of_answers", COUNTED_PAGES),
    ("library_faults::", STORAGE),
    ("local::", STORAGE),
    ("offline::the_page_can_be_installed", INSTALLATION),
    ("offline::with_the_server_gone_the_built_in_model_and_the_stored_one_explain", STORAGE),
    ("phone::", PHONE),
    ("print::", PRINTED),
    ("soak::", MEASURED),
    ("standard::", STORAGE),
    ("two_workers::", CORES),
];

/// Parts of the names of the nine page tests that the short command also runs in `WebKitGTK`: answers, links, the gallery, languages, keys.
/// They show whether the page works at all in the engine of the iPhone's browser.
pub const IN_WEBKIT: [&str; 7] = [
    "explain::explain_shows_why",
    "explain::what_is_no_model",
    "embed::a_saved_picture",
    "gallery::an_explanation_of_the_gallery",
    "keyboard::",
    "language::the_page_speaks",
    "welcome::",
];

/// Parts of the names of page tests that only `cargo xtask test --all` runs. Each takes long, and other tests in the short command cover
/// most of it.
pub const SLOW_PAGE_TESTS: [&str; 6] = [
    "engine_faults::a_lost_gpu_keeps_what_is_here_and_goes_on_by_one_press",
    "explain::gpu_and_cpu_draw_the_same_picture",
    "interrupted::a_file_that_was_replaced_when_the_storage_was_full_is_never_joined_with_the_old_one",
    "interrupted::what_is_in_memory_is_not_lost_when_something_else_is_tried_in_between",
    "local::a_copy_that_was_broken_off_goes_on_when_the_file_is_opened_again",
    "soak::",
];

/// Page tests that try more cases in `cargo xtask test --all`.
pub const PAGE_TESTS_OF_MANY_CASES: [&str; 3] =
    ["accessibility::everybody_can_use_the_page", "download::a_browser_killed", "reproducible::every_engine_computes_the_same_scores"];

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum Browser {
    Chromium,
    Firefox,
    #[value(name = "webkit")]
    WebKit,
}

impl Browser {
    pub const OTHERS: [Self; 2] = [Self::Firefox, Self::WebKit];

    /// Page tests that this browser cannot pass, with the reasons.
    pub fn lacks(self) -> Lacks {
        match self {
            Self::Chromium => &[],
            Self::Firefox => FIREFOX_LACKS,
            Self::WebKit => WEB_KIT_LACKS,
        }
    }
}

impl fmt::Display for Browser {
    /// The name in `GLASSCAGE_BROWSER`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Chromium => "chromium",
            Self::Firefox => "firefox",
            Self::WebKit => "webkit",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::command::root;

    #[test]
    fn named_tests_exist() {
        let is_there = |test: &str| {
            let (module, name) = test.split_once("::").unwrap();
            let source = std::fs::read_to_string(root().join("tests/page").join(module).with_extension("rs")).unwrap();
            source.contains(&format!("async fn {name}"))
        };
        let lacks = Browser::OTHERS.iter().flat_map(|browser| browser.lacks()).map(|(test, _)| *test);
        let missing: Vec<&str> =
            lacks.chain(IN_WEBKIT).chain(SLOW_PAGE_TESTS).chain(PAGE_TESTS_OF_MANY_CASES).filter(|test| !is_there(test)).collect();
        assert_eq!(missing, Vec::<&str>::new());
    }

    #[test]
    fn documentation_counts_fault_tests_per_browser() {
        let page = std::fs::read_to_string(root().join("docs/faults.md")).unwrap();
        let rows = page.lines().filter(|line| line.starts_with("| "));
        let tests: BTreeSet<&str> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).filter(|name| name.contains("::")).collect();
        let passes = |browser: Browser, test: &str| !browser.lacks().iter().any(|(lacking, _)| test.contains(lacking));
        let [firefox, webkit] = Browser::OTHERS.map(|browser| tests.iter().filter(|test| passes(browser, test)).count());
        let words = format!("Of the {} tests, {firefox} run in Firefox and {webkit} in WebKitGTK", tests.len());
        assert!(page.split_whitespace().collect::<Vec<_>>().join(" ").contains(&words), "docs/faults.md: {words}");
    }
}

//! The browsers in which the page is tested, and their unsupported features.

use std::fmt;

use clap::ValueEnum;

/// Test names and the browser features that they need.
type UnsupportedTests = &'static [(&'static str, &'static str)];

const FORCED_COLORS: &str = "forced colors in the driver";
const SMALL_STORAGE: &str = "a limit of the storage in the driver";
const NETWORK: &str = "offline emulation in the driver";
const KILLED: &str = "a driver that can restart a killed browser";
const INSTALLATION: &str = "a driver that knows whether a page can be installed";
const COUNTED_PAGES: &str = "PDFs whose pages can be counted without unpacking them";
const WEB_GPU: &str = "WebGPU";
const STORAGE: &str = "a driver whose windows store files";
const FROZEN: &str = "a driver that can freeze a tab";
const CRASHED: &str = "a driver that continues after a tab crashes";
const GPU_PROCESS: &str = "a separate GPU process that a test can kill";
const PRINTED: &str = "a driver that prints pages";
const ENDED: &str = "connections that close at once when the page aborts a request";
const CORES: &str = "a driver that reports the number of cores";
const PHONE: &str = "phone emulation in the driver";
const MEASURED: &str = "a driver that measures a page's memory";

const UNSUPPORTED_IN_FIREFOX: UnsupportedTests = &[
    ("accessibility::influence_is_seen_without_colors_and_at_twice_the_size", FORCED_COLORS),
    ("accessibility::progress_is_seen_without_colors_and_announced_by_phases", FORCED_COLORS),
    ("download::a_browser_killed_at_any_moment_leaves_no_wrong_model", KILLED),
    ("engine_faults::full_storage_does_not_prevent_explaining", SMALL_STORAGE),
    ("engine_faults::lost_gpu_keeps_work_and_restarts_on_click", GPU_PROCESS),
    ("engine_faults::frozen_left_or_background_tab_continues", FROZEN),
    ("evicted::crashed_tab_restores_input_and_explanation", CRASHED),
    ("explain::lost_gpu_while_measuring_keeps_shares", GPU_PROCESS),
    ("interrupted::replaced_file_is_detected_with_full_storage", SMALL_STORAGE),
    ("interrupted::full_storage_keeps_model_in_memory", SMALL_STORAGE),
    ("lesson::printed_lesson_has_questions_and_answers", COUNTED_PAGES),
    ("library_faults::frozen_tab_continues_download_and_copy", FROZEN),
    ("local::copy_without_space_keeps_file_in_use", SMALL_STORAGE),
    ("offline::the_page_can_be_installed", INSTALLATION),
    ("phone::", PHONE),
    ("scorers::", CORES),
    ("soak::", MEASURED),
];
const UNSUPPORTED_IN_WEB_KIT: UnsupportedTests = &[
    ("accessibility::influence_is_seen_without_colors_and_at_twice_the_size", FORCED_COLORS),
    ("accessibility::progress_is_seen_without_colors_and_announced_by_phases", FORCED_COLORS),
    ("device::device_is_measured_on_request_and_copied_as_text", WEB_GPU),
    ("download::a_browser_killed_at_any_moment_leaves_no_wrong_model", KILLED),
    ("download::a_download_survives_breaks_refusals_and_expired_addresses", STORAGE),
    ("download::a_model_in_several_files_is_one_model", STORAGE),
    ("download::download_of_unsupported_model_stops_after_its_header", ENDED),
    ("download::model_is_previewed_downloaded_once_and_kept", STORAGE),
    ("download::paused_download_resumes_after_reload", STORAGE),
    ("download::two_tabs_do_not_download_the_same_model", STORAGE),
    ("embed::the_saved_page_works_from_disk", NETWORK),
    ("engine_faults::full_storage_does_not_prevent_explaining", SMALL_STORAGE),
    ("engine_faults::gpu_that_fails_after_loading_is_replaced_by_cpu", WEB_GPU),
    ("engine_faults::lost_gpu_keeps_work_and_restarts_on_click", WEB_GPU),
    ("engine_faults::frozen_left_or_background_tab_continues", FROZEN),
    ("engine_faults::engine_needs_network_only_once", NETWORK),
    ("evicted::two_tabs_keep_their_own_models_and_explanations", STORAGE),
    ("evicted::evicted_model_is_reported_and_explanations_stay", STORAGE),
    ("evicted::crashed_tab_restores_input_and_explanation", CRASHED),
    ("explain::lost_gpu_while_measuring_keeps_shares", WEB_GPU),
    ("explain::gpu_and_cpu_draw_the_same_picture", WEB_GPU),
    ("explain::stop_keeps_the_answer_so_far", WEB_GPU),
    ("explain::stop_while_measuring_keeps_the_columns_that_are_done", PRINTED),
    ("follow_up::an_answer_without_some_sentences_can_be_stopped", WEB_GPU),
    ("interrupted::replaced_file_is_detected_with_full_storage", SMALL_STORAGE),
    ("interrupted::stored_part_is_verified_before_resuming", STORAGE),
    ("interrupted::other_model_keeps_paused_download_in_memory", ENDED),
    ("interrupted::unavailable_storage_keeps_model_in_memory", ENDED),
    ("interrupted::full_storage_keeps_model_in_memory", SMALL_STORAGE),
    ("interrupted::offline_download_waits_for_network", NETWORK),
    ("lesson::printed_lesson_has_questions_and_answers", COUNTED_PAGES),
    ("library_faults::", STORAGE),
    ("local::", STORAGE),
    ("offline::the_page_can_be_installed", INSTALLATION),
    ("offline::built_in_and_stored_models_work_offline", STORAGE),
    ("phone::", PHONE),
    ("print::", PRINTED),
    ("real_model::smollm2_on_webgpu_explains_like_transformers", WEB_GPU),
    ("scorers::", CORES),
    ("soak::", MEASURED),
    ("standard::", STORAGE),
];

/// Parts of the names of the page tests that the short command also runs in `WebKitGTK`: answers, links, the gallery, languages, keys.
/// They show whether the page works at all in the engine of the iPhone's browser.
pub const IN_WEBKIT: [&str; 7] = [
    "explain::explanation_link",
    "explain::invalid_links",
    "embed::a_saved_picture",
    "gallery::gallery_explanation",
    "keyboard::",
    "language::the_page_speaks",
    "welcome::page_opens",
];

/// Parts of the names of page tests that only `cargo xtask test --all` runs. Each takes long, and other tests in the short command cover
/// most of it.
pub const SLOW_PAGE_TESTS: [&str; 11] = [
    "engine_faults::lost_gpu_keeps_work_and_restarts_on_click",
    "explain::gpu_and_cpu_draw_the_same_picture",
    "hosts::",
    "interrupted::replaced_file_is_detected_with_full_storage",
    "interrupted::other_model_keeps_paused_download_in_memory",
    "local::interrupted_copy_resumes_when_file_is_reopened",
    "real_model::gemma3",
    "real_model::smollm2_on_webgpu",
    "real_model::smollm2_answer_without_support_is_marked",
    "real_model::smollm2_reproduces_welcome_explanation",
    "soak::",
];

/// Beginning of the name of the ignored page test that takes a large model.
pub const TEST_OF_LARGE_MODELS: &str = "explain::large_model";

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum Browser {
    Chromium,
    Firefox,
    #[value(name = "webkit")]
    WebKit,
}

impl Browser {
    pub const ALL: [Self; 3] = [Self::Chromium, Self::Firefox, Self::WebKit];

    /// Page tests that this browser cannot pass, with the reasons.
    pub fn unsupported(self) -> UnsupportedTests {
        match self {
            Self::Chromium => &[],
            Self::Firefox => UNSUPPORTED_IN_FIREFOX,
            Self::WebKit => UNSUPPORTED_IN_WEB_KIT,
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
    use crate::screenshots;

    #[test]
    fn named_tests_exist() {
        let is_there = |test: &str| {
            let (module, name) = test.split_once("::").unwrap();
            let source = std::fs::read_to_string(root().join("tests/page").join(module).with_extension("rs")).unwrap();
            source.contains(&format!("async fn {name}"))
        };
        let unsupported = Browser::ALL.iter().flat_map(|browser| browser.unsupported()).map(|(test, _)| *test);
        let named = unsupported.chain(IN_WEBKIT).chain(SLOW_PAGE_TESTS).chain([TEST_OF_LARGE_MODELS, screenshots::TEST]);
        let missing: Vec<&str> = named.filter(|test| !is_there(test)).collect();
        assert_eq!(missing, Vec::<&str>::new());
    }

    #[test]
    fn documentation_counts_fault_tests_per_browser() {
        let page = std::fs::read_to_string(root().join("docs/faults.md")).unwrap();
        let rows = page.lines().filter(|line| line.starts_with("| "));
        let tests: BTreeSet<&str> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).filter(|name| name.contains("::")).collect();
        let passes = |browser: Browser, test: &str| !browser.unsupported().iter().any(|(unsupported, _)| test.contains(unsupported));
        let [_, firefox, webkit] = Browser::ALL.map(|browser| tests.iter().filter(|test| passes(browser, test)).count());
        let words = format!("Of the {} tests, {firefox} run in Firefox and {webkit} in WebKitGTK", tests.len());
        assert!(page.split_whitespace().collect::<Vec<_>>().join(" ").contains(&words), "docs/faults.md: {words}");
    }
}

//! One component a file; each draws signals of [`super::state::Page`] and calls its actions.

mod answer_stream;
mod arc_diagram;
mod check_view;
mod details;
mod drop_zone;
mod editor;
mod examples_bar;
mod explanation;
mod file_button;
mod gallery;
mod header;
mod icon;
mod legend;
mod link_panel;
mod manifest;
mod model_bar;
mod problem_box;
mod prune_control;
mod row_positions;
mod sentence_row;
mod settings_form;
mod share_bar;
mod status_bar;
mod table_view;
mod text_view;
mod theme_button;
mod welcome;

pub use drop_zone::DropZone;
pub use editor::Editor;
pub use explanation::Explanation;
pub use header::Header;
pub use problem_box::ProblemBox;
pub use status_bar::StatusBar;
pub use welcome::Welcome;

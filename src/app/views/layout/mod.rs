//! The frame of the page, and small parts that several views use.

mod answer_stream;
pub mod copy_text;
pub mod details_toggle;
pub mod dialog_box;
mod drop_zone;
pub mod file_button;
mod footer;
mod gallery;
mod header;
pub mod help_link;
pub mod icon;
pub mod lazy;
mod link_actions;
mod link_panel;
mod link_parts;
mod link_view;
pub mod parts_choice;
mod present_button;
pub mod problem_box;
pub mod problem_text;
mod qr_code;
mod remote_question;
pub mod row_of_buttons;
mod status_bar;
mod theme_button;
pub mod typed_number;
mod update_bar;
mod welcome;

pub use drop_zone::DropZone;
pub use footer::Footer;
pub use header::Header;
pub use problem_box::ProblemBox;
pub use remote_question::RemoteQuestion;
pub use status_bar::StatusBar;
pub use update_bar::UpdateBar;
pub use welcome::Welcome;

//! Exports the explanation on screen to other file types and to other pages.

mod embed_section;
mod export_dialog;
mod export_view;
mod picture_labels;
mod picture_section;
mod table_section;

pub use export_dialog::ExportButton;

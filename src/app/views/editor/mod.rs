//! The editor: prompt, given answer, settings, model.

mod device_view;
mod editor_form;
mod examples_bar;
mod model_bar;
mod reading_note;
mod settings_fields;
mod settings_form;
pub mod standard_offer;
mod token_count;

pub use editor_form::EditorForm;

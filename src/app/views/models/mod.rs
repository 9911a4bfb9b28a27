//! Choosing, downloading and deleting models.

mod dialog_contents;
pub mod download_view;
pub mod model_hint;
mod models_dialog;
mod preview_view;
mod stored_models_list;

pub use models_dialog::ModelsDialog;

//! Names of those who speak in a conversation.

use crate::app::i18n::t;
use crate::explanation::Speaker;

/// The name in the visitor's language.
pub fn speaker_name(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::System => t!("System"),
        Speaker::User => t!("User"),
        Speaker::Assistant => t!("Assistant"),
    }
}

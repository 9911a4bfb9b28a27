//! Conversations in ChatML: `<|im_start|>user`, a line end, the content, `<|im_end|>`.

use super::error::ConversationError;
use super::json;
use super::labels::trim;
use super::turn::ChatTurn;
use crate::explanation::Speaker;

pub const BEGIN: &str = "<|im_start|>";
const END: &str = "<|im_end|>";

/// Reads the turns of a text that starts with [`BEGIN`].
pub fn read(text: &str) -> Result<Vec<ChatTurn>, ConversationError> {
    let parts = text.trim_start().split(BEGIN).skip(1).enumerate();
    let mut turns = parts.map(|(turn, part)| read_turn(turn, part)).collect::<Result<_, _>>()?;
    trim(&mut turns);
    Ok(turns)
}

fn read_turn(turn: usize, part: &str) -> Result<ChatTurn, ConversationError> {
    let (role, rest) = part.split_once('\n').unwrap_or((part, ""));
    let (content, after) = rest.split_once(END).unwrap_or((rest, ""));
    if !after.trim().is_empty() {
        return Err(ConversationError::AfterEnd { turn: turn + 1 });
    }
    Ok(ChatTurn { speaker: json::speaker(role.trim())?, content: content.to_owned() })
}

/// The number of turns of a text that starts with [`BEGIN`].
pub fn count(text: &str) -> usize {
    let begun = text.matches(BEGIN).count();
    let last = text.rsplit(BEGIN).next().unwrap_or_default().trim_end();
    begun - usize::from(begun > 0 && last == Speaker::Assistant.name())
}

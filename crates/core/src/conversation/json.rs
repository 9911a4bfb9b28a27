//! Conversations as JSON of chat programs: a list of objects with `role` and `content`, or an object that has the list as `messages`.

use serde_json::Value;

use super::error::ConversationError;
use super::labels::{self, trim};
use super::turn::ChatTurn;
use crate::explanation::Speaker;

/// Every such text contains these. The first one is in each turn once, because quotation marks within strings are escaped.
pub const NAMES: [&str; 3] = ["\"role\"", "\"content\"", "\"user\""];

/// The name of the list in an object.
pub const LIST: &str = "\"messages\"";

pub fn read(text: &str) -> Result<Vec<ChatTurn>, ConversationError> {
    let value: Value = serde_json::from_str(text).map_err(|error| ConversationError::Json(error.to_string()))?;
    let messages = value.as_array().or_else(|| value.get("messages")?.as_array()).ok_or(ConversationError::NoTurns)?;
    let mut turns = messages.iter().enumerate().map(|(turn, message)| read_turn(turn + 1, message)).collect::<Result<_, _>>()?;
    trim(&mut turns);
    Ok(turns)
}

/// Reads turn `turn`, which counts from 1.
fn read_turn(turn: usize, message: &Value) -> Result<ChatTurn, ConversationError> {
    let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
    let content = match message.get("content") {
        None | Some(Value::Null) => Some(String::new()),
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Array(parts)) => parts.iter().map(part).collect(),
        Some(_) => None,
    };
    Ok(ChatTurn { speaker: speaker(role)?, content: content.ok_or(ConversationError::NotText { turn })? })
}

/// The text of a part of a content: `{"type": "text", "text": ".."}`.
fn part(part: &Value) -> Option<&str> {
    part.get("text")?.as_str()
}

/// The speaker with this role. The role `developer` is a newer name of `system`.
pub fn speaker(role: &str) -> Result<Speaker, ConversationError> {
    let of_developer = (role == "developer").then_some(Speaker::System);
    labels::speaker(role).or(of_developer).ok_or_else(|| ConversationError::UnknownRole(role.to_owned()))
}

pub fn write(turns: &[ChatTurn]) -> String {
    let turn = |ChatTurn { speaker, content }: &ChatTurn| {
        let content = serde_json::to_string(content).unwrap_or_default();
        format!("{{\"role\": \"{}\", \"content\": {content}}}", speaker.name())
    };
    format!("[{}]", turns.iter().map(turn).collect::<Vec<_>>().join(", "))
}

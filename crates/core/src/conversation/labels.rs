//! Conversations whose turns begin with labels: `User: Hi.`

use super::turn::ChatTurn;
use crate::explanation::Speaker;

/// Labels in lower case.
const LABELS: [(&str, Speaker); 6] = [
    ("system", Speaker::System),
    ("user", Speaker::User),
    ("human", Speaker::User),
    ("assistant", Speaker::Assistant),
    ("ai", Speaker::Assistant),
    ("model", Speaker::Assistant),
];

/// The speaker with this label, in any case. `None` if it is not a label.
pub fn speaker(label: &str) -> Option<Speaker> {
    LABELS.into_iter().find(|(name, _)| label.eq_ignore_ascii_case(name)).map(|(_, speaker)| speaker)
}

/// Reads turns. `None` if the text does not start with a label, or if only one speaker has labels.
pub fn read(text: &str) -> Option<Vec<ChatTurn>> {
    let mut turns: Vec<ChatTurn> = Vec::new();
    for line in text.trim_start().split_inclusive('\n') {
        match (labelled(line), turns.last_mut()) {
            (Some((speaker, rest)), _) => turns.push(ChatTurn { speaker, content: rest.to_owned() }),
            (None, Some(turn)) => turn.content.push_str(line),
            (None, None) => return None,
        }
    }
    let first = turns.first()?.speaker;
    if turns.iter().all(|turn| turn.speaker == first) {
        return None;
    }
    trim(&mut turns);
    Some(turns)
}

/// Removes white space at the ends of contents, and a last turn in which the assistant has not spoken yet.
pub fn trim(turns: &mut Vec<ChatTurn>) {
    turns.iter_mut().for_each(|turn| turn.content = turn.content.trim().to_owned());
    turns.pop_if(|turn| turn.speaker == Speaker::Assistant && turn.content.is_empty());
}

/// The speaker that the label of a line names, and the text after the label: `User: Hi.`, `**User:** Hi.` or `**User**: Hi.`
fn labelled(line: &str) -> Option<(Speaker, &str)> {
    let (label, rest) = line.split_once(':')?;
    match label.strip_prefix("**") {
        None => Some((speaker(label)?, rest)),
        Some(bold) => match bold.strip_suffix("**") {
            Some(label) => Some((speaker(label)?, rest)),
            None => Some((speaker(bold)?, rest.strip_prefix("**")?)),
        },
    }
}

pub fn write(turns: &[ChatTurn]) -> String {
    let turn = |ChatTurn { speaker, content }: &ChatTurn| format!("{}: {content}", speaker.label());
    turns.iter().map(turn).collect::<Vec<_>>().join("\n\n")
}

/// The text with a space before each line that would look like a label.
pub fn hidden(text: &str) -> String {
    let line = |line: &str| if labelled(line).is_some() { format!(" {line}") } else { line.to_owned() };
    text.split_inclusive('\n').map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stand_at_starts_of_lines() {
        for (line, found) in [
            ("User: Hi.", Some((Speaker::User, " Hi."))),
            ("HUMAN:", Some((Speaker::User, ""))),
            ("**AI:** Yes", Some((Speaker::Assistant, " Yes"))),
            ("**Model**: Yes: no", Some((Speaker::Assistant, " Yes: no"))),
            ("system:x", Some((Speaker::System, "x"))),
            (" User: Hi.", None),
            ("**User: Hi.**", None),
            ("User Hi.", None),
            ("Bot: Hi.", None),
        ] {
            assert_eq!(labelled(line), found, "{line}");
        }
    }

    #[test]
    fn hidden_labels_are_text() {
        assert_eq!(hidden("AI: a\nb\nUser: c"), " AI: a\nb\n User: c");
    }
}

//! Explanations and lessons that are opened from a file, a link, this site, or an entry of the browser's history.

use glasscage_message::{Message, ToMessage};

use super::lesson::Progress;
use super::origin::Origin;
use crate::explanation::{self, Document};
use crate::lesson::{self, Lesson};
use crate::open::{self, open_any};

/// An opened explanation or lesson.
#[derive(Clone, Debug, PartialEq)]
pub enum Opened {
    Explanation(Box<Document>, Origin),
    /// A lesson and its reader's progress.
    Lesson(Lesson, Progress),
}

impl Opened {
    /// Opens the content of a file. Errors with the reason for the visitor.
    pub fn from_bytes(bytes: &[u8], origin: Origin) -> Result<Self, Message> {
        Ok(Self::new(open_any(bytes).map_err(|error| error.to_message())?, origin))
    }

    /// Opens an explanation or a lesson of this site, as JSON. `None` if it is not valid.
    pub fn from_json(json: &str, origin: Origin) -> Option<Self> {
        Some(match Lesson::claims_to_be_lesson(json) {
            true => Self::Lesson(Lesson::from_json(json).ok()?, Progress::default()),
            false => Self::Explanation(Document::from_json(json).ok()?.into(), origin),
        })
    }

    /// Whether a fragment (with or without `#`) contains an explanation or a lesson.
    pub fn is_link(fragment: &str) -> bool {
        lesson::is_link(fragment) || explanation::is_link(fragment)
    }

    fn new(opened: open::Opened, origin: Origin) -> Self {
        match opened {
            open::Opened::Explanation(document) => Self::Explanation(document, origin),
            open::Opened::Lesson(lesson) => Self::Lesson(lesson, Progress::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::document;
    use crate::app::state::lesson::tests::lesson;

    #[test]
    fn a_file_is_told_by_its_content() {
        let opened = |json: String| Opened::from_bytes(json.as_bytes(), Origin::File);
        assert_eq!(opened(lesson().to_json()), Ok(Opened::Lesson(lesson(), Progress::default())));
        let explanation = opened(document().to_json());
        assert_eq!(explanation, Ok(Opened::Explanation(document().into(), Origin::File)));
        assert!(opened("{}".into()).is_err());
        for json in [lesson().to_json(), document().to_json()] {
            assert_eq!(Opened::from_json(&json, Origin::File), Opened::from_bytes(json.as_bytes(), Origin::File).ok());
        }
        assert_eq!(Opened::from_json("{}", Origin::File), None);
    }

    #[test]
    fn a_link_is_told_by_its_first_characters() {
        let link = |fragment: &str| {
            let fragment = format!("#{fragment}");
            Opened::is_link(&fragment).then(|| Opened::from_bytes(fragment.as_bytes(), Origin::Link))
        };
        assert!(matches!(link(&lesson::to_fragment(&lesson())), Some(Ok(Opened::Lesson(..)))));
        assert!(matches!(link(&explanation::to_fragment(&document())), Some(Ok(Opened::Explanation(_, Origin::Link)))));
        assert!(matches!(link("g3.damaged"), Some(Err(_))));
        assert_eq!(link("utm_source=x"), None);
    }
}

//! Explanations and lessons that are opened from a file, a link, this site, or an entry of the browser's history.

use glasscage_message::{Message, ToMessage};

use super::explanation::Origin;
use super::lesson::Progress;
use crate::explanation::Document;
use crate::lesson::Lesson;
use crate::open::{self, open_any, open_fragment};

/// An opened explanation or lesson.
#[derive(Debug, PartialEq)]
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

    fn new(opened: open::Opened, origin: Origin) -> Self {
        match opened {
            open::Opened::Explanation(document) => Self::Explanation(document, origin),
            open::Opened::Lesson(lesson) => Self::Lesson(lesson, Progress::default()),
        }
    }

    /// Opens the content of a link from its fragment (with or without `#`). `None` if the fragment is not a Glasscage link.
    pub fn from_fragment(fragment: &str) -> Option<Result<Self, Message>> {
        let opened = open_fragment(fragment)?;
        Some(opened.map(|opened| Self::new(opened, Origin::Link)).map_err(|error| error.to_message()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::document;
    use crate::app::state::lesson::tests::lesson;
    use crate::{explanation, lesson};

    #[test]
    fn a_file_is_told_by_its_content() {
        let opened = |json: String| Opened::from_bytes(json.as_bytes(), Origin::File);
        assert_eq!(opened(lesson().to_json()), Ok(Opened::Lesson(lesson(), Progress::default())));
        let explanation = opened(document().to_json());
        assert_eq!(explanation, Ok(Opened::Explanation(document().into(), Origin::File)));
        assert!(opened("{}".into()).is_err());
    }

    #[test]
    fn a_link_is_told_by_its_first_characters() {
        let link = |fragment: &str| Opened::from_fragment(&format!("#{fragment}"));
        assert!(matches!(link(&lesson::to_fragment(&lesson())), Some(Ok(Opened::Lesson(..)))));
        assert!(matches!(link(&explanation::to_fragment(&document())), Some(Ok(Opened::Explanation(_, Origin::Link)))));
        assert!(matches!(link("g3.damaged"), Some(Err(_))));
        assert_eq!(link("utm_source=x"), None);
    }
}

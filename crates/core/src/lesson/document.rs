//! JSON format of lessons. The schema for other programs is `public/schema/lesson-1.json`.

use glasscage_message::ToMessage;
use serde::{Deserialize, Serialize};

use super::step::Step;
use crate::explanation::{Document, DocumentError};

/// The value of `format` in every lesson.
pub const FORMAT: &str = "glasscage-lesson";
/// The version this page writes.
pub const VERSION: u32 = 1;
/// Maximum number of steps. Lessons are untrusted, and no reader finishes longer ones.
const MAX_STEPS: usize = 100;
/// Maximum number of explanations in a lesson.
pub const MAX_EXPLANATIONS: usize = 20;
/// Maximum bytes of a text.
const MAX_TEXT: usize = 1 << 14;
const MAX_LANGUAGE: usize = 35;

/// A lesson as it is saved (JSON) and opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lesson {
    /// Always [`FORMAT`].
    pub format: String,
    pub version: u32,
    /// Language of the lesson's texts, as a BCP 47 tag. Explanations have their own languages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    pub title: String,
    /// Steps in reading order.
    pub steps: Vec<Step>,
    /// Explanations that the steps show.
    pub explanations: Vec<Document>,
}

/// Why a text is not a valid lesson.
#[derive(Debug, PartialEq, thiserror::Error, ToMessage)]
pub enum LessonError {
    #[error("this is not a lesson: {0}")]
    Json(String),
    #[error("this is not a lesson (its format is {0:?})")]
    Format(String),
    #[error("this lesson has version {0}, newer than this page (version {VERSION})")]
    Version(u32),
    #[error(
        "this lesson has {steps} steps (allowed: 1 to {MAX_STEPS}) and {explanations} explanations (allowed: 1 to \
             {MAX_EXPLANATIONS})"
    )]
    Size { steps: usize, explanations: usize },
    #[error("this lesson has a text of more than {MAX_TEXT} bytes")]
    Text,
    #[error("{0:?} is not a language tag such as \u{201c}de\u{201d}")]
    Language(String),
    #[error("step {number} of this lesson names an explanation, a sentence or an answer that it does not have", number = .0 + 1)]
    Step(usize),
    #[error(transparent)]
    Document(#[from] DocumentError),
    #[error("this lesson’s link is damaged; it may have been cut off where it was copied")]
    Damaged,
    #[error("this lesson’s link was made by a newer version of the page")]
    Newer,
}

impl Lesson {
    /// A lesson of this version, in an unknown language.
    pub fn new(title: impl Into<String>, steps: Vec<Step>, explanations: Vec<Document>) -> Self {
        Self { format: FORMAT.into(), version: VERSION, language: None, title: title.into(), steps, explanations }
    }

    /// Whether a JSON text claims to be a lesson.
    pub fn claims_to_be_lesson(json: &str) -> bool {
        #[derive(Deserialize)]
        struct Head {
            format: String,
        }
        serde_json::from_str(json).is_ok_and(|head: Head| head.format == FORMAT)
    }

    /// Parses and checks an untrusted lesson.
    pub fn from_json(json: &str) -> Result<Self, LessonError> {
        let lesson = Self::unchecked(json)?;
        lesson.check()?;
        Ok(lesson.versioned())
    }

    /// Parses a lesson without [`Lesson::check`].
    pub(super) fn unchecked(json: &str) -> Result<Self, LessonError> {
        serde_json::from_str(json).map_err(|error| LessonError::Json(error.to_string()))
    }

    /// The lesson with explanations of the smallest possible versions.
    fn versioned(mut self) -> Self {
        self.explanations = self.explanations.into_iter().map(Document::versioned).collect();
        self
    }

    /// The lesson as indented JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(&self.clone().versioned()).expect("a lesson has only string keys and finite numbers")
    }

    /// Checks the invariants of a lesson: steps show existing sentences and ask questions that can be answered. Returns the first
    /// violation.
    pub fn check(&self) -> Result<(), LessonError> {
        if self.format != FORMAT {
            return Err(LessonError::Format(self.format.clone()));
        }
        if self.version > VERSION {
            return Err(LessonError::Version(self.version));
        }
        self.check_counts(self.explanations.len())?;
        self.explanations.iter().try_for_each(Document::check)?;
        if let Some(language) = self.language.as_ref().filter(|language| !is_language(language)) {
            return Err(LessonError::Language(language.clone()));
        }
        if self.texts().any(|text| text.len() > MAX_TEXT) {
            return Err(LessonError::Text);
        }
        match self.steps.iter().position(|step| !self.explanations.get(step.explanation).is_some_and(|document| step.fits(document))) {
            Some(at) => Err(LessonError::Step(at)),
            None => Ok(()),
        }
    }

    /// Checks the limits on the number of steps and on `explanations`, the number of explanations.
    pub(super) fn check_counts(&self, explanations: usize) -> Result<(), LessonError> {
        let steps = self.steps.len();
        let is_within = (1..=MAX_STEPS).contains(&steps) && (1..=MAX_EXPLANATIONS).contains(&explanations);
        if is_within { Ok(()) } else { Err(LessonError::Size { steps, explanations }) }
    }

    /// The lesson in another language. `None` if a translation is missing. Texts without a letter stay unchanged.
    pub fn translated(&self, language: &str, translation: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let mut lesson = Self { language: Some(language.to_owned()), ..self.clone() };
        for text in lesson.steps.iter_mut().flat_map(Step::texts_mut).chain([&mut lesson.title]) {
            if text.contains(char::is_alphabetic) {
                *text = translation(text)?;
            }
        }
        Some(lesson)
    }

    /// All texts of the lesson, in no particular order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().flat_map(Step::texts).chain([self.title.as_str()])
    }

    /// The explanation of a step, with the sentences that the step chooses.
    pub fn document(&self, step: &Step) -> Document {
        let document = self.explanations[step.explanation].clone();
        if step.output.is_empty() { document } else { Document { output: step.output.clone(), ..document } }
    }
}

/// Whether a tag has the shape of a BCP 47 language tag, such as "de" or "zh-Hant".
fn is_language(tag: &str) -> bool {
    let is_part = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    tag.len() <= MAX_LANGUAGE && tag.split('-').all(is_part)
}

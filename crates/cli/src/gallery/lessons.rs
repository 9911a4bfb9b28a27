//! The page's lessons: handwritten texts and questions about explanations that this command makes.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use glasscage_core::explanation::Document;
use glasscage_core::lesson::{Lesson, Step};
use glasscage_engine::Engine;
use glasscage_protocol::request::Question;
use glasscage_session::Session;
use serde::Deserialize;

use super::super::contrast::add_contrast;
use super::explained::{explained, without_tokens};

/// The lessons in the order of the page.
const SOURCES: [(&str, &str); 9] = [
    ("what-an-attribution-is", include_str!("lessons/1-what-an-attribution-is.json")),
    ("directly-and-by-way-of-steps", include_str!("lessons/2-directly-and-by-way-of-steps.json")),
    ("sentences-that-change-nothing", include_str!("lessons/3-sentences-that-change-nothing.json")),
    ("a-mistake-explained", include_str!("lessons/4-a-mistake-explained.json")),
    ("methods-disagree", include_str!("lessons/5-methods-disagree.json")),
    ("when-not-to-believe-a-percentage", include_str!("lessons/6-when-not-to-believe-a-percentage.json")),
    ("a-coin-flip-answer", include_str!("lessons/7-a-coin-flip-answer.json")),
    ("an-injected-instruction", include_str!("lessons/8-an-injected-instruction.json")),
    ("a-citation-that-lies", include_str!("lessons/9-a-citation-that-lies.json")),
];

/// Language of the lessons. Translations are in `public/lessons`.
const LANGUAGE: &str = "en";

/// The source of a lesson, with questions to the model instead of explanations.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LessonSource {
    /// Name of its file.
    #[serde(skip)]
    pub name: &'static str,
    pub title: String,
    /// One or two sentences about its topic.
    pub about: String,
    /// Whether it is about answers of SmolLM2-135M-Instruct, instead of answers of the built-in model.
    #[serde(default)]
    pub asks_ordinary_model: bool,
    /// Whether it is about how sure the model was, so that its explanations keep the probabilities of tokens.
    #[serde(default)]
    is_about_certainty: bool,
    explanations: Vec<Asked>,
    steps: Vec<Step>,
}

/// A question to the model.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// Title of one of the page's examples.
    example: Option<String>,
    prompt: Option<String>,
    method: String,
    /// An answer to explain, instead of the model's own.
    answer: Option<String>,
    /// A part of the answer, and the text to compare it with.
    contrast: Option<[String; 2]>,
}

/// The sources of all lessons.
pub fn sources() -> Result<Vec<LessonSource>, String> {
    let source = |(name, json): (&'static str, &str)| {
        let source: LessonSource = serde_json::from_str(json).map_err(|error| format!("lesson {name}: {error}"))?;
        Ok(LessonSource { name, ..source })
    };
    SOURCES.into_iter().map(source).collect()
}

impl LessonSource {
    /// The questions to the model. `prompt_of` returns the prompt of the page's example with this title.
    pub fn questions(&self, prompt_of: impl Fn(&str) -> Option<String>) -> Result<Vec<Question>, String> {
        let question = |asked: &Asked| {
            let prompt = asked.prompt.clone().or_else(|| prompt_of(asked.example.as_deref()?));
            let prompt = prompt.ok_or_else(|| format!("lesson {}: there is no example {:?}", self.name, asked.example))?;
            Ok(Question { method: asked.method.clone(), answer: asked.answer.clone(), ..Question::greedy(&prompt) })
        };
        self.explanations.iter().map(question).collect()
    }

    /// The lesson about answers of this model to `questions`.
    pub fn explained_by(self, session: &mut Session<Engine>, questions: &[Question]) -> Result<Lesson, String> {
        let explanation = |(question, asked): (&Question, &Asked)| {
            let mut document = explained(session, question)?;
            if let Some(texts) = &asked.contrast {
                add_contrast(session, question, &mut document, texts, &mut async |_| ControlFlow::Continue(()))?;
            }
            let document = if self.is_about_certainty { document } else { without_tokens(document) };
            // Lessons discuss shares, which the page would not show for a sentence without support.
            Ok(Document { support: Vec::new(), ..document })
        };
        let explanations = questions.iter().zip(&self.explanations).map(explanation).collect::<Result<_, String>>()?;
        self.with(explanations)
    }

    /// The lesson with the explanations that it has in this file.
    pub fn kept_from(self, file: &Path) -> Result<Lesson, String> {
        let cannot_read = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", file.display());
        let json = fs::read_to_string(file).map_err(|error| cannot_read(&error))?;
        let old = Lesson::from_json(&json).map_err(|error| cannot_read(&error))?;
        self.with(old.explanations)
    }

    /// The lesson about these explanations, in the order of the questions.
    fn with(self, explanations: Vec<Document>) -> Result<Lesson, String> {
        let lesson = Lesson { language: Some(LANGUAGE.into()), ..Lesson::new(self.title, self.steps, explanations) };
        lesson.check().map_err(|error| format!("lesson {}: {error}", self.name))?;
        Ok(lesson)
    }
}

//! The page's lessons: handwritten texts and questions about explanations that this command makes.

use glasscage_core::lesson::{Lesson, Step};
use glasscage_protocol::request::Question;
use serde::Deserialize;

/// The lessons in the order of the page.
const SOURCES: [(&str, &str); 6] = [
    ("what-an-attribution-is", include_str!("lessons/1-what-an-attribution-is.json")),
    ("directly-and-by-way-of-steps", include_str!("lessons/2-directly-and-by-way-of-steps.json")),
    ("sentences-that-change-nothing", include_str!("lessons/3-sentences-that-change-nothing.json")),
    ("a-mistake-explained", include_str!("lessons/4-a-mistake-explained.json")),
    ("methods-disagree", include_str!("lessons/5-methods-disagree.json")),
    ("when-not-to-believe-a-percentage", include_str!("lessons/6-when-not-to-believe-a-percentage.json")),
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

    /// The lesson about these explanations, in the order of the questions.
    pub fn with(self, explanations: Vec<glasscage_core::explanation::Document>) -> Result<Lesson, String> {
        let lesson = Lesson { language: Some(LANGUAGE.into()), ..Lesson::new(self.title, self.steps, explanations) };
        lesson.check().map_err(|error| format!("lesson {}: {error}", self.name))?;
        Ok(lesson)
    }
}

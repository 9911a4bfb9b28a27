//! Lessons: texts and questions above the explanation that they are about.

mod change;
mod choose_question;
mod comparison_table;
mod explanations_editor;
mod history_bar;
mod lesson_editor;
mod lesson_panel;
mod mark_question;
mod open_lesson_view;
mod question_editor;
mod sheet_view;

pub use lesson_panel::LessonPanel;

//! Where on the page something is said.

/// Where a problem is said: beside what the visitor pressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Above everything.
    #[default]
    Page,
    Editor,
    Explanation,
    /// In the editor of a lesson.
    Lesson,
}

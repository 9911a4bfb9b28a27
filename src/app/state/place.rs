//! Places on the page that show problems.

/// Where a problem is shown: next to the control that the visitor used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// At the top of the page.
    #[default]
    Page,
    Editor,
    Explanation,
    /// In the editor of a lesson.
    Lesson,
}

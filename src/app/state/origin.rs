//! Where the explanation on screen comes from.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Computed on this page.
    Here,
    Link,
    File,
    Gallery,
    /// A step of a lesson shows it.
    Lesson,
    /// The welcome explanation, which is built into the page. Visitors see it until they have an explanation of their own.
    Welcome,
}

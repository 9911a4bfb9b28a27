//! What the base attribution methods are called and what their scores mean. What they do is in `attribution`.

/// A method, in words.
pub struct MethodText {
    /// In documents and on the command line.
    pub id: &'static str,
    /// The paper's name.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// What a score is, as in "{} when the source is blanked out".
    pub score: &'static str,
}

/// All methods that this page can explain with; the first is the default.
pub const METHODS: &[MethodText] = &[
    MethodText {
        id: "pert",
        name: "Pert.",
        about: "Blanks out one sentence at a time and measures how much less likely each later sentence becomes.",
        score: "the loss of log-probability",
    },
    MethodText {
        id: "clp",
        name: "CLP",
        about: "Blanks out one sentence at a time and measures how far the predictions of all possible next tokens move.",
        score: "the divergence of the predictions (KL)",
    },
];

/// The method of this id; `None` for one of another page.
pub fn method_text(id: &str) -> Option<&'static MethodText> {
    METHODS.iter().find(|method| method.id == id)
}

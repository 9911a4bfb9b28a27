//! The work of the attribution job with shared prefixes: exact counts, by the schedule of the engine.

/// A text of sentences of the same length, the last of which are generated. Each sentence but the last is replaced once.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    pub tokens: usize,
    pub sentences: usize,
    pub generated: usize,
}

impl Job {
    /// Tokens of the text that pass through the layers: the last one predicts nothing.
    pub fn text_tokens(self) -> usize {
        self.tokens - 1
    }

    /// First tokens of the replaced sentences.
    fn starts(self) -> impl Iterator<Item = usize> {
        (0..self.sentences - 1).map(move |j| j * self.tokens / self.sentences)
    }

    /// First generated token.
    fn prompt(self) -> usize {
        (self.sentences - self.generated) * self.tokens / self.sentences
    }

    /// Tokens that pass through the layers: the text once, and the suffix of each replaced sentence.
    pub fn forward_tokens(self) -> usize {
        self.text_tokens() + self.starts().map(|start| self.text_tokens() - start).sum::<usize>()
    }

    /// Positions of the text that pass through the LM head.
    pub fn text_positions(self) -> usize {
        self.tokens - self.prompt()
    }

    /// Positions that pass through the LM head. A token that a replaced sentence begins with is predicted before it.
    pub fn head_positions(self) -> usize {
        let after = |start: usize| self.tokens - self.prompt().max(start + 1);
        self.text_positions() + self.starts().map(after).sum::<usize>()
    }

    /// Positions that the rows of the text attend to, together.
    pub fn text_attended(self) -> usize {
        (1..=self.text_tokens()).sum()
    }

    /// Positions that the rows of all suffixes attend to, together.
    pub fn suffixes_attended(self) -> usize {
        self.starts().map(|start| (start + 1..=self.text_tokens()).sum::<usize>()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The engine's test `only_suffixes_are_computed` has the same counts.
    #[test]
    fn counts_are_those_of_the_engine() {
        let job = Job { tokens: 400, sentences: 20, generated: 8 };
        assert_eq!((job.forward_tokens(), job.head_positions()), (4_560, 2_773));
        assert_eq!(job.text_attended(), 399 * 200);
        let mean = (job.text_attended() + job.suffixes_attended()) / job.forward_tokens();
        assert!((250..300).contains(&mean), "{mean}");
    }
}

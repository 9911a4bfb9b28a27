//! Evidence for a row: the sum of its positive scores before normalization scales the row to 100 %.

use super::support::{little_support, total_support};
use crate::explanation::{Document, MethodText};
use crate::graph;

/// Evidence for a generated sentence: the sum of its positive scores, in the unit of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Evidence {
    /// Not fully measured: the run is in progress or was stopped.
    Unmeasured,
    /// No source has a positive score.
    None,
    /// All statements of the prompt together do little. Contains the [support](total_support), in nats.
    Unsupported(f64),
    Weak(f64),
    Clear(f64),
}

impl Evidence {
    /// Evidence for each generated sentence. Documents without support have no [`Evidence::Unsupported`].
    pub fn of_document(document: &Document) -> Vec<Self> {
        let (weak, support) = (MethodText::of(&document.method.id).weak, total_support(document));
        let little = little_support(&document.manifest.model);
        let (n_prompt, places) = (document.prompt.sentences.len(), document.places());
        let evidence = |(i, row): (usize, &[Option<f64>])| {
            // A source after the sentence in the text has no effect on it, measured or not.
            let is_before = |&(_, place): &(&Option<f64>, &usize)| places.get(n_prompt + i).is_none_or(|own| place < own);
            let scores: Vec<Option<f64>> = row.iter().zip(&places).filter(is_before).map(|(score, _)| *score).collect();
            match (Self::of(&scores, weak), support.get(i)) {
                (Self::None | Self::Weak(_) | Self::Clear(_), Some(&support)) if support < little => Self::Unsupported(support),
                (evidence, _) => evidence,
            }
        };
        document.table.rows().enumerate().map(evidence).collect()
    }

    /// Evidence for a row of T. Sums below `weak` are weak.
    pub fn of(row: &[Option<f64>], weak: f64) -> Self {
        let mass = graph::positive_mass(row);
        match mass {
            _ if row.iter().any(Option::is_none) => Self::Unmeasured,
            _ if mass <= 0.0 => Self::None,
            _ if mass < weak => Self::Weak(mass),
            _ => Self::Clear(mass),
        }
    }

    /// The strongest evidence among the sentences of an output, which decides whether the output can be explained.
    pub fn strongest(rows: impl IntoIterator<Item = Self>) -> Self {
        rows.into_iter().max_by(|a, b| a.rank().total_cmp(&b.rank())).unwrap_or(Self::None)
    }

    fn rank(self) -> f64 {
        match self {
            Self::Unmeasured => -1.0,
            Self::None => 0.0,
            // Less than any positive sum of scores.
            Self::Unsupported(_) => f64::from_bits(1),
            Self::Weak(mass) | Self::Clear(mass) => mass,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::example::{example, with_explained_turns};

    #[test]
    fn little_support_replaces_evidence_of_measured_rows() {
        let evidence = |support: [f64; 2]| Evidence::of_document(&Document { support: support.to_vec(), ..example() });
        assert_eq!(Evidence::of_document(&example()), [Evidence::Clear(1.75), Evidence::Clear(2.1)]);
        assert_eq!(evidence([0.125, 9.0]), [Evidence::Unsupported(0.125), Evidence::Clear(2.1)]);
        // The second sentence depends on the first, which the prompt supports.
        assert_eq!(evidence([9.0, 0.0]), [Evidence::Clear(1.75), Evidence::Clear(2.1)]);
        let mut of_problems = Document { support: vec![3.0, 0.0], ..example() };
        assert_eq!(Evidence::of_document(&of_problems)[0], Evidence::Unsupported(3.0));
        of_problems.manifest.model.name = "Glasscage demo".into();
        assert_eq!(Evidence::of_document(&of_problems)[0], Evidence::Clear(1.75));
        let mut stopped = Document { support: vec![0.0; 2], ..example() };
        stopped.table.row_mut(1)[2] = None;
        assert_eq!(Evidence::of_document(&stopped), [Evidence::Unsupported(0.0), Evidence::Unmeasured]);
    }

    #[test]
    fn later_sources_are_not_missing() {
        let mut document = with_explained_turns();
        document.table.row_mut(0)[2] = None;
        assert_eq!(Evidence::of_document(&document)[0], Evidence::Clear(0.75));
        document.table.row_mut(0)[1] = None;
        assert_eq!(Evidence::of_document(&document)[0], Evidence::Unmeasured);
    }

    #[test]
    fn the_strongest_is_that_with_the_largest_sum() {
        let rows = [Evidence::None, Evidence::Weak(0.01), Evidence::Clear(2.0), Evidence::Unmeasured, Evidence::Clear(1.0)];
        assert_eq!(Evidence::strongest(rows), Evidence::Clear(2.0));
        assert_eq!(Evidence::strongest([]), Evidence::None);
        assert_eq!(Evidence::strongest([Evidence::Unsupported(0.0), Evidence::None]), Evidence::Unsupported(0.0));
        assert_eq!(Evidence::strongest([Evidence::Weak(0.01), Evidence::Unsupported(0.2)]), Evidence::Weak(0.01));
    }

    #[test]
    fn evidence_depends_on_threshold_and_unmeasured_cells() {
        let of = |row: &[Option<f64>]| Evidence::of(row, 0.5);
        assert_eq!(of(&[Some(3.0), None]), Evidence::Unmeasured);
        assert_eq!(of(&[Some(-3.0), Some(0.0)]), Evidence::None);
        assert_eq!(of(&[Some(-3.0), Some(0.25)]), Evidence::Weak(0.25));
        assert_eq!(of(&[Some(0.25), Some(0.25)]), Evidence::Clear(0.5));
        assert_eq!(Evidence::strongest([Evidence::None, Evidence::Unmeasured]), Evidence::None);
    }
}

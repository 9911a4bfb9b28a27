//! What the reader of an explanation has to know in addition to its numbers. The page shows the same.

use glasscage_core::explanation::{Answer, AnswerStop, AnswerWarning, Document};
use glasscage_core::number::percent_tenths;
use glasscage_core::shares::{Evidence, Shares};

/// Smaller parts do not change the percentages, which have one decimal.
const SMALLEST_PART: f64 = 0.0005;

/// One line for each remark: the answer was cut off or may be wrong, the evidence is weak, or the percentages do not add up to 100.
pub fn remarks_text(document: &Document, shares: &Shares) -> String {
    let mut remarks = Vec::new();
    if let Answer::Generated { stop, warning, .. } = &document.manifest.answer {
        remarks.extend(match stop {
            AnswerStop::Length => Some("The answer was cut off at the limit of tokens. Choose a higher one with --max-tokens.".to_owned()),
            AnswerStop::Repetition => Some("The model started to repeat itself and was stopped. Its answer is not usable.".into()),
            AnswerStop::End | AnswerStop::Canceled => None,
        });
        remarks.extend(warning.map(|warning| match warning {
            AnswerWarning::Doubtful => "This answer is doubtful: it shows signs of a mistake. Check it before you use it.".into(),
            AnswerWarning::OutOfScope => {
                "This small model can only solve small problems. Choose a larger model for this prompt.".to_owned()
            }
        }));
    }
    remarks.extend(match shares.evidence() {
        Evidence::None => Some("No measurable source: no sentence has a positive score.".to_owned()),
        Evidence::Weak(_) => Some("Weak evidence: the sentences together have little effect.".into()),
        Evidence::Unsupported(_) | Evidence::Clear(_) | Evidence::Unmeasured => None,
    });
    if !shares.is_unsupported() && shares.scale().is_shares() {
        // The sentences of explained earlier answers are listed with their own percentages.
        let first = shares.n_prompt() + document.last_answer().row;
        let of_answer: f64 = (first..shares.n_sources()).filter_map(|j| shares.direct(j)).sum();
        let lost = shares.lost_share();
        let noun = document.unit.of_answer().noun();
        if of_answer >= SMALLEST_PART {
            remarks.push(format!("Row: {} % is from earlier {noun}s of the answer.", percent_tenths(of_answer)));
        }
        if lost >= SMALLEST_PART {
            remarks.push(format!("CAGE: {} % ends at {noun}s of the answer without a measurable source.", percent_tenths(lost)));
        }
    }
    remarks.iter().map(|remark| format!("{remark}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        Document::from_json(include_str!("../../core/tests/golden/linked.json")).expect("a document")
    }

    fn remarks(document: &Document) -> String {
        remarks_text(document, &Shares::of(document))
    }

    #[test]
    fn cut_and_doubtful_answers_are_remarked() {
        let mut document = document();
        let Answer::Generated { stop, warning, .. } = &mut document.manifest.answer else { panic!("it is generated") };
        (*stop, *warning) = (AnswerStop::Length, Some(AnswerWarning::OutOfScope));
        let text = remarks(&document);
        assert!(text.starts_with("The answer was cut off") && text.contains("\nThis small model can only"), "{text}");
    }

    #[test]
    fn missing_part_of_percentages_is_named() {
        let document = document();
        let shares = Shares::of(&document);
        let sum = |amount: fn(&Shares, usize) -> Option<f64>| -> f64 { (0..shares.n_prompt()).filter_map(|j| amount(&shares, j)).sum() };
        let (total, direct) = (sum(Shares::total), sum(Shares::direct));
        let text = remarks(&document);
        assert_eq!(text.contains("Row: "), direct < 1.0 - SMALLEST_PART, "{text}");
        assert_eq!(text.contains("CAGE: "), total < 1.0 - SMALLEST_PART, "{text}");
        assert!(text.contains(&format!("Row: {} %", percent_tenths(1.0 - direct))), "{text}");
    }
}

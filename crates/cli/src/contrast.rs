//! Contrasts: why a part of the answer, and not another text.

use glasscage_core::explanation::{Contrast, Document};
use glasscage_core::number::percent_tenths;
use glasscage_core::shares::ContrastShares;
use glasscage_engine::Engine;
use glasscage_engine::lm::Callback;
use glasscage_protocol::request::{PassProgress, Question};
use glasscage_session::Session;

use super::output::indented;

/// Compares the last occurrence of `text` in the answer to `question` with `other`, and adds the contrast to the document. If earlier
/// answers are explained and the last one lacks the text, it may be in an earlier one.
pub fn add_contrast(
    session: &mut Session<Engine>,
    question: &Question,
    document: &mut Document,
    [text, other]: &[String; 2],
    on_pass: &mut dyn Callback<PassProgress>,
) -> Result<Contrast, String> {
    let answer = &document.generation.text;
    let Some(at) = answer.rfind(text) else { return Err(format!("the answer does not contain {text:?}")) };
    let mark = [at, at + text.len()].map(|byte| answer[..byte].chars().count());
    let contrast = pollster::block_on(session.contrast(question, mark, other, on_pass)).map_err(|problem| problem.to_string())?;
    let contrast = contrast.ok_or("interrupted")?;
    document.contrasts.push(contrast.clone());
    Ok(contrast)
}

/// Both log-probabilities, and for each sentence before the compared text its effect and its shares for that text and against it.
pub fn contrast_text(document: &Document, contrast: &Contrast) -> String {
    let (part, alternative) = (contrast.part(&document.generation), &contrast.alternative);
    let [of_part, of_alternative] = contrast.log_probabilities;
    let mut text = format!("\nWhy {part:?} and not {alternative:?}?\n\nlog-probability in nats: {of_part:.4} and {of_alternative:.4}\n");
    let ContrastShares { shares, effect } = ContrastShares::of(document, contrast);
    if effect == 0.0 {
        return text + "No source changes the difference.\n";
    }
    text += "effects in nats: positive supports the first text, negative the second\n\n  effect     for against\n";
    let row = document.generation.sentence_at(contrast.span).unwrap_or_default();
    let units = document.units_in_order().into_iter().take_while(|unit| unit.row != Some(row));
    for (j, effect) in units.filter_map(|unit| Some((unit.source, contrast.effects.get(unit.source)?))) {
        let amounts =
            shares.get(j).map_or(["\u{2013}".into(), "\u{2013}".into()], |shares| shares.map(|share| percent_tenths(share) + "%"));
        let [supporting, opposing] = amounts;
        if let Some(speaker) = document.begins_turn(j) {
            text += &format!("{:26}{}:\n", "", speaker.label());
        }
        text += &format!("{effect:>+8.4}  {supporting:>6}  {opposing:>6}  {}\n", indented(document.source(j), 26));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_lists_effects_and_both_shares() {
        let document = Document::from_json(include_str!("../../core/tests/golden/contrasts.json")).expect("a document");
        let text = contrast_text(&document, &document.contrasts[0]);
        assert!(text.contains("Why \" 24\" and not \" 36\"?") && text.contains("-0.0625 and -4.5000"), "{text}");
        let lines: Vec<&str> = text.lines().filter(|line| line.contains('%') || line.contains('\u{2013}')).collect();
        assert_eq!(lines.len(), 7, "six prompt sentences and a step: {text}");
        assert!(lines[0].trim_start().starts_with("+1.5000") && lines[5].trim_start().starts_with("-0.5000"), "{text}");
        let mut none = document.contrasts[0].clone();
        none.effects.fill(0.0);
        assert!(contrast_text(&document, &none).ends_with("No source changes the difference.\n"));
    }

    #[test]
    fn turns_begin_with_their_speakers() {
        let document = Document::from_json(include_str!("../../core/tests/golden/turns.json")).expect("a document");
        assert!(contrast_text(&document, &document.contrasts[0]).contains(" System:\n"));
    }

    #[test]
    fn contrast_in_earlier_answer_lists_units_before_it() {
        let document = Document::from_json(include_str!("../../core/tests/golden/explained-turns.json")).expect("a document");
        let text = contrast_text(&document, &document.contrasts[0]);
        let lines: Vec<&str> = text.lines().filter(|line| line.contains('%') || line.contains('\u{2013}')).collect();
        assert!(lines.len() == 3 && lines[2].ends_with("Good.") && !text.contains("She finds"), "{text}");
    }
}

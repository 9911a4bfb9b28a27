//! How sure the model was, as text: each sentence and token with its probability, and the alternatives of each token.

use glasscage_core::explanation::{Document, MAX_FORKS, Token, forks, mean_probability, total_log_probability};
use glasscage_core::number::{NumberFormat, percent_tenths};

/// All tokens of the document's answers, by sentence. Tokens of the last answer have numbers. Says so if the document has no tokens.
pub fn certainty_text(document: &Document) -> String {
    if document.tokens.is_empty() {
        return "\nThe probabilities of the tokens were not measured.\n".into();
    }
    let last_answer = document.last_answer();
    let of_last_answer = document.tokens.get(last_answer.token..).unwrap_or_default();
    let marked: Vec<usize> = forks(of_last_answer).into_iter().take(MAX_FORKS).collect();
    let chars: Vec<char> = document.generation.text.chars().collect();
    let n_prompt = document.prompt.sentences.len();
    let (mut text, mut number) = (String::new(), 0);
    for i in 0..document.generation.sentences.len() {
        let tokens = document.tokens_of(i);
        let mean = mean_probability(tokens).map_or_else(|| "\u{2013}".into(), percent_tenths);
        let total = NumberFormat::ENGLISH.plain(total_log_probability(tokens));
        text += &format!("\n{}: {total} nats together, {mean}% per token (geometric mean)\n", document.label(n_prompt + i));
        for token in tokens {
            let own: String = chars[token.span[0]..token.span[1]].iter().collect();
            let is_numbered = i >= last_answer.row;
            number += usize::from(is_numbered);
            text += &token_line(is_numbered.then_some(number), token, &own, is_numbered && marked.contains(&(number - 1)));
        }
    }
    text
}

/// One token with its 1-based number, if it has one, and its alternatives. An asterisk marks a place where the answer could have gone
/// otherwise.
fn token_line(number: Option<usize>, token: &Token, own: &str, is_marked: bool) -> String {
    let percent = |log_probability: f64| percent_tenths(log_probability.exp());
    let others = token.alternatives.iter().map(|other| format!("{:?} {}%", other.text, percent(other.log_probability)));
    let mark = if is_marked { '*' } else { ' ' };
    let number = number.map_or_else(String::new, |number| number.to_string());
    format!("{mark}{number:>4}  {:>5}%  {own:?}  or {}\n", percent(token.log_probability), others.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_listed_by_sentence_with_three_marks_at_most() {
        let document = Document::from_json(include_str!("../../core/tests/golden/tokens.json")).expect("a document");
        let text = certainty_text(&document);
        let n_lines = document.tokens.len() + 2 * document.generation.sentences.len();
        assert_eq!(text.lines().count(), n_lines, "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with('*')).count(), 3, "{text}");
        assert!(text.contains("G1: ") && text.contains(r#"  "ere"  or " the" "#), "{text}");
        let last = format!("{:>4}  ", document.tokens.len());
        assert!(text.lines().last().is_some_and(|line| line[1..].starts_with(&last)), "tokens are numbered: {text}");
        assert!(certainty_text(&Document { tokens: Vec::new(), ..document }).contains("not measured"));
    }

    #[test]
    fn only_tokens_of_last_answer_have_numbers() {
        let mut document = Document::from_json(include_str!("../../core/tests/golden/explained-turns.json")).expect("a document");
        let n_tokens = document.generation.tokens.iter().sum();
        let token = |t: usize| Token { span: [t, t + 1], log_probability: -0.5, alternatives: Vec::new() };
        document.tokens = (0..n_tokens).map(token).collect();
        let text = certainty_text(&document);
        let numbers: Vec<usize> = text.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect();
        assert_eq!(numbers, (1..=n_tokens - document.last_answer().token).collect::<Vec<_>>(), "{text}");
    }
}

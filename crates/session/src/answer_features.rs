//! Features that predict a wrong answer: unused numbers, false equations, garbled words, low token probabilities.

use std::collections::{BTreeMap, BTreeSet};

/// Features by name. Most are 0 for a good answer. The weights of a classifier have the same names.
pub type AnswerFeatures = BTreeMap<&'static str, f64>;

const NUMBER_WORDS: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
                            seventeen eighteen nineteen twenty";

/// The data from which the features of one answer are computed. Log-probabilities are in nats, one per token.
pub struct AnswerEvidence<'a> {
    pub prompt: &'a str,
    pub answer: &'a str,
    pub prompt_log_probs: &'a [f64],
    pub answer_log_probs: &'a [f64],
    /// Number of tokens that a word of the prompt or the answer has in the model's vocabulary.
    pub word_tokens: &'a dyn Fn(&str) -> usize,
}

/// An estimate of the probability that the model gives another answer: see `other_answers`.
pub const OTHER_ANSWERS: &str = "other_answers";

/// Computes the features of an answer, except [`OTHER_ANSWERS`].
pub fn features(evidence: &AnswerEvidence<'_>) -> AnswerFeatures {
    let &AnswerEvidence { prompt, answer, prompt_log_probs, answer_log_probs, word_tokens } = evidence;
    let (prompt_words, answer_words) = (words(prompt), words(answer));
    let known: BTreeSet<&str> = prompt_words.iter().map(String::as_str).collect();
    let mangled = answer_words.iter().filter(|word| word.len() > 2 && !known.contains(word.as_str()) && word_tokens(word) > 1).count();
    let tokens: usize = prompt_words.iter().map(|word| word_tokens(word)).sum();
    let equations = equations(answer);
    let given: BTreeSet<u64> = numbers(prompt);
    let used: BTreeSet<u64> = numbers(answer);
    let asks_amount = prompt.to_lowercase().contains("how m");
    let flag = f64::from;
    BTreeMap::from([
        ("prompt_mean", mean(prompt_log_probs)),
        ("prompt_low", low(prompt_log_probs)),
        ("prompt_tokens_per_word", tokens as f64 / prompt_words.len().max(1) as f64),
        ("prompt_words", (prompt_words.len() as f64).min(200.0) / 100.0),
        ("prompt_numbers", (given.len() as f64).min(10.0)),
        ("prompt_states_nothing", flag(given.len() < 2 && statements(prompt) < 2)),
        ("prompt_large_number", flag(given.iter().any(|&number| number > 200))),
        ("prompt_other_symbols", symbol_share(prompt)),
        ("answer_mean", mean(answer_log_probs)),
        ("answer_low", low(answer_log_probs)),
        ("answer_least", answer_log_probs.iter().copied().fold(0.0, f64::min).max(-10.0)),
        ("numbers_unused", given.difference(&used).count() as f64),
        ("mangled_words", (mangled as f64).min(5.0)),
        ("false_equations", equations.iter().filter(|equation| !equation.holds()).count() as f64),
        ("equal_operands", equations.iter().filter(|equation| equation.left == equation.right).count() as f64),
        ("foreign_operands", equations.iter().map(|equation| equation.unknown(&given, &equations)).sum::<usize>() as f64),
        ("amount_without_equation", flag(asks_amount && equations.is_empty())),
        ("equation_without_amount", flag(!asks_amount && !equations.is_empty())),
        ("no_final_sentence", flag(!answer.trim_end().rsplit(". ").next().is_some_and(|last| last.starts_with("The answer is")))),
        ("answer_sentences", answer.matches(". ").count() as f64),
    ])
}

/// The words of a text: runs of letters, in lower case.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// The whole numbers in a text: digits, or words from "two" to "twenty".
fn numbers(text: &str) -> BTreeSet<u64> {
    let digits = text.split(|c: char| !c.is_ascii_digit()).filter_map(|run| run.parse().ok());
    let spelled = words(text).into_iter().filter_map(|word| NUMBER_WORDS.split(' ').position(|number| number == word)).map(|n| n as u64);
    digits.chain(spelled.filter(|&number| number > 1)).collect()
}

/// Approximate number of sentences. A problem states facts before its question, so it has several.
fn statements(prompt: &str) -> usize {
    prompt.split(['.', '?', '!', '\n']).filter(|part| part.contains(char::is_alphabetic)).count()
}

/// Fraction of characters that are unusual in English sentences.
fn symbol_share(text: &str) -> f64 {
    let is_usual = |c: char| c.is_ascii_alphanumeric() || c.is_whitespace() || ".,?!'\u{2019}\"-$:;\u{a3}\u{20ac}".contains(c);
    text.chars().filter(|&c| !is_usual(c)).count() as f64 / text.chars().count().max(1) as f64
}

fn mean(log_probs: &[f64]) -> f64 {
    log_probs.iter().sum::<f64>() / log_probs.len().max(1) as f64
}

/// Mean of the lowest tenth of the log-probabilities.
fn low(log_probs: &[f64]) -> f64 {
    let mut sorted = log_probs.to_vec();
    sorted.sort_by(f64::total_cmp);
    mean(&sorted[..sorted.len().div_ceil(10)])
}

/// An equation in an answer, such as "12 - 5 = 7".
#[derive(Debug, PartialEq)]
struct Equation {
    left: u64,
    operator: char,
    right: u64,
    result: u64,
}

impl Equation {
    fn holds(&self) -> bool {
        let &Self { left, operator, right, result } = self;
        match operator {
            '+' => left.checked_add(right) == Some(result),
            '-' => left.checked_sub(right) == Some(result),
            '*' => left.checked_mul(right) == Some(result),
            _ => right > 0 && left % right == 0 && left / right == result,
        }
    }

    /// Number of operands that are neither given nor computed. Small constants count as given, such as the 2 of "half" or the 60 of an
    /// hour.
    fn unknown(&self, given: &BTreeSet<u64>, all: &[Self]) -> usize {
        const CONSTANTS: [u64; 7] = [2, 3, 4, 7, 12, 24, 60];
        let is_known = |n: u64| given.contains(&n) || CONSTANTS.contains(&n) || all.iter().any(|equation| equation.result == n);
        [self.left, self.right].into_iter().filter(|&n| !is_known(n)).count()
    }
}

fn equations(answer: &str) -> Vec<Equation> {
    let clean = |word: &str| word.trim_matches(|c: char| !c.is_ascii_digit()).parse::<u64>().ok();
    let words: Vec<&str> = answer.split_whitespace().collect();
    let equation = |part: &[&str]| {
        let operator = part[1].chars().next().filter(|c| part[1].len() == 1 && "+-*/".contains(*c))?;
        let result = if part[3] == "=" { clean(part[4])? } else { return None };
        Some(Equation { left: clean(part[0])?, operator, right: clean(part[2])?, result })
    };
    words.windows(5).filter_map(equation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Features with fixed log-probabilities. Words that begin with "zz" have three tokens, as rare words do, and others have one.
    fn features_of(prompt: &str, answer: &str) -> AnswerFeatures {
        let word_tokens = |word: &str| if word.starts_with("zz") { 3 } else { 1 };
        features(&AnswerEvidence {
            prompt,
            answer,
            prompt_log_probs: &[-1.0, -3.0],
            answer_log_probs: &[-0.5, -0.1],
            word_tokens: &word_tokens,
        })
    }

    #[test]
    fn good_answer_has_no_features_of_mistakes() {
        let features = features_of(
            "Ann has 12 zzaps and eats five. How many zzaps are left?",
            "Ann has 12 zzaps. She eats 5, so 12 - 5 = 7. The answer is 7.",
        );
        for name in ["numbers_unused", "mangled_words", "false_equations", "equal_operands", "foreign_operands", "no_final_sentence"] {
            assert_eq!(features[name], 0.0, "{name}");
        }
        assert_eq!((features["prompt_mean"], features["prompt_low"], features["answer_least"]), (-2.0, -3.0, -0.5));
    }

    #[test]
    fn question_without_facts_states_nothing() {
        for (prompt, states_nothing) in [
            ("What is the capital of France?", 1.0),
            ("how many months have 28 days", 1.0),
            ("What is 3 plus 4?", 0.0),
            ("If Ann has 12 figs and eats five, how many are left?", 0.0),
            ("The red key opens the shed. Where is the red key used?", 0.0),
        ] {
            assert_eq!(features_of(prompt, "")["prompt_states_nothing"], states_nothing, "{prompt}");
        }
    }

    #[test]
    fn mistakes_show() {
        let features = features_of("Ann has 12 figs and eats 5 of 9. Who is it?", "Ann has 12 zzigs, so 12 - 12 = 1. She has 31 + 5 = 36.");
        assert_eq!(features["numbers_unused"], 1.0);
        assert_eq!(features["mangled_words"], 1.0);
        assert_eq!(features["false_equations"], 1.0);
        assert_eq!(features["equal_operands"], 1.0);
        assert_eq!(features["foreign_operands"], 1.0);
        assert_eq!((features["no_final_sentence"], features["equation_without_amount"]), (1.0, 1.0));
    }

    #[test]
    fn equations_are_read_with_money_and_full_stops() {
        assert_eq!(equations("so $12 - $5 = $7."), [Equation { left: 12, operator: '-', right: 5, result: 7 }]);
        assert!(equations("12 and 5 = 7").is_empty());
    }
}

//! `glasscage explain`: answers a prompt and writes the explanation document.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use glasscage_attribution::method;
use glasscage_core::conversation;
use glasscage_core::explanation::{Branch, Document, METHODS, MethodId, Sampling, SentenceRule, Unit};
use glasscage_core::number::percent_tenths;
use glasscage_core::shares::{Evidence, Shares, little_support};
use glasscage_engine::Engine;
use glasscage_protocol::problem::Problem;
use glasscage_protocol::request::{BranchPoint, EarlierAnswers, ExplainProgress, PassProgress, Question, Reading, ThinkingSupport};
use glasscage_session::{ExplainResult, Session};
use glasscage_text::given::{given_text, text_of_file};

use super::certainty::certainty_text;
use super::contrast::{add_contrast, contrast_text};
use super::interrupt;
use super::models::{self, BackendArgument, load, masked_lm_for};
use super::output::{self, indented};
use super::passages::passages_text;
use super::remarks::remarks_text;

#[derive(Args)]
pub struct Arguments {
    /// A GGUF file
    #[arg(long)]
    model: PathBuf,
    /// Prompt
    #[arg(long, required_unless_present = "prompt_file", conflicts_with = "prompt_file")]
    prompt: Option<String>,
    /// File with the prompt, or - for standard input; one line end at its end is dropped
    #[arg(long, value_name = "FILE")]
    prompt_file: Option<PathBuf>,
    /// Read the prompt as a conversation: turns with labels such as "User:" and "Assistant:", ChatML, or JSON with role and content. Each
    /// turn is a message in the chat template
    #[arg(long)]
    conversation: bool,
    /// Answers of the model before the last one. Explained: each of their sentences also gets a row of the table, so the document explains
    /// every answer of the conversation. Given: they are only sources
    #[arg(long, value_enum, default_value = "explained", requires = "conversation")]
    earlier_answers: EarlierAnswersArgument,
    /// Explain the answer at the end of the conversation
    #[arg(long, requires = "conversation", conflicts_with = "answer_file")]
    last_answer: bool,
    /// File with an answer to explain, or - for standard input; one line end at its end is dropped. Without this option the model writes
    /// the answer
    #[arg(long, value_name = "FILE")]
    answer_file: Option<PathBuf>,
    /// Attribution method
    #[arg(long, default_value = METHODS[0].id, value_parser = method_ids())]
    method: String,
    /// Folder with config.json, tokenizer.json and model.safetensors of a RoBERTa model; method reagent-mlm needs it
    #[arg(long, value_name = "FOLDER", required_if_eq("method", "reagent-mlm"))]
    masked_lm: Option<PathBuf>,
    /// What counts as one source of the prompt. Words and lines also split the answer; otherwise its sentences are explained
    #[arg(long, value_enum, default_value = "sentence")]
    unit: UnitArgument,
    /// Short form of --unit word
    #[arg(long, conflicts_with = "unit")]
    words: bool,
    /// Engine that computes
    #[arg(long, value_enum, default_value = "cpu")]
    backend: BackendArgument,
    /// Generated sentences to explain: "last", or 1-based numbers such as 1,3. Those of explained earlier answers come first
    #[arg(long, default_value = "last")]
    output: String,
    /// Compare the last occurrence of TEXT in the answer with OTHER in its place: which sentences speak for TEXT, and which against it
    #[arg(long, num_args = 2, value_names = ["TEXT", "OTHER"])]
    contrast: Option<Vec<String>>,
    /// Continue the answer from an alternative of one of its tokens: TOKEN is the number of the token, RANK that of its alternative, as
    /// --tokens prints them, for example 7:1. Repeat it for later tokens
    #[arg(long, value_name = "TOKEN:RANK", value_parser = branch_point, conflicts_with_all = ["answer_file", "last_answer"])]
    branch: Vec<BranchPoint>,
    /// Maximum answer length in tokens
    #[arg(long, default_value_t = 256)]
    max_tokens: u32,
    /// Let the model think first, for at most this number of tokens
    #[arg(long, value_name = "TOKENS")]
    thinking: Option<u32>,
    /// Chat template around the prompt
    #[arg(long, value_enum, default_value = "auto")]
    template: Template,
    /// Rule that splits texts into sentences
    #[arg(long, value_enum, default_value = "punkt")]
    sentences: Sentences,
    /// Temperature of sampling; 0 is greedy
    #[arg(long, default_value_t = 0.0)]
    temperature: f64,
    /// Sample from this number of most likely tokens only
    #[arg(long)]
    top_k: Option<u32>,
    /// Sample from the most likely tokens that together have this probability
    #[arg(long)]
    top_p: Option<f64>,
    /// Seed of sampling
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print each token of the answer with its number, its probability and the five best alternatives; an asterisk marks where the answer
    /// could have gone otherwise
    #[arg(long)]
    tokens: bool,
    /// Write the explanation (JSON) to this file
    #[arg(long, value_name = "FILE")]
    json: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum EarlierAnswersArgument {
    /// Their sentences are only sources
    Given,
    /// Their sentences are sources, and explained like those of the last answer
    Explained,
}

#[derive(Clone, Copy, ValueEnum)]
enum Template {
    /// The model's own chat template, if it has one
    Auto,
    /// The bare prompt
    None,
}

#[derive(Clone, Copy, ValueEnum)]
enum Sentences {
    /// NLTK's Punkt for English
    Punkt,
    /// The rule of the page: Punkt in the language of the prompt, sentence-ending marks of other scripts, no end after list markers, "e.g."
    /// or "Fig."
    AnyScript,
}

#[derive(Clone, Copy, ValueEnum)]
enum UnitArgument {
    /// A sentence
    Sentence,
    /// A word; for short texts
    Word,
    /// A line that is not blank
    Line,
    /// Lines without a blank line between them: also a block of code, or an example
    Paragraph,
    /// A Markdown heading with the text up to the next one
    Section,
    /// A part between [[ and ]], which the model does not read; other text by sentence
    Bracket,
}

impl From<UnitArgument> for Unit {
    fn from(argument: UnitArgument) -> Self {
        match argument {
            UnitArgument::Sentence => Self::Sentence,
            UnitArgument::Word => Self::Word,
            UnitArgument::Line => Self::Line,
            UnitArgument::Paragraph => Self::Paragraph,
            UnitArgument::Section => Self::Section,
            UnitArgument::Bracket => Self::Bracket,
        }
    }
}

fn method_ids() -> PossibleValuesParser {
    PossibleValuesParser::new(METHODS.iter().map(|method| method.id))
}

pub fn explain(arguments: &Arguments) -> Result<(), String> {
    let question = question(arguments)?;
    let chosen = parse_output(&arguments.output)?;
    check_json(arguments)?;
    let methods: Vec<_> = MethodId::named(&arguments.method).map(method).into_iter().collect();
    let masked_lm = masked_lm_for(&methods, arguments.masked_lm.as_deref())?;
    let compared = compared(arguments)?;
    interrupt::watch()?;
    let mut session = load(&arguments.model, arguments.backend)?;
    session.masked_lm = masked_lm.map(|loaded| loaded.model);
    if arguments.thinking.is_some() && session.loaded_model().thinking == ThinkingSupport::Never {
        output::say("--thinking has no effect: this model does not think.\n");
    }
    let is_watched = std::io::stderr().is_terminal();
    let (mut document, failure) = explained(&mut session, &question, &chosen, is_watched)?;
    let missing = n_generated_if_missing(&document, &chosen);
    if let Some(n_generated) = missing.filter(|_| question.answer.is_some()) {
        return Err(format!("--output {}: the answer has only {n_generated} {}s", arguments.output, document.unit.of_answer().noun()));
    }
    if missing.is_none() && !chosen.is_empty() {
        document.output = chosen.clone();
    }
    let texts = compared.filter(|_| failure.is_none() && document.is_complete());
    let mut on_pass = async |PassProgress { done, planned }| {
        if is_watched {
            show_passes(done, planned);
        }
        interrupt::unless_requested()
    };
    let contrast = texts.map(|texts| add_contrast(&mut session, &question, &mut document, &texts, &mut on_pass));
    // Write the document of a generated answer even if the requested sentence or the text to compare does not exist.
    let written = output::write(&arguments.json, document.to_json() + "\n");
    let certainty = if arguments.tokens { certainty_text(&document) } else { String::new() };
    output::print(&(attribution_text(&document) + &passages_text(&document) + &certainty))?;
    written?;
    if let Some(contrast) = contrast {
        output::print(&contrast_text(&document, &contrast.map_err(|problem| format!("--contrast: {problem}"))?))?;
    }
    if let Some(problem) = failure {
        return Err(format!("{} The document has what was measured by then.", problem.what.to_sentence()));
    }
    if interrupt::is_requested() {
        return Err("interrupted; the document has what was measured by then".into());
    }
    if let Some(n_generated) = missing {
        return Err(format!(
            "--output {}: the answer has only {n_generated} {}s; the document explains the last one",
            arguments.output,
            document.unit.of_answer().noun()
        ));
    }
    Ok(())
}

/// Checks before the work that the explanation can be written, and that it does not replace what it is made from.
fn check_json(Arguments { json, model, prompt_file, answer_file, .. }: &Arguments) -> Result<(), String> {
    output::check_writable(json)?;
    let texts = [prompt_file, answer_file].into_iter().flatten().cloned();
    let inputs: Vec<PathBuf> = models::files(model).into_iter().chain(texts).collect();
    match output::is_one_of(json, &inputs) {
        true => Err(format!("--json {}: the explanation is made from this file; choose another name", json.display())),
        false => Ok(()),
    }
}

/// Answers and explains. Returns the document, and the problem if it has only a part of the measurements. Shows the progress if somebody
/// watches it, and prints the answer if there is no explanation of it.
fn explained(
    session: &mut Session<Engine>,
    question: &Question,
    chosen: &[usize],
    is_watched: bool,
) -> Result<(Document, Option<Problem>), String> {
    let mut answer = String::new();
    let is_given = question.answer.is_some();
    let outcome = pollster::block_on(session.explain(question, &mut async |progress| {
        if let ExplainProgress::Token(piece) = &progress {
            answer.push_str(piece);
        }
        if is_watched {
            show_progress(&progress);
        }
        match &progress {
            // The sentences of a given answer are known before the first pass.
            ExplainProgress::Answered(document) if is_given && n_generated_if_missing(document, chosen).is_some() => ControlFlow::Break(()),
            _ => interrupt::unless_requested(),
        }
    }));
    let problem = match outcome {
        Ok(ExplainResult::Explained(document)) => return Ok((*document, None)),
        Ok(ExplainResult::Failed { measured, problem }) => return Ok((*measured, Some(problem))),
        Ok(ExplainResult::Stopped { .. }) => "interrupted".to_owned(),
        Err(problem) => problem.to_string(),
    };
    print_answer(&answer).and(Err(problem))
}

/// The texts to compare. Errors if there is nothing to compare.
fn compared(arguments: &Arguments) -> Result<Option<[String; 2]>, String> {
    let Some(texts) = &arguments.contrast else { return Ok(None) };
    let [text, other] = &texts[..] else { return Err("--contrast needs two texts".into()) };
    let [text, other] = [text, other].map(|text| given_text(text).trim().to_owned());
    if text.is_empty() || other.is_empty() {
        return Err("--contrast: both texts must have a visible character".into());
    }
    if text == other {
        return Err("--contrast: both texts are the same, so there is nothing to compare".into());
    }
    Ok(Some([text, other]))
}

/// The number of generated sentences, if the document does not have all `chosen` rows.
fn n_generated_if_missing(document: &Document, chosen: &[usize]) -> Option<usize> {
    let n_generated = document.generation.sentences.len();
    chosen.iter().any(|&row| row >= n_generated).then_some(n_generated)
}

/// Prints the answer, unless it is empty.
fn print_answer(answer: &str) -> Result<(), String> {
    if answer.trim().is_empty() { Ok(()) } else { output::print(&format!("{}\n", answer.trim())) }
}

fn question(arguments: &Arguments) -> Result<Question, String> {
    if [&arguments.prompt_file, &arguments.answer_file].iter().all(|file| file.as_deref().is_some_and(output::is_standard_input)) {
        return Err("only one of --prompt-file and --answer-file can be standard input".into());
    }
    let prompt = match (&arguments.prompt, &arguments.prompt_file) {
        (Some(prompt), _) => given_text(prompt),
        (None, Some(path)) => read(path)?,
        (None, None) => return Err("give --prompt or --prompt-file".into()),
    };
    let (prompt, answer) = match (arguments.last_answer, &arguments.answer_file) {
        (true, _) => {
            let split =
                conversation::without_answer(&prompt).ok_or("--last-answer: the prompt is not a conversation that ends with an answer")?;
            (split.0, Some(split.1))
        }
        (false, file) => (prompt, file.as_deref().map(read).transpose()?),
    };
    let &Arguments { temperature, top_p, seed, .. } = arguments;
    // They are `u32` because the page, which reads them from documents, is a 32-bit program.
    let count = |number: u32| number as usize;
    Ok(Question {
        prompt,
        reading: if arguments.conversation { Reading::Conversation } else { Reading::Text },
        earlier_answers: match arguments.earlier_answers {
            EarlierAnswersArgument::Given => EarlierAnswers::Given,
            EarlierAnswersArgument::Explained => EarlierAnswers::Explained,
        },
        answer,
        use_template: matches!(arguments.template, Template::Auto),
        sampling: Sampling { temperature, top_k: arguments.top_k.map(count), top_p, seed },
        branches: branches(&arguments.branch)?,
        max_tokens: count(arguments.max_tokens),
        thinking: arguments.thinking.map(count),
        max_context: None,
        method: arguments.method.clone(),
        unit: if arguments.words { Unit::Word } else { arguments.unit.into() },
        sentence_rule: match arguments.sentences {
            Sentences::Punkt => SentenceRule::Punkt,
            Sentences::AnyScript => SentenceRule::AnyScript,
        },
        language: None,
    })
}

fn read(path: &Path) -> Result<String, String> {
    let text = String::from_utf8(output::read(path)?);
    text.map(|text| text_of_file(&text))
        .map_err(|_| format!("cannot read {}: it is not text in UTF-8; save it with this encoding", output::input_name(path)))
}

/// Parses the numbers of a token and of its alternative, such as `7:1`. Both count from 1.
fn branch_point(text: &str) -> Result<BranchPoint, String> {
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|&number| number > 0);
    let numbers = text.split_once(':').and_then(|(token, rank)| Some((number(token)?, number(rank)?)));
    let (token, rank) = numbers.ok_or("give the number of a token and of its alternative, such as 7:1; both count from 1")?;
    Ok(BranchPoint { token: token - 1, rank, text: None, before: None })
}

/// The branches in order. Errors if one is not after the one before it.
fn branches(points: &[BranchPoint]) -> Result<Vec<BranchPoint>, String> {
    match points.is_sorted_by(|a, b| a.token < b.token) {
        true => Ok(points.to_vec()),
        false => Err("--branch: each token must come after the one before it".into()),
    }
}

/// Parses 1-based numbers of generated sentences. Returns 0-based rows in ascending order; empty for "last".
pub fn parse_output(text: &str) -> Result<Vec<usize>, String> {
    if text == "last" {
        return Ok(Vec::new());
    }
    let row = |number: &str| match number.trim().parse::<usize>() {
        Ok(number) if number > 0 => Ok(number - 1),
        _ => Err(format!("--output {text}: {number:?} is not the number of a sentence; they count from 1")),
    };
    let mut rows: Vec<usize> = text.split(',').map(row).collect::<Result<_, _>>()?;
    rows.sort_unstable();
    rows.dedup();
    Ok(rows)
}

/// Shows the answer and the passes on a terminal as they arrive.
fn show_progress(progress: &ExplainProgress) {
    match progress {
        ExplainProgress::Token(piece) => output::say(piece),
        ExplainProgress::Answered(_) => output::say("\n"),
        ExplainProgress::Pass { done, planned } | ExplainProgress::Column { done, planned, .. } => {
            show_passes(*done, *planned);
        }
        ExplainProgress::Step | ExplainProgress::BaseScored { .. } => {}
    }
}

fn show_passes(done: usize, planned: usize) {
    output::say(&format!("\rpass {done} of {planned}{}", if done == planned { "\n" } else { "" }));
}

/// The last answer, and the percentages of the prompt sentences and of explained earlier answers, in the order of the text. If nothing in
/// the prompt supports the explained sentences, it says so instead of percentages.
fn attribution_text(document: &Document) -> String {
    let shares = Shares::of(document);
    if let Evidence::Unsupported(support) = shares.evidence() {
        return format!(
            "{}\n{}\nNothing in the prompt supports this. Without what the prompt states, a word of it loses at most {:.2} nats; \
             less than {} counts as no support.\n{}",
            document.last_answer_text().trim(),
            branches_text(document),
            // Rounded down: 1.999 is not "2.00, less than 2".
            (support * 100.0).floor() / 100.0,
            little_support(&document.manifest.model),
            remarks_text(document, &shares)
        );
    }
    let mut text = format!("{}\n{}\n  CAGE    row\n", document.last_answer_text().trim(), branches_text(document));
    let n_prompt = document.prompt.sentences.len();
    let last_answer = n_prompt + document.last_answer().row;
    for j in document.units_in_order().into_iter().map(|unit| unit.source).filter(|&j| j < last_answer) {
        if let Some(speaker) = document.begins_turn(j) {
            text += &format!("{:15}{}:\n", "", speaker.label());
        }
        let [total, direct] = shares.amounts(j).map(|share| share.map_or_else(|| "\u{2013}".into(), percent_tenths));
        text += &format!("{total:>5}% {direct:>5}%  {}\n", indented(document.source(j), 15));
    }
    if document.explains_earlier_answers() {
        text += "\nThe earlier answers are explained, too. Influence that passes through them counts for the sentences before them.\n";
    }
    match remarks_text(document, &shares) {
        remarks if remarks.is_empty() => text,
        remarks => format!("{text}\n{remarks}"),
    }
}

/// Says where alternatives were chosen. Empty if the model chose every token.
fn branches_text(document: &Document) -> String {
    let line = |Branch { token, rank, text }: &Branch| {
        format!("Continued from an alternative: token {} is {text:?}, the model's other choice {rank} there.\n", token + 1)
    };
    document.manifest.answer.branches().iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use glasscage_core::explanation::Document;

    use super::{attribution_text, branch_point, branches};

    #[test]
    fn turns_begin_with_their_speakers() {
        let document = Document::from_json(include_str!("../../core/tests/golden/turns.json")).expect("a document");
        let text = attribution_text(&document);
        let names = ["System:", "User:", "Assistant:"].map(|name| text.lines().filter(|line| line.trim() == name).count());
        assert_eq!(names, [1, 2, 1], "{text}");
    }

    #[test]
    fn explained_answers_are_listed_in_place() {
        let document = Document::from_json(include_str!("../../core/tests/golden/explained-turns.json")).expect("a document");
        let text = attribution_text(&document);
        let places =
            ["2 + 1 = 3. So 3.", "Be brief.", "Zo\u{eb} has", "Assistant:", "Good.", "She has 2.", "She finds 1.", "are explained, too"];
        let found: Vec<Option<usize>> = places.iter().map(|words| text.find(words)).collect();
        assert!(found.is_sorted() && found[0] == Some(0), "{text}");
        assert_eq!(text.matches("So 3.").count(), 1, "{text}");
    }

    #[test]
    fn branches_are_numbers_in_order() {
        let found = branch_point("7:1").map(|point| (point.token, point.rank));
        assert_eq!(found, Ok((6, 1)));
        assert!(["", "7", "0:1", "7:0", "7:1:2", "a:b", "-1:1"].iter().all(|text| branch_point(text).is_err()));
        let points = |texts: [&str; 2]| texts.map(|text| branch_point(text).expect("numbers"));
        assert!(branches(&points(["7:1", "9:2"])).is_ok_and(|found| found.len() == 2));
        assert!(branches(&points(["7:1", "7:2"])).is_err() && branches(&points(["7:1", "3:1"])).is_err());
    }

    #[test]
    fn little_support_is_said_instead_of_percentages() {
        let json = include_str!("../../core/tests/golden/linked.json");
        let mut document = Document::from_json(json).expect("a document");
        assert!(attribution_text(&document).contains('%'));
        document.support = vec![0.0; document.table.n_generated()];
        let text = attribution_text(&document);
        assert!(text.contains("Nothing in the prompt supports this.") && text.contains("0.00 nats") && !text.contains('%'), "{text}");
    }
}

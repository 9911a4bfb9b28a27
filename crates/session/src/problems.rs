//! Problems that the visitor reads when a question cannot be answered or a model cannot be loaded.

use glasscage_attribution as attribution;
use glasscage_core::conversation::ConversationError;
use glasscage_core::explanation::{DocumentError, MAX_SENTENCES, MethodId, Sampling};
use glasscage_engine::lm::{LmError, LoadError};
use glasscage_message::{ToMessage, message};
use glasscage_model::chat::ChatError;
use glasscage_model::config::Config;
use glasscage_protocol::problem::Problem;
use glasscage_protocol::request::Question;
use glasscage_text::brackets::BracketError;
use glasscage_text::sentences::sentences;

/// Errors if no model can answer the question: the prompt has no sentence, or the sampling settings are invalid.
pub fn check_question(question: &Question) -> Result<(), Problem> {
    if sentences(&question.prompt).is_empty() {
        return Err(Problem::new(message!("the prompt is empty"), message!("Write a question or choose an example")));
    }
    check_sampling(&question.sampling)
}

fn check_sampling(sampling: &Sampling) -> Result<(), Problem> {
    let &Sampling { temperature, top_k, top_p, .. } = sampling;
    let facts = [
        (temperature == 0.0 || (0.01..=100.0).contains(&temperature), message!("the temperature must be 0, or between 0.01 and 100")),
        (top_k.is_none_or(|k| k > 0), message!("top-k must be at least 1")),
        (top_p.is_none_or(|p| p > 0.0 && p <= 1.0), message!("top-p must be above 0 and at most 1")),
    ];
    match facts.into_iter().find(|(holds, _)| !holds) {
        Some((_, what)) => Err(Problem::new(what, message!("Change it in the settings"))),
        None => Ok(()),
    }
}

/// The method of a question. Errors if it does not exist or does not suit the model.
pub fn method_of(question: &Question, config: &Config) -> Result<&'static attribution::AttributionMethod, Problem> {
    let name = &question.method;
    let id =
        MethodId::named(name).ok_or_else(|| Problem::new(message!("there is no method {name:?}"), message!("Choose another method")))?;
    let method = attribution::method(id);
    method.check_model(config).map_err(engine_failed)?;
    Ok(method)
}

/// The prompt is too long, or the chat template cannot render it.
pub fn framing_failed(error: &ChatError, context_length: usize) -> Problem {
    let of_template = |remedy| Problem { is_of_template: true, ..Problem::new(error.to_message(), remedy) };
    match *error {
        // Count one token of the answer, too.
        ChatError::TooLong { tokens, limit } => too_long(tokens + 1, limit + 1, context_length),
        ChatError::FarTooLong { .. } => {
            Problem::new(error.to_message(), message!("Shorten the prompt, or choose a model with a longer context"))
        }
        ChatError::NoTemplate => Problem::new(error.to_message(), message!("Read the prompt as plain text, or choose another model")),
        ChatError::NoSystem => Problem::new(
            error.to_message(),
            message!("Put the text of the system message at the start of the first turn of the user, or choose another model"),
        ),
        ChatError::NotEveryTurn | ChatError::RefusesConversation(_) => Problem::new(
            error.to_message(),
            message!("Let user and assistant take turns, read the prompt as plain text, or choose another model"),
        ),
        ChatError::TakesOut(_) | ChatError::RefusesPrompt(_) => {
            of_template(message!("Change that part of the prompt, or turn the chat template off"))
        }
        _ => of_template(message!("Turn the chat template off, or choose another model")),
    }
}

/// The vocabulary has no token for any character of the prompt.
pub fn prompt_without_tokens() -> Problem {
    Problem::new(message!("the model has no token for this prompt"), message!("Write it in other characters, or choose another model"))
}

/// The brackets around parts of the prompt are not valid.
pub fn wrong_brackets(error: BracketError) -> Problem {
    let what = match error {
        BracketError::Unclosed => message!("the prompt has [[ without ]] after it"),
        BracketError::Unopened => message!("the prompt has ]] without [[ before it"),
        BracketError::Nested => message!("the prompt has [[ between [[ and ]]"),
        BracketError::Empty => message!("the prompt has nothing between [[ and ]]"),
    };
    Problem::new(what, message!("Put [[ before and ]] after each part, or explain the prompt by another unit"))
}

/// The prompt is not a conversation that the model can answer.
pub fn wrong_conversation(error: &ConversationError) -> Problem {
    let remedy = match error {
        ConversationError::EmptyTurn { .. } => message!("Write its text, or remove the turn"),
        ConversationError::EndsWithAnswer | ConversationError::NoUserTurn => {
            message!("Add a turn of the user at the end. To explain the last answer, enter it as an answer of your own")
        }
        _ => message!("Correct it, or read the prompt as plain text"),
    };
    Problem::new(error.to_message(), remedy)
}

/// The chat template, which a conversation needs, is turned off.
pub fn conversation_without_template() -> Problem {
    Problem::new(
        message!("a conversation needs the chat template, which is turned off"),
        message!("Turn the chat template on, or read the prompt as plain text"),
    )
}

/// Errors if there are more sentences or other units than a document may have.
pub fn check_units(n: usize) -> Result<(), Problem> {
    if n > MAX_SENTENCES { Err(not_a_document(DocumentError::TooManySentences(n))) } else { Ok(()) }
}

/// The prompt and answer are too large to explain.
pub fn not_a_document(error: DocumentError) -> Problem {
    Problem::new(error.to_message(), message!("Shorten the prompt, or choose a model with a longer context"))
}

/// The answer is empty.
pub fn empty_answer() -> Problem {
    Problem::new(
        message!("the answer is empty, so there is nothing to explain"),
        message!("Rephrase the prompt, or enter an answer of your own to explain"),
    )
}

/// Prompt and answer have `tokens` tokens. That is more than `limit`, which comes from the settings or the model.
pub fn too_long(tokens: usize, limit: usize, context_length: usize) -> Problem {
    if limit == context_length {
        return engine_failed(LmError::TooLong { tokens, limit });
    }
    Problem::new(
        message!("prompt and answer have {tokens} tokens, {excess} more than the {limit} that the settings allow", excess = tokens - limit),
        message!("Shorten the prompt, or allow a longer text in the settings: this model can read {context_length} tokens"),
    )
}

/// The orders of the deletion test do not fit the sentences found here.
pub fn other_sentences() -> Problem {
    Problem::new(
        message!("this explanation splits the prompt into other sentences than this version of Glasscage"),
        message!("Recompute it here, then run the deletion test on that"),
    )
}

/// The marked text is not in the answer, or it is blank.
pub fn mark_not_in_answer() -> Problem {
    Problem::new(message!("the marked text is not in the answer"), message!("Mark a word or a sentence of the answer"))
}

/// There is no text to compare the mark with.
pub fn empty_alternative() -> Problem {
    Problem::new(message!("there is no text to compare with"), message!("Enter what the answer could say instead"))
}

/// The alternative is the marked text.
pub fn same_alternative() -> Problem {
    Problem::new(message!("both texts are the same, so there is nothing to compare"), message!("Enter another text"))
}

/// The vocabulary has no token for any character of the alternative.
pub fn alternative_without_tokens() -> Problem {
    Problem::new(message!("the model has no token for this text"), message!("Write it in other characters"))
}

/// The answer has no token with this 0-based index.
pub fn token_not_in_answer(token: usize) -> Problem {
    Problem::new(message!("the answer has no token {number}", number = token.saturating_add(1)), message!("Choose an earlier token"))
}

/// The model begins the answer with other words than those before the chosen token.
pub fn other_beginning() -> Problem {
    Problem::new(
        message!("on this device the model starts its answer differently, so it cannot continue this one from that token"),
        message!("Recompute the explanation here, then choose a token of the new one"),
    )
}

/// The chosen alternative is not among the tokens that the model on hand finds most likely there.
pub fn other_alternatives(text: &str) -> Problem {
    Problem::new(
        message!("{text:?} is not among the tokens that the model finds most likely there"),
        message!("Recompute the explanation here, then choose an alternative of the new one"),
    )
}

/// There are only `n` alternatives.
pub fn no_such_alternative(rank: usize, n: usize) -> Problem {
    Problem::new(message!("there is no alternative {rank} at that token, only {n}"), message!("Choose one of them"))
}

/// An engine failed.
pub fn engine_failed(error: LmError) -> Problem {
    let remedy = match &error {
        LmError::TooLong { .. } => message!("Shorten the prompt, or choose a model with a longer context"),
        LmError::OutOfGpuMemory { .. } => {
            message!("Shorten the prompt, choose a smaller model, or add ?backend=cpu to the address of this page")
        }
        LmError::WithoutAttention => message!("Choose another method: those that change the text run with every model"),
        LmError::FaultyGpu(_) => {
            message!("Do not trust the numbers so far. Start the explanation again: this page will use the CPU engine")
        }
        LmError::DeviceLost(_) => message!("Start the explanation again. The engine restarts automatically"),
        _ => message!("Start the explanation again"),
    };
    Problem::new(error.to_message(), remedy)
}

/// A model that could not be loaded: because of the file, or because of the engine.
pub fn load_failed(error: LoadError) -> Problem {
    match error {
        LoadError::Engine(error) => {
            Problem::new(error.to_message(), message!("Choose a smaller model, or add ?backend=cpu to the address of this page"))
        }
        LoadError::TooLarge => Problem::new(error.to_message(), message!("Choose a smaller model, or close other tabs")),
        error => unreadable_file(error),
    }
}

/// A model file that cannot be used.
pub fn unreadable_file(error: impl ToMessage) -> Problem {
    Problem::new(error.to_message(), message!("Choose another model file, or download this one again"))
}

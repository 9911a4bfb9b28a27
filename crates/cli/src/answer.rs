//! `glasscage answer`: answers many prompts with a model.

use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use glasscage_core::explanation::Answer;
use glasscage_protocol::request::Question;
use glasscage_session::AnswerResult;
use glasscage_text::given::given_text;
use serde::Deserialize;
use serde_json::json;

use super::filters::filter;
use super::models::{BackendArgument, load};

#[derive(Args)]
pub struct Arguments {
    /// A GGUF file
    #[arg(long)]
    model: PathBuf,
    /// Engine that computes
    #[arg(long, value_enum, default_value = "cpu")]
    backend: BackendArgument,
    /// Maximum answer length in tokens
    #[arg(long, default_value_t = 256)]
    max_tokens: usize,
    /// Add the features from which the page predicts whether an answer is right
    #[arg(long)]
    features: bool,
}

#[derive(Deserialize)]
struct PromptLine {
    prompt: String,
}

pub fn answer(arguments: &Arguments) -> Result<(), String> {
    let mut session = load(&arguments.model, arguments.backend)?;
    let max_tokens = arguments.max_tokens;
    filter(|PromptLine { prompt }| {
        let prompt = given_text(&prompt);
        let question = Question { max_tokens, ..Question::greedy(&prompt) };
        match pollster::block_on(session.answer(&question, &mut async |_| ControlFlow::Continue(()))) {
            Ok(AnswerResult::Answered(answered)) => {
                let text = &answered.document.generation.text;
                let mut line = json!({ "answer": text, "tokens": answered.transcript.generation.len() });
                if let Answer::Generated { warning: Some(warning), .. } = answered.document.manifest.answer {
                    line["warning"] = json!(warning);
                }
                if arguments.features {
                    let features = pollster::block_on(session.answer_features(&prompt, text)).map_err(|problem| problem.to_string())?;
                    line["features"] = json!(features);
                }
                Ok(line)
            }
            Ok(AnswerResult::Stopped { answer }) => Ok(json!({ "answer": answer })),
            Err(problem) => Ok(json!({ "problem": problem.what.to_sentence() })),
        }
    })
}

//! A loaded model.

use std::rc::Rc;

use super::answer_check::AnswerCheck;
use super::generated::RecentAnswers;
use super::problems;
use glasscage_core::explanation::Model;
use glasscage_engine::lm::{Callback, LanguageModel};
use glasscage_engine::{self as engine, Engine, LoadedEngine, MaskedLm};
use glasscage_message::{Message, ToMessage};
use glasscage_model::chat::{self, ChatTemplate, ThoughtTokens};
use glasscage_model::gguf::Gguf;
use glasscage_model::source::ByteSource;
use glasscage_model::tokenizer::Tokenizer;
use glasscage_protocol::problem::Problem;
use glasscage_protocol::request::{LoadOptions, LoadProgress, LoadedModel, ThinkingSupport};
use glasscage_protocol::version::GLASSCAGE;

/// A loaded model that answers questions.
pub struct Session<M> {
    pub lm: M,
    pub tokenizer: Tokenizer,
    pub(super) template: Option<ChatTemplate>,
    /// Why the chat template in the file cannot be used.
    pub(super) template_problem: Option<Problem>,
    /// The delimiters of thinking sections, if the model has them.
    pub(super) thoughts: Option<ThoughtTokens>,
    /// The masked language model, if the visitor chose one.
    pub masked_lm: Option<Rc<MaskedLm>>,
    pub(super) model: Model,
    /// See [`LoadedModel::notices`].
    notices: Vec<Message>,
    /// See [`LoadedModel::kernel_shapes`].
    kernel_shapes: Option<String>,
    pub(super) answers: RecentAnswers,
    /// The answer classifier, if there is one for this file.
    pub(super) answer_check: Option<AnswerCheck>,
}

impl Session<Engine> {
    /// Loads a GGUF file. `None` if `on_progress` cancels.
    pub async fn load(
        source: &impl ByteSource,
        options: impl Into<LoadOptions>,
        on_progress: &mut dyn Callback<LoadProgress>,
    ) -> Result<Option<Self>, Problem> {
        let mut gguf = Gguf::read(source).await.map_err(problems::unreadable_file)?;
        // Choose the engine first, because its self-test needs memory that the tokenizer uses later.
        let chosen = engine::choose(source, &gguf, &options.into()).await.map_err(problems::load_failed)?;
        let tokenizer = Tokenizer::from_metadata(&gguf.metadata).map_err(problems::unreadable_file)?;
        let (template, template_problem) = match chat::usable_template(&gguf.metadata, &tokenizer) {
            Ok(template) => (template, None),
            Err(error) => (None, Some(problems::framing_failed(&error, 0))),
        };
        let thoughts = template.as_ref().and_then(|template| ThoughtTokens::of(template, &tokenizer));
        gguf.metadata.forget_vocabulary();
        let loaded = engine::load(source, &gguf, chosen, on_progress).await.map_err(problems::load_failed)?;
        let about_tokenizer = tokenizer.notices().iter().map(ToMessage::to_message);
        let about_file: Vec<Message> = template_problem.iter().map(|problem| problem.what.clone()).chain(about_tokenizer).collect();
        Ok(loaded.map(|LoadedEngine { engine, sha256, notice }| Self {
            kernel_shapes: engine.kernel_shapes(),
            lm: engine,
            tokenizer,
            template,
            template_problem,
            thoughts,
            masked_lm: None,
            answer_check: AnswerCheck::of(&sha256, &gguf.metadata),
            model: describe_model(&gguf, sha256),
            notices: notice.into_iter().chain(about_file).collect(),
            answers: RecentAnswers::default(),
        }))
    }
}

impl<M: LanguageModel> Session<M> {
    /// Puts a notice for the visitor before the others.
    pub fn add_notice(&mut self, notice: Message) {
        self.notices.insert(0, notice);
    }

    pub(super) fn thinking(&self) -> ThinkingSupport {
        match (&self.template, &self.thoughts) {
            (Some(template), Some(_)) if chat::knows_thinking(template, chat::template_date()) => ThinkingSupport::Chosen,
            (Some(_), Some(_)) => ThinkingSupport::Always,
            _ => ThinkingSupport::Never,
        }
    }

    /// The facts about the model that the page shows.
    pub fn loaded_model(&self) -> LoadedModel {
        let backend = self.lm.backend();
        LoadedModel {
            model: self.model.clone(),
            context_length: self.lm.config().context_length,
            bytes_per_token: self.lm.config().bytes_per_token(),
            has_template: self.template.is_some() || self.template_problem.is_some(),
            thinking: self.thinking(),
            backend: if backend.device.is_empty() { backend.name } else { format!("{} ({})", backend.name, backend.device) },
            kernel_shapes: self.kernel_shapes.clone(),
            notices: self.notices.clone(),
            glasscage: GLASSCAGE.into(),
        }
    }
}

/// The facts about the model that a document contains.
fn describe_model(gguf: &Gguf, sha256: String) -> Model {
    let text = |key: &str| gguf.metadata.shown(key).unwrap_or_default();
    Model {
        name: text("general.name"),
        architecture: text("general.architecture"),
        quantization: gguf.main_quant().map_or(String::new(), |quant| quant.name.to_owned()),
        parameters: gguf.n_parameters(),
        bytes: gguf.size,
        sha256,
    }
}

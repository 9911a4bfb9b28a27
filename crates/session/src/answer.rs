//! Answers questions. An answer is generated token by token, given by the visitor, or remembered.

use std::ops::ControlFlow;

use super::generated::{ForcedStart, GeneratedAnswer, GenerationSettings};
use super::loaded::Session;
use super::problems::{self, method_of};
use super::prompt::ReadPrompt;
use super::results::{AnswerResult, AnsweredQuestion};
use super::text::{FramedPrompt, SplitText, TokenizedAnswer, fewest_units, language_of_question};
use glasscage_attribution::{self as attribution, Transcript};
use glasscage_core::explanation::{Answer, AnswerStop, Sampling, Unit};
use glasscage_engine::lm::generate::{Beginning, StopReason, ThoughtLimit, generate};
use glasscage_engine::lm::sample::Sampler;
use glasscage_engine::lm::{Callback, LanguageModel};
use glasscage_model::chat::{ChatError, ChatTemplate, GeneratedPart, ThoughtTokens};
use glasscage_model::tokenizer::TokenId;
use glasscage_protocol::problem::Problem;
use glasscage_protocol::request::{Question, Reading, ThinkingSupport};
use glasscage_text::brackets::Bracketed;
use glasscage_text::given::given_text;
use glasscage_text::sentences::sentences;
use glasscage_text::stream::TextStream;

/// A prompt and its answer in tokens.
pub struct AnsweredText {
    pub framed: FramedPrompt,
    pub answer: TokenizedAnswer,
    pub origin: Answer,
    /// Maximum length of prompt and answer, in tokens.
    limit: usize,
}

impl AnsweredText {
    pub fn was_stopped(&self) -> bool {
        matches!(self.origin, Answer::Generated { stop: AnswerStop::Canceled, .. })
    }
}

impl<M: LanguageModel> Session<M> {
    /// Answers the question, or takes the given answer, and prepares the measurement. `on_token` gets the characters that each generated
    /// token completes, and `None` after other steps, such as those of checking the answer. It can cancel each time. The last answer is
    /// remembered, so the same answer is not generated twice.
    pub async fn answer(&mut self, question: &Question, on_token: &mut dyn Callback<Option<String>>) -> Result<AnswerResult, Problem> {
        let method = method_of(question, self.lm.config())?;
        let text = self.answered_text(question, on_token).await?;
        if text.was_stopped() {
            return Ok(AnswerResult::Stopped { answer: text.answer.text });
        }
        Ok(AnswerResult::Answered(Box::new(self.prepare(question, method, question.unit, &text)?)))
    }

    /// Answers the question, or takes the given answer.
    pub(super) async fn answered_text(
        &mut self,
        question: &Question,
        on_token: &mut dyn Callback<Option<String>>,
    ) -> Result<AnsweredText, Problem> {
        let framed = self.framed(question)?;
        let (limit, context_length) = (self.limit(question), self.lm.config().context_length);
        let thinking = self.thinking_of(question);
        let (answer, origin) = match &question.answer {
            Some(answer) => {
                let fewest = framed.ids.len().saturating_add(self.tokenizer.fewest_tokens(answer.len()));
                if fewest > limit {
                    return Err(problems::too_long(fewest, limit, context_length));
                }
                (self.given_answer(answer, &framed), Answer::Given {})
            }
            None => {
                let (sampling, max_tokens) = (question.sampling, question.max_tokens);
                let is_open = self.begins_in_thought(&framed);
                // The model thinks without being asked if the chat template opens a thinking section or cannot turn thinking off.
                let thinks_anyway = is_open || self.thinking() == ThinkingSupport::Always;
                let thought_limit = thinking.unwrap_or(if thinks_anyway { max_tokens } else { 0 });
                let room = max_tokens.saturating_add(thought_limit).min(limit - framed.ids.len());
                let settings = GenerationSettings { sampling, max_tokens: room, thought_limit };
                let (branches, (ids, mut stop)) = match self.forced_start(&framed, settings, &question.branches, on_token).await? {
                    Some(start) => {
                        let generated = self.generated(&framed, settings, &start, on_token).await?;
                        (start.branches, generated)
                    }
                    None => (Vec::new(), (Vec::new(), AnswerStop::Canceled)),
                };
                let answer = self.tokenized(&framed, ids);
                let is_whole = stop != AnswerStop::Canceled;
                let prompt = ReadPrompt::of(question)?;
                let mut on_step = async |()| on_token.call(None).await;
                let mut warning = None;
                if is_whole {
                    // Without a warning, a document implies that its answer was checked. So a stopped check stops the answer.
                    match self.warning(&prompt.whole_text(), &framed, &answer, &mut on_step).await? {
                        ControlFlow::Continue(of_answer) => warning = of_answer,
                        ControlFlow::Break(()) => stop = AnswerStop::Canceled,
                    }
                }
                (answer, Answer::Generated { sampling, max_tokens, thinking, stop, warning, branches })
            }
        };
        Ok(AnsweredText { framed, answer, origin, limit })
    }

    /// Maximum length of prompt and answer for this question, in tokens.
    fn limit(&self, question: &Question) -> usize {
        let context_length = self.lm.config().context_length;
        question.max_context.map_or(context_length, |chosen| chosen.min(context_length))
    }

    /// Maximum length of the thinking section for this question, in tokens. `None` if the model cannot think, the question does not ask for
    /// it, or the answer is given.
    fn thinking_of(&self, question: &Question) -> Option<usize> {
        question.thinking.filter(|_| self.thoughts.is_some() && question.answer.is_none())
    }

    /// Renders a question's prompt in the chat template. Errors if the question cannot be answered.
    pub(super) fn framed(&self, question: &Question) -> Result<FramedPrompt, Problem> {
        problems::check_question(question)?;
        if let Some(problem) = self.template_problem.as_ref().filter(|_| question.use_template) {
            return Err(problem.clone());
        }
        if question.reading == Reading::Conversation && !question.use_template {
            return Err(problems::conversation_without_template());
        }
        // Leave room for at least one token of the answer.
        let room = self.limit(question).saturating_sub(1);
        let (template, thinks) = (self.template_if(question.use_template), self.thinking_of(question).is_some());
        let framed = FramedPrompt::new(&ReadPrompt::of(question)?, template, &self.tokenizer, room, thinks);
        let framed = framed.map_err(|error| problems::framing_failed(&error, self.lm.config().context_length))?;
        if framed.ids.is_empty() { Err(problems::prompt_without_tokens()) } else { Ok(framed) }
    }

    /// Number of tokens of a prompt in the rendered chat template. `None` if the template cannot be rendered, the prompt is too long to
    /// count, or it is not the conversation that it should be.
    pub fn count_tokens(&self, prompt: &str, reading: Reading, use_template: bool) -> Option<usize> {
        if use_template && self.template_problem.is_some() {
            return None;
        }
        let prompt = match reading {
            Reading::Text => ReadPrompt::plain(Bracketed::plain(&given_text(prompt))),
            Reading::Conversation => ReadPrompt::of(&Question { reading, ..Question::greedy(&given_text(prompt)) }).ok()?,
        };
        match FramedPrompt::new(&prompt, self.template_if(use_template), &self.tokenizer, self.lm.config().context_length, false) {
            Ok(framed) => Some(framed.ids.len()),
            Err(ChatError::TooLong { tokens, .. }) => Some(tokens),
            Err(_) => None,
        }
    }

    /// About how many tokens the passes of an explanation will read, to prepare for long work. Counts one pass for each unit of the prompt,
    /// and as many tokens for each as the prompt has.
    pub fn expected_tokens(&self, question: &Question) -> usize {
        let n_tokens = self.count_tokens(&question.prompt, question.reading, question.use_template).unwrap_or(0);
        n_tokens.saturating_mul(fewest_units(question))
    }

    /// The chat template, if it is requested and the model has one.
    pub(super) fn template_if(&self, is_asked_for: bool) -> Option<&ChatTemplate> {
        self.template.as_ref().filter(|_| is_asked_for)
    }

    /// Tokenizes a given answer. If the chat template opens a thinking section, the answer comes after the end of that section.
    pub(super) fn given_answer(&self, text: &str, framed: &FramedPrompt) -> TokenizedAnswer {
        let ending = self.thoughts.as_ref().filter(|_| self.begins_in_thought(framed)).map_or(&[][..], ThoughtTokens::ending);
        TokenizedAnswer::from_text(text, ending, &framed.ids, &self.tokenizer)
    }

    /// Whether the rendered chat template opens a thinking section.
    fn begins_in_thought(&self, framed: &FramedPrompt) -> bool {
        self.thoughts.as_ref().is_some_and(|thoughts| thoughts.is_open_after(framed.after_prompt()))
    }

    /// Decodes a generated answer. Finds its thinking sections.
    pub(super) fn tokenized(&self, framed: &FramedPrompt, ids: Vec<TokenId>) -> TokenizedAnswer {
        let is_open = self.begins_in_thought(framed);
        let whole = || vec![GeneratedPart { is_thought: false, tokens: 0..ids.len() }];
        let parts = self.thoughts.as_ref().map_or_else(whole, |thoughts| thoughts.parts(&ids, is_open));
        TokenizedAnswer::from_ids(ids, &parts, &self.tokenizer)
    }

    /// Generates a continuation of the prompt that begins with `start`. Returns its tokens and why it ended. Reuses a recent continuation
    /// if its inputs are the same.
    pub(super) async fn generated(
        &mut self,
        framed: &FramedPrompt,
        settings: GenerationSettings,
        start: &ForcedStart,
        on_token: &mut dyn Callback<Option<String>>,
    ) -> Result<(Vec<TokenId>, AnswerStop), Problem> {
        let context = &framed.ids;
        let mut stream = TextStream::default();
        let tokenizer = &self.tokenizer;
        // Report incomplete characters, too, because each report is a chance to stop.
        let mut report = async |token| on_token.call(Some(stream.push(tokenizer.bytes(token)))).await;
        if let Some(known) = self.answers.recall(context, settings, start) {
            for (i, &token) in known.tokens.iter().enumerate() {
                if report(token).await.is_break() {
                    return Ok((known.tokens[..=i].to_vec(), AnswerStop::Canceled));
                }
            }
            return Ok((known.tokens.clone(), known.stop));
        }
        let GenerationSettings { sampling: Sampling { temperature, top_k, top_p, seed }, max_tokens, thought_limit } = settings;
        let mut sampler = Sampler::new(temperature, top_k, top_p, seed);
        let is_open = self.begins_in_thought(framed);
        let thought = self.thoughts.as_ref().map(|delimiters| ThoughtLimit { delimiters, is_open, max_tokens: thought_limit });
        let beginning = Beginning { prompt: context, forced: &start.tokens };
        let generated = generate(&mut self.lm, tokenizer, beginning, &mut sampler, max_tokens, thought, &mut report).await;
        let generated = generated.map_err(problems::engine_failed)?;
        let (tokens, stop) = (generated.tokens, stop_of(generated.stop));
        // A stopped answer is complete for a question that allows only this many tokens.
        let (max_tokens, remembered_stop) = match stop {
            AnswerStop::Canceled => (tokens.len(), AnswerStop::Length),
            _ => (max_tokens, stop),
        };
        self.answers.remember(GeneratedAnswer {
            context: context.clone(),
            settings: GenerationSettings { max_tokens, ..settings },
            start: start.clone(),
            tokens: tokens.clone(),
            stop: remembered_stop,
            warning: None,
        });
        Ok((tokens, stop))
    }

    /// Splits an answered question into units, ready to be measured by `method`.
    pub(super) fn prepare(
        &self,
        question: &Question,
        method: &attribution::AttributionMethod,
        unit: Unit,
        text: &AnsweredText,
    ) -> Result<AnsweredQuestion, Problem> {
        let AnsweredText { framed, answer, origin, limit } = text;
        if sentences(&answer.text).is_empty() || answer.ids.is_empty() {
            return Err(problems::empty_answer());
        }
        let tokens = [&framed.ids[..], &answer.ids].concat();
        if tokens.len() > *limit {
            return Err(problems::too_long(tokens.len(), *limit, self.lm.config().context_length));
        }
        let prompt = ReadPrompt::of(question)?;
        let language = language_of_question(question, &prompt.whole_text());
        let split = SplitText::new(unit, question.sentence_rule, language, &prompt, framed, answer);
        if split.generation_start == 0 {
            // No token comes before the first explained answer.
            return Err(problems::prompt_without_tokens());
        }
        let (segments, statements, spans) = (split.segments.clone(), split.statements.clone(), split.spans.clone());
        let groups = split.groups.iter().map(|(_, tokens)| tokens.clone()).collect();
        let transcript = Transcript {
            generation: split.generation_start..tokens.len(),
            tokens,
            end_token: self.tokenizer.eos(),
            control_tokens: self.tokenizer.control_tokens(),
            infills: Vec::new(),
        };
        let answer = framed.ids.len()..transcript.tokens.len();
        let document = self.unmeasured_document(method, unit, split, self.template_if(question.use_template).is_some(), origin.clone());
        Ok(AnsweredQuestion { document, transcript, answer, segments, statements, groups, spans })
    }
}

fn stop_of(reason: StopReason) -> AnswerStop {
    match reason {
        StopReason::End => AnswerStop::End,
        StopReason::Length => AnswerStop::Length,
        StopReason::Canceled => AnswerStop::Canceled,
        StopReason::Repetition => AnswerStop::Repetition,
    }
}

//! Builds the document of an answer that is not measured yet, with the facts about the model.

use super::loaded::Session;
use super::text::SplitText;
use glasscage_attribution as attribution;
use glasscage_core::explanation::{Answer, Document, FORMAT, Manifest, Method, PLAIN_VERSION, Replacement, ScoredTexts, Unit};
use glasscage_core::table::Table;
use glasscage_engine::lm::LanguageModel;
use glasscage_protocol::version::GLASSCAGE;

impl<M: LanguageModel> Session<M> {
    /// The replacement for the tokens of a source, in words.
    pub fn replacement(&self, method: &attribution::AttributionMethod) -> String {
        match method.scored_texts() {
            ScoredTexts::UnchangedOnly => "nothing".into(),
            ScoredTexts::WithoutEach(Replacement::Infill) => "the model\u{2019}s own words".into(),
            ScoredTexts::WithoutEach(Replacement::MaskedLm) => "words of a masked language model".into(),
            ScoredTexts::WithoutEach(Replacement::EndToken) | ScoredTexts::WithoutEachAndPairs | ScoredTexts::Path { .. } => {
                self.tokenizer.name(self.tokenizer.eos())
            }
        }
    }

    /// A document with an unmeasured table. Its output is its last sentence.
    pub(super) fn unmeasured_document(
        &self,
        method: &attribution::AttributionMethod,
        unit: Unit,
        text: SplitText,
        is_framed: bool,
        answer: Answer,
    ) -> Document {
        let SplitText { sentence_rule, language, turns, prompt, generation, groups, .. } = text;
        let backend = self.lm.backend();
        let derivation = method.derivation_of(self.lm.config());
        let document = Document {
            format: FORMAT.into(),
            version: PLAIN_VERSION,
            unit,
            turns,
            table: Table::unmeasured(prompt.sentences.len(), generation.sentences.len()),
            alone: None,
            joint: Vec::new(),
            flow: None,
            support: Vec::new(),
            tokens: Vec::new(),
            contrasts: Vec::new(),
            groups: groups.into_iter().map(|(group, _)| group).collect(),
            output: vec![generation.sentences.len() - 1],
            prompt: prompt.into(),
            generation: generation.into(),
            method: Method {
                id: method.id.to_string(),
                unit: None,
                aggregation: derivation.aggregation,
                compression: derivation.compression,
                weighting: derivation.weighting,
                normalization: derivation.normalization,
                replacement: self.replacement(method),
                passes: [0, 0],
            },
            manifest: Manifest {
                model: self.model.clone(),
                template: if is_framed { "chat" } else { "none" }.into(),
                answer,
                sentence_rule,
                language,
                backend: backend.name,
                precision: backend.precision,
                table_precision: "f64".into(),
                glasscage: GLASSCAGE.into(),
                producer: None,
            },
        };
        // Turns, groups and some units are new in version 3.
        document.versioned()
    }
}

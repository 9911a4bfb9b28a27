//! Answers one problem, explains it by all methods, and tests every attribution.

use std::ops::ControlFlow;

use glasscage_attribution::AttributionMethod;
use glasscage_attribution::deletion::{RANDOM_ORDERS, deletion_scores, random_orders};
use glasscage_attribution::measure::{measure, n_passes};
use glasscage_attribution::measured::MeasureRequest;
use glasscage_core::explanation::{Answer, Document};
use glasscage_core::graph::{context_attribution, normalize, row_attribution};
use glasscage_core::metrics::{Curve, coverage, missed, order, share_on};
use glasscage_engine::Engine;
use glasscage_protocol::request::Question;
use glasscage_session::{AnswerResult, AnsweredQuestion, Session, enter_pairs};
use glasscage_text::sentences::sentences;

use super::super::bench::cost::Stopwatch;
use super::derivations::Derivations;
use super::external::{External, ExternalAttribution};
use super::items::{Item, Output};
use super::record::{AttributionRule, Attributor, GraphVariant, ItemResult, Score, ScoredItem};

/// An attribution and its deletion orders. The metrics are means over the orders.
struct Candidate {
    kind: Attributor,
    attribution: Vec<f64>,
    orders: Vec<Vec<usize>>,
    cpu_seconds: Option<f64>,
}

/// A problem, and how to evaluate attributions on it.
pub struct Trial<'a> {
    pub item: &'a Item,
    pub methods: &'a [&'a AttributionMethod],
    pub derivations: Derivations,
    /// Maximum length of an answer that the model writes.
    pub max_tokens: usize,
    /// Seed of the random deletion orders.
    pub seed: u64,
}

/// Answers, explains and tests one problem. `external` returns the attributions from another program, given the number of prompt sentences.
pub fn outcome(
    session: &mut Session<Engine>,
    trial: &Trial<'_>,
    external: impl FnOnce(usize) -> Result<External, String>,
) -> Result<ItemResult, String> {
    let &Trial { item, methods, derivations, max_tokens, seed } = trial;
    pollster::block_on(async {
        let question =
            Question { answer: item.given.clone(), max_tokens, method: methods[0].id.to_string(), ..Question::greedy(&item.prompt) };
        let mut answered = match session.answer(&question, &mut async |_| ControlFlow::Continue(())).await {
            Ok(AnswerResult::Answered(answered)) => answered,
            Ok(AnswerResult::Stopped { .. }) => return Err("the run was stopped".to_owned()),
            Err(problem) => return Ok(ItemResult::Skipped(problem.what.to_sentence())),
        };
        for method in methods {
            if let Err(problem) = session.infill_sources(method, &mut answered, &mut async |()| ControlFlow::Continue(())).await {
                return Ok(ItemResult::Skipped(problem.what.to_sentence()));
            }
        }
        let AnsweredQuestion { document, transcript, segments, spans, .. } = *answered;
        let differs = |counted: Option<usize>, here: usize| counted.is_some_and(|counted| counted != here);
        if differs(item.n_prompt, document.prompt.sentences.len()) || differs(item.n_given, document.generation.sentences.len()) {
            return Ok(ItemResult::Skipped("its sentences are cut in another way than the data set cuts them".into()));
        }
        let output = output(item, &document);
        if output.is_empty() || output.iter().any(|&row| row >= document.generation.sentences.len()) {
            return Ok(ItemResult::Skipped("the answer does not have the sentences to explain".into()));
        }
        let external = external(document.prompt.sentences.len())?;
        let (mut documents, mut cpu_seconds) = (Vec::new(), Vec::new());
        for methods in methods.chunk_by(|a, b| a.shares_passes_with(b)) {
            let watch = Stopwatch::start();
            let request = MeasureRequest::new(methods, &transcript, &segments);
            let measured = measure(&mut session.lm, &request, &mut async |_| ControlFlow::Continue(())).await;
            if let Some(failure) = measured.failure {
                return Err(failure.to_string());
            }
            cpu_seconds.extend(vec![watch.cost().cpu_seconds; methods.len()]);
            let mut pairs = measured.pairs;
            for (method, table) in methods.iter().zip(measured.tables) {
                let mut document = Document { table, output: output.clone(), ..document.clone() };
                if let Some(pairs) = pairs.take() {
                    enter_pairs(&mut document, &spans, pairs);
                }
                document.method.id = method.id.to_string();
                document.method.replacement = session.replacement(method);
                document.method.passes = [n_passes(method, &transcript, &segments); 2];
                documents.push(document.derived(method.text().derivation));
            }
        }
        let relevant = relevant(item, &document);
        if relevant.iter().flatten().any(|&j| j >= document.prompt.sentences.len()) {
            return Ok(ItemResult::Skipped("the prompt does not have all relevant sentences".into()));
        }
        let candidates = candidates(&documents, &cpu_seconds, derivations, external, relevant.as_deref(), seed);
        let orders: Vec<Vec<usize>> = candidates.iter().flat_map(|candidate| candidate.orders.clone()).collect();
        let curves = deletion_scores(&mut session.lm, &transcript, &segments, &orders, &mut async |_| ControlFlow::Continue(())).await;
        let mut curves = curves.map_err(|error| error.to_string())?.expect("the test is never broken off").into_iter();
        let is_rising = curves.as_slice().first().is_none_or(|scores| Curve::new(scores, &candidates[0].attribution).is_rising());
        let scores = candidates.into_iter().map(|candidate| score(candidate, relevant.as_deref(), &mut curves)).collect();
        Ok(ItemResult::Scored(Box::new(ScoredItem { is_right: is_right(item, &document), is_rising, scores, documents })))
    })
}

fn output(item: &Item, document: &Document) -> Vec<usize> {
    let n_generated = document.generation.sentences.len();
    match &item.output {
        Output::Last => vec![n_generated - 1],
        Output::Rows(rows) => rows.clone(),
        Output::Listed => (0..n_generated).collect(),
    }
}

/// The relevant prompt sentences, if they are known.
fn relevant(item: &Item, document: &Document) -> Option<Vec<usize>> {
    match item.output {
        Output::Listed => {
            let listed: Vec<&str> = document.generation.sentence_texts().into_iter().map(str::trim).collect();
            let repeated =
                document.prompt.sentence_texts().into_iter().map(str::trim).enumerate().filter(|(_, sentence)| listed.contains(sentence));
            Some(repeated.map(|(j, _)| j).chain([document.prompt.sentences.len() - 1]).collect())
        }
        _ => item.relevant.clone().filter(|relevant| !relevant.is_empty()),
    }
}

/// Whether the answer is right: its last sentence is the expected one. A list has as many sentences as expected, all from the prompt and
/// none twice.
fn is_right(item: &Item, document: &Document) -> Option<bool> {
    let expected = item.expected.as_ref()?;
    if !matches!(document.manifest.answer, Answer::Generated { .. }) {
        return None;
    }
    let mut listed: Vec<&str> = document.generation.sentence_texts().into_iter().map(str::trim).collect();
    if !matches!(item.output, Output::Listed) {
        let last_expected = sentences(expected).pop().map(|range| expected[range].trim());
        return Some(listed.last().copied() == last_expected);
    }
    let wanted = sentences(expected).len();
    let given: Vec<&str> = document.prompt.sentence_texts().into_iter().map(str::trim).collect();
    let are_copies = listed.iter().all(|sentence| given.contains(sentence));
    listed.sort_unstable();
    listed.dedup();
    Some(are_copies && listed.len() == wanted && document.generation.sentences.len() == wanted)
}

fn candidates(
    documents: &[Document],
    cpu_seconds: &[f64],
    derivations: Derivations,
    external: External,
    relevant: Option<&[usize]>,
    seed: u64,
) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for (document, &cpu_seconds) in documents.iter().zip(cpu_seconds) {
        for derivation in derivations.of(document.method.derivation()) {
            let adjacency = normalize(&document.scores_by(derivation), derivation.normalization);
            for (rule, attribution) in [
                (AttributionRule::Row, row_attribution(&adjacency, &document.output)),
                (AttributionRule::Cage, context_attribution(&adjacency, &document.output)),
            ] {
                let variant = GraphVariant::new(&document.method.id, derivation);
                let orders = vec![order(&attribution)];
                candidates.push(Candidate { kind: Attributor::Method(variant, rule), attribution, orders, cpu_seconds: Some(cpu_seconds) });
            }
        }
    }
    candidates.extend(external.into_iter().map(|(name, ExternalAttribution { attribution, cpu_seconds })| Candidate {
        kind: Attributor::External(name),
        orders: vec![order(&attribution)],
        attribution,
        cpu_seconds,
    }));
    let n_prompt = documents[0].prompt.sentences.len();
    let orders = random_orders(n_prompt, RANDOM_ORDERS, seed);
    candidates.push(Candidate { kind: Attributor::Random, attribution: vec![1.0 / n_prompt as f64; n_prompt], orders, cpu_seconds: None });
    if let Some(relevant) = relevant {
        let part = |j: usize| if relevant.contains(&j) { 1.0 / relevant.len() as f64 } else { 0.0 };
        let attribution: Vec<f64> = (0..n_prompt).map(part).collect();
        candidates.push(Candidate { kind: Attributor::Truth, orders: vec![order(&attribution)], attribution, cpu_seconds: None });
    }
    candidates
}

/// The metrics of a candidate. Takes its curves from the front of `curves`.
fn score(candidate: Candidate, relevant: Option<&[usize]>, curves: &mut impl Iterator<Item = Vec<f64>>) -> Score {
    let Candidate { kind, attribution, orders, cpu_seconds } = candidate;
    let curves: Vec<Curve> = curves.take(orders.len()).map(|scores| Curve::new(&scores, &attribution)).collect();
    let mean = |metric: fn(&Curve) -> f64| curves.iter().map(metric).sum::<f64>() / curves.len() as f64;
    Score {
        kind,
        coverage: relevant.map(|relevant| coverage(&attribution, relevant)),
        share: relevant.map(|relevant| share_on(&attribution, relevant)),
        missed: relevant.map(|relevant| missed(&attribution, relevant)),
        rise: mean(Curve::rise),
        mas: mean(Curve::mas),
        cpu_seconds,
    }
}

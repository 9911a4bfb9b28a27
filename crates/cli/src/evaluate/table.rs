//! The records as tables: Markdown in the paper's form, and CSV with all numbers.

use std::collections::BTreeSet;
use std::fmt::Write;

use glasscage_core::explanation::{Aggregation, Compression, Derivation, MethodText, Weighting};
use glasscage_core::graph::Normalization;
use glasscage_core::tables::{csv_text, markdown_text};

use super::record::{AttributionRule, Attributor, GraphVariant, ItemResult, Record, Score, ScoredItem};

/// One column of numbers.
struct Metric {
    name: &'static str,
    of: fn(&Score) -> Option<f64>,
    higher_is_better: bool,
    /// Whether it comes from a deletion curve. Curves of rising answers are left out, because they have no meaning.
    of_a_curve: bool,
}

const METRICS: [Metric; 5] = [
    Metric { name: "AC", of: |score| score.coverage, higher_is_better: true, of_a_curve: false },
    Metric { name: "on relevant", of: |score| score.share, higher_is_better: true, of_a_curve: false },
    Metric { name: "missed", of: |score| score.missed, higher_is_better: false, of_a_curve: false },
    Metric { name: "RISE", of: |score| Some(score.rise), higher_is_better: false, of_a_curve: true },
    Metric { name: "MAS", of: |score| Some(score.mas), higher_is_better: false, of_a_curve: true },
];

impl Metric {
    /// The values of `kind`, for the problems that have one.
    fn values(&self, scored: &[&ScoredItem], kind: &Attributor) -> Vec<f64> {
        scored.iter().filter_map(|scored| self.value(scored, kind)).collect()
    }

    fn value(&self, scored: &ScoredItem, kind: &Attributor) -> Option<f64> {
        let score = scored.scores.iter().find(|score| score.kind == *kind).filter(|_| !(self.of_a_curve && scored.is_rising))?;
        (self.of)(score)
    }

    /// `a` minus `b`, for the problems that have both.
    fn differences(&self, scored: &[&ScoredItem], a: &Attributor, b: &Attributor) -> Vec<f64> {
        scored.iter().filter_map(|scored| Some(self.value(scored, a)? - self.value(scored, b)?)).collect()
    }

    /// Number of problems in which `a` is better than `b`, and number of problems in which they differ.
    fn wins(&self, scored: &[&ScoredItem], a: &Attributor, b: &Attributor) -> (usize, usize) {
        let differences = self.differences(scored, a, b).into_iter().filter(|difference| *difference != 0.0);
        let signs: Vec<bool> = differences.map(|difference| (difference > 0.0) == self.higher_is_better).collect();
        (signs.iter().filter(|&&wins| wins).count(), signs.len())
    }
}

struct Statistics {
    mean: f64,
    /// Sample standard deviation.
    deviation: f64,
    count: usize,
}

fn statistics(values: &[f64]) -> Option<Statistics> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (!values.is_empty()).then(|| Statistics { mean, deviation: variance.sqrt(), count: values.len() })
}

pub fn markdown(records: &[Record]) -> String {
    let scored = scored(records);
    let rising = scored.iter().filter(|scored| scored.is_rising).count();
    let judged: Vec<bool> = scored.iter().filter_map(|scored| scored.is_right).collect();
    let mut text = format!("{} problems explained, {} skipped.", scored.len(), records.len() - scored.len());
    if !judged.is_empty() {
        let right = judged.iter().filter(|&&is_right| is_right).count();
        write!(text, " The model's answer is right in {:.1} % of {}.", 100.0 * right as f64 / judged.len() as f64, judged.len())
            .expect("text");
    }
    if rising > 0 {
        write!(text, " Left out of RISE and MAS: {rising}, whose answer is no less likely without the prompt.").expect("text");
    }
    text += "\n\n| method | edges | |";
    METRICS.iter().for_each(|metric| write!(text, " {} {} |", metric.name, if metric.higher_is_better { "↑" } else { "↓" }).expect("text"));
    text += "\n| --- | --- | --- |";
    text += &" --- |".repeat(METRICS.len());
    for variant in variants(&scored) {
        let kinds = [AttributionRule::Row, AttributionRule::Cage].map(|rule| Attributor::Method(variant.clone(), rule));
        let [row, cage] = &kinds;
        write!(text, "\n| {} | {} | row |{}", markdown_text(&variant.method), edges(&variant), cells(&scored, row)).expect("text");
        write!(text, "\n| | | CAGE |{}", cells(&scored, cage)).expect("text");
        let wins = METRICS.iter().map(|metric| match metric.wins(&scored, cage, row) {
            (_, 0) => " – |".to_owned(),
            (wins, differing) => format!(" {:.0} % of {differing} |", 100.0 * wins as f64 / differing as f64),
        });
        write!(text, "\n| | | CAGE wins |{}", wins.collect::<String>()).expect("text");
        let gains = METRICS.iter().map(|metric| match [row, cage].map(|kind| statistics(&metric.values(&scored, kind))) {
            [Some(row), Some(cage)] if row.mean != 0.0 => format!(" {:+.0} % |", 100.0 * (cage.mean - row.mean) / row.mean),
            _ => " – |".to_owned(),
        });
        write!(text, "\n| | | CAGE : row |{}", gains.collect::<String>()).expect("text");
    }
    let external = external(&scored).into_iter().map(|name| (name.clone(), Attributor::External(name)));
    let baselines = [("random order".to_owned(), Attributor::Random), ("relevant first".to_owned(), Attributor::Truth)];
    for (name, kind) in external.chain(baselines) {
        write!(text, "\n| {} | | |{}", markdown_text(&name), cells(&scored, &kind)).expect("text");
    }
    text + "\n" + &paired(&scored)
}

/// CAGE by each method with the page's derivation, and attributions from other programs, minus CAGE by the first method, per problem.
fn paired(scored: &[&ScoredItem]) -> String {
    let methods = variants(scored).into_iter().filter(|variant| variant.derivation() == MethodText::of(&variant.method).derivation);
    let ours = methods.map(|variant| (variant.method.clone(), Attributor::Method(variant, AttributionRule::Cage)));
    let external = external(scored).into_iter().map(|name| (name.clone(), Attributor::External(name)));
    let kinds: Vec<(String, Attributor)> = ours.chain(external).collect();
    let Some(((first, base), others)) = kinds.split_first().filter(|(_, others)| !others.is_empty()) else { return String::new() };
    let first = markdown_text(first);
    let mut text = format!("\nCAGE, less CAGE by {first} on the same problem; mean and its 95 % interval.\n\n| method |");
    METRICS.iter().for_each(|metric| write!(text, " {} |", metric.name).expect("text"));
    text += "\n| --- |";
    text += &" --- |".repeat(METRICS.len());
    for (method, kind) in others {
        let cell = |metric: &Metric| match statistics(&metric.differences(scored, kind, base)) {
            Some(Statistics { mean, deviation, count }) => format!(" {mean:+.3} ± {:.3} |", 1.96 * deviation / (count as f64).sqrt()),
            None => " – |".to_owned(),
        };
        write!(text, "\n| {} |{}", markdown_text(method), METRICS.iter().map(cell).collect::<String>()).expect("text");
    }
    text + "\n"
}

fn cells(scored: &[&ScoredItem], kind: &Attributor) -> String {
    let cell = |metric: &Metric| match statistics(&metric.values(scored, kind)) {
        Some(Statistics { mean, deviation, .. }) => format!(" {mean:.3} ± {deviation:.3} |"),
        None => " – |".to_owned(),
    };
    METRICS.iter().map(cell).collect()
}

/// All numbers, one line per attribution of a problem.
pub fn csv(records: &[Record]) -> String {
    let mut text =
        "item,right,rising,method,aggregation,compression,weighting,normalization,attribution,ac,on_relevant,missed,rise,mas,cpu_seconds\n"
            .to_owned();
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for record in records {
        let ItemResult::Scored(scored) = &record.outcome else { continue };
        for score in &scored.scores {
            let name = match &score.kind {
                Attributor::Method(variant, rule) => {
                    let rule = if *rule == AttributionRule::Row { "row" } else { "cage" };
                    let weighting = if variant.weighting == Weighting::Flow { "flow" } else { "none" };
                    let [aggregation, compression, normalization] = [aggregation(variant), compression(variant), normalization(variant)];
                    format!("{},{aggregation},{compression},{weighting},{normalization},{rule}", csv_text(&variant.method))
                }
                Attributor::External(name) => format!("{},,,,,external", quoted(name)),
                Attributor::Random => ",,,,,random order".into(),
                Attributor::Truth => ",,,,,relevant first".into(),
            };
            let is_right = scored.is_right.map_or(String::new(), |is_right| is_right.to_string());
            let metrics =
                [score.coverage, score.share, score.missed, Some(score.rise), Some(score.mas), score.cpu_seconds].map(number).join(",");
            writeln!(text, "{},{is_right},{},{name},{metrics}", record.item, scored.is_rising).expect("text");
        }
    }
    text
}

/// Any text as a field in quotation marks.
fn quoted(text: &str) -> String {
    let safe = csv_text(text);
    if safe.starts_with('"') { safe } else { format!("\"{safe}\"") }
}

/// Names of the attributions from other programs.
fn external(scored: &[&ScoredItem]) -> BTreeSet<String> {
    let kinds = scored.iter().flat_map(|scored| &scored.scores).map(|score| &score.kind);
    kinds.filter_map(|kind| if let Attributor::External(name) = kind { Some(name.clone()) } else { None }).collect()
}

fn scored(records: &[Record]) -> Vec<&ScoredItem> {
    let outcomes = records.iter().map(|record| &record.outcome);
    outcomes.filter_map(|outcome| if let ItemResult::Scored(scored) = outcome { Some(&**scored) } else { None }).collect()
}

/// The variants: the paper's first, then the ablations and that of the reference code.
fn variants(scored: &[&ScoredItem]) -> Vec<GraphVariant> {
    let kinds = scored.iter().flat_map(|scored| &scored.scores).map(|score| &score.kind);
    let variants = kinds.filter_map(|kind| if let Attributor::Method(variant, _) = kind { Some(variant.clone()) } else { None });
    let mut different: Vec<GraphVariant> = Vec::new();
    variants.for_each(|variant| {
        if !different.contains(&variant) {
            different.push(variant);
        }
    });
    different.sort_by_key(|variant| {
        let Derivation { aggregation, compression, weighting, normalization } = variant.derivation();
        (aggregation != Aggregation::Mean, normalization != Normalization::Full, compression as u8, weighting as u8)
    });
    different
}

fn edges(variant: &GraphVariant) -> String {
    match (variant.aggregation, variant.normalization) {
        (Aggregation::Mean, Normalization::Full) => {
            let compression = match variant.compression {
                Compression::None => "as in the paper",
                Compression::Log => "logarithm",
                Compression::Bounded => "bounded",
                Compression::Hyperbolic => "hyperbolic",
            };
            if variant.weighting == Weighting::Flow { format!("{compression}, weighted by flow") } else { compression.into() }
        }
        (Aggregation::Mean, Normalization::NonNegative) => "non-negative only".into(),
        (Aggregation::Mean, Normalization::None) => "raw".into(),
        (Aggregation::Sum, _) => "sums, as in the reference code".into(),
    }
}

fn aggregation(variant: &GraphVariant) -> &'static str {
    match variant.aggregation {
        Aggregation::Mean => "mean",
        Aggregation::Sum => "sum",
    }
}

fn compression(variant: &GraphVariant) -> &'static str {
    match variant.compression {
        Compression::None => "none",
        Compression::Log => "log",
        Compression::Bounded => "bounded",
        Compression::Hyperbolic => "hyperbolic",
    }
}

fn normalization(variant: &GraphVariant) -> &'static str {
    match variant.normalization {
        Normalization::Full => "full",
        Normalization::NonNegative => "nonnegative",
        Normalization::None => "none",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(row: f64, cage: f64, is_rising: bool) -> Record {
        let variant = GraphVariant::new("pert", Derivation::default());
        let score = |rule, rise| Score {
            kind: Attributor::Method(variant.clone(), rule),
            coverage: None,
            share: None,
            missed: None,
            rise,
            mas: 0.5,
            cpu_seconds: None,
        };
        let scores = vec![score(AttributionRule::Row, row), score(AttributionRule::Cage, cage)];
        Record {
            item: 0,
            outcome: ItemResult::Scored(Box::new(ScoredItem { is_right: Some(true), is_rising, scores, documents: Vec::new() })),
        }
    }

    #[test]
    fn means_wins_and_gains_leave_out_curves_that_say_nothing() {
        let text = markdown(&[scored(0.5, 0.25, false), scored(0.75, 0.5, false), scored(0.0, 1.0, true)]);
        assert!(text.contains("| pert | as in the paper | row | – | – | – | 0.625 ± 0.177 | 0.500 ± 0.000 |"), "{text}");
        assert!(text.contains("| | | CAGE wins | – | – | – | 100 % of 2 | – |"), "{text}");
        assert!(text.contains("| | | CAGE : row | – | – | – | -40 % | +0 % |"), "{text}");
        assert!(
            text.contains("3 problems explained, 0 skipped. The model's answer is right in 100.0 % of 3. Left out of RISE and MAS: 1"),
            "{text}"
        );
    }

    #[test]
    fn paired_table_uses_page_derivation_of_each_method() {
        let record = |pert: f64, pairs: f64| {
            let score = |id: &str, derivation, rise| Score {
                kind: Attributor::Method(GraphVariant::new(id, derivation), AttributionRule::Cage),
                coverage: None,
                share: None,
                missed: Some(rise),
                rise,
                mas: 0.5,
                cpu_seconds: None,
            };
            let log = Derivation { compression: Compression::Log, ..Derivation::PAPER };
            let own = MethodText::of("pairs").derivation;
            let scores = vec![score("pert", Derivation::PAPER, pert), score("pairs", own, pairs), score("pert", log, 9.0)];
            let kind = Attributor::External("a|, \"b\"".into());
            let elsewhere = Score { kind, coverage: None, share: None, missed: None, rise: 1.0, mas: 1.0, cpu_seconds: Some(2.0) };
            let scores = [scores, vec![elsewhere]].concat();
            let scored = ScoredItem { is_right: None, is_rising: false, scores, documents: Vec::new() };
            Record { item: 0, outcome: ItemResult::Scored(Box::new(scored)) }
        };
        let records = [record(0.5, 0.25), record(0.75, 0.5), record(0.5, 0.25)];
        let text = markdown(&records);
        assert!(text.contains("\n| a\\|, \"b\" | | | – | – | – | 1.000 ± 0.000 | 1.000 ± 0.000 |"), "{text}");
        assert!(text.contains("\n| a\\|, \"b\" | – | – | – | +0.417 ± 0.163 | +0.500 ± 0.000 |"), "{text}");
        assert!(csv(&records).contains("\n0,,false,\"a|, \"\"b\"\"\",,,,,external,,,,1,1,2\n"), "{}", csv(&records));
        assert!(text.contains("\n| pairs | – | – | -0.250 ± 0.000 | -0.250 ± 0.000 | +0.000 ± 0.000 |"), "{text}");
    }
}

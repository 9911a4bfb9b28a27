//! `docs/real-gpus.md`: a table per GPU, predicted and measured.

use std::fs;

use anyhow::{Context, Result};

use super::gpus::{GPUS, Gpu};
use super::measurements::{Measurement, Measurements};
use super::mixes::Mixes;
use super::models::models;
use super::{Prediction, Run};
use crate::command::root;

const PAGE: &str = "docs/real-gpus.md";
/// This command writes the part of the page after this mark.
const MARK: &str = "<!-- What follows is written by `cargo xtask gpu-budgets --predict`. -->\n";

const HEAD: &str = "\
| model | prefill, tokens/s | measured | decode, tokens/s | measured | job, s | measured | % of f32 peak | % of bandwidth | job : ideal |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

/// Writes the tables, as predicted from these mixes.
pub fn write(mixes: &Mixes) -> Result<()> {
    let page = fs::read_to_string(root().join(PAGE))?;
    let (before, _) = parts(&page)?;
    fs::write(root().join(PAGE), format!("{before}{MARK}{}", tables(mixes, &Measurements::stored()?)))?;
    println!("{PAGE} is written");
    Ok(())
}

/// The page before the mark and after it.
fn parts(page: &str) -> Result<(&str, &str)> {
    page.split_once(MARK).with_context(|| format!("{PAGE} has no place for the tables"))
}

fn tables(mixes: &Mixes, measurements: &Measurements) -> String {
    GPUS.iter().map(|gpu| section(gpu, mixes, measurements)).collect()
}

fn section(gpu: &Gpu, mixes: &Mixes, measurements: &Measurements) -> String {
    let models = models();
    let measured: Vec<Option<Measurement>> = models.iter().map(|model| measurements.of(gpu, model)).collect();
    let note = if measured.iter().all(Option::is_none) { "This version was not measured yet. " } else { "" };
    let rows = models.iter().zip(measured).map(|(model, measured)| {
        let name = format!("{} {}", model.name.to_uppercase(), model.tensor_type.name);
        row(&name, &Run::new(gpu, model, mixes).predict(), measured)
    });
    format!("\n## {}\n\n{note}Rates: {}.\n\n{HEAD}{}", gpu.name, gpu.source, rows.collect::<String>())
}

fn row(name: &str, predicted: &Prediction, measured: Option<Measurement>) -> String {
    let measured = measured.map(|measured| [measured.prefill, measured.decode, measured.job_seconds].map(shown)).unwrap_or_default();
    let [prefill, decode, job] = measured;
    let cells = [
        shown(predicted.prefill),
        prefill,
        shown(predicted.decode),
        decode,
        shown(predicted.job_seconds),
        job,
        shown(100.0 * predicted.arithmetic),
        shown(100.0 * predicted.bandwidth),
        shown(predicted.job_to_ideal),
    ];
    format!("| {name} | {} |\n", cells.join(" | "))
}

/// Three significant digits, and whole numbers from 100 on.
fn shown(figure: f64) -> String {
    match figure {
        figure if figure < 9.995 => format!("{figure:.2}"),
        figure if figure < 99.95 => format!("{figure:.1}"),
        figure => format!("{figure:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_shows_predictions_of_model() {
        let page = fs::read_to_string(root().join(PAGE)).unwrap();
        let (_, written) = parts(&page).unwrap();
        let expected = tables(&Mixes::stored().unwrap(), &Measurements::stored().unwrap());
        assert_eq!(written, expected, "write them again: cargo xtask gpu-budgets --predict");
    }

    #[test]
    fn measured_figures_are_beside_predicted_ones() {
        let predicted =
            Prediction { prefill: 9_999.6, decode: 99.96, job_seconds: 0.5, arithmetic: 0.123, bandwidth: 0.5, job_to_ideal: 4.0 };
        let measured = Measurement { prefill: 7.0, decode: 8.25, job_seconds: 12.34 };
        assert_eq!(
            row("1B F16", &predicted, Some(measured)),
            "| 1B F16 | 10000 | 7.00 | 100 | 8.25 | 0.50 | 12.3 | 12.3 | 50.0 | 4.00 |\n"
        );
        assert!(row("1B F16", &predicted, None).contains("| 10000 |  | 100 |  | 0.50 |  |"));
    }
}

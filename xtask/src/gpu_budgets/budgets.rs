//! The budgets as rows of data, and the table that shows them.

use super::measured::Measured;

/// A measured figure with its budget.
#[derive(Debug, PartialEq)]
pub struct Row {
    pub what: &'static str,
    pub kernel: String,
    /// `None` if nothing was measured.
    pub figure: Option<f64>,
    /// A larger figure is a failure.
    budget: f64,
    /// Whether the figure depends on the compiler versions.
    pub is_compiled: bool,
}

/// Instructions per `fma` in AMD's inner loop: description, kernel, kinds, budget.
const RATIOS: &[(&str, &str, &[&str], f64)] = &[
    ("shared-memory loads : FMA in the inner loop", "matmul_tiles.F16", &["lds_load"], 0.13),
    ("shared-memory loads : FMA in the inner loop", "matmul_tiles.Q8_0", &["lds_load"], 0.13),
    ("shared-memory loads : FMA in the inner loop", "matmul_tiles.Q4_K", &["lds_load"], 0.13),
    ("shared-memory loads : FMA in the inner loop", "matmul_tiles.Q6_K", &["lds_load"], 0.13),
    ("integer : FMA in the inner loop", "matmul_tiles.Q4_K", &["int"], 0.08),
    ("integer : FMA in the inner loop", "matvec_shared.Q4_K", &["int"], 0.6),
];

/// Memory traffic that the interpreter counts: description, its name in the counts, budget.
const COUNTS: &[(&str, &str, f64)] = &[
    ("cache lines of 128 B that a load of W by a wave of 32 touches", "lines", 4.0),
    ("keys and values read, of those that each row and head sees", "keys and values", 1.0 / 16.0),
    ("vocabulary passes to draw a sample", "vocabulary", 6.0),
];

pub fn rows(measured: &Measured) -> Vec<Row> {
    let compiled = RATIOS.iter().map(|&(what, kernel, kinds, budget)| {
        let figure = measured.for_each_fma(kernel, kinds);
        Row { what, kernel: kernel.to_owned(), figure, budget, is_compiled: true }
    });
    let spilling = measured.spilling();
    let kernel = if spilling.is_empty() { "all".to_owned() } else { spilling.join(", ") };
    let figure = Some(spilling.len() as f64);
    let spills = Row { what: "kernels with spills or scratch, on any GPU", kernel, figure, budget: 0.0, is_compiled: true };
    let counted = COUNTS.iter().flat_map(|&(what, name, budget)| {
        let row = move |(kernel, figure)| Row { what, kernel, figure, budget, is_compiled: false };
        let mut counted: Vec<_> = measured.counted(name).into_iter().map(|(kernel, figure)| (kernel, Some(figure))).collect();
        if counted.is_empty() {
            counted.push((name.to_owned(), None));
        }
        counted.into_iter().map(row)
    });
    compiled.chain([spills]).chain(counted).collect()
}

impl Row {
    /// Whether there is a figure within the budget.
    pub fn is_met(&self) -> bool {
        self.figure.is_some_and(|figure| figure <= self.budget)
    }

    /// How the budget is missed.
    pub fn miss(&self) -> String {
        format!("{} of {} is {}, not {} or less", self.what, self.kernel, shown(self.figure), shown(Some(self.budget)))
    }
}

/// Markdown table that marks missed budgets.
pub fn table(rows: &[Row], versions: &str) -> String {
    let mut text = format!("Measured with {versions}.\n\n| what | kernel | measured | budget | |\n| --- | --- | --- | --- | --- |\n");
    for row in rows {
        let verdict = if row.is_met() { "met" } else { "**missed**" };
        text += &format!("| {} | {} | {} | {} | {verdict} |\n", row.what, row.kernel, shown(row.figure), shown(Some(row.budget)));
    }
    let missed = rows.iter().filter(|row| !row.is_met()).count();
    text + &format!("\n{missed} of {} budgets are missed.\n", rows.len())
}

fn shown(figure: Option<f64>) -> String {
    match figure {
        None => "not measured".to_owned(),
        Some(figure) if figure.fract() == 0.0 => figure.to_string(),
        Some(figure) if figure < 10.0 => format!("{figure:.2}"),
        Some(figure) => format!("{figure:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::measured::tests::measured;
    use super::*;

    #[test]
    fn rows_say_whether_budget_is_met() {
        let rows = rows(&measured());
        let table = table(&rows, "mesa 1");
        assert!(table.contains("| shared-memory loads : FMA in the inner loop | matmul_tiles.Q4_K | 0.12 | 0.13 | met |"), "{table}");
        assert!(table.contains("| kernels with spills or scratch, on any GPU | attended on nvidia | 1 | 0 | **missed** |"), "{table}");
        assert!(table.contains("| vocabulary passes to draw a sample | sample | 67 | 6 | **missed** |"), "{table}");
        assert!(table.contains("| matmul_tiles.F16 | not measured | 0.13 | **missed** |"), "{table}");
    }

    #[test]
    fn missing_or_larger_figure_misses_the_budget() {
        let row = |figure| Row { what: "loads", kernel: "k".into(), figure, budget: 2.0, is_compiled: true };
        assert_eq!([Some(0.5), Some(2.0), Some(2.1), None].map(|figure| row(figure).is_met()), [true, true, false, false]);
        assert_eq!(row(Some(2.13)).miss(), "loads of k is 2.13, not 2 or less");
    }

    #[test]
    fn count_that_is_gone_misses_its_budget() {
        let misses: Vec<String> = rows(&measured()).iter().filter(|row| row.figure.is_none()).map(Row::miss).collect();
        let gone = "keys and values read, of those that each row and head sees of keys and values is not measured, not 0.06 or less";
        assert!(misses.iter().any(|miss| miss == gone), "{misses:?}");
    }
}

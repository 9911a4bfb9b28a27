//! The budgets as rows of data, and the table that shows them.

use super::measured::Measured;

/// A measured figure with its budget.
#[derive(Debug, PartialEq)]
pub struct Row {
    pub what: &'static str,
    pub kernel: String,
    /// `None` if the kernel does not exist.
    pub figure: Option<f64>,
    pub budget: f64,
    /// Enforced limit. A larger figure is a failure.
    held: f64,
    /// Whether the figure depends on the compiler versions.
    pub is_compiled: bool,
}

/// Instructions per `fma` in AMD's inner loop: description, kernel, kinds, budget, enforced limit.
const RATIOS: &[(&str, &str, &[&str], f64, f64)] = &[
    ("shared-memory loads : FMA in the inner loop", "matmul_tiles.F16", &["lds_load"], 0.13, 0.13),
    ("shared-memory loads : FMA in the inner loop", "matmul_tiles.Q8_0", &["lds_load"], 0.13, 0.13),
    ("shared-memory loads : FMA in the inner loop", "matmul_tiles.Q4_K", &["lds_load"], 0.13, 0.13),
    ("shared-memory loads : FMA in the inner loop", "matmul_tiles.Q6_K", &["lds_load"], 0.13, 0.13),
    ("integer : FMA in the inner loop", "matmul_tiles.Q4_K", &["int"], 0.08, 0.08),
    ("integer : FMA in the inner loop", "matvec_shared.Q4_K", &["int"], 0.6, 0.6),
];

/// Enforced limit of kernels that spill, counted per driver.
const SPILLING: f64 = 0.0;

/// Memory traffic that the interpreter counts: description, its name in the counts, budget, enforced limit.
const COUNTS: &[(&str, &str, f64, f64)] = &[
    ("cache lines of 128 B that a load of W by a wave of 32 touches", "lines", 4.0, 4.0),
    ("keys and values read, of those that each row and head sees", "keys and values", 1.0 / 16.0, 1.0 / 16.0),
    ("vocabulary passes to draw a sample", "vocabulary", 6.0, 6.0),
];

pub fn rows(measured: &Measured) -> Vec<Row> {
    let compiled = RATIOS.iter().map(|&(what, kernel, kinds, budget, held)| {
        let figure = measured.for_each_fma(kernel, kinds);
        Row { what, kernel: kernel.to_owned(), figure, budget, held, is_compiled: true }
    });
    let spilling = measured.spilling();
    let kernel = if spilling.is_empty() { "all".to_owned() } else { spilling.join(", ") };
    let figure = Some(spilling.len() as f64);
    let spills = Row { what: "kernels with spills or scratch, on any GPU", kernel, figure, budget: 0.0, held: SPILLING, is_compiled: true };
    let counted = COUNTS.iter().flat_map(|&(what, name, budget, held)| {
        let row = move |(kernel, figure)| Row { what, kernel, figure: Some(figure), budget, held, is_compiled: false };
        measured.counted(name).into_iter().map(row)
    });
    compiled.chain([spills]).chain(counted).collect()
}

impl Row {
    fn is_met(&self) -> bool {
        self.figure.is_some_and(|figure| figure <= self.budget)
    }

    /// Whether the figure exceeds the enforced limit, or is missing.
    pub fn is_worse(&self) -> bool {
        self.figure.is_none_or(|figure| figure > self.held)
    }

    pub fn worse(&self) -> String {
        format!("{} of {} is {}, not {} or less", self.what, self.kernel, shown(self.figure), shown(Some(self.held)))
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
        None => "no such kernel".to_owned(),
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
        assert!(table.contains("| matmul_tiles.F16 | no such kernel | 0.13 | **missed** |"), "{table}");
    }

    #[test]
    fn missing_or_larger_figure_is_worse() {
        let row = |figure| Row { what: "loads", kernel: "k".into(), figure, budget: 1.0, held: 2.0, is_compiled: true };
        assert_eq!([Some(0.5), Some(2.0), Some(2.1), None].map(|figure| row(figure).is_worse()), [false, false, true, true]);
        assert_eq!(row(Some(2.13)).worse(), "loads of k is 2.13, not 2 or less");
    }

    #[test]
    fn limits_are_not_below_budgets() {
        assert!(rows(&measured()).iter().all(|row| row.held >= row.budget));
    }
}

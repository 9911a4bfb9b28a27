//! What was measured, by kernel.

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The compilers, as `compile.py` names them.
pub const DRIVERS: [&str; 4] = ["amd", "nvidia", "apple", "adreno"];
/// Those of [`DRIVERS`] whose assembly is read.
pub const AMD: usize = 0;

pub struct Measured {
    /// For each driver, each kernel's name and figures.
    compiled: Vec<Vec<(String, Value)>>,
    /// What an interpreter counted: `what`, `kernel`, `figure`.
    traffic: Vec<Value>,
}

impl Measured {
    /// From what `compile.py` printed for each driver, and the example `gpu_budgets` wrote.
    pub fn new(printed: Vec<Vec<Value>>, traffic: Vec<Value>) -> Result<Self> {
        let mut compiled = Vec::new();
        for (driver, kernels) in DRIVERS.iter().zip(printed) {
            let mut named = Vec::new();
            for kernel in kernels {
                let file = kernel["file"].as_str().context("each kernel has a file")?;
                let name = file.rsplit('/').next().unwrap_or(file).trim_end_matches(".wgsl").to_owned();
                if let Some(error) = kernel["error"].as_str() {
                    bail!("{name} does not compile for {driver}: {error}");
                }
                named.push((name, kernel));
            }
            compiled.push(named);
        }
        Ok(Self { compiled, traffic })
    }

    /// Instructions of some kinds for each `fma`, in the largest innermost loop on AMD; the best of the kernels whose names begin so.
    pub fn for_each_fma(&self, kernel: &str, kinds: &[&str]) -> Option<f64> {
        let kernels = self.compiled[AMD].iter().filter(|(name, _)| name.starts_with(kernel));
        let ratio = |figures: &Value| {
            let count = |kind: &&str| figures["loop"][kind].as_f64();
            Some(kinds.iter().map(count).sum::<Option<f64>>()? / figures["loop"]["fma"].as_f64().filter(|&fma| fma > 0.0)?)
        };
        kernels.filter_map(|(_, figures)| ratio(figures)).min_by(f64::total_cmp)
    }

    /// Kernels that keep values in memory for want of registers, or arrays, with the driver.
    pub fn spilling(&self) -> Vec<String> {
        let spills = |figures: &Value| ["spills", "scratch"].iter().any(|what| figures[*what].as_u64().is_some_and(|n| n > 0));
        let by_driver = DRIVERS.iter().zip(&self.compiled);
        let named = |(driver, kernels): (&&str, &Vec<(String, Value)>)| {
            let spilling = kernels.iter().filter(|(_, figures)| spills(figures));
            spilling.map(|(name, _)| format!("{name} on {driver}")).collect::<Vec<_>>()
        };
        by_driver.flat_map(named).collect()
    }

    /// What the interpreter counted of one thing: kernel and figure.
    pub fn counted(&self, what: &str) -> Vec<(String, f64)> {
        let rows = self.traffic.iter().filter(|row| row["what"] == what);
        rows.filter_map(|row| Some((row["kernel"].as_str()?.to_owned(), row["figure"].as_f64()?))).collect()
    }
}

#[cfg(test)]
pub mod tests {
    use serde_json::json;

    use super::*;

    /// Two shapes of a kernel on AMD, one that spills elsewhere.
    pub fn measured() -> Measured {
        let kernel = |name: &str, fma: u32, scratch: u32| {
            json!({ "file": format!("/cache/{name}.wgsl"), "error": null, "spills": 0, "scratch": scratch,
                "loop": { "fma": fma, "int": 30, "float": 0, "lds_load": 64 } })
        };
        let amd = vec![kernel("matmul_tiles.Q4_K.ROWS=4", 256, 0), kernel("matmul_tiles.Q4_K.ROWS=8", 512, 0), kernel("swiglu", 0, 0)];
        let traffic = vec![json!({ "what": "vocabulary", "kernel": "sample", "figure": 67.0 })];
        Measured::new(vec![amd, vec![kernel("attended", 1, 512)], Vec::new(), Vec::new()], traffic).unwrap()
    }

    #[test]
    fn the_best_shape_of_a_kernel_counts() {
        assert_eq!(measured().for_each_fma("matmul_tiles.Q4_K", &["lds_load"]), Some(0.125));
        assert_eq!(measured().for_each_fma("matmul_tiles.Q6_K", &["lds_load"]), None);
        assert_eq!(measured().for_each_fma("swiglu", &["int"]), None);
    }

    #[test]
    fn what_spills_is_named_with_its_compiler() {
        assert_eq!(measured().spilling(), ["attended on nvidia"]);
    }

    #[test]
    fn a_kernel_that_does_not_compile_is_an_error() {
        let broken = json!({ "file": "x.wgsl", "error": "the compiler was ended by SIGSEGV" });
        let error = Measured::new(vec![vec![broken]], Vec::new()).map(drop).unwrap_err();
        assert_eq!(error.to_string(), "x does not compile for amd: the compiler was ended by SIGSEGV");
    }
}

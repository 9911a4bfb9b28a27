//! Measurements by kernel.

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The compilers, with the names of `compile.py`.
pub const DRIVERS: [&str; 4] = ["amd", "nvidia", "apple", "adreno"];
/// Indices in [`DRIVERS`] of the drivers whose assembly is analyzed.
pub const AMD: usize = 0;
const NVIDIA: usize = 1;

/// Instruction mix of a kernel's inner loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mix {
    /// Share of multiply-adds among all instructions (NVIDIA), and among the vector instructions (AMD).
    pub of_all: f64,
    pub of_vector: f64,
    /// Bytes of shared memory read per multiply-add.
    pub shared_bytes: f64,
}

pub struct Measured {
    /// For each driver: name and figures of each kernel.
    compiled: Vec<Vec<(String, Value)>>,
    /// Counts of the interpreter: `what`, `kernel`, `figure`.
    traffic: Vec<Value>,
}

impl Measured {
    /// Parses the output of `compile.py` for each driver, and of the example `gpu_budgets`.
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

    /// Instructions of some kinds per `fma` in the largest innermost loop on AMD. The minimum over the kernels whose names start with
    /// `kernel`.
    pub fn for_each_fma(&self, kernel: &str, kinds: &[&str]) -> Option<f64> {
        self.least(AMD, kernel, |inner| kinds.iter().map(|kind| inner(kind)).sum())
    }

    /// Instruction mix of the largest innermost loop of a kernel, on AMD and NVIDIA. Uses the best tile shape on each.
    pub fn mix(&self, kernel: &str) -> Option<Mix> {
        Some(Mix {
            of_all: 1.0 / self.least(NVIDIA, kernel, |inner| inner("instructions"))?,
            of_vector: 1.0 / self.least(AMD, kernel, |inner| ["fma", "float", "int", "move"].iter().map(|kind| inner(kind)).sum())?,
            shared_bytes: self.least(AMD, kernel, |inner| inner("lds_load_bytes"))?,
        })
    }

    /// Minimum of a figure per `fma` over the kernels whose names start with `kernel`.
    fn least(&self, driver: usize, kernel: &str, figure: impl Fn(&dyn Fn(&str) -> Option<f64>) -> Option<f64>) -> Option<f64> {
        let kernels = self.compiled[driver].iter().filter(|(name, _)| name.starts_with(kernel));
        let ratio = |figures: &Value| {
            let inner = |kind: &str| figures["loop"][kind].as_f64();
            Some(figure(&inner)? / inner("fma").filter(|&fma| fma > 0.0)?)
        };
        kernels.filter_map(|(_, figures)| ratio(figures)).min_by(f64::total_cmp)
    }

    /// Kernels, with their driver, that spill registers or keep arrays in memory. A kernel with several tile shapes counts only if every
    /// shape spills, because the engine measures the shapes and uses the fastest.
    pub fn spilling(&self) -> Vec<String> {
        let is_forced = |spilling: &(&str, &str, bool)| {
            let (driver, name, _) = *spilling;
            self.compiled_spills().filter(|other| other.0 == driver && kernel_of(other.1) == kernel_of(name)).all(|(.., spills)| spills)
        };
        self.compiled_spills().filter(is_forced).map(|(driver, name, _)| format!("{name} on {driver}")).collect()
    }

    /// Tile shapes that spill while another shape of the same kernel does not.
    pub fn spilling_shapes(&self) -> Vec<String> {
        let forced = self.spilling();
        let all = self.compiled_spills().filter(|&(.., spills)| spills).map(|(driver, name, _)| format!("{name} on {driver}"));
        all.filter(|name| !forced.contains(name)).collect()
    }

    /// Driver, kernel, and whether it spills.
    fn compiled_spills(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        let spills = |figures: &Value| ["spills", "scratch"].iter().any(|what| figures[*what].as_u64().is_some_and(|n| n > 0));
        let by_driver = DRIVERS.iter().zip(&self.compiled);
        by_driver.flat_map(move |(driver, kernels)| kernels.iter().map(move |(name, figures)| (*driver, name.as_str(), spills(figures))))
    }

    /// The interpreter's counts of one quantity: kernel and figure.
    pub fn counted(&self, what: &str) -> Vec<(String, f64)> {
        let rows = self.traffic.iter().filter(|row| row["what"] == what);
        rows.filter_map(|row| Some((row["kernel"].as_str()?.to_owned(), row["figure"].as_f64()?))).collect()
    }
}

/// The kernel name without its tile shape: `matmul_tiles.F16` for `matmul_tiles.F16.ROWS=8u.TOKENS=8u`.
fn kernel_of(name: &str) -> &str {
    name.split(".ROWS=").next().unwrap_or(name)
}

#[cfg(test)]
pub mod tests {
    use serde_json::json;

    use super::*;

    /// Two tile shapes of a kernel on AMD, and a kernel that spills on NVIDIA.
    pub fn measured() -> Measured {
        let kernel = |name: &str, fma: u32, scratch: u32| {
            json!({ "file": format!("/cache/{name}.wgsl"), "error": null, "spills": 0, "scratch": scratch,
                "loop": { "instructions": 2 * fma, "fma": fma, "int": 30, "float": 0, "move": 2, "lds_load": 64, "lds_load_bytes": 512 } })
        };
        let amd = vec![kernel("matmul_tiles.Q4_K.ROWS=4", 256, 0), kernel("matmul_tiles.Q4_K.ROWS=8", 512, 0), kernel("swiglu", 0, 0)];
        let traffic = vec![json!({ "what": "vocabulary", "kernel": "sample", "figure": 67.0 })];
        Measured::new(vec![amd, vec![kernel("attended", 1, 512)], Vec::new(), Vec::new()], traffic).unwrap()
    }

    #[test]
    fn best_tile_shape_counts() {
        assert_eq!(measured().for_each_fma("matmul_tiles.Q4_K", &["lds_load"]), Some(0.125));
        assert_eq!(measured().for_each_fma("matmul_tiles.Q6_K", &["lds_load"]), None);
        assert_eq!(measured().for_each_fma("swiglu", &["int"]), None);
    }

    #[test]
    fn spilling_kernel_is_named_with_driver() {
        assert_eq!(measured().spilling(), ["attended on nvidia"]);
    }

    #[test]
    fn shape_spill_counts_only_if_all_spill() {
        let kernel = |name: &str, scratch: u32| json!({ "file": format!("{name}.wgsl"), "error": null, "spills": 0, "scratch": scratch });
        let compiled =
            |scratch| vec![kernel("matmul_tiles.F16.ROWS=8u.TOKENS=8u", 64), kernel("matmul_tiles.F16.ROWS=4u.TOKENS=4u", scratch)];
        let measured = |scratch| Measured::new(vec![Vec::new(), Vec::new(), compiled(scratch), Vec::new()], Vec::new()).unwrap();
        assert_eq!(measured(0).spilling(), Vec::<String>::new());
        assert_eq!(measured(0).spilling_shapes(), ["matmul_tiles.F16.ROWS=8u.TOKENS=8u on apple"]);
        assert_eq!(measured(64).spilling().len(), 2);
        assert_eq!(measured(64).spilling_shapes(), Vec::<String>::new());
    }

    #[test]
    fn kernel_that_does_not_compile_is_error() {
        let broken = json!({ "file": "x.wgsl", "error": "the compiler was ended by SIGSEGV" });
        let error = Measured::new(vec![vec![broken]], Vec::new()).map(drop).unwrap_err();
        assert_eq!(error.to_string(), "x does not compile for amd: the compiler was ended by SIGSEGV");
    }
}

//! Assembles what is written in WebAssembly's text form, and makes kernels shorter for browsers.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    assemble("src/cpu/fused.wat", "fused.wasm");
    let is_for_browsers = std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32");
    println!("cargo::rerun-if-changed={KERNELS}");
    copy_kernels("", is_for_browsers);
    copy_kernels("quant", is_for_browsers);
    if is_for_browsers {
        // For tests: `strip` would drop the list of WebAssembly features, and wasm-bindgen would have to guess them.
        println!("cargo::rustc-link-arg=--keep-section=target_features");
    }
}

/// Where the WGSL is.
const KERNELS: &str = "src/gpu/kernels";

/// Copies the WGSL of a folder of kernels to the folder that cargo has for outputs. If `is_for_browsers`, removes comments to
/// shorten the download.
fn copy_kernels(folder: &str, is_for_browsers: bool) {
    let to = out().join("kernels").join(folder);
    fs::create_dir_all(&to).expect("the output can be written");
    for file in fs::read_dir(Path::new(KERNELS).join(folder)).expect("there are kernels") {
        let path = file.expect("the folder can be read").path();
        if path.extension().is_some_and(|extension| extension == "wgsl") {
            let source = fs::read_to_string(&path).expect("a kernel is text");
            let source = if is_for_browsers { without_comments(&source) } else { source };
            fs::write(to.join(path.file_name().expect("a file has a name")), source).expect("the output can be written");
        }
    }
}

/// The source without comment lines, blank lines and indentation.
fn without_comments(source: &str) -> String {
    let lines = source.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

fn out() -> PathBuf {
    PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where the output goes"))
}

/// Writes `source` as a module to `name` in the folder that cargo has for outputs.
fn assemble(source: &str, name: &str) {
    println!("cargo::rerun-if-changed={source}");
    let module = wat::parse_file(source).unwrap_or_else(|error| panic!("{error}"));
    fs::write(out().join(name), module).expect("the output can be written");
}

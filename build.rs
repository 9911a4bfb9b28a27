//! Assembles what is written in WebAssembly's text form.

use std::path::PathBuf;

fn main() {
    let source = "src/cpu/fused.wat";
    println!("cargo::rerun-if-changed={source}");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where the output goes"));
    let module = wat::parse_file(source).unwrap_or_else(|error| panic!("{error}"));
    std::fs::write(out.join("fused.wasm"), module).expect("the output can be written");
}

//! Assembles what is written in WebAssembly's text form, and keeps what wasm-bindgen reads of a program.

use std::path::PathBuf;

fn main() {
    assemble("src/cpu/fused.wat", "fused.wasm");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        // `strip` would drop the list of WebAssembly features, and wasm-bindgen would have to guess them.
        println!("cargo::rustc-link-arg=--keep-section=target_features");
        // The page is split into parts along what refers to what.
        println!("cargo::rustc-link-arg-bin=app=--emit-relocs");
    }
}

/// Writes `source` as a module to `name` in the folder that cargo has for outputs.
fn assemble(source: &str, name: &str) {
    println!("cargo::rerun-if-changed={source}");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where the output goes"));
    let module = wat::parse_file(source).unwrap_or_else(|error| panic!("{error}"));
    std::fs::write(out.join(name), module).expect("the output can be written");
}

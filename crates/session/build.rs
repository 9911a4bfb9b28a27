//! Keeps what wasm-bindgen reads of the tests.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        // `strip` would drop the list of WebAssembly features, and wasm-bindgen would have to guess them.
        println!("cargo::rustc-link-arg=--keep-section=target_features");
    }
}

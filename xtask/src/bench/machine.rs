//! Describes the machine, because times are meaningless without it.

use serde_json::{Value, json};

use crate::command::{command, find, output};

pub fn describe() -> Value {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    json!({"processor": processor(), "cores": cores, "system": std::env::consts::OS, "browser": browser()})
}

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |key: &str| Some(text.lines().find(|line| line.starts_with(key))?.split_once(':')?.1.trim().to_owned());
    let [name, family, model] = ["model name", "cpu family", "model\t"].map(value);
    // Virtual machines hide the name, but the model number identifies the processor.
    let number = family.zip(model).map_or(String::new(), |(family, model)| format!(" (family {family}, model {model})"));
    name.unwrap_or("an unknown processor".into()) + &number
}

fn browser() -> String {
    let program = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| find(name).is_some());
    let version = program.and_then(|program| output(&mut command(program, &["--version"])).ok());
    version.unwrap_or_default().trim().to_owned()
}

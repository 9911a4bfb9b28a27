//! Models as arguments: which engine, which files.

use std::path::Path;
use std::rc::Rc;

use clap::ValueEnum;
use glasscage::cpu::masked::MaskedLm;
use glasscage::engine::Engine;
use glasscage::model::source::NativeFile;
use glasscage::request::BackendChoice;
use glasscage::session::Session;

/// The engine to use, as an argument.
#[derive(Clone, Copy, ValueEnum)]
pub enum BackendArgument {
    Cpu,
    Gpu,
}

/// The model in a file.
pub fn load(path: &Path, backend: BackendArgument) -> Result<Session<Engine>, String> {
    let choice = match backend {
        BackendArgument::Cpu => BackendChoice::Cpu,
        BackendArgument::Gpu => BackendChoice::Gpu,
    };
    let session = pollster::block_on(Session::load(&open(path)?, choice, &mut async |_| std::ops::ControlFlow::Continue(())));
    let session = session.map_err(|problem| format!("{}: {}", path.display(), problem.what))?.expect("loading is never broken off");
    if let Some(notice) = session.loaded_model().notice {
        eprintln!("{notice}");
    }
    Ok(session)
}

/// The masked language model in a folder, as it is published.
pub fn load_masked_lm(folder: &Path) -> Result<Rc<MaskedLm>, String> {
    let read =
        |name: &str| std::fs::read(folder.join(name)).map_err(|error| format!("cannot read {}: {error}", folder.join(name).display()));
    let loaded = MaskedLm::load(&read("config.json")?, &read("tokenizer.json")?, read("model.safetensors")?);
    loaded.map(Rc::new).map_err(|error| error.to_string())
}

pub fn open(path: &Path) -> Result<NativeFile, String> {
    NativeFile::open(path).map_err(|error| format!("cannot open {}: {error}", path.display()))
}

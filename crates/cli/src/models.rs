//! Loads the models that the arguments name.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::ValueEnum;
use glasscage_attribution::AttributionMethod;
use glasscage_engine::{Engine, MaskedLm};
use glasscage_library::address::part_names;
use glasscage_model::gguf::{Gguf, GgufError};
use glasscage_model::source::{Joined, NativeFile};
use glasscage_protocol::request::BackendChoice;
use glasscage_session::Session;
use sha2::{Digest, Sha256};

use super::{interrupt, output, threads};

/// The engine to use, as an argument.
#[derive(Clone, Copy, ValueEnum)]
pub enum BackendArgument {
    Cpu,
    Gpu,
}

/// Loads the model in a file.
pub fn load(path: &Path, backend: BackendArgument) -> Result<Session<Engine>, String> {
    let choice = match backend {
        BackendArgument::Cpu => BackendChoice::Cpu,
        BackendArgument::Gpu => BackendChoice::Gpu,
    };
    let session = pollster::block_on(Session::load(&open(path)?, choice, &mut async |_| interrupt::unless_requested()));
    let session =
        session.map_err(|problem| parts_to_name(path).unwrap_or_else(|| format!("{}: {}", faulty(path), problem.what.to_sentence())))?;
    let mut session = session.ok_or("interrupted")?;
    if let Engine::Cpu(model) = &mut session.lm {
        model.use_threads(threads::count());
    }
    let loaded = session.loaded_model();
    for notice in loaded.notices {
        output::say(&(notice.to_sentence() + "\n"));
    }
    if loaded.backend.starts_with("webgpu-software") {
        output::say("This machine emulates the GPU in software, which is far slower than --backend cpu.\n");
    }
    Ok(session)
}

/// A masked language model, and the SHA-256 of its weights.
pub struct LoadedMaskedLm {
    pub model: Rc<MaskedLm>,
    pub sha256: String,
}

/// The masked language model in `folder`. Errors if one of these methods needs one and no folder is given.
pub fn masked_lm_for(methods: &[&AttributionMethod], folder: Option<&Path>) -> Result<Option<LoadedMaskedLm>, String> {
    match methods.iter().find(|method| method.needs_masked_lm()) {
        Some(method) if folder.is_none() => {
            Err(format!("method {} needs a masked language model: name its folder with --masked-lm", method.id))
        }
        _ => folder.map(load_masked_lm).transpose(),
    }
}

/// Loads a masked language model from a folder with its published files.
fn load_masked_lm(folder: &Path) -> Result<LoadedMaskedLm, String> {
    let read =
        |name: &str| std::fs::read(folder.join(name)).map_err(|error| format!("cannot read {}: {error}", folder.join(name).display()));
    let weights = read("model.safetensors")?;
    let sha256 = format!("{:x}", Sha256::digest(&weights));
    let loaded = MaskedLm::load(&read("config.json")?, &read("tokenizer.json")?, weights);
    loaded.map(|model| LoadedMaskedLm { model: Rc::new(model), sha256 }).map_err(|error| error.to_string())
}

/// What to do about a part of a split model whose name does not say so. `None` for other files.
pub fn parts_to_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str().filter(|name| part_names(name).is_none())?;
    match pollster::block_on(Gguf::read(&open(path).ok()?)) {
        Err(GgufError::Split { number, of }) => Some(format!(
            "{name} is part {number} of {of} of a model: give all of them names such as model-{number:05}-of-{of:05}.gguf, in one folder"
        )),
        _ => None,
    }
}

/// The name of the file that keeps a model from loading: of a split model, the first part whose header is faulty.
fn faulty(path: &Path) -> String {
    let files = files(path);
    let is_faulty = |(i, file): (usize, &PathBuf)| match NativeFile::open(file).map(|file| pollster::block_on(Gguf::read(&file))) {
        Ok(Err(GgufError::Split { number, of })) => number != i as u64 + 1 || of != files.len() as u64,
        Ok(header) => header.is_err(),
        Err(_) => true,
    };
    match files.iter().enumerate().position(is_faulty) {
        Some(i) => files[i].display().to_string(),
        None if files.len() == 1 => path.display().to_string(),
        None => format!("{} or another of the {} files of this model", path.display(), files.len()),
    }
}

/// Maximum number of files that a message names.
const SHOWN_FILES: usize = 3;

/// The files of a model: for any part of a split model (`..-00001-of-00003.gguf`), all parts in order.
pub fn files(path: &Path) -> Vec<PathBuf> {
    let parts = path.file_name().and_then(OsStr::to_str).and_then(part_names);
    parts.map_or_else(|| vec![path.to_owned()], |parts| parts.iter().map(|part| path.with_file_name(part)).collect())
}

/// Opens a model file. For any part of a split model, opens all parts.
pub fn open(path: &Path) -> Result<Joined<NativeFile>, String> {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let files = files(path);
    let missing: Vec<String> = files.iter().filter(|file| *file != path && !file.exists()).map(|file| file.display().to_string()).collect();
    if !missing.is_empty() {
        let more =
            missing.len().checked_sub(SHOWN_FILES).filter(|more| *more > 0).map_or(String::new(), |more| format!(" and {more} more"));
        let shown = missing[..missing.len().min(SHOWN_FILES)].join(", ");
        return Err(format!("{name} is one of {} files of a model; missing: {shown}{more}", files.len()));
    }
    let open = |file: &PathBuf| NativeFile::open(file).map_err(|error| format!("cannot open {}: {error}", file.display()));
    Ok(Joined::new(files.iter().map(open).collect::<Result<_, _>>()?))
}

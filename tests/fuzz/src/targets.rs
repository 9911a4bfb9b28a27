//! The fuzz targets by name, for the fuzzer and for the test that runs them on their corpus.

use crate::{documents, library, models, texts};

pub type Target = fn(&[u8]);

pub const TARGETS: [(&str, Target); 12] = [
    ("gguf-bytes", models::header_of_bytes),
    ("gguf-fields", models::header_of_fields),
    ("gguf-parts", models::split_file),
    ("gguf-weights", models::weights),
    ("tokenizer", texts::tokenizer),
    ("template", texts::template),
    ("sentences", texts::sentences),
    ("files", documents::files),
    ("document", documents::json),
    ("link", documents::links),
    ("library", library::stored_and_served),
    ("messages", library::messages),
];

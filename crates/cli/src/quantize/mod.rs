//! `glasscage quantize`: writes a model file with its matrices in a smaller tensor type. Candle rounds the values, in the same way as
//! `quantize_row_NAME_ref` in ggml.

mod writer;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor as Values};
use clap::{Args, ValueEnum};
use glasscage_model::gguf::{Gguf, Tensor};
use glasscage_model::quant::{self, Quant};
use glasscage_model::source::ByteSource;

use super::{models, output};
use writer::Header;

/// Values that are converted at a time, at least a row.
const CHUNK: usize = 1 << 20;
const EMBEDDING: &str = "token_embd.weight";

#[derive(Args)]
pub struct Arguments {
    /// A GGUF file; of a split model, any of its files
    #[arg(long)]
    model: PathBuf,
    /// Tensor type of the matrices
    #[arg(long = "type", value_enum)]
    matrices: TensorType,
    /// Tensor type of the token embedding, if it differs from that of the other matrices
    #[arg(long, value_enum)]
    embedding: Option<TensorType>,
    /// Output file
    #[arg(long)]
    out: PathBuf,
}

/// The tensor types with blocks of 32 values. Those with blocks of 256 do not fit the rows of most small models.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum TensorType {
    #[value(name = "q4_0")]
    Q40,
    #[value(name = "q4_1")]
    Q41,
    #[value(name = "q5_0")]
    Q50,
    #[value(name = "q5_1")]
    Q51,
    #[value(name = "q8_0")]
    Q80,
}

/// A tensor type as our `Quant`, as candle's type, and as llama.cpp's file type.
struct Names {
    quant: &'static Quant,
    candle: GgmlDType,
    /// Its number in `general.file_type`, if most tensors have it (`llama_ftype` in llama.h).
    file_type: u32,
}

impl TensorType {
    fn names(self) -> Names {
        let (id, candle, file_type) = match self {
            Self::Q40 => (2, GgmlDType::Q4_0, 2),
            Self::Q41 => (3, GgmlDType::Q4_1, 3),
            Self::Q50 => (6, GgmlDType::Q5_0, 8),
            Self::Q51 => (7, GgmlDType::Q5_1, 9),
            Self::Q80 => (8, GgmlDType::Q8_0, 7),
        };
        Names { quant: quant::by_id(id).expect("a supported type"), candle, file_type }
    }

    fn quant(self) -> &'static Quant {
        self.names().quant
    }
}

pub fn quantize(arguments: &Arguments) -> Result<(), String> {
    let source = models::open(&arguments.model)?;
    if output::is_one_of(&arguments.out, &models::files(&arguments.model)) {
        return Err("the output file is a file of the model: choose another name".into());
    }
    output::check_writable(&arguments.out)?;
    pollster::block_on(write_model(&source, arguments)).inspect_err(|_| _ = fs::remove_file(partial(&arguments.out)))
}

/// The file that is written first. It gets its name when it is complete.
fn partial(out: &Path) -> PathBuf {
    PathBuf::from(format!("{}.partial", out.display()))
}

async fn write_model(source: &impl ByteSource, arguments: &Arguments) -> Result<(), String> {
    let cannot_read = |error: &dyn std::fmt::Display| format!("{}: {error}", arguments.model.display());
    let gguf = Gguf::read(source).await.map_err(|error| cannot_read(&error))?;
    let target = |tensor: &Tensor| {
        let of_embedding = arguments.embedding.filter(|_| tensor.name == EMBEDDING);
        Some(of_embedding.unwrap_or(arguments.matrices)).filter(|target| can_be_quantized(tensor, target.quant()))
    };
    let header_length = gguf.tensors.iter().map(|tensor| tensor.offset).min().unwrap_or(0) as usize;
    let bytes = source.read_at(0, header_length).await.map_err(|error| cannot_read(&error))?;
    let pairs = Gguf::raw_pairs(&bytes).map_err(|error| cannot_read(&error))?;
    let alignment = gguf.metadata.u64("general.alignment").map_err(|error| cannot_read(&error))?;
    let quants = gguf.tensors.iter().map(|tensor| target(tensor).map_or(tensor.quant, TensorType::quant));
    let tensors: Vec<(&Tensor, &Quant)> = gguf.tensors.iter().zip(quants).collect();
    let header = Header::new(&pairs, arguments.matrices.names().file_type, &tensors, alignment);

    let unfinished = partial(&arguments.out);
    let cannot_write = |error: std::io::Error| output::cannot_write(&unfinished, &error);
    let mut file = BufWriter::new(File::create(&unfinished).map_err(cannot_write)?);
    file.write_all(&header.bytes).map_err(cannot_write)?;
    for (tensor, padding) in gguf.tensors.iter().zip(&header.padding) {
        for (offset, length) in chunks(tensor) {
            let bytes = source.read_at(tensor.offset + offset, length).await.map_err(|error| cannot_read(&error))?;
            if !tensor.quant.is_finite(&bytes) {
                return Err(format!("{}: tensor {} has a weight that is not a number", arguments.model.display(), tensor.name));
            }
            let bytes = match target(tensor) {
                Some(target) => rounded(&tensor.quant.values(&bytes), target).map_err(|error| error.to_string())?,
                None => bytes,
            };
            file.write_all(&bytes).map_err(cannot_write)?;
        }
        file.write_all(&vec![0; *padding]).map_err(cannot_write)?;
    }
    file.into_inner().map_err(|error| cannot_write(error.into_error()))?.sync_all().map_err(cannot_write)?;
    fs::rename(&unfinished, &arguments.out).map_err(|error| output::cannot_write(&arguments.out, &error))?;
    let n_quantized = gguf.tensors.iter().filter(|tensor| target(tensor).is_some()).count();
    output::print(&format!("{}: {n_quantized} of {} tensors quantized\n", arguments.out.display(), gguf.tensors.len()))
}

/// Whether this is a matrix whose rows fill whole blocks. Norms, biases and convolutions stay as they are.
fn can_be_quantized(tensor: &Tensor, target: &Quant) -> bool {
    matches!(tensor.shape[..], [columns, _] if columns.is_multiple_of(target.block))
}

/// Offsets and lengths, in bytes, of groups of whole rows.
fn chunks(tensor: &Tensor) -> impl Iterator<Item = (u64, usize)> {
    let columns = tensor.shape.first().copied().unwrap_or(1);
    let n_rows = tensor.shape.iter().skip(1).product::<usize>();
    let row_bytes = tensor.bytes / n_rows;
    let step = (CHUNK / columns).max(1);
    (0..n_rows).step_by(step).map(move |row| ((row * row_bytes) as u64, step.min(n_rows - row) * row_bytes))
}

/// The blocks of values that fill whole blocks.
fn rounded(values: &[f32], target: TensorType) -> candle_core::Result<Vec<u8>> {
    let values = Values::from_slice(values, values.len(), &Device::Cpu)?;
    Ok(QTensor::quantize(&values, target.names().candle)?.data()?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_compared_with_every_part() {
        let folder = std::env::temp_dir().join(format!("glasscage-quantize-{}", std::process::id()));
        fs::create_dir_all(folder.join("sub")).unwrap();
        for name in ["m-00001-of-00002.gguf", "m-00002-of-00002.gguf", "whole.gguf"] {
            fs::write(folder.join(name), name).unwrap();
        }
        let outs = ["m-00001-of-00002.gguf", "sub/../m-00002-of-00002.gguf", "whole.gguf", "new.gguf"];
        let are_refused = |model: &str| outs.map(|out| output::is_one_of(&folder.join(out), &models::files(&folder.join(model))));
        assert_eq!(are_refused("m-00001-of-00002.gguf"), [true, true, false, false]);
        assert_eq!(are_refused("whole.gguf"), [false, false, true, false]);
        fs::remove_dir_all(folder).unwrap();
    }
}

//! Converts quantized values to integers and to f32, as ggml defines them (`dequantize_row_NAME` in ggml-quants.c).

mod blocks_of_256;
mod blocks_of_32;
mod iq4;
mod layout;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use blocks_of_32::{q4_0, q4_1, q5_0, q5_1, q8_0};
pub use blocks_of_256::{q2_k, q3_k, q4_k, q5_k, q6_k, scales_of_q4_k, scales_of_q5_k, scales_of_q6_k};
pub use iq4::{iq4_nl, iq4_xs};
pub use layout::{BlockOf32, BlockOf256, Q4_0, Q4_1, Q4_K, Q5_0, Q5_1, Q5_K, Q6_K, Q8_0};

/// How to read the values of whole blocks.
#[derive(Clone, Copy, Debug)]
pub enum Format {
    /// Read as floating-point numbers.
    Floats(fn(blocks: &[u8], values: &mut [f32])),
    /// Read as integers.
    Integers(fn(blocks: &[u8], out: &mut Integers<'_>)),
    /// Read as integers, which can also be used in place.
    BlocksOf32(BlockOf32, fn(blocks: &[u8], out: &mut Integers<'_>)),
    /// The same, in larger blocks, whose scales are packed, too.
    BlocksOf256(BlockOf256, Scales, fn(blocks: &[u8], out: &mut Integers<'_>)),
}

/// Writes scales and minima, `[values / GROUP]` each. Leaves the minima unchanged if the type has none.
pub type Scales = fn(blocks: &[u8], scales: &mut [f32], minima: &mut [f32]);

/// Number of values in a group. In every quantization, at least this many values share a scale and a minimum.
pub const GROUP: usize = 16;

/// Values as 8-bit integers: value = scale * quant - minimum.
pub struct Integers<'a> {
    /// `[values]`.
    pub quants: &'a mut [i8],
    /// `[values / GROUP]`.
    pub scales: &'a mut [f32],
    /// `[values / GROUP]`. Unchanged if the type has no minima.
    pub minima: &'a mut [f32],
}

impl Integers<'_> {
    /// Computes the values in two loops that the compiler can vectorize.
    fn expand(&self, values: &mut [f32]) {
        values.iter_mut().zip(&*self.quants).for_each(|(value, &quant)| *value = f32::from(quant));
        for ((values, &scale), &minimum) in values.as_chunks_mut::<GROUP>().0.iter_mut().zip(&*self.scales).zip(&*self.minima) {
            values.iter_mut().for_each(|value| *value = scale * *value - minimum);
        }
    }
}

/// Number of values expanded at a time: a few of the largest blocks.
const EXPANDED: usize = 1024;

/// Writes the values of whole blocks.
pub fn dequantize(format: Format, blocks: &[u8], values: &mut [f32]) {
    let unpack = match format {
        Format::Floats(read) => return read(blocks, values),
        Format::Integers(unpack) | Format::BlocksOf32(_, unpack) | Format::BlocksOf256(_, _, unpack) => unpack,
    };
    let (mut quants, mut scales, mut minima) = ([0; EXPANDED], [0.0; EXPANDED / GROUP], [0.0; EXPANDED / GROUP]);
    // Uses 64 bits, because the product can exceed 32 bits for a panel of long rows.
    let bytes = (blocks.len() as u64 * EXPANDED as u64 / values.len().max(1) as u64) as usize;
    for (values, blocks) in values.chunks_mut(EXPANDED).zip(blocks.chunks(bytes.max(1))) {
        let mut integers = Integers { quants: &mut quants, scales: &mut scales, minima: &mut minima };
        unpack(blocks, &mut integers);
        integers.expand(values);
    }
}

/// Reads little-endian f32 values.
pub fn f32(bytes: &[u8], values: &mut [f32]) {
    values.iter_mut().zip(bytes.as_chunks().0).for_each(|(value, &bytes)| *value = f32::from_le_bytes(bytes));
}

/// Reads little-endian f16 values.
pub fn f16(bytes: &[u8], values: &mut [f32]) {
    values.iter_mut().zip(bytes.as_chunks().0).for_each(|(value, &bytes)| *value = half(bytes));
}

/// Reads little-endian bfloat16 values: the upper halves of f32 values.
pub fn bf16(bytes: &[u8], values: &mut [f32]) {
    let wide = |bytes| f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16);
    values.iter_mut().zip(bytes.as_chunks().0).for_each(|(value, &bytes)| *value = wide(bytes));
}

/// Unpacks blocks of `BYTES` bytes, each with `VALUES` values in `GROUPS` groups.
#[inline(always)]
fn each<const BYTES: usize, const VALUES: usize, const GROUPS: usize>(
    blocks: &[u8],
    out: &mut Integers<'_>,
    unpack: impl Fn(&[u8; BYTES], &mut [i8; VALUES], &mut [f32; GROUPS], &mut [f32; GROUPS]),
) {
    let floats = out.scales.as_chunks_mut().0.iter_mut().zip(out.minima.as_chunks_mut().0);
    for ((block, quants), (scales, minima)) in blocks.as_chunks().0.iter().zip(out.quants.as_chunks_mut().0).zip(floats) {
        unpack(block, quants, scales, minima);
    }
}

/// Reads scales and minima of blocks of `BYTES` bytes, each with `GROUPS` groups.
#[inline(always)]
fn each_scales<const BYTES: usize, const GROUPS: usize>(
    blocks: &[u8],
    scales: &mut [f32],
    minima: &mut [f32],
    read: impl Fn(&[u8; BYTES], &mut [f32; GROUPS], &mut [f32; GROUPS]),
) {
    let floats = scales.as_chunks_mut().0.iter_mut().zip(minima.as_chunks_mut().0);
    for (block, (scales, minima)) in blocks.as_chunks().0.iter().zip(floats) {
        read(block, scales, minima);
    }
}

/// Sixteen bytes of a block, from `start` on.
#[inline(always)]
fn sixteen_at(block: &[u8], start: usize) -> &[u8; 16] {
    block[start..].first_chunk().expect("a block does not end here")
}

/// The f16 at byte `at` of a block. Fast if it is neither subnormal nor infinite, as most are.
#[inline(always)]
fn half_at(block: &[u8], at: usize) -> f32 {
    let bytes = [block[at], block[at + 1]];
    let bits = u32::from(u16::from_le_bytes(bytes));
    match bits & 0x7C00 {
        0 | 0x7C00 => half(bytes),
        _ => f32::from_bits((((bits & 0x7FFF) << 13) + (EXPONENT << 23)) | (bits & 0x8000) << 16),
    }
}

/// Difference between the exponent bias of f32 and that of f16, which is 15.
const EXPONENT: u32 = 127 - 15;

/// Converts an f16 to f32 exactly. Avoids subnormal f32 for subnormal numbers, because subnormal f32 are slow. Has no branches, so that the
/// compiler can vectorize it.
#[inline(always)]
fn half(bytes: [u8; 2]) -> f32 {
    let bits = u32::from(u16::from_le_bytes(bytes));
    let (subnormal, infinite) = (u32::from(bits & 0x7C00 == 0), u32::from(bits & 0x7C00 == 0x7C00));
    let magnitude = f32::from_bits(((bits & 0x7FFF) << 13) + ((EXPONENT + EXPONENT * infinite + subnormal) << 23));
    let magnitude = magnitude - f32::from_bits(((EXPONENT + 1) * subnormal) << 23);
    f32::from_bits(magnitude.to_bits() | (bits & 0x8000) << 16)
}

#[cfg(test)]
mod tests {
    use candle_core::Device;
    use candle_core::quantized::ggml_file::qtensor_from_ggml;

    use super::testing::{candle_type, random_blocks};
    use crate::quant::{QUANTS, Quant, by_id};

    /// The assembly of these files for browsers, as the page that `cargo xtask serve` builds has them: in many units, between which nothing
    /// is inlined. `GLASSCAGE_WASM_RUSTC` names a compiler that has the target of the page.
    #[cfg(not(target_arch = "wasm32"))]
    fn assembly() -> String {
        let folders = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        let file = folders.map(|folder| folder.join(file!())).find(|file| file.exists()).expect("this file");
        let folder = std::env::temp_dir().join(format!("glasscage-unpackers-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let rustc = std::env::var_os("GLASSCAGE_WASM_RUSTC").unwrap_or_else(|| "rustc".into());
        let output = std::process::Command::new(rustc)
            .args(["--crate-type=lib", "--crate-name=unpackers", "--edition=2024", "--emit=asm", "--out-dir"])
            .arg(&folder)
            .args(["--target=wasm32-unknown-unknown", "-Ctarget-feature=+simd128", "-Csymbol-mangling-version=v0"])
            .args(["-Copt-level=3", "-Ccodegen-units=256", "-Clto=off"])
            .arg(file)
            .output()
            .expect("a compiler");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let units = std::fs::read_dir(&folder).unwrap().map(|unit| std::fs::read_to_string(unit.unwrap().path()).unwrap());
        let assembly = units.collect::<Vec<_>>().join("\n");
        std::fs::remove_dir_all(folder).unwrap();
        assembly
    }

    /// The calls in loops of a function of `assembly`, apart from those that never return. `None` if there is no such function.
    #[cfg(not(target_arch = "wasm32"))]
    fn calls_in_loops<'a>(assembly: &'a str, name: &str) -> Option<Vec<&'a str>> {
        // A symbol begins with _R and ends with the length of the name and the name.
        let end = format!("{}{name}:", name.len());
        let lines = assembly.lines().skip_while(|line| !(line.starts_with("_R") && line.ends_with(&end)));
        let body: Vec<&str> = lines.map(str::trim).take_while(|line| *line != "end_function").collect();
        let mut n_loops = 0;
        let mut is_call_in_loop = |line: &&str| {
            n_loops += i32::from(line.starts_with("loop")) - i32::from(line.starts_with("end_loop"));
            n_loops > 0 && line.starts_with("call") && !["panic", "_fail"].iter().any(|end| line.contains(end))
        };
        (!body.is_empty()).then(|| body.iter().copied().filter(|line| is_call_in_loop(line)).collect())
    }

    /// Such calls made four-bit models three times slower. Adapters of iterators make them, unless the compiler inlines across units.
    #[cfg(not(target_arch = "wasm32"))]
    #[test]
    fn no_loop_of_an_unpacker_contains_a_call() {
        let assembly = assembly();
        let scales = ["q4_k", "q5_k", "q6_k"].map(|name| format!("scales_of_{name}"));
        for name in QUANTS.iter().map(|quant| quant.name.to_lowercase()).chain(scales) {
            assert_eq!(calls_in_loops(&assembly, &name), Some(Vec::new()), "{name}");
        }
        // The loop over pieces of a tensor calls the unpacker.
        assert!(calls_in_loops(&assembly, "dequantize").is_some_and(|calls| !calls.is_empty()), "calls are found");
    }

    /// Tensor types that candle supports.
    fn known_to_candle() -> impl Iterator<Item = &'static Quant> {
        QUANTS.iter().filter(|quant| candle_type(quant).is_ok())
    }

    /// The values according to candle.
    fn by_candle(quant: &Quant, blocks: &[u8]) -> Vec<f32> {
        let values = blocks.len() / quant.block_bytes * quant.block;
        let tensor = qtensor_from_ggml(candle_type(quant).unwrap(), blocks, vec![values], &Device::Cpu).unwrap();
        tensor.dequantize(&Device::Cpu).unwrap().to_vec1().unwrap()
    }

    fn bits(values: &[f32]) -> Vec<u32> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    #[test]
    fn dequantized_values_match_candle() {
        for quant in known_to_candle() {
            let blocks: Vec<u8> = (0..20).flat_map(|seed| random_blocks(quant, 1 + seed as usize % 3, seed)).collect();
            assert_eq!(bits(&quant.values(&blocks)), bits(&by_candle(quant, &blocks)), "{}", quant.name);
        }
    }

    #[test]
    fn all_halves_are_exact() {
        let quant = by_id(1).unwrap();
        let halves: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        let same = |(ours, theirs): (&f32, &f32)| ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan();
        assert!(quant.values(&halves).iter().zip(&by_candle(quant, &halves)).all(same));
    }

    #[test]
    fn a_block_of_numbers_is_one_that_dequantizes_to_numbers() {
        for quant in QUANTS {
            for at in (0..quant.block_bytes).step_by(2) {
                for upper in [0x00, 0x3C, 0x7B, 0x7C, 0x7F, 0xFC, 0xFF] {
                    let mut block = vec![0x11; quant.block_bytes];
                    (block[at], block[at + 1]) = (0x80, upper);
                    let is_finite = quant.values(&block).iter().all(|value| value.is_finite());
                    assert_eq!(quant.is_finite(&block), is_finite, "{} {at} {upper:x}", quant.name);
                    assert_eq!(
                        quant.is_finite(&[vec![0x11; quant.block_bytes], block].concat()),
                        is_finite,
                        "{} {at} {upper:x}",
                        quant.name
                    );
                }
            }
        }
    }

    #[test]
    fn block_sizes_match_candle() {
        for quant in known_to_candle() {
            let candle = candle_type(quant).unwrap();
            assert_eq!((candle.block_size(), candle.type_size()), (quant.block, quant.block_bytes), "{}", quant.name);
        }
    }
}

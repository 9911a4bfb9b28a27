//! Encodes bytes as link-safe text: base64url(deflate(bytes) + CRC-32 of the bytes, little endian). The checksum detects damaged links.

use base64::Engine;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, URL_SAFE_NO_PAD};
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use crate::link_repair::{digits, without_hyphenation};

/// Accepts leftover bits after the last byte, because words after a link decode to such bits.
const LENIENT: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

/// Maximum number of bytes before packing.
pub const MAX_INFLATED: usize = 8 << 20;
/// Maximum length of the packed text.
pub const MAX_PACKED: usize = 2 << 20;

/// Packs bytes into text.
pub fn pack(bytes: &[u8]) -> String {
    let mut body = compress_to_vec(bytes, 10);
    body.extend(crc32(&[bytes]).to_le_bytes());
    URL_SAFE_NO_PAD.encode(body)
}

/// Decodes the leading base64url characters and inflates the bytes with `inflate`. If that fails, assumes that a program hyphenated the
/// lines.
pub fn unpack(base64: &str, inflate: impl Fn(&[u8]) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let inflated = |base64: &str| inflate(&decode(base64)?);
    inflated(base64).or_else(|| inflated(&without_hyphenation(base64)?))
}

/// Decodes the leading base64url characters without checking the checksum. The result may end with bytes decoded from words after a link.
fn decode(base64: &str) -> Option<Vec<u8>> {
    let mut digits = digits(base64);
    // A single remaining digit is not a whole byte: it belongs to the words after the link, or the link is damaged.
    if digits.len() % 4 == 1 {
        digits.pop();
    }
    LENIENT.decode(digits).ok()
}

/// Inflates a body from [`decode`]. `None` if its checksum is wrong or it has more than `most` bytes.
pub fn inflate(body: &[u8], most: usize) -> Option<Vec<u8>> {
    let (inflated, end) = inflate_counting(body, most)?;
    let checksum = body.get(end..)?.first_chunk()?;
    (crc32(&[&inflated]) == u32::from_le_bytes(*checksum)).then_some(inflated)
}

/// The inflated bytes, and where the deflated bytes end in `body`. More than the checksum may follow them.
fn inflate_counting(body: &[u8], most: usize) -> Option<(Vec<u8>, usize)> {
    let mut state = Box::<DecompressorOxide>::default();
    let mut out = vec![0; (2 * body.len()).max(64).min(most)];
    let (mut read, mut written) = (0, 0);
    loop {
        let flags = inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, consumed, produced) = decompress(&mut state, &body[read..], &mut out, written, flags);
        (read, written) = (read + consumed, written + produced);
        match status {
            TINFLStatus::Done => {
                out.truncate(written);
                return Some((out, read));
            }
            TINFLStatus::HasMoreOutput if out.len() < most => out.resize((2 * out.len()).min(most), 0),
            _ => return None,
        }
    }
}

/// CRC-32/ISO-HDLC, the checksum of zip, gzip and PNG, of these slices in order. Two table look-ups per byte, because a PNG that a reader
/// opens can have megabytes. A table of all bytes would add 1 kB to the page.
pub fn crc32(slices: &[&[u8]]) -> u32 {
    let of_half = |crc: u32| (crc >> 4) ^ REMAINDERS[(crc & 0xf) as usize];
    !slices.iter().copied().flatten().fold(!0, |crc, &byte| of_half(of_half(crc ^ u32::from(byte))))
}

/// The CRC-32 remainder of each half byte.
static REMAINDERS: [u32; 16] = remainders();

const fn remainders() -> [u32; 16] {
    const POLYNOMIAL: u32 = 0xEDB8_8320;
    let mut remainders = [0; 16];
    let mut half = 0;
    while half < remainders.len() {
        let mut crc = half as u32;
        let mut bit = 0;
        while bit < 4 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        remainders[half] = crc;
        half += 1;
    }
    remainders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_zip_and_png() {
        assert_eq!(crc32(&[b"123456789"]), 0xCBF4_3926);
        assert_eq!(crc32(&[b"", b"1234", b"56789"]), 0xCBF4_3926, "in slices");
        let all: Vec<u8> = (0..=u8::MAX).collect();
        assert_eq!((crc32(&[]), crc32(&[&all])), (0, 0x2905_8C73));
    }

    #[test]
    fn packed_bytes_inflate_only_within_limit() {
        let out = |bytes: &[u8]| inflate(&decode(&pack(bytes)).unwrap(), MAX_INFLATED);
        assert_eq!(out(b"words").as_deref(), Some(&b"words"[..]));
        assert_eq!(out(&vec![0; MAX_INFLATED]).map(|out| out.len()), Some(MAX_INFLATED));
        assert_eq!(out(&vec![0; MAX_INFLATED + 1]), None);
    }

    #[test]
    fn words_after_the_digits_change_nothing() {
        for after in [" a", " and", "\n\nBest regards,\nAnn", "\n> Ok. So", " ----- Original Message"] {
            assert_eq!(inflate(&decode(&(pack(b"words") + after)).unwrap(), 5).as_deref(), Some(&b"words"[..]), "{after}");
        }
    }
}

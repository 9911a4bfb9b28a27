//! Bytes as text that survives in a link: base64url(deflate(bytes) + CRC-32 of the bytes, little endian). The checksum keeps a damaged
//! link from opening as something else.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// Of the bytes packed.
pub const MAX_INFLATED: usize = 8 << 20;
/// Of the text that carries them.
pub const MAX_PACKED: usize = 2 << 20;

/// The bytes as text.
pub fn pack(bytes: &[u8]) -> String {
    let mut body = compress_to_vec(bytes, 10);
    body.extend(crc32(bytes).to_le_bytes());
    URL_SAFE_NO_PAD.encode(body)
}

/// The bytes that `base64` carries, whatever checksum stands behind them. What follows its last character is the punctuation of the text
/// that it was copied from.
pub fn decode(base64: &str) -> Option<Vec<u8>> {
    let is_of_link = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    URL_SAFE_NO_PAD.decode(base64.split(|c| !is_of_link(c)).next().unwrap_or_default()).ok()
}

/// What is inside of a body that [`decode`] gave, if its checksum is right and it has at most `most` bytes.
pub fn inflate(body: &[u8], most: usize) -> Option<Vec<u8>> {
    let (deflated, checksum) = body.split_last_chunk()?;
    let inflated = decompress_to_vec_with_limit(deflated, most).ok()?;
    (crc32(&inflated) == u32::from_le_bytes(*checksum)).then_some(inflated)
}

/// The checksum of zip, gzip and PNG (CRC-32/ISO-HDLC), bit by bit: a link has kilobytes.
pub fn crc32(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0xEDB8_8320;
    let shift = |crc: u32, _| (crc >> 1) ^ (POLYNOMIAL & (crc & 1).wrapping_neg());
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_zip_and_png() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn what_is_packed_comes_out_again_and_nothing_larger_than_allowed() {
        let out = |bytes: &[u8]| inflate(&decode(&pack(bytes)).unwrap(), MAX_INFLATED);
        assert_eq!(out(b"words").as_deref(), Some(&b"words"[..]));
        assert_eq!(out(&vec![0; MAX_INFLATED + 1]), None);
    }
}

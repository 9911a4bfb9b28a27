//! Embeds the document in a PNG: deflated JSON in an `iTXt` chunk with the keyword "glasscage" (PNG, third edition, 11.3.3.4).

use std::ops::Range;

use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use super::PictureError;
use super::metadata::{MAX_PICTURE, compact_json};
use crate::explanation::Document;
use crate::packed::{MAX_INFLATED, crc32};

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
const HEADER: [u8; 4] = *b"IHDR";
const TEXT: [u8; 4] = *b"iTXt";
/// The keyword. After it come a compression flag, the compression method (zlib), and an empty language and translated keyword.
const KEYWORD: &[u8] = b"glasscage\0";
const COMPRESSED: &[u8] = b"\x01\0\0\0";
const PLAIN: &[u8] = b"\0\0\0\0";

/// A chunk of a PNG.
struct Chunk<'a> {
    kind: [u8; 4],
    data: &'a [u8],
    /// Checksum of kind and data, as stored in the file.
    checksum: u32,
    /// Byte range of the whole chunk in the file.
    place: Range<usize>,
}

/// Whether a file is a PNG.
pub fn is_png(bytes: &[u8]) -> bool {
    bytes.starts_with(SIGNATURE)
}

/// Embeds the document in the picture. Replaces a document that is already there.
///
/// # Errors
/// Returns an error if the bytes are not a valid PNG, or too many, or if the document's JSON has more than 8 MiB.
pub fn png_with_document(png: &[u8], document: &Document) -> Result<Vec<u8>, PictureError> {
    let json = compact_json(document);
    if json.len() > MAX_INFLATED {
        return Err(PictureError::TooLarge);
    }
    let mut data = [TEXT.as_slice(), KEYWORD, COMPRESSED].concat();
    data.extend(compress_to_vec_zlib(json.as_bytes(), 10));
    let mut picture = SIGNATURE.to_vec();
    for chunk in chunks(png)? {
        let chunk = chunk?;
        if !(chunk.kind == TEXT && chunk.data.starts_with(KEYWORD)) {
            picture.extend(&png[chunk.place]);
        }
        if chunk.kind == HEADER {
            picture.extend(((data.len() - TEXT.len()) as u32).to_be_bytes());
            picture.extend(&data);
            picture.extend(crc32(&[&data]).to_be_bytes());
        }
    }
    Ok(picture)
}

/// Extracts the document from a picture that [`png_with_document`] made. The picture is untrusted: its document is checked like a file, and
/// its JSON may inflate to at most 8 MiB, like that of a link.
pub fn document_from_png(png: &[u8]) -> Result<Document, PictureError> {
    for chunk in chunks(png)? {
        let Chunk { kind, data, checksum, .. } = chunk?;
        let Some(data) = data.strip_prefix(KEYWORD).filter(|_| kind == TEXT) else { continue };
        if crc32(&[&kind, KEYWORD, data]) != checksum {
            return Err(PictureError::Damaged);
        }
        let inflated = match (data.strip_prefix(COMPRESSED), data.strip_prefix(PLAIN)) {
            (Some(deflated), _) => decompress_to_vec_zlib_with_limit(deflated, MAX_INFLATED).ok(),
            (_, plain) => plain.filter(|plain| plain.len() <= MAX_INFLATED).map(<[u8]>::to_vec),
        };
        let json = inflated.and_then(|json| String::from_utf8(json).ok()).ok_or(PictureError::Damaged)?;
        return Ok(Document::from_json(&json)?);
    }
    Err(PictureError::NoDocument)
}

/// The chunks of a PNG. The first must be the header. The iterator stops after an error.
fn chunks(png: &[u8]) -> Result<impl Iterator<Item = Result<Chunk<'_>, PictureError>>, PictureError> {
    if png.len() > MAX_PICTURE {
        return Err(PictureError::TooLarge);
    }
    if !is_png(png) || chunk_at(png, SIGNATURE.len()).is_none_or(|chunk| chunk.kind != HEADER) {
        return Err(PictureError::NotPng);
    }
    let mut at = SIGNATURE.len();
    Ok(std::iter::from_fn(move || {
        if at == png.len() {
            return None;
        }
        let chunk = chunk_at(png, at).ok_or(PictureError::Damaged);
        at = chunk.as_ref().map_or(png.len(), |chunk| chunk.place.end);
        Some(chunk)
    }))
}

/// Reads the chunk at `start`: length, kind, data and checksum, big endian.
fn chunk_at(png: &[u8], start: usize) -> Option<Chunk<'_>> {
    let (length, rest) = png.get(start..)?.split_first_chunk()?;
    let (kind, rest) = rest.split_first_chunk()?;
    let (data, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    let (checksum, _) = rest.split_first_chunk()?;
    let place = start..start + 12 + data.len();
    Some(Chunk { kind: *kind, data, checksum: u32::from_be_bytes(*checksum), place })
}

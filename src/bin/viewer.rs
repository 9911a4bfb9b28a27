//! The viewer: shows an explanation in other pages, and offers functions to their scripts. It cannot run a model.
//!
//! Scripts pass documents as JSON. Failures are thrown as an `Error` with a message for the reader. `www/element.d.ts` has the types.

use glasscage::app::viewer;
use glasscage::explanation::{Document, to_fragment};
use glasscage::figure::{self, Options};
use glasscage::open::{Opened, open_any};
use glasscage::shares::Shares;
use js_sys::Error;
use wasm_bindgen::prelude::wasm_bindgen;

/// Does nothing, because scripts call the functions below.
fn main() {}

/// Shows the explanation from the page, its address or the embedding page.
#[wasm_bindgen]
pub fn start() {
    viewer::start();
}

/// The document (JSON) in a text: its JSON, a link, an SVG or an HTML page.
#[wasm_bindgen(js_name = documentOf)]
pub fn document_of(text: &str) -> Result<String, Error> {
    Ok(open(text)?.to_json())
}

/// The fragment (without `#`) of the link to a document.
#[wasm_bindgen(js_name = fragmentOf)]
pub fn fragment_of(json: &str) -> Result<String, Error> {
    Ok(to_fragment(&open(json)?))
}

/// Influence of each sentence of prompt and answer on the explained ones, through the steps. NaN if not measured.
#[wasm_bindgen(js_name = sharesOf)]
pub fn shares_of(json: &str) -> Result<Vec<f64>, Error> {
    let shares = Shares::of(&open(json)?);
    Ok((0..shares.n_sources()).map(|j| shares.total(j).unwrap_or(f64::NAN)).collect())
}

/// A document as a picture (SVG) of `width` CSS pixels.
#[wasm_bindgen(js_name = svgOf)]
pub fn svg_of(json: &str, width: f64, is_dark: bool) -> Result<String, Error> {
    Ok(figure::svg(&open(json)?, &Options { width, is_dark, ..Options::default() }))
}

fn open(text: &str) -> Result<Document, Error> {
    match open_any(text.as_bytes()) {
        Ok(Opened::Explanation(document)) => Ok(*document),
        Ok(Opened::Lesson(_)) => Err(Error::new("this is a lesson, and no explanation")),
        Err(error) => Err(Error::new(&error.to_string())),
    }
}

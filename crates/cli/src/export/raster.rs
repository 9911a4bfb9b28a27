//! Draws pictures in pixels with resvg, using the fonts of this machine.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Family, Query};
use resvg::usvg::{self, FontResolver, Tree};

/// Maximum number of pixels of a picture. Drawing it takes 400 MB.
const MAX_PIXELS: f64 = 1e8;

/// Draws an SVG as PNG, with `scale` pixels per CSS pixel and with these fonts in addition to the installed ones. Also returns the first
/// character of each line that no font has.
pub fn draw(svg: &str, scale: f32, fonts: &[PathBuf]) -> Result<(Vec<u8>, BTreeSet<char>), String> {
    let missing = Arc::new(Mutex::new(BTreeSet::new()));
    let options = usvg::Options { fontdb: Arc::new(load_fonts(fonts)?), font_resolver: resolver(&missing), ..usvg::Options::default() };
    let tree = Tree::from_str(&with_embeddings(svg), &options).map_err(|error| format!("cannot draw the picture: {error}"))?;
    let size = tree.size().to_int_size().scale_by(scale).ok_or("--scale is too small")?;
    if f64::from(size.width()) * f64::from(size.height()) > MAX_PIXELS {
        return Err(format!("a PNG of {} x {} pixels is too large: choose a smaller --scale, or SVG", size.width(), size.height()));
    }
    let mut pixmap = Pixmap::new(size.width(), size.height()).ok_or("cannot draw a picture of this size")?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    let png = pixmap.encode_png().map_err(|error| format!("cannot write the picture as PNG: {error}"))?;
    let missing = std::mem::take(&mut *missing.lock().expect("no thread panics while it holds this"));
    Ok((png, missing))
}

/// Replaces `direction`, which resvg does not support. Right-to-left text is anchored at its end and put into a right-to-left embedding.
fn with_embeddings(svg: &str) -> String {
    svg.replace(r#" direction="rtl">"#, " text-anchor=\"end\">\u{202b}")
}

/// Loads the installed fonts and the fonts in these files.
fn load_fonts(files: &[PathBuf]) -> Result<Database, String> {
    let mut fonts = Database::new();
    fonts.load_system_fonts();
    for file in files {
        let n_before = fonts.len();
        fonts.load_font_file(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        if fonts.len() == n_before {
            return Err(format!("{} is not a font", file.display()));
        }
    }
    let Some(any) = fonts.faces().find_map(|face| Some(face.families.first()?.0.clone())) else {
        return Err("no font is installed here, so no text can be drawn: install one, such as DejaVu Sans, name a file with --font, \
                    or export to SVG"
            .into());
    };
    let has_sans_serif = fonts.query(&Query { families: &[Family::SansSerif], ..Query::default() }).is_some();
    if !has_sans_serif {
        fonts.set_sans_serif_family(any);
    }
    Ok(fonts)
}

/// Chooses fonts like usvg, and records characters that no font has.
fn resolver(missing: &Arc<Mutex<BTreeSet<char>>>) -> FontResolver<'static> {
    let (missing, select) = (missing.clone(), FontResolver::default_fallback_selector());
    FontResolver {
        select_fallback: Box::new(move |letter, used, fonts| {
            let found = select(letter, used, fonts);
            if found.is_none() && !letter.is_control() {
                missing.lock().expect("no thread panics while it holds this").insert(letter);
            }
            found
        }),
        ..FontResolver::default()
    }
}

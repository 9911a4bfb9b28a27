//! A link as a QR code, for classes with phones. A separate chunk of the page's code.

use std::fmt::Write;

use leptos::prelude::*;
use qrcodegen::{QrCode, QrCodeEcc};

use super::lazy::split_off;
use crate::app::i18n::t;

/// Width of the empty margin in modules, as required by the QR code standard (ISO/IEC 18004).
const QUIET_ZONE: i32 = 4;

split_off!(qr_code, fetch_qr_code => qr_code as fn(String) -> AnyView);

/// The code is dark on light in every color theme, because many readers accept nothing else.
fn qr_code(address: String) -> AnyView {
    let Ok(code) = QrCode::encode_text(&address, QrCodeEcc::Low) else {
        let words = t!(
            "This link is too long for a QR code, which holds at most 2,953 characters. Send the link or the saved file; or put the file \
             on a website: a short link of this page with #url= and the file\u{2019}s address opens it."
        );
        return view! { <p class="hint" data-testid="qr-too-long">{words}</p> }.into_any();
    };
    let size = code.size() + 2 * QUIET_ZONE;
    view! {
        <svg
            class="qr-code"
            role="img"
            aria-label=t!("The link as a QR code")
            viewBox=format!("0 0 {size} {size}")
            shape-rendering="crispEdges"
            data-testid="qr-code"
        >
            <rect width=size height=size fill="#fff" />
            <path d=dark_modules(code.size(), |x, y| code.get_module(x, y)) fill="#000" />
        </svg>
    }
    .into_any()
}

/// Path of the dark modules: one rectangle for each run in a row.
fn dark_modules(size: i32, is_dark: impl Fn(i32, i32) -> bool) -> String {
    let mut path = String::new();
    for y in 0..size {
        let mut x = 0;
        while x < size {
            let run = (x..size).take_while(|&x| is_dark(x, y)).count() as i32;
            if run > 0 {
                // Writing to a string cannot fail.
                _ = write!(path, "M{} {}h{run}v1h-{run}z", x + QUIET_ZONE, y + QUIET_ZONE);
            }
            x += run + 1;
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_dark_modules_become_rectangles() {
        let rows = ["xx.x", "....", ".xxx", "x..."];
        let path = dark_modules(4, |x, y| rows[y as usize].as_bytes()[x as usize] == b'x');
        assert_eq!(path, "M4 4h2v1h-2zM7 4h1v1h-1zM5 6h3v1h-3zM4 7h1v1h-1z");
    }
}

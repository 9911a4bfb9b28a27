//! HTML that embeds an explanation in another page.

use super::shared_link::hide_parameter;

/// File name of the viewer, in the folder of the page.
const EMBED_PAGE: &str = "embed.html";

/// Address of this site's viewer that shows the explanation in `fragment`. `hidden` lists the parts to hide, with the names of `?hide=`.
pub fn embed_address(page_address: &str, hidden: &[&str], fragment: &str) -> String {
    let page = page_address.split(['?', '#']).next().unwrap_or_default();
    let folder = page.rfind('/').map_or(page, |slash| &page[..=slash]);
    let query = hide_parameter(hidden).map_or_else(String::new, |parameter| format!("?{parameter}"));
    format!("{folder}{EMBED_PAGE}{query}#{fragment}")
}

/// The `<iframe>` element for this address. `height` is in CSS pixels.
pub fn frame(address: &str, title: &str, height: u32) -> String {
    let [address, title] = [address, title].map(escaped);
    format!(r#"<iframe src="{address}" title="{title}" width="100%" height="{height}" style="border:0" loading="lazy"></iframe>"#)
}

/// Escapes a text for an attribute value.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_viewer_is_beside_the_page() {
        let address = |page: &str, hidden: &[&str]| embed_address(page, hidden, "g3.x");
        assert_eq!(address("https://a.b/c/?lang=de#old", &[]), "https://a.b/c/embed.html#g3.x");
        assert_eq!(address("https://a.b/c/index.html", &[]), "https://a.b/c/embed.html#g3.x");
        assert_eq!(address("https://a.b/", &["tabs", "details"]), "https://a.b/embed.html?hide=tabs,details#g3.x");
    }

    #[test]
    fn a_title_stays_within_its_attribute() {
        let line = frame("https://a.b/embed.html?hide=tabs&theme=dark#g3.x", "Why \"<5>\"?", 480);
        assert!(
            line.contains("hide=tabs&amp;theme=dark#g3.x\"") && line.contains("title=\"Why &quot;&lt;5>&quot;?\"") && line.contains("480")
        );
    }
}

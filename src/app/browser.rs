//! Wrappers of the browser APIs that the page uses. Calls that a browser may refuse (storage, clipboard) return an `Option` or a `bool`, or
//! fail without effect.

use gloo::timers::future::TimeoutFuture;
use js_sys::{Array, Function, Uint8Array, encode_uri_component};
use leptos::prelude::{document, request_animation_frame, window};
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{
    Blob, BlobPropertyBag, CanvasRenderingContext2d, Element, Event, File, FileList, History, HtmlAnchorElement, HtmlCanvasElement,
    HtmlElement, HtmlImageElement, HtmlTextAreaElement, KeyboardEvent, Response, ScrollBehavior, ScrollIntoViewOptions,
    ScrollLogicalPosition, ShareData, Storage, Url,
};

use super::state::storage_keys;

/// The absolute address of `path` on the page's own site.
pub fn absolute(path: &str) -> Option<String> {
    let base = document().base_uri().ok()??;
    Url::new_with_base(path, &base).ok().map(|url| url.href())
}

/// The address of the page, fragment included.
pub fn address() -> String {
    window().location().href().unwrap_or_default()
}

/// The fragment with its `#`, or empty if there is none.
pub fn fragment() -> String {
    window().location().hash().unwrap_or_default()
}

/// The query with its `?`, or empty if there is none.
pub fn query() -> String {
    window().location().search().unwrap_or_default()
}

/// The state of the current history entry, if it is a string.
pub fn entry() -> Option<String> {
    window().history().ok()?.state().ok()?.as_string()
}

/// Adds a history entry with `text` as its state. The browser fires no `popstate` for it.
pub fn push_entry(address: &str, text: Option<&str>) {
    set_entry(History::push_state_with_url, address, text);
}

/// Replaces the address and the state of the current history entry.
pub fn replace_entry(address: &str, text: Option<&str>) {
    set_entry(History::replace_state_with_url, address, text);
}

type SetEntry = fn(&History, &JsValue, &str, Option<&str>) -> Result<(), JsValue>;

fn set_entry(set: SetEntry, address: &str, text: Option<&str>) {
    let Ok(history) = window().history() else { return };
    let state = text.map_or(JsValue::NULL, JsValue::from_str);
    if set(&history, &state, "", Some(address)).is_err() {
        // The state is too long for this browser. Store none, so a reload shows what the address names.
        drop(set(&history, &JsValue::NULL, "", Some(address)));
    }
}

/// The medium that the page is laid out for (see `www/base.css`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    Screen,
    Paper,
    /// The text needs several printed pages. The graph is hidden, because page breaks would cut it.
    SeveralPages,
}

pub fn lay_out_for(medium: Medium) {
    let Some(root) = document().document_element() else { return };
    // Only an invalid attribute name can fail.
    drop(match medium {
        Medium::Screen => root.remove_attribute("data-printing"),
        Medium::Paper => root.set_attribute("data-printing", "one-page"),
        Medium::SeveralPages => root.set_attribute("data-printing", "several-pages"),
    });
}

/// Fetches the text at `path` on the page's own site. `None` if the request fails.
pub async fn fetch_text(path: &str) -> Option<String> {
    let response: Response = JsFuture::from(window().fetch_with_str(path)).await.ok()?.dyn_into().ok()?;
    text_of(response.text().ok().filter(|_| response.ok())?).await
}

/// Reads the bytes of a file.
pub async fn read(file: &Blob) -> Option<Vec<u8>> {
    Some(Uint8Array::new(&JsFuture::from(file.array_buffer()).await.ok()?).to_vec())
}

async fn text_of(promise: js_sys::Promise) -> Option<String> {
    JsFuture::from(promise).await.ok()?.as_string()
}

/// Copies `text` to the clipboard. Returns false if the browser does not allow it.
pub async fn copy(text: &str) -> bool {
    let navigator = window().navigator();
    let has_clipboard = js_sys::Reflect::get(&navigator, &"clipboard".into()).is_ok_and(|clipboard| clipboard.is_object());
    has_clipboard && JsFuture::from(navigator.clipboard().write_text(text)).await.is_ok()
}

/// How the browser names itself.
pub fn user_agent() -> String {
    window().navigator().user_agent().unwrap_or_default()
}

/// Whether the device has a share sheet.
pub fn can_share() -> bool {
    js_sys::Reflect::get(&window().navigator(), &"share".into()).is_ok_and(|share| share.is_function())
}

/// Opens the device's share sheet for a link.
pub fn share(title: &str, address: &str) {
    let data = ShareData::new();
    data.set_title(title);
    data.set_url(address);
    let shared = JsFuture::from(window().navigator().share_with_data(&data));
    spawn_local(async move {
        // The promise rejects if the user closes the share sheet. Ignore that.
        drop(shared.await);
    });
}

/// The value of the query parameter `name` in the page's address.
pub fn parameter(name: &str) -> Option<String> {
    Url::new(&address()).ok()?.search_params().get(name)
}

/// Applies the theme from `?theme=` (`light` or `dark`) instead of the system's theme.
pub fn set_theme_of_address() {
    let theme = parameter("theme");
    if let (Some(theme), Some(root)) = (theme.filter(|theme| ["light", "dark"].contains(&theme.as_str())), document().document_element()) {
        // Only an invalid attribute name can fail.
        drop(root.set_attribute("data-theme", &theme));
    }
}

/// The attribute `name` of the first element that matches `selector`.
pub fn attribute_of(selector: &str, name: &str) -> Option<String> {
    document().query_selector(selector).ok()??.get_attribute(name)
}

/// The text of the element with this id. `None` if the element is missing or blank.
pub fn text_of_element(id: &str) -> Option<String> {
    let text = document().get_element_by_id(id)?.text_content()?;
    (!text.trim().is_empty()).then_some(text)
}

/// Hides the parts of the page that `?hide=` lists, separated by commas or spaces. `www/parts.css` does this through `data-hide`.
pub fn hide_parts() {
    let parts = parameter("hide");
    if let (Some(parts), Some(root)) = (parts, document().document_element()) {
        // Only an invalid attribute name can fail.
        drop(root.set_attribute("data-hide", &parts.replace(',', " ")));
    }
}

/// Downloads `bytes` as a file. `None` if the browser refuses.
pub fn download(name: &str, media_type: &str, bytes: &[u8]) -> Option<()> {
    let options = BlobPropertyBag::new();
    options.set_type(media_type);
    let blob = Blob::new_with_u8_array_sequence_and_options(&Array::of1(&Uint8Array::from(bytes)), &options).ok()?;
    let url = Url::create_object_url_with_blob(&blob).ok()?;
    let anchor: HtmlAnchorElement = document().create_element("a").ok()?.dyn_into().ok()?;
    anchor.set_href(&url);
    anchor.set_download(name);
    anchor.click();
    Url::revoke_object_url(&url).ok()
}

/// Creates an object URL at which this tab can read the file until the URL is revoked.
pub fn create_object_url(file: &Blob) -> Option<String> {
    Url::create_object_url_with_blob(file).ok()
}

pub fn revoke_object_url(address: &str) {
    // Ignore errors: the URL may already be revoked.
    drop(Url::revoke_object_url(address));
}

/// The text stored under `key` in this tab. `None` if it is missing or empty.
pub fn remembered_in_tab(key: &str) -> Option<String> {
    session_storage()?.get_item(key).ok()?.filter(|text| !text.is_empty())
}

/// Stores `text` in this tab, so that it survives a reload.
pub fn remember_in_tab(key: &str, text: &str) {
    if let Some(storage) = session_storage()
        && storage.set_item(key, text).is_err()
    {
        // Storage may be full or refused. Remove the old text, because a reload should not restore outdated data.
        drop(storage.remove_item(key));
    }
}

/// Maximum size of a stored history entry in bytes. It leaves room for the texts that the visitor types.
const LONGEST_ENTRY: usize = 2_000_000;

/// Stores the state of a history entry in this tab, because a browser that ends the tab may lose the entry. Skips entries without state, so
/// that the last explanation stays stored. An entry that is too long removes the stored one, because a reload should not restore an
/// explanation that is no longer on screen.
pub fn remember_entry(text: Option<&str>) {
    if let Some(text) = text {
        remember_in_tab(storage_keys::ENTRY, storable(text));
    }
}

fn storable(entry: &str) -> &str {
    if entry.len() <= LONGEST_ENTRY { entry } else { "" }
}

/// Whether the tab is hidden, for example behind other tabs or in a minimized window.
pub fn is_hidden() -> bool {
    document().hidden()
}

/// The text stored under `key` on an earlier visit.
pub fn remembered(key: &str) -> Option<String> {
    local_storage()?.get_item(key).ok()?
}

/// Stores `text` for later visits, or removes the stored text if `text` is `None`.
pub fn remember_for_visits(key: &str, text: Option<&str>) {
    let Some(storage) = local_storage() else { return };
    // Storage may be full or refused. Ignore that: later visits work without the text.
    drop(match text {
        Some(text) => storage.set_item(key, text),
        None => storage.remove_item(key),
    });
}

/// Asks the browser to keep the stored data when space runs low. The browser decides.
pub fn ask_for_persistence() {
    let navigator = window().navigator();
    let has_storage = js_sys::Reflect::get(&navigator, &"storage".into()).is_ok_and(|storage| storage.is_object());
    if has_storage && let Ok(asked) = navigator.storage().persist() {
        // Ignore the answer: models are stored in either case.
        spawn_local(async move { drop(JsFuture::from(asked).await) });
    }
}

/// The files of a list.
pub fn listed(files: &FileList) -> Vec<File> {
    (0..files.length()).filter_map(|i| files.get(i)).collect()
}

fn local_storage() -> Option<Storage> {
    window().local_storage().ok().flatten()
}

fn session_storage() -> Option<Storage> {
    window().session_storage().ok().flatten()
}

/// Time in which a change of the page is rendered, in ms.
const SETTLE_MILLIS: u32 = 40;

/// Runs `change` in a view transition: elements with the same `--name` (see `www/explanation.css`) move to their new places. Browsers
/// without view transitions apply the change at once.
pub fn with_motion(change: impl FnOnce() + 'static) {
    let start = js_sys::Reflect::get(&document(), &"startViewTransition".into());
    let (Ok(start), Some(root)) = (start.and_then(JsCast::dyn_into::<Function>), document().document_element()) else {
        return change();
    };
    let changed = Closure::once_into_js(move || {
        wasm_bindgen_futures::future_to_promise(async move {
            change();
            TimeoutFuture::new(SETTLE_MILLIS).await;
            Ok(JsValue::UNDEFINED)
        })
    });
    // Only an invalid attribute name can fail.
    drop(root.set_attribute("data-moving", ""));
    let Ok(transition) = start.call1(&document(), &changed) else {
        // The browser refused the transition and has not called `changed`.
        drop(root.remove_attribute("data-moving"));
        drop(changed.unchecked_into::<Function>().call0(&JsValue::NULL));
        return;
    };
    spawn_local(async move {
        if let Ok(finished) = js_sys::Reflect::get(&transition, &"finished".into()) {
            // A transition that is cut short counts as finished, too.
            drop(JsFuture::from(finished.unchecked_into::<js_sys::Promise>()).await);
        }
        drop(root.remove_attribute("data-moving"));
    });
}

/// Whether the system asks for dark colors.
pub fn prefers_dark() -> bool {
    matches("(prefers-color-scheme: dark)")
}

/// Whether the device has more than one core and no coarse pointer, which excludes phones.
pub fn has_spare_core() -> bool {
    window().navigator().hardware_concurrency() > 1.0 && !matches("(pointer: coarse)")
}

fn matches(media: &str) -> bool {
    window().match_media(media).ok().flatten().is_some_and(|query| query.matches())
}

/// Attribute of the root element that makes `www/base.css` lay out the page for a projector.
const PRESENTING: &str = "data-presenting";

pub fn set_presenting(is_on: bool) {
    let Some(root) = document().document_element() else { return };
    // Only an invalid attribute name can fail.
    drop(root.toggle_attribute_with_force(PRESENTING, is_on));
}

pub fn is_presenting() -> bool {
    document().document_element().is_some_and(|root| root.has_attribute(PRESENTING))
}

/// Whether a key press is a shortcut of the page: no modifier is held, and no input field has the focus.
pub fn is_shortcut(event: &KeyboardEvent) -> bool {
    is_alone(event) && document().query_selector(":is(input:not([readonly]), textarea, select):focus").ok().flatten().is_none()
}

/// Whether a key is pressed without Ctrl, Meta and Alt, and neither a handler nor an input method has used it.
pub fn is_alone(event: &KeyboardEvent) -> bool {
    !(event.ctrl_key() || event.meta_key() || event.alt_key() || event.default_prevented() || is_composing(event))
}

/// Whether a key press belongs to an input method, which composes characters from several keys. Safari marks the last key of a composition
/// only by its key code.
pub fn is_composing(event: &KeyboardEvent) -> bool {
    const OF_INPUT_METHOD: u32 = 229;
    event.is_composing() || event.key_code() == OF_INPUT_METHOD
}

/// Whether the target of `event` is inside an element that matches `selector`.
pub fn is_within(event: &Event, selector: &str) -> bool {
    around(event, selector).is_some()
}

/// Whether the target of `event` is inside an element that matches `selector` and has more rows than it shows.
pub fn scrolls(event: &Event, selector: &str) -> bool {
    around(event, selector).is_some_and(|element| element.scroll_height() > element.client_height())
}

/// The innermost element that matches `selector` around the target of `event`.
fn around(event: &Event, selector: &str) -> Option<Element> {
    event.target()?.dyn_into::<Element>().ok()?.closest(selector).ok()?
}

/// Removes the focus from the focused element, as if the visitor had left the field.
pub fn leave_field() {
    if let Some(field) = document().active_element().and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        drop(field.blur());
    }
}

/// Whether an input or a text area has the focus.
pub fn is_typing() -> bool {
    has_focus(&["INPUT", "TEXTAREA"])
}

fn has_focus(tags: &[&str]) -> bool {
    document().active_element().is_some_and(|element| tags.contains(&element.tag_name().as_str()))
}

/// Focuses the first element that matches `selector`.
pub fn focus(selector: &str) {
    let element = document().query_selector(selector).ok().flatten();
    if let Some(element) = element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        // If the element cannot take the focus, the focus stays where it is.
        drop(element.focus());
    }
}

/// Focuses a text field, with the caret after its last character.
pub fn focus_at_end(selector: &str) {
    let element = document().query_selector(selector).ok().flatten();
    if let Some(field) = element.and_then(|element| element.dyn_into::<HtmlTextAreaElement>().ok()) {
        let end = field.value().encode_utf16().count() as u32;
        // Errors mean that the field takes no text, so the focus stays where it is.
        drop(field.focus());
        drop(field.set_selection_range(end, end));
        field.set_scroll_top(field.scroll_height());
    }
}

/// Focuses an element without scrolling. Returns whether the page has a focused element afterwards.
pub fn take_focus(element: &JsValue) -> bool {
    let options = js_sys::Object::new();
    let focus = js_sys::Reflect::get(element, &"focus".into()).and_then(JsCast::dyn_into::<Function>);
    // Both calls work in every browser, so ignore errors.
    drop(js_sys::Reflect::set(&options, &"preventScroll".into(), &JsValue::TRUE));
    drop(focus.and_then(|focus| focus.call1(element, &options)));
    !is_focus_lost()
}

/// Whether the page receives keys but no usable element has the focus. A disabled or undrawn element counts as lost focus at once, because
/// a busy browser removes its focus only after some frames.
pub fn is_focus_lost() -> bool {
    let can_keep = |element: &Element| {
        let place = element.get_bounding_client_rect();
        let is_drawn = place.width() > 0.0 || place.height() > 0.0;
        element.tag_name() != "BODY" && is_drawn && !element.matches(":disabled").unwrap_or(false)
    };
    document().has_focus().unwrap_or(true) && !document().active_element().is_some_and(|element| can_keep(&element))
}

/// Focuses the first element that matches `selector` if the current change removes the focus. Checks after two frames, because browsers
/// remove the focus of a hidden or disabled element only after the next frame.
pub fn keep_focus(selector: &'static str) {
    let keep = move || {
        if is_focus_lost() {
            focus(selector);
        }
    };
    request_animation_frame(move || request_animation_frame(keep));
}

/// The text that the visitor has selected on the page.
pub fn selected_text() -> String {
    let window = JsValue::from(window());
    let select = js_sys::Reflect::get(&window, &"getSelection".into()).and_then(JsCast::dyn_into::<Function>);
    let selection = select.and_then(|select| select.call0(&window)).ok().filter(|selection| !selection.is_null());
    selection.map(|selection| js_sys::Object::from(selection).to_string().into()).unwrap_or_default()
}

/// Height of the first element that matches `selector`, in CSS pixels.
pub fn height_of(selector: &str) -> Option<f64> {
    let element = document().query_selector(selector).ok()??;
    Some(element.get_bounding_client_rect().height())
}

/// The data URL of an SVG picture.
pub fn svg_address(svg: &str) -> String {
    format!("data:image/svg+xml;charset=utf-8,{}", encode_uri_component(svg))
}

/// Renders an SVG picture as PNG, with `pixel_ratio` pixels per pixel of the picture in each direction.
pub async fn png_of(svg: &str, pixel_ratio: f64) -> Option<Vec<u8>> {
    let image = HtmlImageElement::new().ok()?;
    image.set_src(&svg_address(svg));
    JsFuture::from(image.decode()).await.ok()?;
    let [width, height] = [image.natural_width(), image.natural_height()].map(|side| f64::from(side) * pixel_ratio);
    let canvas: HtmlCanvasElement = document().create_element("canvas").ok()?.dyn_into().ok()?;
    canvas.set_width(width as u32);
    canvas.set_height(height as u32);
    let context: CanvasRenderingContext2d = canvas.get_context("2d").ok()??.dyn_into().ok()?;
    context.draw_image_with_html_image_element_and_dw_and_dh(&image, 0.0, 0.0, width, height).ok()?;
    let drawn = js_sys::Promise::new(&mut |resolve, reject| {
        if canvas.to_blob(&resolve).is_err() {
            // The code below awaits this rejection.
            drop(reject.call0(&JsValue::NULL));
        }
    });
    read(&JsFuture::from(drawn).await.ok()?.dyn_into::<Blob>().ok()?).await
}

/// Scrolls to the first element that matches `selector`.
pub fn scroll_to(selector: &str) {
    if let Ok(Some(element)) = document().query_selector(selector) {
        element.scroll_into_view();
    }
}

/// Scrolls to the first element that matches `selector`, unless its top is in the upper 60 % of the window.
pub fn scroll_into_view_if_hidden(selector: &str) {
    if let Ok(Some(element)) = document().query_selector(selector) {
        let height = window().inner_height().ok().and_then(|height| height.as_f64()).unwrap_or(0.0);
        // Too little of an element is visible if it begins further down.
        if !(0.0..0.6 * height).contains(&element.get_bounding_client_rect().top()) {
            element.scroll_into_view();
        }
    }
}

/// Scrolls as little as needed to make `element` visible.
pub fn reveal(element: &HtmlElement) {
    let options = ScrollIntoViewOptions::new();
    options.set_behavior(ScrollBehavior::Auto);
    options.set_block(ScrollLogicalPosition::Nearest);
    element.scroll_into_view_with_scroll_into_view_options(&options);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_that_is_too_long_removes_stored_one() {
        let [longest, longer] = [LONGEST_ENTRY, LONGEST_ENTRY + 1].map(|length| "x".repeat(length));
        assert_eq!((storable(&longest), storable(&longer)), (&*longest, ""));
    }
}

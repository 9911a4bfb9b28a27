use leptos::ev;
use leptos::prelude::*;
use web_sys::HtmlInputElement;

/// The number that the visitor typed into a field, or `default` if it is not a number, within these limits. Writes it back, so that the
/// field shows the number that is used.
pub fn typed_number(event: &ev::Event, default: u32, [min, max]: [u32; 2]) -> u32 {
    let number = event_target_value(event).parse().unwrap_or(default).clamp(min, max);
    event_target::<HtmlInputElement>(event).set_value(&number.to_string());
    number
}

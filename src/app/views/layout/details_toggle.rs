use leptos::ev;
use leptos::html::Details;
use leptos::prelude::*;

/// Node reference and event handler of a `details` element. The handler tells `toggled` whether the element is open.
pub fn details_toggle(toggled: impl Fn(bool) + 'static) -> (NodeRef<Details>, impl Fn(ev::Event) + 'static) {
    let folder = NodeRef::<Details>::new();
    let on_toggle = move |_| {
        if let Some(folder) = folder.get_untracked() {
            toggled(folder.open());
        }
    };
    (folder, on_toggle)
}

//! A plain value that views follow.

use std::ops::{Deref, DerefMut};

use leptos::prelude::{ArcTrigger, Notify, Track};

/// A field of the state. A view that reads it is drawn again when it is next borrowed mutably; outside a view it is
/// nothing but the value.
#[derive(Debug, Default)]
pub struct Reactive<T> {
    value: T,
    changes: ArcTrigger,
}

impl<T> Reactive<T> {
    pub fn new(value: T) -> Self {
        Self { value, changes: ArcTrigger::default() }
    }
}

impl<T> Deref for Reactive<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.changes.track();
        &self.value
    }
}

impl<T> DerefMut for Reactive<T> {
    fn deref_mut(&mut self) -> &mut T {
        // Views are only marked here; they are drawn after the state has been updated.
        self.changes.notify();
        &mut self.value
    }
}

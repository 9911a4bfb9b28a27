//! A plain value whose changes update the views that read it.

use std::ops::{Deref, DerefMut};

use leptos::prelude::{ArcTrigger, Notify, Track};

/// A field of the state. A view that reads it is rendered again after the field is borrowed mutably. Outside a view, the field is only a
/// value.
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
        // This only marks the views. They are rendered after the state has been updated.
        self.changes.notify();
        &mut self.value
    }
}

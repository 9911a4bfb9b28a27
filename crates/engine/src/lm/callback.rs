//! Asynchronous callbacks as trait objects.

use std::ops::ControlFlow;

use futures::future::LocalBoxFuture;

/// A callback that receives a `T` and may cancel the work: any `async |value: T| -> ControlFlow<()>`. `&mut dyn Callback<T>` is one type
/// for all closures, so a function that takes it is compiled once.
pub trait Callback<T> {
    fn call<'a>(&'a mut self, value: T) -> LocalBoxFuture<'a, ControlFlow<()>>
    where
        T: 'a;
}

impl<T, F: AsyncFnMut(T) -> ControlFlow<()>> Callback<T> for F {
    fn call<'a>(&'a mut self, value: T) -> LocalBoxFuture<'a, ControlFlow<()>>
    where
        T: 'a,
    {
        Box::pin(async move { self(value).await })
    }
}

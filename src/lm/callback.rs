//! Callbacks behind a pointer.

use std::ops::ControlFlow;

use futures::future::LocalBoxFuture;

/// What is told `T` and may break off: any `async |value: T| -> ControlFlow<()>`. As `&mut dyn Callback<T>` it has one type for all
/// closures, so what calls it is compiled once.
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

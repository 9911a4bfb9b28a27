//! Conversion to a message, or to an argument of one.

use std::fmt::Display;

use super::message::{Argument, Gigabytes, Message};

/// Types that can be shown to users.
pub trait ToMessage {
    fn to_message(&self) -> Message;
}

impl ToMessage for Message {
    fn to_message(&self) -> Message {
        self.clone()
    }
}

impl<T: ToMessage + ?Sized> ToMessage for &T {
    fn to_message(&self) -> Message {
        (**self).to_message()
    }
}

impl<T: ToMessage + ?Sized> ToMessage for Box<T> {
    fn to_message(&self) -> Message {
        (**self).to_message()
    }
}

impl ToMessage for Gigabytes {
    fn to_message(&self) -> Message {
        Message::new("{amount}", vec![Argument::Gigabytes(self.0)])
    }
}

/// The value of a placeholder. The macros call its method `argument` on a reference. The compiler finds [`ArgumentOfMessage`] first, which
/// types have that implement [`ToMessage`], and else [`ArgumentOfText`], one reference further.
pub struct Value<'a, T: ?Sized>(pub &'a T);

pub trait ArgumentOfMessage {
    fn argument(&self) -> Argument;
}

impl<T: ToMessage + ?Sized> ArgumentOfMessage for Value<'_, T> {
    fn argument(&self) -> Argument {
        Argument::Message(self.0.to_message())
    }
}

pub trait ArgumentOfText {
    fn argument(&self) -> Argument;
}

impl<T: Display> ArgumentOfText for &Value<'_, T> {
    fn argument(&self) -> Argument {
        Argument::text(self.0)
    }
}

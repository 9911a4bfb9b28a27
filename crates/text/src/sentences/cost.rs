//! Counts the bytes that the split reads, so that tests can bound its cost without a clock.

#[cfg(test)]
thread_local! {
    /// Number of bytes that this thread has read.
    pub static READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Adds `bytes` to the number of bytes read.
#[cfg(test)]
pub fn count_read(bytes: usize) {
    READ.with(|read| read.set(read.get() + bytes));
}

#[cfg(not(test))]
pub const fn count_read(_: usize) {}

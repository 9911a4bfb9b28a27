//! Shader sources, and structs that Rust writes and shaders read, with one definition for both.

/// The WGSL of a file, in the copy that `build.rs` makes.
macro_rules! source {
    ($($name:expr),+) => {
        include_str!(concat!(env!("OUT_DIR"), "/kernels/", $($name,)+ ".wgsl"))
    };
}

/// Field values of a WGSL struct, with its declaration.
#[derive(Default)]
pub struct Fields {
    pub wgsl: &'static str,
    pub words: Vec<u32>,
}

/// Defines a struct of 4-byte fields in Rust and in WGSL, with the same names in the same order. `usize` and `bool` are `u32` in WGSL. A
/// shader declares the struct with `#import`.
macro_rules! wgsl_struct {
    ($(#[$attribute:meta])* $visibility:vis struct $name:ident { $($(#[$doc:meta])* $field:ident: $type:ident),* $(,)? }) => {
        $(#[$attribute])*
        $visibility struct $name {
            $($(#[$doc])* pub $field: $type),*
        }

        impl $name {
            /// The declaration in WGSL.
            pub const WGSL: &'static str = concat!(
                "struct ", stringify!($name), " {\n",
                $("    ", stringify!($field), ": ", $crate::gpu::wgsl::wgsl_type!($type), ",\n",)*
                "}\n"
            );

            /// 4-byte words in memory, one for each field.
            pub const N_WORDS: usize = [$(stringify!($field)),*].len();

            /// The fields as a shader reads them.
            pub fn words(&self) -> [u32; Self::N_WORDS] {
                [$($crate::gpu::wgsl::word!(self.$field, $type)),*]
            }
        }

        impl From<$name> for $crate::gpu::wgsl::Fields {
            fn from(fields: $name) -> Self {
                Self { wgsl: $name::WGSL, words: fields.words().to_vec() }
            }
        }
    };
}

macro_rules! wgsl_type {
    (f32) => {
        "f32"
    };
    ($type:ident) => {
        "u32"
    };
}

macro_rules! word {
    ($value:expr, f32) => {
        $value.to_bits()
    };
    ($value:expr, u32) => {
        $value
    };
    ($value:expr, usize) => {
        $value as u32
    };
    ($value:expr, bool) => {
        u32::from($value)
    };
}

pub(super) use {source, wgsl_struct, wgsl_type, word};

#[cfg(test)]
mod tests {
    use super::*;

    wgsl_struct! {
        struct Params {
            n: usize,
            scale: f32,
            add: bool,
        }
    }

    #[test]
    fn fields_match_in_rust_and_wgsl() {
        let fields = Fields::from(Params { scale: 0.5, add: true, n: 3 });
        assert_eq!(fields.wgsl, "struct Params {\n    n: u32,\n    scale: f32,\n    add: u32,\n}\n");
        assert_eq!(fields.words, [3, 0.5_f32.to_bits(), 1]);
    }
}

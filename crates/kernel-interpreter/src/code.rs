//! The compiled form of a kernel: a list of operations on an invocation's words, with all functions inlined.

/// Index of the first word of a value in an invocation.
pub type At = usize;

/// A row of scalars. Step 0 repeats a single scalar.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    pub at: At,
    pub step: usize,
}

/// Address of a variable or of a part of it.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub space: Space,
    pub at: usize,
    /// Word of the invocation that contains an offset to add.
    pub offset: Option<At>,
}

#[derive(Clone, Copy, Debug)]
pub enum Space {
    /// The invocation's own words.
    Own,
    /// Shared memory with this index.
    Shared(usize),
}

/// Number of elements of an array.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    Fixed(usize),
    /// The number of elements of `words` words that fit in this shared memory.
    Of {
        shared: usize,
        words: usize,
    },
}

#[derive(Clone, Copy, Debug)]
pub enum Op {
    Copy {
        to: At,
        from: At,
        n: usize,
    },
    Words1 {
        f: fn(u32) -> u32,
        to: At,
        a: At,
        n: usize,
    },
    Words2 {
        f: fn(u32, u32) -> u32,
        to: At,
        a: Operand,
        b: Operand,
        n: usize,
    },
    Float1 {
        f: fn(f32) -> f32,
        to: At,
        a: At,
        n: usize,
    },
    Float2 {
        f: fn(f32, f32) -> f32,
        to: At,
        a: Operand,
        b: Operand,
        n: usize,
    },
    Compare {
        f: fn(f32, f32) -> bool,
        to: At,
        a: Operand,
        b: Operand,
        n: usize,
    },
    /// `a b + c`. `negated` negates the product and c.
    MultiplyAdd {
        to: At,
        a: Operand,
        b: Operand,
        c: Operand,
        negated: [bool; 2],
        n: usize,
    },
    Dot {
        to: At,
        a: At,
        b: At,
        n: usize,
    },
    UnpackF16x2 {
        to: At,
        a: At,
    },
    /// `accept` if `condition` is true, else `reject`.
    Select {
        to: At,
        condition: Operand,
        accept: At,
        reject: At,
        n: usize,
    },
    /// Offset of an element: `words * index`, plus the content of `before`.
    Element {
        to: At,
        before: Option<At>,
        index: At,
        length: Length,
        words: usize,
    },
    Load {
        to: At,
        from: Place,
        n: usize,
    },
    Store {
        to: Place,
        from: At,
        n: usize,
    },
    /// Atomic addition. Stores the old value in `before`.
    Add {
        to: Place,
        value: At,
        before: At,
    },
    Jump {
        to: usize,
    },
    JumpUnless {
        condition: At,
        to: usize,
    },
    Barrier {
        workgroup: bool,
        storage: bool,
    },
    End,
}

/// A compiled kernel.
pub struct Code {
    pub ops: Vec<Op>,
    /// WGSL line of each operation.
    pub lines: Vec<u32>,
    /// Initial words of an invocation.
    pub words: Vec<u32>,
    /// Words that receive the built-in values of an invocation.
    pub inputs: Vec<(Input, At)>,
    pub shared: Vec<Variable>,
    pub workgroup_size: [u32; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    GlobalInvocationId,
    LocalInvocationId,
    LocalInvocationIndex,
    WorkgroupId,
    WorkgroupSize,
    NWorkgroups,
}

/// Shared memory.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    /// Binding in group 0; `None` for workgroup memory.
    pub binding: Option<usize>,
    /// Length in words, without a runtime-sized array at the end.
    pub words: usize,
    /// Words of a struct, or of an array element that is a struct, and the names and offsets of its members.
    pub struct_words: usize,
    pub members: Vec<(String, usize)>,
    pub is_written: bool,
}

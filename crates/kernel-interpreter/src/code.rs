//! What a kernel is compiled to: a list of operations on one invocation's words, with all functions inlined.

/// The first of an invocation's words that hold a value.
pub type At = usize;

/// A row of scalars: a scalar is repeated where its step is 0.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    pub at: At,
    pub step: usize,
}

/// Where something lies that has an address.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub space: Space,
    pub at: usize,
    /// An invocation's word with a number to be added.
    pub offset: Option<At>,
}

#[derive(Clone, Copy, Debug)]
pub enum Space {
    /// The invocation's own words.
    Own,
    /// Shared memory of this number.
    Shared(usize),
}

/// How many elements an array has.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    Fixed(usize),
    /// As many as lie in this shared memory, each of so many words.
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
    /// `a b + c`; `negated` changes the signs of the product and of c.
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
    Halves {
        to: At,
        a: At,
    },
    /// Where `condition` is true `accept`, else `reject`.
    Select {
        to: At,
        condition: Operand,
        accept: At,
        reject: At,
        n: usize,
    },
    /// The offset of an element: `words * index`, and what is in `before`.
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
    /// Atomically: to what is there, which goes to `before`.
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
    /// Of the WGSL, for each operation.
    pub lines: Vec<u32>,
    /// An invocation's words when it begins.
    pub words: Vec<u32>,
    /// Where it finds out who it is: the word of each built-in value.
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
    /// Of group 0; `None` for workgroup memory.
    pub binding: Option<usize>,
    /// Without the last array of a length that is not known.
    pub words: usize,
    /// Of a struct, or of an element that is one: its words, and its members' names and offsets.
    pub struct_words: usize,
    pub members: Vec<(String, usize)>,
    pub is_written: bool,
}
